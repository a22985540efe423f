package docket_test

import (
	"math/rand/v2"
	"strings"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
)

// shape is what differs between the contracts of worlds, each a line or a word
// of their text.
type shape struct {
	link, count, where, from, quorum, when, trust string
	told, never, state, limit, approval           string
	evidence                                      string
}

// shapes is how many contracts worlds have between them. To read one takes longer
// than all that is done with it.
const shapes = 1500

// drawShape picks one of the contracts: the first are the plainest, which is
// what a failure is reduced to.
func drawShape(t *rapid.T) shape {
	n := some(t, "contract", shapes)
	random := rand.New(rand.NewPCG(uint64(n), 1))
	pick := func(choices ...string) string {
		if random.Float64() >= 2*float64(n)/shapes {
			return choices[0]
		}
		return choices[random.IntN(len(choices))]
	}
	s := shape{
		link: pick("[refs.key == action_id, subject]", "[refs.key == action_id]", "[subject]"),
		count: pick("count: 1", "", "count: {min: 1, max: 2}", "count: 2", "count: {min: 2}",
			"sum: {of: fact.amount, exactly: params.amount}", "sum: {of: fact.amount, min: params.amount}"),
		where:    pick("fact.amount == params.amount", "fact.amount == params.amount && fact.currency == params.currency", ""),
		from:     pick("stripe", "[stripe, bank]"),
		when:     pick("", "", `params.amount > money("100.00 USD")`),
		trust:    pick("", "", "independent"),
		told:     pick("", "after: money_moved, within: 72h", "within: 48h", "after: money_moved, count: 1"),
		never:    pick("", "keyed", "anyone: true"),
		state:    pick("", "at: settle", "within: 48h"),
		limit:    pick("", `check: params.amount <= money("100.00 USD")`, `total: params.amount, max: "200.00 USD", over: 24h, per: agent_id`, "count: true, max: 1, over: 30d, per: subject_id"),
		approval: pick("", "link: [refs.key == action_id]", "link: subject", "quorum: 2"),
		evidence: pick("exclusive: true", "exclusive: false", "exclusive: true, same_effect: refs.refund", "exclusive: false, same_effect: refs.refund",
			"exclusive: true, decides: stripe", "exclusive: true, decides: stripe, same_effect: refs.refund"),
	}
	if s.from != "stripe" {
		s.quorum = pick("", "2")
	}
	return s
}

// expects says whether the contract looks for facts of a type.
func (s *shape) expects(factType string) bool {
	switch factType {
	case "ticket.solved":
		return s.told != ""
	case "refund.failed":
		return s.never != ""
	case "order.status":
		return s.state != ""
	case "approval.granted":
		return s.approval != ""
	}
	return true
}

func (s *shape) text() string {
	var b strings.Builder
	b.WriteString(`contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount:   {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  approvals: {trust: attested}
  bank: {trust: attested}
  shop: {trust: attested}
  stripe: {trust: attested}
  zendesk: {trust: attested}
link: ` + s.link + "\nsteps:\n  - {id: money_moved, expect: refund.succeeded, within: 48h, from: " + s.from)
	add := func(key, given string) {
		if given != "" {
			b.WriteString(", " + key + given)
		}
	}
	quoted := func(condition string) string {
		if condition == "" {
			return ""
		}
		return "'" + condition + "'"
	}
	add("", s.count)
	if !strings.HasPrefix(s.count, "sum") {
		add("where: ", quoted(s.where))
	}
	add("when: ", quoted(s.when))
	add("trust: ", s.trust)
	add("quorum: ", s.quorum)
	b.WriteString("}\n")
	if s.told != "" {
		b.WriteString("  - {id: told, expect: ticket.solved, from: zendesk, " + s.told + "}\n")
	}
	switch s.never {
	case "":
	case "keyed":
		b.WriteString("never:\n  - {id: not_reversed, expect: refund.failed, from: " + s.from + "}\n")
	default:
		b.WriteString("never:\n  - {id: not_reversed, expect: refund.failed, from: " + s.from + ", " + s.never + "}\n")
	}
	if s.state != "" {
		b.WriteString("state:\n  - {id: closed, expect: order.status, from: [shop, stripe], where: 'fact.status == \"refunded\"', " + s.state + "}\n")
	}
	if s.limit != "" {
		b.WriteString("limits:\n  - {id: cap, " + s.limit + "}\n")
	}
	if s.approval != "" {
		b.WriteString("approvals:\n  - {id: manager_ok, expect: approval.granted, from: [approvals, zendesk], before: money_moved, ")
		if !strings.HasPrefix(s.approval, "link") {
			b.WriteString("link: [refs.key == action_id, subject], ")
		}
		b.WriteString(s.approval + "}\n")
	}
	b.WriteString("evidence: {" + s.evidence + "}\nverified_amount: {step: money_moved, of: fact.amount}\n")
	return b.String()
}

// contract is the contract of the shape, which must be one.
func (s *shape) contract(t *rapid.T) *contract.Contract {
	text := s.text()
	if known, ok := parsed.Load(text); ok {
		return known.(*contract.Contract)
	}
	k, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	parsed.Store(text, k)
	return k
}
