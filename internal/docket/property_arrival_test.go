package docket_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// evaluations are when worlds are looked at: while the window is open, after
// it, when it is time to settle, and when the grace is over.
var evaluations = []time.Duration{400 * time.Hour, 84 * time.Hour, 72 * time.Hour, 50 * time.Hour, 6 * time.Hour, 20 * time.Minute, 72*time.Hour - time.Microsecond}

// drawTime is one at which the action was already declared.
func (w *world) drawTime(t *rapid.T) value.Instant {
	return max(w.actions[0].ReceivedAt, w.start().Add(evaluations[chance(t, "evaluated", len(evaluations))]))
}

// unlike says how two verdicts differ, but for the digests of their cases.
func unlike(one, other verdict.Verdict) string {
	one.Case, other.Case = "", ""
	a, b := one.AppendJSON(nil), other.AppendJSON(nil)
	if bytes.Equal(a, b) {
		return ""
	}
	return cmp.Diff(string(a), string(b))
}

func shuffle[E any](t *rapid.T, what string, list []E) []E {
	if len(list) < 2 {
		return list
	}
	return rapid.Permutation(list).Draw(t, what)
}

func TestTheOrderOfArrivalNeverShows(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		c, v := w.judge(t, at)
		other := *w
		others := shuffle(t, "actions", w.actions[1:])
		other.actions = append([]verdict.Declaration{w.actions[0]}, others...)
		other.facts, other.sources = shuffle(t, "facts", w.facts), shuffle(t, "sources", w.sources)
		c2, v2 := other.judge(t, at)
		if c.Digest() != c2.Digest() {
			t.Fatalf("another order makes another case (-one +other):\n%s%s", cmp.Diff(string(c.AppendJSON(nil)), string(c2.AppendJSON(nil))), w)
		}
		if !bytes.Equal(v.AppendJSON(nil), v2.AppendJSON(nil)) {
			t.Fatalf("another order comes to another verdict:\n%s%s", unlike(v, v2), w)
		}
	})
}

// The same again, whenever it comes, is the same.
func TestAReplayedFactChangesNothing(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		if len(w.facts) == 0 {
			return
		}
		at := w.drawTime(t)
		c, v := w.judge(t, at)
		f := rapid.SampledFrom(w.facts).Draw(t, "replayed")
		f.IngestedAt = f.IngestedAt.Add(rapid.SampledFrom([]time.Duration{0, time.Second, 50 * time.Hour}).Draw(t, "again after"))
		c2, v2 := w.with(f).judge(t, at)
		if c.Digest() != c2.Digest() || v.Digest() != v2.Digest() {
			t.Fatalf("a replay of %s changes the case or the verdict:\n%s%s", tell(&f), unlike(v, v2), w)
		}
		// A store that does keep it twice comes to the same verdict.
		if i := slices.IndexFunc(c.Facts, func(known evidence.Fact) bool { return known.ExternalID == f.ExternalID }); i >= 0 && f.IngestedAt <= at {
			c.Facts = append(slices.Clone(c.Facts), f)
			v3, err := engine.Evaluate(c)
			if err != nil {
				t.Fatal(err)
			}
			if difference := unlike(v, v3); difference != "" {
				t.Fatalf("kept twice, %s changes the verdict:\n%s%s", tell(&f), difference, w)
			}
		}
	})
}

// Looking in between, and what settled then, changes no lens in the end.
func TestLookingEarlierChangesNoLensInTheEnd(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		_, once := w.judge(t, w.over())
		m := w.records(t)
		final := slices.Clone(w.sources)
		times := rapid.SliceOfNDistinct(rapid.Int64Range(0, 200), 1, 5, rapid.ID).Draw(t, "hours")
		slices.Sort(times)
		var last verdict.Verdict
		for i, hour := range append(times, 400) {
			when := max(w.actions[0].ReceivedAt, w.start().Add(time.Duration(hour)*time.Hour))
			if i == len(times) {
				when = w.over()
			}
			for _, s := range final {
				marks := map[string]value.Instant{}
				for factType, end := range s.Watermarks {
					marks[factType] = min(end, when)
				}
				s.Watermarks = marks
				m.Connect(s)
			}
			_, v, err := m.Evaluate(w.self(), when)
			if err != nil {
				t.Fatal(err)
			}
			checkRevision(t, w, &last, &v)
			last = v
		}
		if lenses(&last) != lenses(&once) {
			t.Fatalf("looked at in between it is %v %v/%v, at once %v %v/%v\nnotes %v%s", lenses(&last), last.Outcome.Codes, last.Conformance.Codes,
				lenses(&once), once.Outcome.Codes, once.Conformance.Codes, last.Notes, w)
		}
	})
}

// checkRevision holds a verdict against the one before it: what is settled does
// not change but by a revision that says why.
func checkRevision(t *rapid.T, w *world, before, v *verdict.Verdict) {
	if v.Status != verdict.Provisional && v.EvaluatedAt < v.SettlesAt {
		t.Fatalf("settled at %s, before %s%s", v.EvaluatedAt, v.SettlesAt, w)
	}
	if before.Revision == 0 {
		if v.Status == verdict.Revised {
			t.Fatalf("revised before it ever settled%s", w)
		}
		return
	}
	why := slices.ContainsFunc(v.Notes, func(r verdict.Reason) bool {
		return r.Code == verdict.LateEvidence || r.Code == verdict.LateCoverage || r.Code == verdict.LateDeclaration || r.Code == verdict.FactRetracted
	})
	switch {
	case v.Revision == before.Revision && lenses(v) != lenses(before):
		t.Fatalf("from %v to %v in the same revision%s", lenses(before), lenses(v), w)
	case v.Revision == before.Revision && v.Status != verdict.Settled:
		t.Fatalf("nothing changed, and it is %s%s", v.Status, w)
	case v.Revision == before.Revision:
	case v.Revision != before.Revision+1 || v.Status != verdict.Revised || v.Supersedes == "":
		t.Fatalf("revision %d, %s, follows revision %d%s", v.Revision, v.Status, before.Revision, w)
	case !why:
		t.Fatalf("revised from %v to %v without a reason: %v%s", lenses(before), lenses(v), v.Notes, w)
	}
}
