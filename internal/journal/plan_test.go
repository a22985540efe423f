package journal

import (
	"slices"
	"strings"
	"testing"
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
