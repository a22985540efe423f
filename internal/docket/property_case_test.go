package docket_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// One case, one verdict: again, by many at once, and from its stored form.
func TestACaseHasOneVerdict(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		c, v := w.judge(t, w.drawTime(t))
		want, text := v.AppendJSON(nil), c.AppendJSON(nil)
		stored, err := verdict.DecodeCase(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		type answer struct {
			text []byte
			err  error
		}
		answers := make(chan answer, 3)
		for _, c := range []*verdict.Case{c, c, stored} {
			go func() {
				v, err := engine.Evaluate(c)
				answers <- answer{text: v.AppendJSON(nil), err: err}
			}()
		}
		for range cap(answers) {
			if a := <-answers; a.err != nil || !bytes.Equal(a.text, want) {
				t.Fatalf("another time the verdict is %s (%v), once it was %s%s", a.text, a.err, want, w)
			}
		}
		if !bytes.Equal(c.AppendJSON(nil), text) {
			t.Fatalf("its evaluation changed the case%s", w)
		}
	})
}

// Every result is one of the known ones and has reasons that the registry
// describes for it.
func TestEveryResultHasAReasonThatFitsIt(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		_, v := w.judge(t, w.drawTime(t))
		for i := range v.Checks {
			check := &v.Checks[i]
			if len(check.Reasons) == 0 {
				t.Fatalf("%s is %s without a reason%s", check.ID, check.Result, w)
			}
			for _, reason := range check.Reasons {
				entry, known := verdict.Lookup(reason.Code)
				if !known || !slices.Contains(entry.Kinds, check.Kind) || !slices.Contains(entry.Results, check.Result) {
					t.Fatalf("%s is a %s and %s for %s, which is described for %v of %v%s", check.ID, check.Kind, check.Result, reason.Code, entry.Results, entry.Kinds, w)
				}
			}
			if check.Final && len(check.Waits) > 0 {
				t.Fatalf("%s is final and waits%s", check.ID, w)
			}
		}
		for _, lens := range []verdict.Lens{v.Outcome, v.Conformance} {
			if len(lens.Codes) == 0 || lens.Result != verdict.Pass && lens.Result != verdict.Fail && lens.Result != verdict.Unknown {
				t.Fatalf("a lens is %q for %v%s", lens.Result, lens.Codes, w)
			}
			for _, code := range lens.Codes {
				if entry, known := verdict.Lookup(code); !known || !slices.Contains(entry.Results, lens.Result) {
					t.Fatalf("a lens is %s for %s%s", lens.Result, code, w)
				}
			}
		}
		for _, note := range v.Notes {
			if entry, known := verdict.Lookup(note.Code); !known || len(entry.Results) > 0 {
				t.Fatalf("%s is no note%s", note.Code, w)
			}
		}
		if v.VerifiedAmount != nil && !slices.Contains(passing(&v), "money_moved") {
			t.Fatalf("%s verified, and the step does not pass%s", v.VerifiedAmount, w)
		}
	})
}

// Saying again what was declared changes nothing, and saying something else
// afterwards changes no result.
func TestDeclaringAgainNeverHelps(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		c, v := w.judge(t, at)
		again := w.actions[some(t, "again", len(w.actions))]
		again.ReceivedAt = again.ReceivedAt.Add(rapid.SampledFrom([]time.Duration{time.Microsecond, time.Second, 5 * time.Hour}).Draw(t, "after"))
		again.RequestedAt = again.ReceivedAt.Add(rapid.SampledFrom([]time.Duration{0, -time.Hour, -100 * time.Hour, time.Hour}).Draw(t, "requested"))
		again.Channel = "retry"
		replayed := *w
		replayed.actions = append(slices.Clone(w.actions), again)
		c2, v2 := replayed.judge(t, at)
		if c.Digest() != c2.Digest() || v.Digest() != v2.Digest() {
			t.Fatalf("a replay of the declaration of %s changes something:\n%s%s", again.ActionID, unlike(v, v2), &replayed)
		}
		switch some(t, "changed", 4) {
		case 0:
			again.Params = map[string]value.Value{"amount": number("30.00")}
		case 1:
			again.SubjectID = "o-9"
		case 2:
			again.AgentID = "other-bot"
		case 3:
			again.Params = nil
		}
		changed := *w
		changed.actions = append(slices.Clone(w.actions), again)
		_, v3 := changed.judge(t, at)
		if results(&v) != results(&v3) {
			t.Fatalf("another declaration of %s turns\n%sinto\n%s%s", again.ActionID, results(&v), results(&v3), &changed)
		}
	})
}
