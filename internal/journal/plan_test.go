package journal

import (
	"slices"
	"strings"
	"testing"
)

func TestNoQuestionAboutFewCallsSortsOrScansThemAll(t *testing.T) {
	t.Parallel()
	r := openReader(t, sampleHome(t))
	for name, test := range map[string]struct {
		filter CallFilter
		steps  []string // what the plan must begin with
		sorts  bool
	}{
		"the newest calls":               {CallFilter{Order: Newest, Limit: 20}, []string{"SCAN q", "SEARCH s USING INTEGER PRIMARY KEY"}, false},
		"the oldest calls":               {CallFilter{Limit: 20}, []string{"SCAN q", "SEARCH s USING INTEGER PRIMARY KEY"}, false},
		"the newest calls of a session":  {CallFilter{Session: "x", Order: Newest}, []string{"SEARCH q USING INDEX entries_by_place", "SEARCH s USING INTEGER PRIMARY KEY"}, false},
		"the biggest calls of a session": {CallFilter{Session: "x", Order: Biggest}, []string{"SEARCH q USING INDEX entries_by_place"}, true},
		"the calls since a time":         {CallFilter{Since: 5}, []string{"SEARCH q USING INDEX requests_by_time"}, true},
	} {
		query, args := callQuery(test.filter)
		rows, err := r.db.QueryContext(testContext(t), "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		steps := slices.DeleteFunc(slices.Clone(plan), func(s string) bool {
			return !strings.HasPrefix(s, "SCAN") && (!strings.HasPrefix(s, "SEARCH") || strings.HasPrefix(s, "SEARCH entries") || strings.HasPrefix(s, "SEARCH sessions"))
		})
		for i, want := range test.steps {
			if i >= len(steps) || !strings.HasPrefix(steps[i], want) {
				t.Errorf("%s: step %d is not %q: %q", name, i, want, plan)
			}
		}
		if sorts := slices.Contains(plan, "USE TEMP B-TREE FOR ORDER BY"); sorts != test.sorts {
			t.Errorf("%s: sorting is %v, want %v: %q", name, sorts, test.sorts, plan)
		}
		for _, step := range plan {
			if strings.Contains(step, "AUTOMATIC") || (strings.Contains(step, "SEARCH entries") && !strings.Contains(step, "INDEX")) {
				t.Errorf("%s: a bad step: %q", name, plan)
			}
		}
	}
}
