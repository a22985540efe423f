package docket_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// results are the checks and lenses of a verdict, by what they come to.
func results(v *verdict.Verdict) string {
	var b strings.Builder
	fmt.Fprintln(&b, "outcome", v.Outcome.Result, v.Outcome.Codes)
	fmt.Fprintln(&b, "conformance", v.Conformance.Result, v.Conformance.Codes)
	for i := range v.Checks {
		fmt.Fprintln(&b, v.Checks[i].ID, v.Checks[i].Result, v.Checks[i].Reasons)
	}
	return b.String()
}

// What is about nobody's subject and carries nobody's key is not even looked at.
func TestUnrelatedFactsChangeNothing(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		c, v := w.judge(t, at)
		var others []evidence.Fact
		for _, f := range w.drawFact(t, factTypes[some(t, "type", len(factTypes))], "other", some) {
			f.SubjectID = "o-77"
			f.Refs = map[string]string{"refund": "rf-77"}
			if rapid.Bool().Draw(t, "with a key") {
				f.Refs["key"] = "nobody"
			}
			others = append(others, f)
		}
		// A type that the contract does not look for, on the action's subject.
		beside := w.drawFact(t, factTypes[0], "beside", some)[0]
		beside.Type, beside.ExternalID = "charge.created", "beside"
		c2, v2 := w.with(append(others, beside)...).judge(t, at)
		if c.Digest() != c2.Digest() || v.Digest() != v2.Digest() {
			t.Fatalf("unrelated facts make another case or verdict of it:\n%s%s", unlike(v, v2), w.with(others...))
		}
	})
}

// What happened after the time to settle is noted and changes nothing. A rival
// may settle later, and what it can claim until then may still settle a tie, so
// that this is after the last of them.
func TestFactsAfterSettlementChangeNothing(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		_, v := w.judge(t, w.over())
		facts := w.drawFact(t, factTypes[some(t, "type", len(factTypes))], "after", some)
		for i := range facts {
			f := &facts[i]
			f.OccurredAt = w.settled().Add([]time.Duration{time.Hour, 2 * time.Hour, 100 * time.Hour}[some(t, "after", 3)])
			f.IngestedAt = f.OccurredAt
		}
		later := w.with(facts...)
		_, v2 := later.judge(t, w.over())
		if results(&v) != results(&v2) {
			t.Fatalf("what came after settlement turns\n%sinto\n%s%s", results(&v), results(&v2), later)
		}
	})
}

// agreeing is the same told by another source, under the same reference.
func agreeing(w *world, told evidence.Identity, source string) []evidence.Fact {
	var facts []evidence.Fact
	for _, f := range w.facts {
		if f.Identity() == told {
			f.Source = source
			facts = append(facts, f)
		}
	}
	return facts
}

// Another source that says the same of the same effect takes nothing away from
// what is known. An effect of which a third fact tells is left out: the other
// source may have told it differently there, and would contradict itself. So is
// the source that decides, whose word is more than one that agrees.
func TestAgreeingEvidenceNeverMakesAnythingUnknown(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		k := w.version.Contract
		if k.Evidence.SameEffect == "" {
			return
		}
		at := w.drawTime(t)
		_, v := w.judge(t, at)
		for _, f := range w.facts {
			for _, source := range tellers[f.Type] {
				if source == f.Source || source == k.Evidence.Decides || f.Refs["refund"] == "" || !w.like(f.Type, source, f.Source) ||
					slices.ContainsFunc(w.facts, func(other evidence.Fact) bool {
						return other.Identity() != f.Identity() && other.Refs["refund"] == f.Refs["refund"]
					}) {
					continue
				}
				more := w.with(agreeing(w, f.Identity(), source)...)
				_, v2 := more.judge(t, at)
				for i := range v.Checks {
					before := v.Checks[i].Result
					if v.Checks[i].Reasons[0].Code == verdict.QuorumNotReached {
						continue // the confirmation that was missing is there
					}
					if (before == verdict.Pass || before == verdict.Fail) && v2.Checks[i].Result == verdict.Unknown {
						t.Fatalf("%s agreeing with %s turns\n%sinto\n%s%s", source, tell(&f), results(&v), results(&v2), more)
					}
				}
			}
		}
	})
}

// like says whether the contract asks two sources for the same, and they are
// equally trusted and exact.
func (w *world) like(factType, one, other string) bool {
	k := w.version.Contract
	both := false
	ask := func(o *contract.Observation) {
		both = both || o.Expect == factType && slices.Contains(o.From, one) && slices.Contains(o.From, other)
	}
	for i := range k.Steps {
		ask(&k.Steps[i].Observation)
	}
	for i := range k.Never {
		ask(&k.Never[i].Observation)
	}
	for i := range k.State {
		ask(&k.State[i].Observation)
	}
	for i := range k.Approvals {
		ask(&k.Approvals[i].Observation)
	}
	a, b := w.source(one), w.source(other)
	return both && a.Trust == b.Trust && a.Unit() == b.Unit()
}

func (w *world) source(name string) *evidence.Source {
	return &w.sources[slices.IndexFunc(w.sources, func(s evidence.Source) bool { return s.Name == name })]
}

// A step that is left without any fact to stand on does not pass, whatever it
// came to before.
func TestNoStepPassesOnceItsEvidenceIsTakenBack(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		m := w.records(t)
		at := w.drawTime(t)
		_, v, err := m.Evaluate(w.self(), at)
		if err != nil {
			t.Fatal(err)
		}
		passed := v.Outcome.Result == verdict.Pass
		steps := passing(&v)
		// What was kept back by a fact that is gone may come to the fore, so this
		// goes on until nothing supports a step.
		for n := 0; len(supports(&v)) > 0; n++ {
			if n > len(w.facts) {
				t.Fatalf("a fact supports a step although it was taken back%s", w)
			}
			at = at.Add(time.Minute)
			for _, f := range w.facts {
				if slices.Contains(supports(&v), f.Identity()) {
					f.Retracted, f.Revision, f.ObservedAt, f.IngestedAt = true, 99, at, at
					m.Report(f)
				}
			}
			before := v
			if _, v, err = m.Evaluate(w.self(), at); err != nil {
				t.Fatal(err)
			}
			checkRevision(t, w, &before, &v)
		}
		if again := passing(&v); len(again) > 0 {
			t.Fatalf("%v pass without evidence\n%s%s", again, results(&v), w)
		}
		if passed && len(steps) > 0 && v.Outcome.Result == verdict.Pass {
			t.Fatalf("the outcome passes without evidence\n%s%s", results(&v), w)
		}
	})
}

// passing are the steps that pass.
func passing(v *verdict.Verdict) []string {
	var ids []string
	for i := range v.Checks {
		if v.Checks[i].Kind == verdict.StepCheck && v.Checks[i].Result == verdict.Pass {
			ids = append(ids, v.Checks[i].ID)
		}
	}
	return ids
}

// supports are the facts that support steps.
func supports(v *verdict.Verdict) []evidence.Identity {
	var ids []evidence.Identity
	for i := range v.Checks {
		for j := range v.Checks[i].Seen {
			if seen := &v.Checks[i].Seen[j]; seen.Role == verdict.Supports && v.Checks[i].Kind == verdict.StepCheck {
				ids = append(ids, seen.Identity())
			}
		}
	}
	return ids
}

// Where no source ever said how complete it is, nothing fails for what is
// missing, and nothing passes for what must not be there.
func TestWithoutCoverageNothingIsMissingAndNothingIsAbsent(t *testing.T) {
	t.Parallel()
	contradictions := []verdict.Code{
		verdict.ValueMismatch, verdict.CurrencyDiffers, verdict.SubjectMismatch, verdict.DuplicateEffect, verdict.LateEffect, verdict.EffectBeforeDeclaration,
		verdict.EffectReversed, verdict.OutOfOrder, verdict.LimitExceeded, verdict.RequiredParamMissing,
	}
	law(t, func(t *rapid.T) {
		w := draw(t)
		w.sources = slices.Clone(w.sources)
		for i := range w.sources {
			w.sources[i].Watermarks = nil
		}
		_, v := w.judge(t, w.over())
		k := w.version.Contract
		for i := range v.Checks {
			check := &v.Checks[i]
			if check.Result == verdict.Fail && !slices.Contains(contradictions, check.Reasons[0].Code) {
				t.Fatalf("%s fails although nothing is covered\n%s%s", check.ID, results(&v), w)
			}
			bounded := check.Kind == verdict.NeverCheck || check.Kind == verdict.StateCheck
			for j := range k.Steps {
				step := &k.Steps[j]
				bounded = bounded || step.ID == check.ID && (step.Count.Max > 0 || step.Sum != nil && step.Sum.Max != nil)
			}
			if bounded && check.Result == verdict.Pass {
				t.Fatalf("%s passes although nothing is covered\n%s%s", check.ID, results(&v), w)
			}
		}
	})
}

// later is what a source may still tell: facts after what it said was complete,
// known only after a time.
func (w *world) later(t *rapid.T, known value.Instant) []evidence.Fact {
	var facts []evidence.Fact
	for i := range rapid.IntRange(0, 3).Draw(t, "later facts") {
		drawn := w.drawFact(t, factTypes[chance(t, "type", len(factTypes))], fmt.Sprint("n", i), some)
		possible := true
		for j := range drawn {
			f := &drawn[j]
			source := w.source(f.Source)
			possible = possible && f.OccurredAt.Cut(source.Unit()) > source.Watermark(f.Type)
			f.IngestedAt = known.Add(time.Duration(j+1) * time.Minute)
		}
		if possible {
			facts = append(facts, drawn...)
		}
	}
	return facts
}

// A lens that is decided stays what it is, whatever happens next and however
// complete the sources become.
func TestNothingNewTurnsADecidedLens(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		w.facts = slices.DeleteFunc(w.facts, func(f evidence.Fact) bool { return f.IngestedAt > at })
		w.actions = append(w.actions[:1:1], slices.DeleteFunc(slices.Clone(w.actions[1:]), func(d verdict.Declaration) bool { return d.ReceivedAt > at })...)
		m := w.records(t)
		_, v, err := m.Evaluate(w.self(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !v.Outcome.Decided && !v.Conformance.Decided {
			return
		}
		facts := w.later(t, at)
		report(m, facts...)
		after := w.over()
		covered := w.complete(after)
		if rapid.Bool().Draw(t, "less complete") {
			covered = w
		}
		for _, s := range covered.sources {
			m.Connect(s)
		}
		before := v
		if _, v, err = m.Evaluate(w.self(), after); err != nil {
			t.Fatal(err)
		}
		checkRevision(t, w, &before, &v)
		if before.Outcome.Decided && before.Outcome.Result != v.Outcome.Result || before.Conformance.Decided && before.Conformance.Result != v.Conformance.Result {
			var told strings.Builder
			for i := range facts {
				told.WriteString(tell(&facts[i]))
			}
			t.Fatalf("at %s, decided %v/%v,\n%sbecame\n%swhen this came:\n%s%s", at, before.Outcome.Decided, before.Conformance.Decided, results(&before), results(&v), told.String(), w)
		}
	})
}
