package draft_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var update = flag.Bool("update", false, "write the golden files")

var begin = value.FromTime(time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC))

// history is a month of refunds: one every six hours, for 1.00 to n.00 USD, each
// confirmed by the payment system after as many seconds.
func history(n int) draft.Input {
	in := draft.Input{ActionType: "refund_order", At: begin.Add(60 * 24 * time.Hour)}
	for i := 1; i <= n; i++ {
		start := begin.Add(time.Duration(i) * 6 * time.Hour)
		amount := decimal.New(int64(i*100), -2)
		in.Actions = append(in.Actions, verdict.Declaration{
			ActionID: fmt.Sprintf("refund:%d", i), ContractID: "refunds", ActionType: "refund_order",
			SubjectID: fmt.Sprintf("o-%d", i), SubjectKind: "order", AgentID: "bot", RequestedAt: start, ReceivedAt: start.Add(time.Second),
			Params: map[string]value.Value{"amount": value.OfDecimal(amount), "currency": value.OfString("USD"), "mcp_tool": value.OfString("refund")},
		})
		in.Facts = append(in.Facts, evidence.Fact{
			Source: "stripe", ExternalID: fmt.Sprintf("re_%d", i), Type: "refund.succeeded", SubjectID: fmt.Sprintf("o-%d", i), SubjectKind: "order",
			Refs:       map[string]string{"idempotency_key": fmt.Sprintf("refund:%d", i), "charge": fmt.Sprintf("ch_%d", i)},
			Attrs:      map[string]value.Value{"amount": value.OfMoney(money.Amount{Value: amount, Currency: "USD"})},
			OccurredAt: start.Add(time.Duration(i) * time.Second),
		})
	}
	in.Sources = []evidence.Source{{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": in.At}}}
	return in
}

func propose(t testing.TB, in draft.Input) (*draft.Proposal, *contract.Contract) {
	t.Helper()
	p, err := draft.Propose(in)
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse([]byte(p.YAML))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.YAML)
	}
	if again, err := contract.Format([]byte(p.YAML)); err != nil || string(again) != p.YAML {
		t.Errorf("it is not laid out: %v\n%s", err, cmp.Diff(p.YAML, string(again)))
	}
	return p, c
}

func codes(p *draft.Proposal) []string {
	var codes []string
	for _, w := range p.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func TestAMonthOfRefundsBecomesAContract(t *testing.T) {
	t.Parallel()
	p, c := propose(t, history(100))
	if len(p.Warnings) > 0 {
		t.Errorf("it warns: %v", p.Warnings)
	}
	if c.AppliesTo != (contract.AppliesTo{ActionType: "refund_order", SubjectKind: "order"}) {
		t.Errorf("it applies to %v", c.AppliesTo)
	}
	wantLinks := []contract.Link{{Ref: "idempotency_key", By: contract.ByActionID}, {By: contract.BySubject}}
	if diff := cmp.Diff(wantLinks, c.Link); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(c.Params) != 2 || c.Params[0].Name != "amount" || c.Params[0].Type != contract.MoneyParam || c.Params[0].Currency != "currency" || !c.Params[0].Required {
		t.Errorf("the parameters are %+v", c.Params)
	}
	step := c.Steps[0]
	if len(c.Steps) != 1 || step.Expect != "refund.succeeded" || step.Where.String() != "fact.amount == params.amount && fact.currency == params.currency" {
		t.Errorf("the steps are %+v", c.Steps)
	}
	// Each has one. The 99th of 100 delays is 99 seconds; twice that is less
	// than five minutes.
	if step.Count != (contract.Count{Min: 1, Max: 1}) || step.Window.Within != 5*time.Minute || c.Settle.After != time.Hour {
		t.Errorf("count %v within %v, settled after %v", step.Count, step.Window, c.Settle.After)
	}
	// The 99th of 100 amounts is 99. Four of one agent lie within a day, and the
	// last but one of them come to 99+98+97+96.
	want := []string{`params.amount <= money("99.00 USD")`, "4", "390.00 USD"}
	got := []string{c.Limits[0].Check.String(), fmt.Sprint(c.Limits[1].Rolling.MaxCount), c.Limits[2].Rolling.MaxTotal.String()}
	if !slices.Equal(got, want) || c.Limits[1].Rolling.Per != "agent_id" || c.Limits[2].Rolling.Over != 24*time.Hour {
		t.Errorf("the limits are %v, want %v", got, want)
	}
	if c.VerifiedAmount == nil || c.VerifiedAmount.Step != step.ID || c.VerifiedAmount.Of.String() != "fact.amount" {
		t.Errorf("the verified amount is %v", c.VerifiedAmount)
	}
	if len(c.Never) > 0 || len(c.Approvals) > 0 || !strings.HasPrefix(p.YAML, "# DRAFT.") || !strings.HasPrefix(c.Title, "Draft of ") {
		t.Errorf("it guesses, or does not say what it is:\n%s", p.YAML)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("the contract warns: %v", c.Warnings)
	}
	if *update {
		if err := os.WriteFile("testdata/refunds.yaml", []byte(p.YAML), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile("testdata/refunds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), p.YAML); diff != "" {
		t.Errorf("(-testdata/refunds.yaml +got; -update writes it)\n%s", diff)
	}
}

func TestThirtyActionsCarryALimitAndTwentyNineDoNot(t *testing.T) {
	t.Parallel()
	_, c := propose(t, history(30))
	// Of thirty the 99th percentile by nearest rank is the thirtieth.
	if len(c.Limits) != 3 || c.Limits[0].Check.String() != `params.amount <= money("30.00 USD")` {
		t.Errorf("thirty give %v", c.Limits)
	}
	p, c := propose(t, history(29))
	if len(c.Limits) != 0 || !slices.Contains(codes(p), "no_limit") || !slices.Contains(codes(p), "few_actions") {
		t.Errorf("twenty-nine give %v and warn of %v", c.Limits, codes(p))
	}
}

func TestWithAContractOnlySettledPassesCount(t *testing.T) {
	t.Parallel()
	in := history(100)
	in.ActionType, in.Contract, in.Verdicts = "", &contract.Contract{ID: "refunds"}, map[string]verdict.Verdict{}
	for i := 1; i <= 100; i++ {
		v := verdict.Verdict{Badge: verdict.Pass, Status: verdict.Settled}
		switch {
		case i > 90:
			v.Badge = verdict.Fail
		case i > 80:
			v.Status = verdict.Provisional
		case i%2 == 0:
			v.Status = verdict.Revised
		}
		in.Verdicts[fmt.Sprintf("refund:%d", i)] = v
	}
	p, c := propose(t, in)
	// Of the amounts from 1 to 80 the 99th percentile by nearest rank is the 80th.
	if p.Statistics.Based != 80 || c.Limits[0].Check.String() != `params.amount <= money("80.00 USD")` || c.ID != "refunds" {
		t.Errorf("%d actions give %v of %s", p.Statistics.Based, c.Limits[0].Check, c.ID)
	}
	in.Verdicts = nil
	p, c = propose(t, in)
	if len(c.Limits) != 0 || !slices.Contains(codes(p), "none_passed") {
		t.Errorf("without a verdict it gives %v and warns of %v", c.Limits, codes(p))
	}
}

func TestEachCurrencyHasItsOwnLimitOrNone(t *testing.T) {
	t.Parallel()
	in := history(80)
	for i := range in.Actions {
		code := money.Currency("USD")
		switch {
		case i >= 75:
			code = "JPY"
		case i%2 == 0:
			code = "EUR"
		}
		in.Actions[i].Params["currency"] = value.OfString(string(code))
		in.Facts[i].Attrs["amount"] = value.OfMoney(money.Amount{Value: in.Actions[i].Params["amount"].Decimal(), Currency: code})
	}
	p, c := propose(t, in)
	// EUR are the odd amounts to 75, USD the even ones to 74, five are in JPY.
	var got []string
	for _, l := range c.Limits {
		if l.Check != nil {
			got = append(got, l.When.String()+" -> "+l.Check.String())
		} else if l.Rolling.Total != nil {
			t.Errorf("a total of two currencies is proposed: %v", l)
		}
	}
	want := []string{
		`params.currency == "EUR" -> params.amount <= money("75.00 EUR")`,
		`params.currency == "USD" -> params.amount <= money("74.00 USD")`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the limits are %v", got)
	}
	if w := codes(p); !slices.Contains(w, "mixed_currencies") || !slices.Contains(w, "no_limit") {
		t.Errorf("it warns of %v", w)
	}
}

func TestCentsAreFoundToBeCents(t *testing.T) {
	t.Parallel()
	in := history(40)
	for i := range in.Actions {
		in.Actions[i].Params["amount"] = value.OfDecimal(decimal.New(int64((i+1)*100), 0))
	}
	_, c := propose(t, in)
	if p := c.Params[0]; p.Type != contract.MoneyParam || !p.Minor || c.Limits[0].Check.String() != `params.amount <= money("40.00 USD")` {
		t.Errorf("the amount is %+v, its limit %v", p, c.Limits[0].Check)
	}
}

func TestANumberThatIsNoAmountStaysANumber(t *testing.T) {
	t.Parallel()
	in := history(40)
	for i := range in.Actions {
		in.Actions[i].Params["quantity"] = value.OfDecimal(decimal.NewFromInt(int64(i % 3)))
		in.Actions[i].Params["reason"] = value.OfString([]string{"damaged", "lost"}[i%2])
		in.Facts[i].Attrs["reason"] = in.Actions[i].Params["reason"]
	}
	_, c := propose(t, in)
	types := map[string]contract.ParamType{}
	for _, p := range c.Params {
		types[p.Name] = p.Type
	}
	want := map[string]contract.ParamType{"amount": "money", "currency": "currency", "quantity": "integer", "reason": "string"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if where := c.Steps[0].Where.String(); !strings.HasSuffix(where, " && fact.reason == params.reason") {
		t.Errorf("where: %s", where)
	}
}

func TestWhatFollowsFewActionsIsNoStep(t *testing.T) {
	t.Parallel()
	in := history(50)
	for i := range 50 {
		f := in.Facts[i]
		f.Type, f.ExternalID, f.OccurredAt = "ticket.solved", "t"+f.ExternalID, f.OccurredAt.Add(time.Hour)
		f.Source = "zendesk"
		if i < 39 { // of 50 are 78 percent
			in.Facts = append(in.Facts, f)
		}
	}
	p, c := propose(t, in)
	if len(c.Steps) != 1 || !strings.Contains(p.YAML, "# not proposed: ticket.solved of zendesk, which follows 39 of 50 actions.") {
		t.Errorf("39 of 50 give\n%s", p.YAML)
	}
	more := in.Facts[40]
	more.Type, more.ExternalID, more.Source = "ticket.solved", "more", "zendesk"
	in.Facts = append(in.Facts, more)
	if p, c = propose(t, in); len(c.Steps) != 2 || c.Steps[1].Expect != "ticket.solved" || !slices.Contains(codes(p), "unknown_source") {
		t.Errorf("40 of 50 give %v and %v", c.Steps, p.Warnings)
	}
}

func TestWhatMakesADraftWeakIsSaid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, code string
		change     func(*draft.Input)
	}{
		{"a source without a watermark", "no_watermark", func(in *draft.Input) { in.Sources[0].Watermarks = nil }},
		{"a source that nobody knows", "unknown_source", func(in *draft.Input) { in.Sources = nil }},
		{"facts without any key", "subject_only", func(in *draft.Input) {
			for i := range in.Facts {
				in.Facts[i].Refs = nil
			}
		}},
		{"one fact without a key", "subject_only", func(in *draft.Input) { in.Facts[3].Refs = nil }},
		{"an effect that nobody declared", "effects_without_action", func(in *draft.Input) {
			f := in.Facts[7]
			f.ExternalID, f.SubjectID, f.Refs = "re_x", "o-x", nil
			in.Facts = append(in.Facts, f)
		}},
		{"an action without a fact", "unseen", func(in *draft.Input) { in.Facts = in.Facts[1:] }},
		{"an effect from before its declaration", "before_declaration", func(in *draft.Input) {
			in.Facts[5].OccurredAt = in.Actions[5].RequestedAt.Add(-time.Hour)
		}},
		{"a parameter of two kinds", "mixed_param", func(in *draft.Input) {
			in.Actions[2].Params["note"] = value.OfBool(true)
			in.Actions[3].Params["note"] = value.OfString("x")
		}},
		{"a parameter that no condition can write", "unnamed_param", func(in *draft.Input) { in.Actions[2].Params["a b"] = value.OfBool(true) }},
		{"a snapshot", "snapshots", func(in *draft.Input) {
			f := in.Facts[0]
			f.ExternalID, f.Mode = "s", evidence.State
			in.Facts = append(in.Facts, f)
		}},
		{"a second source of the same effects", "second_source", func(in *draft.Input) {
			for _, f := range slices.Clone(in.Facts) {
				f.Source = "bank"
				in.Facts = append(in.Facts, f)
			}
		}},
		{"effects that repeat nothing", "no_condition", func(in *draft.Input) {
			for i := range in.Facts {
				in.Facts[i].Attrs = nil
			}
		}},
		{"no currency beside an amount", "currency_guessed", func(in *draft.Input) {
			for i := range in.Actions {
				delete(in.Actions[i].Params, "currency")
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := history(40)
			if p, _ := propose(t, in); slices.Contains(codes(p), test.code) {
				t.Fatalf("it warns of %s anyway", test.code)
			}
			test.change(&in)
			p, _ := propose(t, in)
			if !slices.Contains(codes(p), test.code) {
				t.Errorf("it warns of %v", p.Warnings)
			}
			for _, w := range p.Warnings {
				if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(p.YAML, "#", "")), " "), "! "+strings.Join(strings.Fields(w.Text), " ")) {
					t.Errorf("the text does not say: %s", w.Text)
				}
			}
		})
	}
}

func TestAKeyThatNamesAParameterIsFound(t *testing.T) {
	t.Parallel()
	in := history(40)
	for i := range in.Actions {
		in.Actions[i].Params["charge"] = value.OfString(in.Facts[i].Refs["charge"])
		delete(in.Facts[i].Refs, "idempotency_key")
	}
	_, c := propose(t, in)
	want := []contract.Link{{Ref: "charge", By: contract.ByParam, Param: "charge"}, {By: contract.BySubject}}
	if diff := cmp.Diff(want, c.Link); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A key that a stronger rule's facts contradict would tear them from their
// actions.
func TestAKeyThatContradictsAStrongerOneIsNotProposed(t *testing.T) {
	t.Parallel()
	in := history(40)
	for i := range in.Actions {
		in.Actions[i].Params["charge"] = value.OfString(in.Facts[i].Refs["charge"])
	}
	for i := range 10 {
		in.Facts[i].Refs["charge"] = "another"
	}
	_, c := propose(t, in)
	if slices.ContainsFunc(c.Link, func(l contract.Link) bool { return l.Ref == "charge" }) {
		t.Errorf("the rules are %v", c.Link)
	}
}

func TestWithoutActionsOrFactsThereIsNoDraft(t *testing.T) {
	t.Parallel()
	none, unseen := history(3), history(3)
	none.ActionType, unseen.Facts = "other", nil
	for name, in := range map[string]draft.Input{"no actions": none, "no facts": unseen} {
		var nothing *draft.NothingSeenError
		if _, err := draft.Propose(in); !errors.As(err, &nothing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheOrderOfTheInputChangesNothing(t *testing.T) {
	t.Parallel()
	in := history(35)
	in.Actions[4].Params["amount"] = value.OfString("4.00")
	again := in.Actions[4]
	again.Params = map[string]value.Value{"amount": value.OfDecimal(decimal.New(7, 0))}
	in.Actions = append(in.Actions, again)
	want, _ := propose(t, in)
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := in
		shuffled.Actions = rapid.Permutation(in.Actions).Draw(rt, "actions")
		shuffled.Facts = rapid.Permutation(in.Facts).Draw(rt, "facts")
		got, err := draft.Propose(shuffled)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// Whatever was recorded, what comes out is a contract.
func TestWhateverWasRecordedTheProposalIsAContract(t *testing.T) {
	t.Parallel()
	words := []string{"a", "o-1", "o 2", "", "true", "7", "07", "no", "x: y # z", "ü\n\"'{}", "in", "refs.a", "EUR", "usd", "180.00 USD", "2026-11-02T12:00:00Z", strings.Repeat("w", 70)}
	rapid.Check(t, func(rt *rapid.T) {
		word := func(label string) string { return rapid.SampledFrom(words).Draw(rt, label) }
		drawn := func() value.Value {
			switch rapid.IntRange(0, 5).Draw(rt, "kind") {
			case 0:
				return value.OfBool(rapid.Bool().Draw(rt, "bool"))
			case 1:
				return value.OfDecimal(decimal.New(rapid.Int64Range(-500, 20_000).Draw(rt, "number"), rapid.Int32Range(-3, 1).Draw(rt, "scale")))
			case 2:
				return value.OfMoney(money.Amount{Value: decimal.New(rapid.Int64Range(-100, 5000).Draw(rt, "cents"), -2), Currency: money.Currency(rapid.SampledFrom([]string{"USD", "JPY", "XBT1"}).Draw(rt, "code"))})
			case 3:
				return value.OfList([]value.Value{value.OfString(word("element"))})
			}
			return value.OfString(word("text"))
		}
		names := []string{"amount", "currency", "fee_total", "fee_currency", "in", "a b", "line", "due"}
		uniform := rapid.Bool().Draw(rt, "uniform") // one value for all makes usable types
		values := map[string]value.Value{}
		for _, name := range names {
			values[name] = drawn()
		}
		pick := func(name string) value.Value {
			if uniform {
				return values[name]
			}
			return drawn()
		}
		in := draft.Input{At: begin.Add(1000 * time.Hour), ActionType: rapid.SampledFrom([]string{"", "x: y # z", "ok"}).Draw(rt, "type")}
		for i := range rapid.IntRange(0, 45).Draw(rt, "actions") {
			d := verdict.Declaration{
				ActionID: fmt.Sprint(word("id"), i), ContractID: word("contract"), ActionType: cmpOr(in.ActionType, word("action type")),
				SubjectID: word("subject"), SubjectKind: word("kind"), AgentID: word("agent"),
				ReceivedAt: begin.Add(time.Duration(rapid.IntRange(0, 200).Draw(rt, "hour")) * time.Hour), Params: map[string]value.Value{},
			}
			for _, name := range names {
				if rapid.IntRange(0, 3).Draw(rt, "present") > 0 {
					d.Params[name] = pick(name)
				}
			}
			in.Actions = append(in.Actions, d)
			for j := range rapid.IntRange(0, 2).Draw(rt, "facts") {
				f := evidence.Fact{
					Source: rapid.SampledFrom([]string{"stripe", "none", "7", "bank"}).Draw(rt, "source"), ExternalID: fmt.Sprint(i, j),
					Type: rapid.SampledFrom([]string{"refund.succeeded", "a b", "declared_in_time", "x"}).Draw(rt, "fact type"), SubjectID: d.SubjectID, SubjectKind: d.SubjectKind,
					Refs: map[string]string{"key": d.ActionID, "a b": "x", "line": word("ref")}, Attrs: map[string]value.Value{},
					OccurredAt: d.ReceivedAt.Add(time.Duration(rapid.IntRange(-10, 100_000).Draw(rt, "delay")) * time.Second),
				}
				for _, name := range names {
					if v := d.Params[name]; rapid.Bool().Draw(rt, "same") && !v.IsMissing() {
						f.Attrs[name] = v
					}
				}
				in.Facts = append(in.Facts, f)
			}
		}
		p, err := draft.Propose(in)
		if errors.As(err, new(*draft.NothingSeenError)) {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := contract.Parse([]byte(p.YAML)); err != nil {
			rt.Fatalf("%v\n%s", err, p.YAML)
		}
	})
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
