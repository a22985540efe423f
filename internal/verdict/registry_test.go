package verdict_test

import (
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/verdict"
)

// What the registry says of a code is what people read who never see the rules,
// so it is held against everything that the scenarios come to.
func TestEveryReasonOfEveryScenarioIsAsItsCodeIsDescribed(t *testing.T) {
	t.Parallel()
	files := os.DirFS("../../testdata/scenarios")
	names, err := fs.Glob(files, "*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found no scenarios: %v", err)
	}
	for _, name := range names {
		s, err := scenario.Read(files, name)
		if err != nil {
			t.Fatal(err)
		}
		outcomes, err := s.Run()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range outcomes {
			checkReasons(t, name, &outcomes[i].Verdict)
		}
	}
}

func checkReasons(t *testing.T, name string, v *verdict.Verdict) {
	t.Helper()
	for _, check := range v.Checks {
		for _, reason := range check.Reasons {
			entry, known := verdict.Lookup(reason.Code)
			if !known || !slices.Contains(entry.Kinds, check.Kind) || !slices.Contains(entry.Results, check.Result) {
				t.Errorf("%s: %s is a %s and %s for %q, which is described for %v of %v",
					name, check.ID, check.Kind, check.Result, reason.Code, entry.Results, entry.Kinds)
			}
		}
	}
	for _, lens := range []verdict.Lens{v.Outcome, v.Conformance} {
		for _, code := range lens.Codes {
			if entry, known := verdict.Lookup(code); !known || !slices.Contains(entry.Results, lens.Result) {
				t.Errorf("%s: a lens is %s for %q, which is described for %v", name, lens.Result, code, entry.Results)
			}
		}
	}
	for _, note := range v.Notes {
		if entry, known := verdict.Lookup(note.Code); !known || len(entry.Results) > 0 {
			t.Errorf("%s: %q is given as a note and is none", name, note.Code)
		}
	}
}
