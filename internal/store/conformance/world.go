package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// shapes are contracts of one id that differ in all that a store must know of
// them: by what facts link, which types are looked for, what limits add up.
var shapes = []string{
	refunds,
	strings.NewReplacer("per: agent_id", "per: subject_id", `over: 24h, per: agent_id}
  - {id: agent_often`, `over: 1h, per: agent_id}
  - {id: agent_often`).Replace(refunds),
	`contract: refunds
params:
  amount: {type: money, currency: currency, unit: minor}
  currency: {type: currency, default: EUR}
  desk: {type: integer}
  order: {type: string}
settle: {after: 24h, grace: 1h, max_skew: 2m}
sources:
  stripe: {trust: independent}
  bank: {trust: attested}
link:
  - refs.desk == params.desk
  - subject
steps:
  - {id: money_moved, expect: refund.succeeded, from: [stripe, bank], within: 12h}
never:
  - {id: not_failed, expect: refund.failed, from: stripe}
limits:
  - {id: desk_hourly, total: params.amount, max: "200.00 USD", over: 1h, per: params.desk}
  - {id: any, count: true, max: 3, over: 30d}
approvals:
  - {id: ok, expect: approval.granted, from: bank, link: [refs.order == params.order, subject], lookback: 7d, before: money_moved}
compensation: {by: reversals}
`,
	`contract: reversals
settle: {after: 1h, grace: 1h, max_skew: 2m}
sources:
  bank: {trust: attested}
link: [refs.key == action_id]
steps:
  - {id: back, expect: payment.returned, from: bank}
limits:
  - {id: often, count: true, max: 1, over: 2h, per: workflow_id}
`,
}

// world is what was declared and told, as a store and as memory have it.
type world struct {
	place
	memory    *docket.Memory
	versions  map[string][]*contract.Contract // all that there ever are of a contract
	governing []docket.Version
	declared  []verdict.Declaration // the first ones
	refs      map[string]store.Ref
	facts     []store.Fact
	ingested  value.Instant // the latest
}

// drawTime is a time around the edges of the spans in which a store may keep sums.
func drawTime(t *rapid.T, what string) value.Instant {
	spans := []time.Duration{0, time.Second, time.Minute, time.Hour, day, 7 * day}
	steps := []time.Duration{time.Microsecond, time.Second, time.Minute, 13 * time.Minute}
	when := at(rapid.SampledFrom(spans).Draw(t, what)).Add(-rapid.SampledFrom(spans).Draw(t, what))
	return when.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, what)) * rapid.SampledFrom(steps).Draw(t, what))
}

// pick is one of several.
func pick[T any](t *rapid.T, what string, from ...T) T { return rapid.SampledFrom(from).Draw(t, what) }

// drawWorld makes a world in a workspace and in memory alike.
func drawWorld(t *rapid.T, tb testing.TB, p place) *world {
	w := &world{
		place: p, memory: docket.NewMemory(), versions: map[string][]*contract.Contract{}, refs: map[string]store.Ref{}, ingested: at(-10 * day),
	}
	w.drawContracts(t, tb)
	w.drawSources(t, tb)
	w.drawActions(t, tb)
	w.drawFacts(t, tb)
	w.keepVerdicts(t, tb, at(2*time.Hour))
	w.drawFacts(t, tb)
	w.keepVerdicts(t, tb, at(20*day))
	return w
}

// drawContracts gives each contract versions that govern one after the other, with
// gaps where one is retired.
func (w *world) drawContracts(t *rapid.T, tb testing.TB) {
	for _, id := range []string{"refunds", "reversals"} {
		from := at(-20 * day)
		total := rapid.IntRange(1, 3).Draw(t, "versions of "+id)
		for n := 1; n <= total; n++ {
			text := shapes[len(shapes)-1]
			if id == "refunds" {
				text = pick(t, "shape", shapes[:len(shapes)-1]...)
			}
			k := compile(tb, text)
			w.versions[id] = append(w.versions[id], k)
			v := docket.Version{From: from}
			v.Contract, v.Version, v.Mode = k, n, pick(t, "mode", verdict.Live, verdict.Shadow)
			next := from.Add(pick(t, "governs for", 10*day, 19*day, 20*day, 21*day))
			retires := rapid.Bool().Draw(t, "is retired")
			w.keep(tb, func(tx store.Tx) {
				tx.AddContractVersion(version(k, n))
				activated := version(k, n)
				activated.Mode, activated.From, activated.ActivatedBy = v.Mode, from, actor
				tx.ActivateContract(activated)
			})
			switch {
			case retires:
				w.keep(tb, func(tx store.Tx) { tx.RetireContract(id, next, actor) })
				v.Until, from = next, next.Add(time.Hour)
			case n < total:
				v.Until, from = next, next
			}
			if err := w.memory.Activate(v); err != nil {
				t.Fatal(err)
			}
			w.governing = append(w.governing, v)
		}
	}
	// One that was saved and never activated looks for nothing.
	w.keep(tb, func(tx store.Tx) { tx.AddContractVersion(version(compile(tb, shapes[2]), 9)) })
}

func (w *world) drawSources(t *rapid.T, tb testing.TB) {
	for _, name := range []string{"stripe", "bank"} {
		if pick(t, "unknown", 0, 0, 0, 1) == 1 {
			continue
		}
		s := source(name)
		s.Trust, s.Resolution = pick(t, "trust", evidence.Asserted, evidence.Independent), pick(t, "resolution", 0, evidence.Resolution(time.Hour))
		s.Provides = pick(t, "provides", nil, []string{"refund.failed", "refund.succeeded"})
		marks := map[string]value.Instant{}
		for _, factType := range []string{"refund.succeeded", "refund.failed", "payment.returned"} {
			if rapid.Bool().Draw(t, "has a watermark") {
				marks[factType] = drawTime(t, "watermark")
			}
		}
		w.keep(tb, func(tx store.Tx) {
			tx.PutSource(s)
			for factType, mark := range marks {
				tx.PutWatermark(name, factType, mark, actor)
			}
		})
		s.Watermarks = marks
		w.memory.Connect(s.Source)
	}
}

func (w *world) drawActions(t *rapid.T, tb testing.TB) {
	for n := range rapid.IntRange(1, 9).Draw(t, "actions") {
		a := action(n, with(func(d *verdict.Declaration) { w.drawDeclaration(t, d) }))
		d := a.Declaration
		var limits []store.LimitEntry
		versions := slices.Clone(w.versions[d.ContractID])
		governing, err := w.memory.Active(d.ContractID, d.ReceivedAt)
		if err != nil {
			t.Fatal(err)
		}
		if governing != nil {
			a.Version, a.Mode = governing.Version, governing.Mode
			versions = append([]*contract.Contract{governing.Contract}, versions...)
			for _, k := range versions {
				for _, e := range entries(k, a) {
					if !slices.ContainsFunc(limits, func(known store.LimitEntry) bool { return known.Key == e.Key }) {
						limits = append(limits, e)
					}
				}
			}
		}
		w.keep(tb, func(tx store.Tx) {
			tx.Turn(store.Alone)
			tx.AddAction(a, limits, docket.LinkParams(versions, &d))
		})
		w.memory.Declare(d)
		w.declared, w.refs[d.ActionID] = append(w.declared, d), a.Ref
		for again := range pick(t, "revisions", 0, 0, 1, 2) {
			r := revision(a, again+2)
			w.keep(tb, func(tx store.Tx) { tx.AddRevision(r) })
			w.memory.Declare(r.Declaration)
		}
	}
}

func (w *world) drawDeclaration(t *rapid.T, d *verdict.Declaration) {
	d.ContractID = pick(t, "contract", "refunds", "refunds", "refunds", "reversals", "nobody's", "")
	d.AgentID, d.WorkflowID = pick(t, "agent", "bot", "bot", "other", ""), pick(t, "workflow", "wf-1", "")
	d.SubjectID = pick(t, "subject", "o-1", "o-1", "o-2", "")
	d.ReceivedAt = drawTime(t, "received")
	if rapid.Bool().Draw(t, "has a request") {
		d.RequestedAt = drawTime(t, "requested")
	}
	d.Compensates = pick(t, "compensates", "", "", actionID(0), actionID(1), "nobody")
	d.Params = map[string]value.Value{}
	for name, v := range map[string]value.Value{
		"amount":   pick(t, "amount", decimal("80.00"), decimal("0.1"), decimal("0.20"), decimal("12345678901234567890.12"), amount("7.5 EUR"), value.Value{}),
		"currency": pick(t, "currency", value.OfString("USD"), value.OfString("eur"), value.Value{}),
		"desk":     pick(t, "desk", decimal("7"), decimal("7.0"), decimal("8"), value.Value{}),
		"order":    pick(t, "order", value.OfString("o-1"), value.OfString("o-2"), value.Value{}),
	} {
		if !v.IsMissing() {
			d.Params[name] = v
		}
	}
}

// drawFacts reports facts in a few batches, each with what is told again in it.
func (w *world) drawFacts(t *rapid.T, tb testing.TB) {
	for range rapid.IntRange(0, 2).Draw(t, "batches") {
		var batch []store.Fact
		var want []bool
		for range rapid.IntRange(1, 6).Draw(t, "facts") {
			f := w.drawFact(t)
			batch = append(batch, f)
			want = append(want, w.memory.Report(f.Fact))
		}
		if got := add(tb, w.place, batch...); !slices.Equal(got, want) {
			t.Fatalf("of %+v new are %v, want %v", batch, got, want)
		}
		w.facts = append(w.facts, batch...)
	}
}

// drawFact is a fact, another revision of one, or one that was told before.
func (w *world) drawFact(t *rapid.T) store.Fact {
	w.ingested = w.ingested.Add(time.Minute)
	f := fact(rapid.IntRange(0, 4).Draw(t, "fact"), func(f *store.Fact) {
		f.Source, f.Type = pick(t, "source", "stripe", "stripe", "bank"), pick(t, "type", "refund.succeeded", "refund.succeeded", "refund.failed", "payment.returned", "approval.granted")
		f.SubjectID = pick(t, "subject", "o-1", "o-1", "o-2", "")
		f.OccurredAt = drawTime(t, "occurred")
		f.ObservedAt = f.OccurredAt
		f.Revision, f.Retracted = pick(t, "revision", 0, 0, int64(1), 2), pick(t, "retracted", false, false, true)
		f.Payload = ""
		f.Attrs = map[string]value.Value{"amount": pick(t, "amount", amount("80.00 USD"), amount("80 USD"), amount("0.1 EUR"))}
		f.Refs = map[string]string{}
		for name, v := range map[string]string{
			"key": pick(t, "key", "", actionID(0), actionID(1), "nobody"), "order": pick(t, "order", "", "o-1", "o-2"), "desk": pick(t, "desk", "", "7"),
		} {
			if v != "" {
				f.Refs[name] = v
			}
		}
	})
	if len(w.facts) > 0 && pick(t, "told again", 0, 0, 1) == 1 {
		f = pick(t, "which", w.facts...)
		f.Attrs = maps.Clone(f.Attrs)
		switch pick(t, "how", 0, 1, 2, 3) {
		case 1:
			f.Type = pick(t, "moved to", "refund.failed", "refund.succeeded")
		case 2:
			f.SubjectID = pick(t, "moved to", "o-1", "o-2", "")
		case 3:
			f.OccurredAt = drawTime(t, "occurred")
		}
	}
	f.IngestedAt = w.ingested
	return f
}

// keepVerdicts evaluates some of the actions by what is known at a time.
func (w *world) keepVerdicts(t *rapid.T, tb testing.TB, when value.Instant) {
	for i := range w.declared {
		id := w.declared[i].ActionID
		if w.declared[i].ReceivedAt > when || !pick(t, "is evaluated", true, true, false) {
			continue
		}
		c, err := docket.Build(w.memory, id, when)
		if err != nil {
			t.Fatal(err)
		}
		v, err := engine.Evaluate(c)
		if err != nil {
			t.Fatal(err)
		}
		if c.Previous == nil || v.Revision != c.Previous.Revision {
			w.keep(tb, func(tx store.Tx) { tx.KeepVerdict(w.refs[id], &v, c, v.Waits) })
		}
		w.memory.Keep(c, v)
	}
}

// String writes the world down for whoever has to find out what went wrong.
func (w *world) String() string {
	var b strings.Builder
	for i := range w.governing {
		v := &w.governing[i]
		fmt.Fprintln(&b, v.Contract.ID, v.Version, v.Mode, "from", v.From, "until", v.Until, v.Contract.Digest)
	}
	for _, d := range w.declared {
		fmt.Fprintln(&b, wording(d))
	}
	for i := range w.facts {
		f := &w.facts[i]
		fmt.Fprintln(&b, f.Source, f.Type, f.ExternalID, f.Revision, f.SubjectID, f.Refs, f.OccurredAt, f.IngestedAt, f.Retracted)
	}
	return b.String()
}
