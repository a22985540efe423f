package weakening_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/weakening"
)

func base(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edit replaces pairs of texts, each of which must be there.
func edit(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in the contract", pairs[i])
		}
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

func parse(t testing.TB, text string) *contract.Contract {
	t.Helper()
	k, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return k
}

// A change is written as the texts to replace. Read backwards it is the change
// of the other direction.
type change struct {
	name      string
	edit      []string
	forwards  string // what direction where
	backwards string
}

var changes = []change{
	{"a check is removed", []string{"  - {id: told, expect: ticket.solved, from: ledger}\n", ""}, "check_removed weaker steps.told", "check_added stronger steps.told"},
	{"a limit is removed", []string{"  - {id: per_order, count: true, max: 2, over: 30d}\n", ""}, "check_removed weaker limits.per_order", "check_added stronger limits.per_order"},
	{"the window is wider", []string{"within: 48h", "within: 60h"}, "window_wider weaker steps.money_moved.within", "window_narrower stronger steps.money_moved.within"},
	{"the window is gone", []string{"    within: 48h\n", ""}, "window_wider weaker steps.money_moved.within", "window_narrower stronger steps.money_moved.within"},
	{"another moment counts", []string{", within: 10h", ""}, "moment_changed unclear state.closed.within", "moment_changed unclear state.closed.within"},
	{"the cap is higher", []string{`"250.00 USD"`, `"300.00 USD"`}, "cap_higher weaker limits.single_cap.check", "cap_lower stronger limits.single_cap.check"},
	{"the cap includes itself", []string{`params.amount <= money("250.00 USD")`, `params.amount < money("250.00 USD")`}, "cap_lower stronger limits.single_cap.check", "cap_higher weaker limits.single_cap.check"},
	{"the rolling cap is higher", []string{"2000.00 USD", "2500.00 USD"}, "cap_higher weaker limits.per_day.max", "cap_lower stronger limits.per_day.max"},
	{"the rolling cap is in another currency", []string{"2000.00 USD", "2000.00 EUR"}, "cap_changed unclear limits.per_day.max", "cap_changed unclear limits.per_day.max"},
	{"the count is higher", []string{"max: 2, over: 30d", "max: 3, over: 30d"}, "cap_higher weaker limits.per_order.max", "cap_lower stronger limits.per_order.max"},
	{"a count looks back less", []string{"over: 30d", "over: 20d"}, "over_shorter weaker limits.per_order.over", "over_longer stronger limits.per_order.over"},
	{"a total looks back less", []string{"over: 24h", "over: 12h"}, "over_shorter weaker limits.per_day.over", "over_longer unclear limits.per_day.over"},
	{"a count is split up", []string{"over: 30d", "over: 30d, per: subject_id"}, "per_changed weaker limits.per_order.per", "per_changed stronger limits.per_order.per"},
	{"a total is divided otherwise", []string{"per: agent_id", "per: subject_id"}, "per_changed unclear limits.per_day.per", "per_changed unclear limits.per_day.per"},
	{"a limit is of another kind", []string{"count: true, max: 2, over: 30d", "check: params.lines < 3"}, "limit_changed unclear limits.per_order", "limit_changed unclear limits.per_order"},
	{"more effects are allowed", []string{"max: 2}", "max: 3}"}, "count_looser weaker steps.money_moved.count", "count_tighter stronger steps.money_moved.count"},
	{"fewer effects are enough", []string{"{min: 1, max: 2}", "2"}, "count_tighter stronger steps.money_moved.count", "count_looser weaker steps.money_moved.count"},
	{"a link key is dropped", []string{"  - refs.key == action_id\n", ""}, "link_dropped weaker link", "link_added unclear link"},
	{"the subject is enough", []string{"  - refs.other == action_id\n", "  - refs.other == action_id\n  - subject\n"}, "link_added weaker link", "link_dropped stronger link"},
	{"links have another order", []string{"  - refs.key == action_id\n  - refs.other == action_id\n", "  - refs.other == action_id\n  - refs.key == action_id\n"}, "link_reordered unclear link", "link_reordered unclear link"},
	{"less trust is enough", []string{"stripe: {trust: attested}", "stripe: {trust: asserted}"}, "trust_lower weaker sources.stripe.trust", "trust_higher unclear sources.stripe.trust"},
	{"a check asks for more trust", []string{"{id: told,", "{id: told, trust: independent,"}, "trust_higher stronger steps.told.trust", "trust_lower weaker steps.told.trust"},
	{"another source may supply", []string{"{id: told, expect: ticket.solved, from: ledger}", "{id: told, expect: ticket.solved, from: [ledger, stripe]}"}, "sources_more weaker steps.told.from", "sources_fewer unclear steps.told.from"},
	{"a violation is looked for in fewer sources", []string{"from: [stripe, ledger], where", "from: [stripe], where"}, "sources_fewer weaker never.not_reversed.from", "sources_more stronger never.not_reversed.from"},
	{"the guard is narrower", []string{`when: params.amount > money("100.00 USD")`, `when: params.amount > money("200.00 USD")`}, "guard_narrower weaker steps.booked.when", "guard_wider stronger steps.booked.when"},
	{"the guard has a condition more", []string{`"100.00 USD")`, `"100.00 USD") && params.urgent`}, "guard_narrower weaker steps.booked.when", "guard_wider unclear steps.booked.when"},
	{"the guard is another", []string{`when: params.amount > money("100.00 USD")`, `when: params.urgent`}, "guard_changed unclear steps.booked.when", "guard_changed unclear steps.booked.when"},
	{"it is for fewer actions", []string{"{action_type: refund_order}", "{action_type: refund_order, subject_kind: order}"}, "applies_narrower weaker applies_to.subject_kind", "applies_wider different applies_to.subject_kind"},
	{"it is for other actions", []string{"{action_type: refund_order}", "{action_type: refund}"}, "applies_narrower weaker applies_to.action_type", "applies_narrower weaker applies_to.action_type"},
	{"a fact may back several actions", []string{"{same_effect: refs.refund}", "{same_effect: refs.refund, exclusive: false}"}, "exclusive_off weaker evidence.exclusive", "exclusive_on unclear evidence.exclusive"},
	{"fewer sources must confirm", []string{"    quorum: 2\n", ""}, "quorum_lower weaker steps.booked.quorum", "quorum_higher stronger steps.booked.quorum"},
	{"the condition is dropped", []string{"    where: fact.amount == params.amount && fact.level > 2\n", ""}, "condition_looser weaker steps.money_moved.where", "condition_tighter stronger steps.money_moved.where"},
	{"a conjunct is dropped", []string{" && fact.level > 2", ""}, "condition_looser weaker steps.money_moved.where", "condition_tighter stronger steps.money_moved.where"},
	{"a bound of the condition is lower", []string{"params.amount && fact.level > 2", "params.amount && fact.level > 1"}, "condition_looser weaker steps.money_moved.where", "condition_tighter stronger steps.money_moved.where"},
	{"the condition has an alternative", []string{"where: fact.amount == params.amount && fact.level > 2", "where: fact.amount == params.amount && fact.level > 2 || fact.kind == 'x'"}, "condition_looser weaker steps.money_moved.where", "condition_tighter stronger steps.money_moved.where"},
	{"the condition is another", []string{"where: fact.amount == params.amount && fact.level > 2", "where: fact.amount <= params.amount"}, "condition_changed unclear steps.money_moved.where", "condition_changed unclear steps.money_moved.where"},
	{"less is a violation", []string{"where: fact.level > 2, anyone", "where: fact.level > 5, anyone"}, "condition_tighter weaker never.not_reversed.where", "condition_looser stronger never.not_reversed.where"},
	{"one more standing is right", []string{`["closed", "refunded"]`, `["closed", "refunded", "open"]`}, "condition_looser weaker state.closed.where", "condition_tighter stronger state.closed.where"},
	{"other facts are looked for", []string{"expect: ticket.solved", "expect: ticket.closed"}, "expect_changed unclear steps.told.expect", "expect_changed unclear steps.told.expect"},
	{"a parameter may be left out", []string{"currency: USD, required: true", "currency: USD"}, "param_optional weaker params.amount.required", "param_required stronger params.amount.required"},
	{"a required parameter is gone", []string{"  lines: {type: integer}\n", "  lines: {type: integer}\n  note: {type: string, required: true}\n"}, "param_added stronger params.note", "param_removed weaker params.note"},
	{"a default is added", []string{"order: {type: string}", "order: {type: string, default: x}"}, "default_added weaker params.order.default", "default_removed stronger params.order.default"},
	{"a default is another", []string{"default: true", "default: false"}, "default_changed unclear params.urgent.default", "default_changed unclear params.urgent.default"},
	{"a number need not be whole", []string{"lines: {type: integer}", "lines: {type: decimal}"}, "type_looser weaker params.lines", "type_tighter stronger params.lines"},
	{"an enum has a value more", []string{"[damaged, lost]", "[damaged, lost, other]"}, "type_looser weaker params.reason.values", "type_tighter stronger params.reason.values"},
	{"a parameter is of another type", []string{"order: {type: string}", "order: {type: integer}"}, "type_changed unclear params.order", "type_changed unclear params.order"},
	{"an amount is in cents", []string{"currency: USD, required: true", "currency: USD, unit: minor, required: true"}, "unit_changed weaker params.amount.unit", "unit_changed unclear params.amount.unit"},
	{"an amount is in another currency", []string{"currency: USD, required: true", "currency: EUR, required: true"}, "currency_changed unclear params.amount.currency", "currency_changed unclear params.amount.currency"},
	{"it counts whoever did it no more", []string{", anyone: true", ""}, "anyone_off weaker never.not_reversed.anyone", "anyone_on stronger never.not_reversed.anyone"},
	{"it is waited for longer", []string{"grace: 12h", "grace: 24h"}, "grace_longer weaker settle.grace", "grace_shorter stronger settle.grace"},
	{"it settles later", []string{"after: 72h", "after: 96h"}, "settle_later weaker settle.after", "settle_sooner weaker settle.after"},
	{"clocks may differ more", []string{"max_skew: 2m", "max_skew: 5m"}, "skew_wider weaker settle.max_skew", "skew_narrower unclear settle.max_skew"},
	{"an approval may be older", []string{"lookback: 2d", "lookback: 3d"}, "lookback_wider weaker approvals.manager_ok.lookback", "lookback_narrower stronger approvals.manager_ok.lookback"},
	{"an approval belongs by one rule less", []string{", refs.deal == action_id]", "]"}, "link_dropped stronger approvals.manager_ok.link", "link_added weaker approvals.manager_ok.link"},
	{"an approval comes before another step", []string{"before: money_moved", "before: told"}, "order_changed unclear approvals.manager_ok.before", "order_changed unclear approvals.manager_ok.before"},
	{"another contract undoes it", []string{"by: reversals", "by: returns"}, "compensation_changed unclear compensation.by", "compensation_changed unclear compensation.by"},
	{"what is left is not said", []string{", net: zero", ""}, "compensation_changed weaker compensation.net", "compensation_changed stronger compensation.net"},
	{"nothing undoes it", []string{"compensation: {by: reversals, net: zero}\n", ""}, "compensation_changed different compensation", "compensation_changed different compensation"},
	{"facts are told apart", []string{"evidence: {same_effect: refs.refund}\n", ""}, "same_effect_dropped unclear evidence.same_effect", "same_effect_added weaker evidence.same_effect"},
	{"effects are told apart otherwise", []string{"{same_effect: refs.refund}", "{same_effect: refs.charge}"}, "same_effect_changed unclear evidence.same_effect", "same_effect_changed unclear evidence.same_effect"},
	{"a source decides", []string{"{same_effect: refs.refund}", "{same_effect: refs.refund, decides: stripe}"}, "decides_changed weaker evidence.decides", "decides_changed unclear evidence.decides"},
	{"no amount is verified", []string{"verified_amount: {step: money_moved, of: fact.amount}\n", ""}, "amount_dropped weaker verified_amount", "amount_added stronger verified_amount"},
	{"another amount is verified", []string{"of: fact.amount}\norphans", "of: params.amount}\norphans"}, "amount_changed unclear verified_amount", "amount_changed unclear verified_amount"},
	{"fewer orphans are reported", []string{"orphans: {where: fact.level > 2}", "orphans: {where: fact.level > 4}"}, "orphans_narrower weaker orphans.where", "orphans_wider stronger orphans.where"},
	{"other orphans are reported", []string{"orphans: {where: fact.level > 2}", "orphans: {where: fact.kind == 'x'}"}, "orphans_changed unclear orphans.where", "orphans_changed unclear orphans.where"},
	{"the order is dropped", []string{"    after: money_moved\n    sum: {of: fact.amount, min: money(\"10.00 USD\"), max: money(\"500.00 USD\")}\n", "    sum: {of: fact.amount, min: money(\"10.00 USD\"), max: money(\"500.00 USD\")}\n"}, "order_dropped weaker steps.booked.after", "order_added unclear steps.booked.after"},
	{"one step comes after another", []string{"{id: told,", "{id: told, after: money_moved,"}, "order_added stronger steps.told.after", "order_dropped weaker steps.told.after"},
	{"the step to follow is another", []string{"after: money_moved", "after: told"}, "order_changed unclear steps.booked.after", "order_changed unclear steps.booked.after"},
	{"the sum is dropped", []string{"    sum: {of: fact.amount, min: money(\"10.00 USD\"), max: money(\"500.00 USD\")}\n", ""}, "sum_dropped weaker steps.booked.sum", "sum_added stronger steps.booked.sum"},
	{"the sum may be less", []string{`min: money("10.00 USD")`, `min: money("5.00 USD")`}, "sum_looser weaker steps.booked.sum.min", "sum_tighter stronger steps.booked.sum.min"},
	{"the sum has no end", []string{`, max: money("500.00 USD")`, ""}, "sum_looser weaker steps.booked.sum.max", "sum_tighter stronger steps.booked.sum.max"},
	{"something else is added up", []string{"sum: {of: fact.amount", "sum: {of: fact.net"}, "sum_changed unclear steps.booked.sum.of", "sum_changed unclear steps.booked.sum.of"},
	{"a source is declared more", []string{"  ledger: {trust: attested}\n", "  ledger: {trust: attested}\n  crm: {trust: asserted}\n"}, "source_added different sources.crm", "source_removed different sources.crm"},
	{"the title is another", []string{"title: Refund an order", "title: Refunds"}, "described different title", "described different title"},
	{"it is another contract", []string{"contract: refunds", "contract: refund2"}, "contract_replaced unclear contract", "contract_replaced unclear contract"},
}

func listed(changes []weakening.Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %s %s", c.What, c.Direction, c.Where))
	}
	return strings.Join(all, ", ")
}

func TestEachChangeIsNamedWithItsDirectionBothWays(t *testing.T) {
	t.Parallel()
	text := base(t)
	for _, test := range changes {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, now := parse(t, text), parse(t, edit(t, text, test.edit...))
			if got := listed(weakening.Compare(old, now)); got != test.forwards {
				t.Errorf("it is %q and should be %q", got, test.forwards)
			}
			if got := listed(weakening.Compare(now, old)); got != test.backwards {
				t.Errorf("backwards it is %q and should be %q", got, test.backwards)
			}
		})
	}
}

func TestWhatOnlyReadsDifferentlyIsNoChange(t *testing.T) {
	t.Parallel()
	text := base(t)
	for _, test := range []struct {
		name string
		edit []string
	}{
		{"nothing at all", nil},
		{"a comment", []string{"title: Refund", "# for people\ntitle: Refund"}},
		{"blanks", []string{"fact.amount == params.amount && fact.level > 2", "( fact.amount==params.amount )  &&  fact.level>2"}},
		{"the order of conjuncts", []string{"fact.amount == params.amount && fact.level > 2", "fact.level > 2 && fact.amount == params.amount"}},
		{"the order of sides", []string{"fact.amount == params.amount && fact.level > 2", "params.amount == fact.amount && 2 < fact.level"}},
		{"a double opposite", []string{"params.amount && fact.level > 2\n    count", "params.amount && !(fact.level <= 2)\n    count"}},
		{"the law of De Morgan", []string{"fact.amount == params.amount && fact.level > 2", "'!(fact.amount != params.amount || fact.level <= 2)'"}},
		{"how a number is written", []string{`"250.00 USD"`, `"250 USD"`}},
		{"the order of a list", []string{`["closed", "refunded"]`, `["refunded", "closed"]`}},
		{"how a time is written", []string{"within: 48h", "within: 2d"}},
		{"a default that is written down", []string{"{same_effect: refs.refund}", "{same_effect: refs.refund, exclusive: true, decides: none, late: revise}"}},
		{"the order of sources", []string{"    from: [stripe, ledger]\n", "    from: [ledger, stripe]\n"}},
		{"the order of checks", []string{
			"  - {id: per_order, count: true, max: 2, over: 30d}\n", "",
			"limits:\n", "limits:\n  - {id: per_order, count: true, max: 2, over: 30d}\n",
		}},
		{"the order of parameters", []string{"  order: {type: string}\n  lines: {type: integer}\n", "  lines: {type: integer}\n  order: {type: string}\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old, now := parse(t, text), parse(t, edit(t, text, test.edit...))
			if got := listed(weakening.Compare(old, now)); got != "" {
				t.Errorf("it is said to be %q", got)
			}
		})
	}
}

// Where facts may belong by the subject, what is stricter may leave a fact aside
// that stood against the action, so that structure shows less.
func TestWhatIsStricterIsUnclearWhereTheSubjectIsEnough(t *testing.T) {
	t.Parallel()
	text := edit(t, base(t), "  - refs.other == action_id\n", "  - subject\n")
	for _, test := range changes {
		if !strings.Contains(test.backwards, "steps.money_moved.where") || !strings.Contains(test.backwards, "stronger") {
			continue
		}
		old, now := parse(t, edit(t, text, test.edit...)), parse(t, text)
		got := weakening.Compare(old, now)
		if len(got) != 1 || got[0].Direction != weakening.Unclear || !strings.Contains(got[0].Sentence, "cannot show that this is not weaker") {
			t.Errorf("%s: it is %+v", test.name, got)
		}
	}
}

// An action to which no check of the outcome applied is UNKNOWN. A check more
// could make it PASS.
func TestACheckMoreIsUnclearWhereNoneMayHaveApplied(t *testing.T) {
	t.Parallel()
	const guarded = `contract: c
params: {urgent: {type: boolean}}
settle: {after: 72h}
sources: {a: {trust: attested}}
link: refs.k == action_id
steps:
  - {id: one, expect: pay.done, when: params.urgent}
`
	old := parse(t, guarded)
	now := parse(t, guarded+"  - {id: two, expect: told.done}\n")
	if got := listed(weakening.Compare(old, now)); got != "check_added unclear steps.two" {
		t.Errorf("it is %q", got)
	}
	now = parse(t, guarded+"  - {id: two, expect: told.done, when: params.urgent}\n")
	if got := listed(weakening.Compare(old, now)); got != "check_added stronger steps.two" {
		t.Errorf("with the same guard it is %q", got)
	}
}

var kindConstant = regexp.MustCompile(`(?m)^\t\w+ +Kind = "(\w+)"`)

func TestEveryKindOfChangeIsReachedAndDescribed(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("change.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/weakening.md")
	if err != nil {
		t.Fatal(err)
	}
	var reached []string
	for _, test := range changes {
		for _, said := range []string{test.forwards, test.backwards} {
			kind, _, _ := strings.Cut(said, " ")
			reached = append(reached, kind)
		}
	}
	reached = append(reached, string(weakening.ContractBeside)) // which compares no two versions: see beside_test.go
	kinds := kindConstant.FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 60 {
		t.Fatalf("only %d kinds were found", len(kinds))
	}
	for _, kind := range kinds {
		if !slices.Contains(reached, kind[1]) {
			t.Errorf("no test reaches %s", kind[1])
		}
		if !strings.Contains(string(page), "`"+kind[1]+"`") {
			t.Errorf("docs/weakening.md does not tell of %s", kind[1])
		}
	}
}
