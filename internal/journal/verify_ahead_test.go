package journal

import (
	"fmt"
	"strings"
	"testing"
)

// crowdHome has more bodies than are read with one question, most of them
// small and some not, and returns the entry of each body.
func crowdHome(t *testing.T, bodies int) (home string, entries []int64) {
	t.Helper()
	home = t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1, MaxBytes: -1}})
	r := recordAt(t, j, "raw")
	for i := range bodies {
		kept := fmt.Appendf(nil, `{"order":"A-%d"}`, i)
		if i%100 == 7 {
			kept = noise(2 * aheadBytes)
		}
		entries = append(entries, r.keepBytes(kept))
	}
	r.end(0)
	closeJournal(t, j)
	return home, entries // of the only session, so that places are positions
}

func TestBodiesThatLieCloseTogetherAreComparedEachForItself(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change string // of the pieces of the body with an id
		wrong  int    // by its place among the bodies
	}{
		"a small one that was changed":    {"UPDATE pieces SET data = x'7b7d' WHERE key >> 20 = %d", 300},
		"a small one that was taken away": {"DELETE FROM pieces WHERE key >> 20 = %d", 299},
		"a big one that was changed":      {"UPDATE pieces SET data = zeroblob(length(data)) WHERE key >> 20 = %d", 107},
		"a form that there is not":        {"UPDATE pieces SET packed = 7 WHERE key >> 20 = %d", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, entries := crowdHome(t, 2*aheadBodies)
			if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Bodies != 2*aheadBodies {
				t.Fatalf("%d bodies, and before anything was done: %+v", report.Bodies, report.Findings)
			}
			tamper(t, home, run(fmt.Sprintf(test.change, test.wrong+1))) // ids count from 1
			var found []int64
			for _, finding := range verify(t, home, VerifyOptions{}).Findings {
				if strings.Contains(finding.What, "the body is not the one") {
					found = append(found, finding.N)
				}
			}
			if len(found) != 1 || found[0] != entries[test.wrong] {
				t.Errorf("found to be altered: %d, want only %d", found, entries[test.wrong])
			}
		})
	}
}

func TestWhatIsWrongWithTheDatabaseItselfIsToldFirst(t *testing.T) {
	t.Parallel()
	w := wholeness{done: make(chan struct{}), says: []string{"a row is missing from an index"}}
	close(w.done)
	var report VerifyReport
	for n := range int64(MaxFindings + 5) {
		report.find(n, "the entry is not valid")
	}
	if err := w.tell(&report); err != nil {
		t.Fatal(err)
	}
	if report.Found != MaxFindings+6 || len(report.Findings) != MaxFindings || !strings.Contains(report.Findings[0].What, "not whole") {
		t.Errorf("%d found, %d told, the first %q", report.Found, len(report.Findings), report.Findings[0].What)
	}
}
