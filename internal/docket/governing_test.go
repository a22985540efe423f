package docket_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/verdict"
)

// An action is being declared while another version becomes active: which one was
// there first is what its first verdict says, and stays so.
func TestAVersionThatComesAtTheSameTimeDoesNotTakeAnActionOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kept *verdict.Verdict
		want int
	}{
		"without a verdict the time decides":       {nil, 2},
		"with a verdict by the earlier version":    {&verdict.Verdict{ActionID: "a1", ContractVersion: 1}, 1},
		"with a verdict by the later version":      {&verdict.Verdict{ActionID: "a1", ContractVersion: 2}, 2},
		"with a verdict from before any contract":  {&verdict.Verdict{ActionID: "a1"}, 0},
		"with a verdict by a version that is gone": {&verdict.Verdict{ActionID: "a1", ContractVersion: 7}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := docket.NewMemory()
			for i, v := range []docket.Version{
				version(parse(t, refunds), 1, verdict.Live, 0, noon),
				version(parse(t, strings.Replace(refunds, "2000.00", "3000.00", 1)), 2, verdict.Shadow, noon, 0),
			} {
				if err := m.Activate(v); err != nil {
					t.Fatal(i, err)
				}
			}
			declare(m, refund("a1"))
			if test.kept != nil {
				m.Keep(&verdict.Case{}, *test.kept)
			}
			one := build(t, m, "a1", noon)
			many, err := docket.BuildAll(docket.Asking(m), noon, []string{"a1"})
			if err != nil || many[0].Err != nil {
				t.Fatal(err, many[0].Err)
			}
			for _, c := range []*verdict.Case{one, many[0].Case} {
				got := 0
				if c.Governing != nil {
					got = c.Governing.Version
				}
				if got != test.want {
					t.Errorf("version %d governs, want %d", got, test.want)
				}
			}
		})
	}
}
