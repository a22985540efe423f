package journal

import (
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal/rollup"
)

// planOf is how SQLite goes about a query, step by step.
func planOf(t *testing.T, r *Reader, query string, args ...any) []string {
	t.Helper()
	rows, err := r.db.QueryContext(testContext(t), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	return plan
}

func TestNoQuestionAboutFewCallsSortsOrScansThemAll(t *testing.T) {
	t.Parallel()
	r := openReader(t, sampleHome(t))
	for name, test := range map[string]struct {
		session int64
		filter  CallFilter
		begins  string
	}{
		"the newest calls":               {0, CallFilter{Order: Newest, Limit: 20}, "SEARCH q USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		"the oldest calls":               {0, CallFilter{Limit: 20}, "SEARCH q USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		"the calls since a time":         {0, CallFilter{Since: 5, Limit: 20}, "SEARCH q USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"},
		"the newest calls of a session":  {1, CallFilter{Order: Newest}, "SEARCH q USING INDEX entries_by_place (session=? AND seq>? AND seq<?)"},
		"a session's calls since a time": {1, CallFilter{Since: 5, ToolsOnly: true}, "SEARCH q USING INDEX entries_by_place (session=? AND seq>? AND seq<?)"},
	} {
		query, args := walkQuery(test.session, test.filter, 1, 1_000)
		plan := planOf(t, r, query, args...)
		if !strings.HasPrefix(plan[0], test.begins) {
			t.Errorf("%s: the first step is not %q: %q", name, test.begins, plan)
		}
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "AUTOMATIC") {
				t.Errorf("%s: a bad step: %q", name, plan)
			}
		}
		if !slices.ContainsFunc(plan, func(step string) bool {
			return strings.Contains(step, "COVERING INDEX entries_by_call (session=? AND call=? AND kind=?)")
		}) {
			t.Errorf("%s: the first answer is not found by the index alone: %q", name, plan)
		}
	}
}

// A roll-up is a kilobyte and more, of which sums need a tenth.
func TestSumsAndRankingsAreFoundByOneIndexAlone(t *testing.T) {
	t.Parallel()
	r := openReader(t, sampleHome(t))
	for name, ask := range map[string]func() (string, []any){
		"sums":                       func() (string, []any) { return sumsQuery(rollupFilter{worst: true}) },
		"sums of a session's tools":  func() (string, []any) { return sumsQuery(rollupFilter{session: 1, toolsOnly: true, worst: true}) },
		"the biggest":                func() (string, []any) { return rankingsQuery(rollupFilter{}, Biggest) },
		"the slowest since an hour":  func() (string, []any) { return rankingsQuery(rollupFilter{since: 3 * rollup.HourUS}, Slowest) },
		"the slowest of one session": func() (string, []any) { return rankingsQuery(rollupFilter{session: 1, toolsOnly: true}, Slowest) },
	} {
		query, args := ask()
		plan := planOf(t, r, query, args...)
		if !slices.ContainsFunc(plan, func(step string) bool { return strings.Contains(step, "rollups") }) {
			t.Errorf("%s: no step says which index it takes: %q", name, plan)
		}
		for _, step := range plan {
			if strings.Contains(step, "rollups") && !strings.Contains(step, "USING COVERING INDEX rollups_sums (session=?") {
				t.Errorf("%s: a step that reads more than the index: %q", name, step)
			}
		}
	}
}
