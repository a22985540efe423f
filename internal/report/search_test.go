package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
	"github.com/google/go-cmp/cmp"
)

// searched is a journal in which two calls are found.
func searched() *shelf {
	s := told(entry.OutcomeToolError)
	s.gaps = s.gaps[:1]
	s.records[9][0].Detail.Args = text(`{"order":"4711","note":"` + strings.Repeat("very ", 40) + `URGENT` + strings.Repeat(" please", 40) + `"}`)
	s.records[9][0].Detail.Destinations = &entry.Destinations{Hosts: []string{"api.orders.example"}}
	s.records[9][2].Detail.ErrorText = text("order 4711 was \x1b[31mnot found")
	refund := refusedByTool(newCall(firstID, 9, "refund", ago(time.Minute)))
	s.found = journal.Found{Calls: []journal.Call{refund}}
	return s
}

func refusedByTool(call journal.Call) journal.Call {
	return answered(call, entry.OutcomeToolError, 300, 2*time.Second)
}

func TestSearchShowsWhereItMatched(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		query report.SearchQuery
	}{
		{"search-text", report.SearchQuery{Text: "urgent", Limit: 20}},
		{"search-error", report.SearchQuery{Text: "Not Found", Limit: 20}},
		{"search-host", report.SearchQuery{Host: "api.orders.example", Limit: 20}},
		{"search-tool", report.SearchQuery{Tool: "refund", Limit: 20, Scope: report.Scope{Session: firstID[:10]}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			search, err := report.SearchCalls(t.Context(), searched(), view.Clock, test.query)
			goldenAnswer(t, test.name, search, err)
		})
	}
}

func TestSearchPassesOnWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	s := searched()
	_, err := report.SearchCalls(t.Context(), s, view.Clock, report.SearchQuery{
		Scope: report.Scope{Session: "6d4e", Since: 5}, Text: "a", Tool: "b", Host: "c", Errors: true, Limit: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := journal.SearchFilter{Session: firstID, Since: 5, Text: "a", Tool: "b", Host: "c", Failed: true, Limit: 3}
	if diff := cmp.Diff(want, s.asked[0]); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

func TestASearchThatFindsNothingSaysHowFarItLooked(t *testing.T) {
	t.Parallel()
	s := searched()
	s.found = journal.Found{Unindexed: 70_000, Unsearched: 20_000}
	search, err := report.SearchCalls(t.Context(), s, view.Clock, report.SearchQuery{Text: "unheard of", Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	got := search.Text(view)
	if search.Any() || !strings.HasPrefix(got, "nothing found\nNOT SEARCHED: 20,000 entries near the end of the log") || !strings.Contains(got, "NOT SEEN: 1 gap") {
		t.Errorf("it reads:\n%s", got)
	}
}
