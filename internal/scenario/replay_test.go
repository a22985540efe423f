package scenario_test

import (
	"cmp"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// chance is the same for a scenario each time, so that a failure repeats.
func chance(s *scenario.Scenario) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s.File))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// shuffled has everything arrive in another order, as far as its times allow.
func shuffled(s *scenario.Scenario) *scenario.Scenario {
	other, chance := *s, chance(s)
	other.Actions, other.Facts = slices.Clone(s.Actions), slices.Clone(s.Facts)
	chance.Shuffle(len(other.Actions), func(i, j int) {
		other.Actions[i], other.Actions[j] = other.Actions[j], other.Actions[i]
	})
	chance.Shuffle(len(other.Facts), func(i, j int) { other.Facts[i], other.Facts[j] = other.Facts[j], other.Facts[i] })
	return &other
}

// replayed has every declaration and every fact arrive twice more.
func replayed(s *scenario.Scenario) *scenario.Scenario {
	other := *s
	other.Actions, other.Facts = slices.Clone(s.Actions), slices.Clone(s.Facts)
	for _, delay := range []time.Duration{time.Second, time.Hour} {
		for _, d := range s.Actions {
			d.ReceivedAt = d.ReceivedAt.Add(delay)
			other.Actions = append(other.Actions, d)
		}
		for _, f := range s.Facts {
			f.IngestedAt = f.IngestedAt.Add(delay)
			other.Facts = append(other.Facts, f)
		}
	}
	return &other
}

// stepwise evaluates each action more often: when something arrives and at even
// steps in between, while the watermarks move from what they were when it was
// evaluated last to what they become in as many steps.
func stepwise(s *scenario.Scenario) *scenario.Scenario {
	other := *s
	other.Evaluations = nil
	last := map[string]scenario.Evaluation{}
	for _, e := range s.Evaluations {
		before, evaluated := last[e.ActionID]
		if !evaluated {
			before.At = received(s, e.ActionID) - 1
		}
		for _, at := range moments(s, before.At, e.At) {
			step := e
			step.At, step.Line, step.Complete = at, 0, between(before, e, at)
			other.Evaluations = append(other.Evaluations, step)
		}
		other.Evaluations = append(other.Evaluations, e)
		last[e.ActionID] = e
	}
	slices.SortStableFunc(other.Evaluations, func(a, b scenario.Evaluation) int { return cmp.Compare(a.At, b.At) })
	return &other
}

// moments are some times between two: even steps, and when something arrives.
func moments(s *scenario.Scenario, from, to value.Instant) []value.Instant {
	const steps, most = 6, 16
	var all []value.Instant
	for _, d := range s.Actions {
		all = append(all, d.ReceivedAt)
	}
	for _, f := range s.Facts {
		all = append(all, f.IngestedAt)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i := 0; len(all) > most; i++ {
		all = slices.Delete(all, i%len(all), i%len(all)+1)
	}
	for i := value.Instant(1); i < steps; i++ {
		all = append(all, from+(to-from)/steps*i)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(at value.Instant) bool { return at <= from || at >= to })
}

// received is when an action was first declared.
func received(s *scenario.Scenario, id string) value.Instant {
	first := value.Instant(math.MaxInt64)
	for _, d := range s.Actions {
		if d.ActionID == id {
			first = min(first, d.ReceivedAt)
		}
	}
	return first
}

// between are the watermarks at a time between two evaluations. A source that
// is stated less complete later keeps what it had until then.
func between(before, after scenario.Evaluation, at value.Instant) map[string]map[string]value.Instant {
	all := map[string]map[string]value.Instant{}
	for source, marks := range after.Complete {
		all[source] = map[string]value.Instant{}
		for factType, end := range marks {
			begin := before.Complete[source][factType]
			if begin == 0 {
				begin = min(before.At, end)
			}
			// In seconds, or the product would be too large.
			passed, whole := (at-before.At)/value.Second, (after.At-before.At)/value.Second
			if end > begin && whole > 0 {
				begin += (end - begin) / whole * passed
			}
			all[source][factType] = min(begin, at)
		}
	}
	return all
}

// ends are the lenses of each of the scenario's own evaluations.
func ends(t *testing.T, s *scenario.Scenario) [][2]verdict.Result {
	t.Helper()
	outcomes, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	var lenses [][2]verdict.Result
	for _, o := range outcomes {
		if o.Evaluation.Line > 0 {
			lenses = append(lenses, [2]verdict.Result{o.Verdict.Outcome.Result, o.Verdict.Conformance.Result})
		}
	}
	return lenses
}

func TestHowEvidenceArrivesNeverChangesWhereALensEnds(t *testing.T) {
	t.Parallel()
	for _, s := range all(t) {
		want := ends(t, s)
		for name, other := range map[string]*scenario.Scenario{
			"shuffled": shuffled(s), "replayed": replayed(s), "step by step": stepwise(s), "shuffled and replayed": shuffled(replayed(s)),
			"replayed, step by step": stepwise(replayed(s)),
		} {
			if got := ends(t, other); !slices.Equal(got, want) {
				t.Errorf("%s, %s: the lenses are %v, want %v", s.File, name, got, want)
			}
		}
	}
}

// The order in which things arrive shows in nothing at all, not even in the
// digests of cases and verdicts.
func TestTheOrderOfArrivalShowsInNoVerdict(t *testing.T) {
	t.Parallel()
	digests := func(s *scenario.Scenario) []string {
		outcomes, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, o := range outcomes {
			all = append(all, o.Case.Digest(), o.Verdict.Digest())
		}
		return all
	}
	for _, s := range all(t) {
		if !slices.Equal(digests(s), digests(shuffled(s))) {
			t.Errorf("%s: another order of arrival makes another case or verdict", s.File)
		}
	}
}

// What a case holds is enough: read back, it evaluates to the same bytes.
func TestAStoredCaseEvaluatesToTheSameVerdict(t *testing.T) {
	t.Parallel()
	for _, s := range all(t) {
		outcomes, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			stored, err := verdict.DecodeCase(o.Case.AppendJSON(nil))
			if err != nil {
				t.Errorf("%s:%d: %v", s.File, o.Evaluation.Line, err)
				continue
			}
			again, err := engine.Evaluate(stored)
			if err != nil || again.Digest() != o.Verdict.Digest() {
				t.Errorf("%s:%d: evaluated again it is another verdict (%v)", s.File, o.Evaluation.Line, err)
			}
		}
	}
}

// A fact that was ever reported stays in the case, whatever became of it.
func TestNoFactOfACaseWasMadeUp(t *testing.T) {
	t.Parallel()
	for _, s := range all(t) {
		outcomes, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			for i := range o.Case.Facts {
				f := &o.Case.Facts[i]
				if !slices.ContainsFunc(s.Facts, func(known evidence.Fact) bool { return evidence.Compare(&known, f) == 0 }) {
					t.Errorf("%s:%d: nobody reported %v", s.File, o.Evaluation.Line, f)
				}
				if f.IngestedAt > o.Evaluation.At {
					t.Errorf("%s:%d: %s was not there yet", s.File, o.Evaluation.Line, f.ExternalID)
				}
			}
		}
	}
}
