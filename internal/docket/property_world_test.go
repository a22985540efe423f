package docket_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// law holds a property against 10,000 drawn worlds, a tenth of that with -short
// or the race detector. rapid.Check draws 100 at a time, or as many as
// -rapid.checks says.
func law(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	rounds := lawRounds
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		rapid.Check(t, property)
	}
}

// world is what could have happened: a contract, what was declared under it and
// what systems of record told of it. The first action is the one looked at.
type world struct {
	version docket.Version
	sources []evidence.Source // as they stand, with their watermarks
	actions []verdict.Declaration
	facts   []evidence.Fact
}

func (w *world) self() string { return w.actions[0].ActionID }

// start is where the action's windows begin.
func (w *world) start() value.Instant { return w.actions[0].Start() }

// settled is when the last of the actions is due to settle.
func (w *world) settled() value.Instant {
	last := w.start()
	for i := range w.actions {
		last = max(last, w.actions[i].Start())
	}
	return last.Add(w.version.Contract.Settle.After)
}

// over is when nothing that was ever drawn is still waited for.
func (w *world) over() value.Instant { return at(400 * time.Hour) }

// with is the world in which other facts came too. It shares nothing that is
// changed.
func (w *world) with(facts ...evidence.Fact) *world {
	other := *w
	other.facts = append(slices.Clip(slices.Clone(w.facts)), facts...)
	return &other
}

// complete is the world whose sources are complete up to a time.
func (w *world) complete(to value.Instant) *world {
	other := *w
	other.sources = slices.Clone(w.sources)
	for i := range other.sources {
		marks := map[string]value.Instant{}
		for _, factType := range factTypes {
			marks[factType] = to
		}
		other.sources[i].Watermarks = marks
	}
	return &other
}

// records are the world's, arrived in its order.
func (w *world) records(t *rapid.T) *docket.Memory {
	m := docket.NewMemory()
	if err := m.Activate(w.version); err != nil {
		t.Fatal(err)
	}
	for _, s := range w.sources {
		m.Connect(s)
	}
	for _, d := range w.actions {
		m.Declare(d)
	}
	for _, f := range w.facts {
		m.Report(f)
	}
	return m
}

// judge evaluates the action looked at, by what is known at a time, without a
// verdict before.
func (w *world) judge(t *rapid.T, at value.Instant) (*verdict.Case, verdict.Verdict) {
	c, err := docket.Build(w.records(t), w.self(), at)
	if err != nil {
		t.Fatal(err)
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, v
}

// String is what a failure shows.
func (w *world) String() string {
	text := "\n" + w.version.Contract.Text
	for i := range w.sources {
		s := &w.sources[i]
		text += fmt.Sprintf("source %s %s unit %s complete %v\n", s.Name, s.Trust, s.Unit(), s.Watermarks)
	}
	for i := range w.actions {
		d := &w.actions[i]
		amount, _ := d.Params["amount"].AppendJSON(nil)
		text += fmt.Sprintf("action %s on %s/%s by %s requested %s received %s amount %s\n", d.ActionID, d.SubjectKind, d.SubjectID, d.AgentID, d.RequestedAt, d.ReceivedAt, amount)
	}
	for i := range w.facts {
		text += tell(&w.facts[i])
	}
	return text
}

func tell(f *evidence.Fact) string {
	amount, _ := f.Attrs["amount"].AppendJSON(nil)
	return fmt.Sprintf("fact %s %s %s on %s/%s refs %v amount %s actor %q status %q at %s arrives %s revision %d retracted %v %s\n", f.Source, f.Type, f.ExternalID,
		f.SubjectKind, f.SubjectID, f.Refs, amount, f.Actor(), f.Attrs["status"].Text(), f.OccurredAt, f.IngestedAt, f.Revision, f.Retracted, f.Mode)
}

// factTypes are what the contracts of worlds look for, the first most often.
var factTypes = []string{"refund.succeeded", "refund.failed", "ticket.solved", "approval.granted", "order.status"}

// tellers are the sources that tell of a type.
var tellers = map[string][]string{
	"refund.succeeded": {"stripe", "bank"}, "refund.failed": {"stripe", "bank"}, "ticket.solved": {"zendesk"},
	"approval.granted": {"approvals", "zendesk"}, "order.status": {"shop", "stripe"},
}

// draw makes a world. Times are those at which something changes: the edges of
// windows, and a microsecond and a second to both sides of them.
func draw(t *rapid.T) *world {
	shape := drawShape(t)
	w := &world{}
	w.version = version(shape.contract(t), 1, verdict.Live, 0, 0)
	for _, name := range []string{"approvals", "bank", "shop", "stripe", "zendesk"} {
		s := evidence.Source{Name: name, Trust: evidence.Independent}
		switch chance(t, "source", 12) {
		case 1:
			s.Trust = evidence.Asserted
		case 2:
			s.Resolution = evidence.Resolution(time.Microsecond)
		case 3:
			s.Resolution = evidence.Resolution(time.Hour)
		}
		w.sources = append(w.sources, s)
	}
	w.drawMarks(t)
	w.drawActions(t)
	types := slices.DeleteFunc(slices.Clone(factTypes), func(factType string) bool { return !shape.expects(factType) })
	for i, factType := range types {
		if factType != "refund.failed" && chance(t, "as it should be", 2) == 0 {
			w.facts = append(w.facts, w.drawFact(t, factType, fmt.Sprint("f", i), usual)...)
		}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "facts") {
		w.facts = append(w.facts, w.drawFact(t, types[chance(t, "type", len(types))], fmt.Sprint("g", i), some)...)
	}
	return w
}

// chance is a number below n, and in two of three cases zero, which stands for
// the usual.
func chance(t *rapid.T, what string, n int) int {
	return max(0, rapid.IntRange(-2*n, n-1).Draw(t, what))
}

// some is any number below n. Rapid prefers small numbers, and their sum, which
// still is small where they are, has no such preference.
func some(t *rapid.T, what string, n int) int {
	sum := 0
	for i := 1; i < 2*n; i *= 8 {
		sum += rapid.IntRange(0, n-1).Draw(t, what)
	}
	return sum % n
}

// usual is zero.
func usual(*rapid.T, string, int) int { return 0 }

// drawMarks states how complete the sources are: one time for all, one of them
// behind, or nothing at all.
func (w *world) drawMarks(t *rapid.T) {
	ends := []time.Duration{400 * time.Hour, 72 * time.Hour, 48 * time.Hour, 6 * time.Hour, 72*time.Hour - time.Microsecond, 48*time.Hour - time.Microsecond, time.Minute, -time.Hour}
	all := ends[chance(t, "complete", len(ends))]
	behind := chance(t, "behind", len(w.sources)+1) - 1
	for i := range w.sources {
		marks := map[string]value.Instant{}
		for _, factType := range factTypes {
			marks[factType] = at(all)
		}
		if i == behind {
			delete(marks, factTypes[chance(t, "unknown type", len(factTypes))])
		}
		w.sources[i].Watermarks = marks
	}
	if chance(t, "never connected", 8) == 1 {
		for i := range w.sources {
			w.sources[i].Watermarks = nil
		}
	}
}

func (w *world) drawActions(t *rapid.T) {
	for i := range 1 + max(0, rapid.IntRange(-3, 3).Draw(t, "rivals")) {
		d := refund(fmt.Sprint("a", i+1))
		switch chance(t, "declared", 10) {
		case 1:
			d.ReceivedAt = at(time.Hour)
		case 2:
			d.RequestedAt, d.ReceivedAt = at(-time.Minute), at(0)
		case 3: // late, and perhaps after the effect
			d.RequestedAt, d.ReceivedAt = at(-time.Minute), at(10*time.Minute)
		case 4:
			d.ReceivedAt = at(-26 * time.Hour)
		}
		amounts := []string{"80.00", "150.00", "8e1", "30.00"}
		d.Params = map[string]value.Value{"amount": number(amounts[chance(t, "amount", len(amounts))])}
		switch chance(t, "params", 12) {
		case 1:
			delete(d.Params, "amount")
		case 2:
			d.Params["currency"] = text("EUR")
		}
		switch chance(t, "who", 8) {
		case 1:
			d.AgentID = "other-bot"
		case 2:
			d.SubjectID = "o-2"
		}
		w.actions = append(w.actions, d)
	}
}

func text(s string) value.Value { return value.OfString(s) }

// moments are the times of facts, from the start on.
var moments = []time.Duration{
	5 * time.Minute, 6 * time.Hour, 47 * time.Hour, 48 * time.Hour, 48*time.Hour + time.Microsecond, 48*time.Hour + time.Second, 48*time.Hour - time.Microsecond,
	60 * time.Hour, 72 * time.Hour, 72*time.Hour + time.Microsecond, 72*time.Hour + time.Second, 72*time.Hour - time.Microsecond, 80 * time.Hour, 0,
	time.Microsecond, -time.Microsecond, -time.Second, -2 * time.Minute, -2*time.Minute - time.Microsecond, -2*time.Minute - time.Second, -time.Hour,
	-7 * day, -7*day - time.Second,
}

var sums = []string{"80.00 USD", "80 USD", "150.00 USD", "50.00 USD", "30.00 USD", "80.01 USD", "80.00 EUR", "-10.00 USD"}

// drawFact makes a fact about one of the actions, with all its revisions: one
// as it should be, or any.
func (w *world) drawFact(t *rapid.T, factType, id string, which func(t *rapid.T, what string, n int) int) []evidence.Fact {
	from := tellers[factType]
	about := &w.actions[which(t, "about", len(w.actions))]
	f := evidence.Fact{
		Source: from[chance(t, "teller", len(from))], ExternalID: id, Type: factType,
		SubjectID: about.SubjectID, SubjectKind: about.SubjectKind, Refs: map[string]string{}, Attrs: map[string]value.Value{},
	}
	if factType == "order.status" {
		f.Mode = evidence.State
		f.Attrs["status"] = text([]string{"refunded", "open"}[which(t, "status", 2)])
	} else if which(t, "fitting", 2) == 0 {
		f.Attrs["amount"] = fitting(about)
	} else {
		f.Attrs["amount"] = amount(sums[some(t, "amount", len(sums))])
	}
	if which(t, "odd", 3) == 1 {
		oddities[some(t, "oddity", len(oddities))](&f)
	}
	switch which(t, "key", 5) {
	case 0, 1, 2:
		f.Refs["key"] = about.ActionID
	case 3:
		f.Refs["key"] = "nobody"
	}
	if n := chance(t, "reference", 4); n > 0 {
		f.Refs["refund"] = fmt.Sprint("rf-", n)
	}
	offset := moments[which(t, "moment", len(moments))]
	if factType == "approval.granted" && which(t, "in time", 3) != 1 {
		offset = -time.Hour
	}
	f.OccurredAt = about.Start().Add(offset)
	f.IngestedAt = f.OccurredAt.Add([]time.Duration{time.Minute, 0, 30 * time.Hour, 100 * time.Hour}[chance(t, "arrives", 4)])
	f.ObservedAt = f.IngestedAt
	return w.drawRevisions(t, f)
}

// fitting is the amount that was declared, or 80 dollars.
func fitting(d *verdict.Declaration) value.Value {
	v := d.Params["amount"]
	if v.IsMissing() {
		return amount("80.00 USD")
	}
	currency := money.Currency("USD")
	if c := d.Params["currency"].Text(); c != "" {
		currency = money.Currency(c)
	}
	return value.OfMoney(money.Amount{Value: v.Decimal(), Currency: currency})
}

// oddities are what may be wrong with a fact besides its amount and its time.
var oddities = []func(*evidence.Fact){
	func(f *evidence.Fact) { delete(f.Attrs, "amount"); delete(f.Attrs, "status") },
	func(f *evidence.Fact) { f.Attrs["amount"] = text("80.00") },
	func(f *evidence.Fact) { f.Attrs["actor"] = text("other-bot") },
	func(f *evidence.Fact) { f.SubjectID = "o-9" },
	func(f *evidence.Fact) { f.SubjectID, f.SubjectKind = "c-1", "charge" },
	func(f *evidence.Fact) { f.SubjectID, f.SubjectKind = "", "" },
}

// drawRevisions adds to a fact what its source said of it later, in an order
// that is sometimes its number's, sometimes the time's, and sometimes nobody's.
func (w *world) drawRevisions(t *rapid.T, f evidence.Fact) []evidence.Fact {
	revised := f
	switch chance(t, "revision", 12) {
	case 1:
		revised.Retracted = true
	case 2:
		revised.Attrs = map[string]value.Value{"amount": amount(sums[chance(t, "revised amount", len(sums))])}
	case 3:
		revised.OccurredAt = revised.OccurredAt.Add(time.Hour)
	case 4:
		if f.Type == "refund.succeeded" {
			revised.Type = "refund.failed"
		}
	case 5:
		revised.Refs = map[string]string{"key": "nobody"}
	case 6: // the same, spelled otherwise
		if v := f.Attrs["amount"]; v.Kind() == value.Money {
			revised.Attrs = map[string]value.Value{"amount": value.OfMoney(money.Amount{Value: v.Amount().Value.Add(number("0.000").Decimal()), Currency: v.Amount().Currency})}
		}
		revised.IngestedAt = f.IngestedAt.Add(time.Duration(some(t, "spelled after", 2)) * time.Minute)
		return []evidence.Fact{f, revised}
	default:
		return []evidence.Fact{f}
	}
	switch chance(t, "ordered by", 3) {
	case 0:
		f.Revision, revised.Revision = 1, 2
	case 1:
		revised.ObservedAt = f.ObservedAt.Add(time.Minute)
	}
	revised.IngestedAt = f.IngestedAt.Add([]time.Duration{time.Minute, 60 * time.Hour, 0}[chance(t, "revised arrives", 3)])
	return []evidence.Fact{f, revised}
}

// lenses are the results of both lenses.
func lenses(v *verdict.Verdict) [2]verdict.Result {
	return [2]verdict.Result{v.Outcome.Result, v.Conformance.Result}
}

// parsed keeps contracts by their text: most worlds share theirs with others.
var parsed sync.Map
