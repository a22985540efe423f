package scenario_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// small are the scenarios of few actions, which can be played many times.
func small(t *testing.T) []*scenario.Scenario {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(all(t)), func(s *scenario.Scenario) bool { return len(s.Actions) > 20 })
}

func run(t *testing.T, s *scenario.Scenario) []scenario.Outcome {
	t.Helper()
	outcomes, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// sameLenses holds what two tellings of a scenario come to against each other.
func sameLenses(t *testing.T, what string, s, other *scenario.Scenario) {
	t.Helper()
	state := func(v *verdict.Verdict) string {
		return fmt.Sprint(v.Status, v.Decided, v.Outcome.Result, v.Outcome.Codes, v.Conformance.Result, v.Conformance.Codes)
	}
	others := run(t, other)
	for i, o := range run(t, s) {
		if one, another := state(&o.Verdict), state(&others[i].Verdict); one != another {
			t.Errorf("%s:%d: %s %s becomes %s", s.File, o.Evaluation.Line, what, one, another)
		}
	}
}

func dollars(t *testing.T, text string) map[string]value.Value {
	t.Helper()
	amount, err := money.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]value.Value{"amount": value.OfMoney(amount)}
}

func TestFactsOfOthersChangeNoScenario(t *testing.T) {
	t.Parallel()
	for _, s := range small(t) {
		other := *s
		other.Facts = slices.Clone(s.Facts)
		for _, source := range s.Sources {
			for _, factType := range source.Provides {
				at := s.Start.Add(5 * time.Minute)
				other.Facts = append(other.Facts, evidence.Fact{
					Source: source.Name, Type: factType, ExternalID: "unrelated", SubjectKind: "order", SubjectID: "nobody's",
					Refs: map[string]string{"idempotency_key": "nobody's", "action_id": "nobody's", "refund": "nobody's"}, Attrs: dollars(t, "180.00 USD"),
					OccurredAt: at, ObservedAt: at, IngestedAt: at,
				})
			}
		}
		sameLenses(t, "with facts of others", s, &other)
	}
}

// Another declaration of the same action is kept, and never obeyed.
func TestAnotherDeclarationChangesNoScenario(t *testing.T) {
	t.Parallel()
	for _, s := range small(t) {
		for _, amount := range []string{"1.00", "180.00", "900"} {
			number, err := money.ParseDecimal(amount)
			if err != nil {
				t.Fatal(err)
			}
			other := *s
			other.Actions = slices.Clone(s.Actions)
			for _, d := range s.Actions {
				d.ReceivedAt, d.Params = d.ReceivedAt.Add(3*time.Second), maps.Clone(d.Params)
				if d.Params == nil {
					d.Params = map[string]value.Value{}
				}
				d.Params["amount"] = value.OfDecimal(number)
				other.Actions = append(other.Actions, d)
			}
			sameLenses(t, "declared again with "+amount, s, &other)
		}
	}
}

// known is the scenario as it was known at one of its evaluations, and nothing
// after it.
func known(s *scenario.Scenario, o *scenario.Outcome, i int) *scenario.Scenario {
	then := *s
	then.Facts = slices.DeleteFunc(slices.Clone(s.Facts), func(f evidence.Fact) bool { return f.IngestedAt > o.Evaluation.At })
	then.Actions = slices.DeleteFunc(slices.Clone(s.Actions), func(d verdict.Declaration) bool { return d.ReceivedAt > o.Evaluation.At })
	then.Evaluations = slices.Clone(s.Evaluations[:i+1])
	return &then
}

// What happens after the time to settle, whosever key it carries, turns no
// settled lens.
func TestWhatHappensAfterSettlementTurnsNoSettledLens(t *testing.T) {
	t.Parallel()
	for _, s := range small(t) {
		for i, o := range run(t, s) {
			if o.Verdict.Status == verdict.Provisional || len(s.Facts) == 0 {
				continue
			}
			for _, key := range []string{"its own", "another", ""} {
				then := known(s, &o, i)
				last := o.Evaluation
				last.At = max(last.At, o.Verdict.SettlesAt.Add(time.Hour)) + value.Second
				for _, f := range s.Facts {
					f.ExternalID, f.Revision, f.Retracted, f.Attrs = f.ExternalID+"-again", 0, false, dollars(t, "3.00 USD")
					f.OccurredAt = o.Verdict.SettlesAt.Add(25 * time.Hour).Cut(time.Hour)
					last.At = max(last.At, f.OccurredAt+value.Second)
					f.ObservedAt, f.IngestedAt, f.Refs = last.At, last.At, maps.Clone(f.Refs)
					for name := range f.Refs {
						switch {
						case name != "idempotency_key" && name != "action_id" || key == "its own":
						case key == "":
							delete(f.Refs, name)
						default:
							f.Refs[name] = key
						}
					}
					then.Facts = append(then.Facts, f)
				}
				then.Evaluations = append(then.Evaluations, last)
				later := run(t, then)
				v, w := &o.Verdict, &later[i+1].Verdict
				if v.Outcome.Result != w.Outcome.Result || v.Conformance.Result != w.Conformance.Result {
					t.Errorf("%s:%d: facts after settlement with the key %q turn %s %v, %s %v into %s %v, %s %v", s.File, o.Evaluation.Line, key,
						v.Outcome.Result, v.Outcome.Codes, v.Conformance.Result, v.Conformance.Codes,
						w.Outcome.Result, w.Outcome.Codes, w.Conformance.Result, w.Conformance.Codes)
				}
			}
		}
	}
}

// However late facts arrive, nothing settles early, and what was settled is
// only revised for a reason that is said.
func TestEveryRevisionSaysWhy(t *testing.T) {
	t.Parallel()
	for _, s := range small(t) {
		chance := chance(s)
		for range 3 {
			late := *s
			late.Facts = slices.Clone(s.Facts)
			for i := range late.Facts {
				if chance.IntN(2) == 0 {
					late.Facts[i].IngestedAt = late.Facts[i].IngestedAt.Add(time.Duration(chance.IntN(120)) * time.Hour)
				}
			}
			late.Evaluations = slices.Clone(s.Evaluations)
			for _, e := range s.Evaluations {
				e.At = late.Evaluations[len(late.Evaluations)-1].At.Add(time.Duration(chance.IntN(30)) * time.Hour)
				late.Evaluations = append(late.Evaluations, e)
			}
			for _, o := range run(t, &late) {
				v := &o.Verdict
				why := slices.ContainsFunc(v.Notes, func(r verdict.Reason) bool {
					return slices.Contains([]verdict.Code{verdict.LateEvidence, verdict.LateCoverage, verdict.LateDeclaration, verdict.FactRetracted}, r.Code)
				})
				if v.Status == verdict.Revised && !why {
					t.Errorf("%s:%d: revised, and no note says why: %v", s.File, o.Evaluation.Line, v.Notes)
				}
				if v.Status != verdict.Provisional && v.SettlesAt > o.Evaluation.At {
					t.Errorf("%s:%d: settled before its time", s.File, o.Evaluation.Line)
				}
			}
		}
	}
}

// What is decided stays, whatever the sources still tell of what they had not
// said was complete.
func TestNothingNewTurnsADecidedLensOfAScenario(t *testing.T) {
	t.Parallel()
	for _, s := range small(t) {
		chance := chance(s)
		for i, o := range run(t, s) {
			before := &o.Verdict
			if len(s.Sources) == 0 || !before.Outcome.Decided && !before.Conformance.Decided {
				continue
			}
			for range 6 {
				then := known(s, &o, i)
				last := o.Evaluation
				last.At = max(last.At.Add(time.Hour), before.SettlesAt.Add(200*time.Hour))
				var told strings.Builder
				for n := range 1 + chance.IntN(3) {
					if f, possible := possible(t, chance, then); possible {
						f.ExternalID = fmt.Sprint("new-", n)
						then.Facts = append(then.Facts, f)
						fmt.Fprintf(&told, "%+v\n", f)
					}
				}
				if chance.IntN(3) > 0 {
					last.Complete = completeTo(s, last.At)
				}
				then.Evaluations = append(then.Evaluations, last)
				later := run(t, then)
				after := &later[i+1].Verdict
				if before.Outcome.Decided && before.Outcome.Result != after.Outcome.Result || before.Conformance.Decided && before.Conformance.Result != after.Conformance.Result {
					t.Errorf("%s:%d: decided as %s %v, %s %v it became %s %v, %s %v with\n%s", s.File, o.Evaluation.Line,
						before.Outcome.Result, before.Outcome.Codes, before.Conformance.Result, before.Conformance.Codes,
						after.Outcome.Result, after.Outcome.Codes, after.Conformance.Result, after.Conformance.Codes, told.String())
				}
			}
		}
	}
}

func completeTo(s *scenario.Scenario, at value.Instant) map[string]map[string]value.Instant {
	all := map[string]map[string]value.Instant{}
	for _, source := range s.Sources {
		all[source.Name] = map[string]value.Instant{}
		for _, factType := range source.Provides {
			all[source.Name][factType] = at
		}
	}
	return all
}

// possible is a fact that a source may still tell after the last evaluation: of
// a time up to which it never said that it was complete.
func possible(t *testing.T, chance *rand.Rand, s *scenario.Scenario) (evidence.Fact, bool) {
	t.Helper()
	source := s.Sources[chance.IntN(len(s.Sources))]
	if len(source.Provides) == 0 {
		return evidence.Fact{}, false
	}
	about := s.Actions[chance.IntN(len(s.Actions))]
	f := evidence.Fact{
		Source: source.Name, Type: source.Provides[chance.IntN(len(source.Provides))], SubjectKind: about.SubjectKind, SubjectID: about.SubjectID,
		Attrs: dollars(t, []string{"180.00 USD", "150.00 USD", "60.00 USD", "180.00 EUR"}[chance.IntN(4)]), Refs: map[string]string{},
	}
	switch chance.IntN(5) {
	case 0, 1:
		f.Refs = map[string]string{"idempotency_key": about.ActionID, "action_id": about.ActionID}
	case 2:
		f.Refs = map[string]string{"idempotency_key": "another", "action_id": "another"}
	}
	if len(s.Facts) > 0 {
		like := s.Facts[chance.IntN(len(s.Facts))]
		if chance.IntN(2) == 0 {
			f.Attrs, f.Mode = like.Attrs, like.Mode
		}
		if ref := like.Refs["refund"]; ref != "" && chance.IntN(3) == 0 {
			f.Refs["refund"] = ref
		}
	}
	hours := []time.Duration{-8 * 24, -1, 0, 1, 3, 24, 47, 48, 49, 60, 72, 80}
	f.OccurredAt = about.Start().Add(hours[chance.IntN(len(hours))]*time.Hour + time.Duration(chance.IntN(2))*time.Minute)
	complete := value.Instant(0)
	for _, e := range s.Evaluations {
		complete = max(complete, e.Complete[source.Name][f.Type])
		f.IngestedAt = max(e.At, f.OccurredAt) + value.Second
	}
	f.ObservedAt = f.IngestedAt
	return f, f.OccurredAt.Cut(source.Unit()) > complete
}
