package scenario_test

import (
	"slices"
	"testing"

	"github.com/deed-dev/deed/internal/verdict"
)

func TestEveryReasonCodeIsReachedAndNoResultLacksOne(t *testing.T) {
	t.Parallel()
	reached := map[verdict.Code]bool{}
	for _, s := range all(t) {
		outcomes, err := s.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range outcomes {
			place := func(what string) string { return s.File + ": " + what }
			v := &o.Verdict
			for name, lens := range map[string]verdict.Lens{verdict.OutcomeLens: v.Outcome, verdict.ConformanceLens: v.Conformance} {
				if lens.Result != verdict.Pass && lens.Result != verdict.Fail && lens.Result != verdict.Unknown {
					t.Errorf("%s is %q", place(name), lens.Result)
				}
				if len(lens.Codes) == 0 {
					t.Errorf("%s is %s without a reason", place(name), lens.Result)
				}
				for _, code := range lens.Codes {
					reached[code] = true
				}
			}
			for i := range v.Checks {
				check := &v.Checks[i]
				if len(check.Reasons) == 0 {
					t.Errorf("%s is %s without a reason", place(check.ID), check.Result)
					continue
				}
				for _, r := range check.Reasons {
					reached[r.Code] = true
				}
				entry, known := verdict.Lookup(check.Reasons[0].Code)
				if !known || !slices.Contains(entry.Results, check.Result) || !slices.Contains(entry.Kinds, check.Kind) ||
					entry.Lens != check.Lens && entry.Lens != "both" {
					t.Errorf("%s, a %s of the lens %s, is %s by %s, which is described as %v of %v, lens %s", place(check.ID),
						check.Kind, check.Lens, check.Result, check.Reasons[0].Code, entry.Results, entry.Kinds, entry.Lens)
				}
			}
			for _, note := range v.Notes {
				reached[note.Code] = true
				if entry, known := verdict.Lookup(note.Code); !known || entry.Lens != "note" {
					t.Errorf("%s is a note, and is described as of the lens %s", place(string(note.Code)), entry.Lens)
				}
			}
		}
	}
	for _, entry := range verdict.Registry() {
		if !reached[entry.Code] {
			t.Errorf("no scenario reaches %s", entry.Code)
		}
	}
}
