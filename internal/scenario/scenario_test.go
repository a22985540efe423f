package scenario_test

import (
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"

	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/verdict"
)

// folder has the scenarios. They are written from the rules, by people who did
// not look at what the engine says.
const folder = "../../testdata/scenarios"

// all reads every scenario, for all tests once: the suite, and the nasty cases
// that were written without looking at either.
func all(t *testing.T) []*scenario.Scenario {
	t.Helper()
	scenarios, err := read()
	if err != nil {
		t.Fatal(err)
	}
	return scenarios
}

var read = sync.OnceValues(func() ([]*scenario.Scenario, error) {
	var scenarios []*scenario.Scenario
	for _, place := range []struct {
		folder string
		least  int
	}{{folder, 80}, {folder + "/nasty", 20}} {
		files := os.DirFS(place.folder)
		names, err := fs.Glob(files, "*.yaml")
		if err != nil {
			return nil, err
		}
		if len(names) < place.least {
			return nil, fmt.Errorf("%d scenarios are in %s, at least %d are wanted", len(names), place.folder, place.least)
		}
		for _, name := range names {
			s, err := scenario.Read(files, name)
			if err != nil {
				return nil, err
			}
			scenarios = append(scenarios, s)
		}
	}
	return scenarios, nil
})

func TestEveryScenarioEndsAsItMust(t *testing.T) {
	t.Parallel()
	engine := scenario.Score{}
	blanket := map[verdict.Result]scenario.Score{verdict.Pass: {}, verdict.Fail: {}, verdict.Unknown: {}}
	for _, s := range all(t) {
		outcomes, err := s.Run()
		if err != nil {
			t.Error(err)
			continue
		}
		for _, o := range outcomes {
			for _, difference := range scenario.Differences(o.Evaluation.Expect, &o.Verdict) {
				t.Errorf("%s:%d: %s", s.File, o.Evaluation.Line, difference)
			}
			engine.Add(o.Evaluation.Expect, o.Verdict.Outcome.Result, o.Verdict.Conformance.Result)
			for answer, score := range blanket {
				score.Add(o.Evaluation.Expect, answer, answer)
			}
		}
	}
	t.Logf("the engine:\n%s", engine)
	for answer, score := range blanket {
		t.Logf("always %s:\n%s", answer, score)
		for _, lens := range []string{verdict.OutcomeLens, verdict.ConformanceLens} {
			if wrong := score[lens].False(answer); wrong == 0 {
				t.Errorf("always answering %s is never wrong about %s, so the scenarios prove nothing there", answer, lens)
			}
		}
	}
}
