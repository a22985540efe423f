package settlement_test

import (
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

// refunds and undoing have between them every way in which one action bears on
// another: shared facts, limits, and compensation.
const refunds = `contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount:   {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
  charge:   {type: string}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: asserted}
  desk: {trust: attested}
link: [refs.key == action_id, refs.charge == params.charge, subject]
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
  - {id: told, expect: ticket.solved, from: desk, after: money_moved, within: 60h}
never:
  - {id: not_reversed, expect: refund.failed, from: stripe}
limits:
  - {id: agent_daily, total: params.amount, max: "200.00 USD", over: 24h, per: agent_id}
  - {id: often, count: true, max: 3, over: 30d, per: subject_id}
approvals:
  - {id: yes_first, when: 'params.amount > money("100.00 USD")', expect: approval.granted, from: desk, link: subject, lookback: 7d, before: money_moved}
compensation: {by: undoing, net: zero}
evidence: {exclusive: true, same_effect: refs.refund}
verified_amount: {step: money_moved, of: fact.amount}
`

const undoing = `contract: undoing
applies_to: {subject_kind: order}
params: {amount: {type: money, currency: USD}}
settle: {after: 24h, grace: 2h, max_skew: 2m}
sources: {stripe: {trust: asserted}}
link: [refs.key == action_id, subject]
steps: [{id: undone, expect: refund.succeeded, from: stripe, within: 12h}]
verified_amount: {step: undone, of: fact.amount}
`

// hammer is somebody who does whatever can be done in a workspace, by an instance of
// its own.
type hammer struct {
	*place
	declares *action.Service
	t        testing.TB
	random   *rand.Rand
	name     string
}

func (h *hammer) pick(all ...string) string { return all[h.random.IntN(len(all))] }

func (h *hammer) ago(most time.Duration) value.Instant {
	return h.clock.read().Add(-time.Duration(h.random.Int64N(int64(most))))
}

func (h *hammer) actionID() string { return fmt.Sprint(h.name, h.random.IntN(12)) }

func (h *hammer) declare() {
	requested := h.clock.read()
	if h.random.IntN(4) == 0 {
		requested = h.ago(30 * time.Hour)
	}
	contract, kind := "refunds", "refund_order"
	more := ""
	switch h.random.IntN(8) {
	case 0:
		contract, kind = "undoing", "undo_refund"
		more = fmt.Sprintf(`, "compensates": %q`, h.actionID())
	case 1:
		kind = "other"
	}
	body := fmt.Sprintf(`{"action_id": %q, "contract_id": %q, "action_type": %q, "subject_id": %q, "subject_kind": "order", "agent_id": %q, "requested_at": %q,
		"params": {"amount": %s, "charge": %q}%s}`, h.actionID(), contract, kind, h.pick("o-1", "o-2", "o-3"), h.pick("bot", "bot-2"), requested,
		h.pick("80.00", "80", "150.00"), h.pick("ch_1", "ch_2", "ch_3", ""), more)
	d, err := action.Parse([]byte(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.declares.Declare(h.t.Context(), h.recorder(h.t), d); err != nil {
		h.t.Errorf("declare: %v", err)
	}
}

func (h *hammer) push() {
	types := map[string]string{"refund.succeeded": "stripe", "refund.failed": "stripe", "ticket.solved": "desk", "approval.granted": "desk"}
	factType := h.pick("refund.succeeded", "refund.succeeded", "refund.succeeded", "refund.failed", "ticket.solved", "approval.granted")
	f := evidence.Fact{
		Source: types[factType], ExternalID: fmt.Sprint("f", h.random.IntN(20)), Type: factType, OccurredAt: h.ago(50 * time.Hour),
		Refs: map[string]string{}, Attrs: map[string]value.Value{"amount": value.OfString("80.00")}, Revision: int64(h.random.IntN(4)),
		Retracted: h.random.IntN(8) == 0, ObservedAt: h.clock.read(),
	}
	if h.random.IntN(4) > 0 {
		f.SubjectID, f.SubjectKind = h.pick("o-1", "o-2", "o-3"), "order"
	}
	switch h.random.IntN(5) {
	case 0, 1:
		f.Refs["key"] = h.actionID()
	case 2:
		f.Refs["charge"] = h.pick("ch_1", "ch_2", "ch_3")
	}
	if h.random.IntN(3) == 0 {
		f.Refs["refund"] = h.pick("rf_1", "rf_2")
	}
	f.Attrs["amount"] = money(h.pick("80.00 USD", "80.00 USD", "150.00 USD", "80.00 EUR"))
	key := h.key(h.t, access.ScopesOf(access.FactsWrite), f.Source)
	if _, err := h.intake.Push(h.t.Context(), key, []intake.Fact{{Fact: f}}); err != nil {
		h.t.Errorf("push: %v", err)
	}
}

func (h *hammer) mark() {
	source := h.pick("stripe", "desk")
	marks := map[string]value.Instant{}
	for _, factType := range []string{"refund.succeeded", "refund.failed", "ticket.solved", "approval.granted"} {
		if h.random.IntN(2) == 0 {
			marks[factType] = h.ago(90 * time.Hour)
			if h.random.IntN(2) == 0 {
				marks[factType] = h.clock.read().Add(30 * time.Second)
			}
		}
	}
	if len(marks) == 0 {
		return
	}
	if _, err := h.intake.PutWatermarks(h.t.Context(), h.key(h.t, access.ScopesOf(access.FactsWrite), source), source, marks); err != nil {
		h.t.Errorf("state a watermark: %v", err)
	}
}

func (h *hammer) trust() {
	trust := []evidence.Trust{evidence.Asserted, evidence.Attested, evidence.SelfReported}[h.random.IntN(3)]
	if _, err := h.intake.ChangeSource(h.t.Context(), h.member(h.t), "desk", intake.SourceChange{Trust: &trust}); err != nil {
		h.t.Errorf("change a source: %v", err)
	}
}

// govern activates another version, in either mode.
func (h *hammer) govern() {
	text := fmt.Sprintf("# %d\n%s", h.random.IntN(1000), refunds)
	saved, err := h.contracts.Save(h.t.Context(), h.member(h.t), []byte(text), "")
	if err != nil {
		h.t.Errorf("save a version: %v", err)
		return
	}
	mode := []verdict.Mode{verdict.Live, verdict.Live, verdict.Shadow}[h.random.IntN(3)]
	if _, err := h.contracts.Activate(h.t.Context(), h.member(h.t), "refunds", saved.Version.Version, mode); err != nil {
		h.t.Errorf("activate a version: %v", err)
	}
}

func (h *hammer) strike() {
	switch n := h.random.IntN(20); {
	case n < 8:
		h.declare()
	case n < 15:
		h.push()
	case n < 18:
		h.mark()
	case n < 19:
		h.trust()
	default:
		h.govern()
	}
}

// furnish makes what hammers need.
func (p *place) furnish(t testing.TB) {
	t.Helper()
	for _, name := range []string{"stripe", "desk"} {
		if _, err := p.intake.CreateSource(t.Context(), p.member(t), intake.SourceOrder{Name: name, Trust: evidence.Attested}); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{refunds, undoing} {
		saved, err := p.contracts.Save(t.Context(), p.member(t), []byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.contracts.Activate(t.Context(), p.member(t), saved.Version.ContractID, saved.Version.Version, verdict.Live); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever happens in whatever order, and whoever does it at the same time: when
// nothing is due any more, no verdict is other than its case says. Each settled
// revision is there once, and follows the one before.
func TestWhateverHappensNoVerdictStaysBehind(t *testing.T) {
	t.Parallel()
	on(t, noon, func(t *testing.T, s *server) {
		s.clock.ticks.Store(true)
		worlds, rounds, strikes := 6, 8, 12
		if testing.Short() {
			worlds = 2
		}
		for seed := range worlds {
			p := s.place(t)
			p.furnish(t)
			hands := 1 + 2*(seed%2) // every other world has three at once
			var all []*hammer
			for i := range hands {
				declares := action.NewService(s.store, action.Options{Random: cryptorand.Reader})
				all = append(all, &hammer{place: p, declares: declares, t: t, random: rand.New(rand.NewPCG(uint64(seed), uint64(i))), name: "a"})
			}
			for round := range rounds {
				var busy sync.WaitGroup
				for _, h := range all {
					busy.Go(func() {
						for range strikes / hands {
							h.strike()
						}
					})
				}
				for range hands {
					busy.Go(func() { p.drain(t) })
				}
				busy.Wait()
				p.drain(t)
				var lost []string
				for _, difference := range append(p.left(t, &lost), lost...) {
					t.Errorf("world %d, round %d: %s", seed, round, difference)
				}
				s.clock.set(s.clock.read().Add(time.Duration(all[0].random.Int64N(int64(20 * time.Hour)))))
			}
			p.checkHistory(t)
		}
	})
}

// checkHistory holds the settled verdicts of all actions against each other.
func (p *place) checkHistory(t testing.TB) {
	t.Helper()
	err := p.store.View(t.Context(), p.id, func(tx store.Tx) error {
		listed, _, err := tx.ListActions(store.Filter{}, store.Page{Limit: 200})
		if err != nil {
			return err
		}
		settled := 0
		for i := range listed {
			all, err := tx.Settled(listed[i].Action.Ref)
			if err != nil {
				return err
			}
			for n := range all {
				v := &all[n].Verdict
				settled++
				if v.Revision != n+1 || n > 0 && v.Supersedes != all[n-1].Verdict.Digest() {
					t.Errorf("revision %d of %s is number %d and supersedes %s", n+1, v.ActionID, v.Revision, v.Supersedes)
				}
				c, err := verdict.DecodeCase(all[n].Case)
				if err != nil {
					return err
				}
				again, err := engine.Evaluate(c)
				if err != nil {
					return err
				}
				if again.Digest() != v.Digest() {
					t.Errorf("revision %d of %s is not what its case comes to", v.Revision, v.ActionID)
				}
			}
		}
		if len(listed) == 0 || settled == 0 {
			return errors.New("nothing was declared or nothing settled, so that nothing was looked at")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
