package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

// measured is a journal with figures of three tools, and a gap.
func measured() *shelf {
	s := busy()
	s.gaps = s.gaps[:1]
	s.stats = []journal.ToolStats{
		{Tool: "get_order", Calls: 5, TookP50: 1300, TookP95: 4000, Returned: 2418, Sent: 950, Worst: 503, WorstSession: firstID, WorstSeq: 26},
		{Tool: "list_orders", Calls: 1, TookP50: 340_000, TookP95: 340_000, Returned: 3 << 20, Sent: 187, Worst: 3 << 20, WorstSession: firstID, WorstSeq: 7},
		{Tool: "refund", Calls: 3, Failed: 3, TookP50: 5000, TookP95: 2_000_000, Returned: 541, Sent: 573},
		{Tool: "delete_all", Calls: 2, Unanswered: 1, Open: 1, TookP50: -1, TookP95: -1, Sent: 440},
	}
	s.cost = journal.Cost{
		Tools: []journal.ToolCost{
			{Tool: "get_order", Calls: 5, Returned: 2418, Worst: 503, WorstSession: firstID, WorstSeq: 26},
			{Tool: "list_orders", Calls: 1, Returned: 3 << 20, Worst: 3 << 20, WorstSession: firstID, WorstSeq: 7},
		},
		Calls: 6, Returned: 2418 + 3<<20, FailedCalls: 3, FailedReturned: 541,
	}
	s.tools = []journal.Tool{{Label: "orders", Name: "refund", Bytes: 4000}, {Label: "orders", Name: "get_order", Bytes: 1100}}
	s.went = []journal.DestinationCount{
		{Kind: "host", Name: "api.orders.example", Calls: 9}, {Kind: "email", Name: "jo@acme.example", Calls: 2}, {Kind: "ip", Name: "192.0.2.7", Calls: 1},
	}
	return s
}

func TestStatsPutsTheToolThatReturnedMostFirst(t *testing.T) {
	t.Parallel()
	stats, err := report.ToolFigures(t.Context(), measured(), view.Clock, report.Scope{}, false)
	goldenAnswer(t, "stats", stats, err)
}

func TestStatsWithoutACallSaysWhereAndWhenThereWasNone(t *testing.T) {
	t.Parallel()
	s := &shelf{runs: busy().runs}
	stats, err := report.ToolFigures(t.Context(), s, view.Clock, report.Scope{Session: "0b5c", Since: ago(time.Hour)}, false)
	goldenAnswer(t, "stats-none", stats, err)
}

func TestCostCountsSuccessAndSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	s := measured()
	cost, err := report.ToolCost(t.Context(), s, s, view.Clock, report.CostQuery{BytesPerToken: 4})
	goldenAnswer(t, "cost", cost, err)
}

func TestTheRatioOfCostIsTheReadersOwn(t *testing.T) {
	t.Parallel()
	s := measured()
	cost, err := report.ToolCost(t.Context(), s, s, view.Clock, report.CostQuery{BytesPerToken: 2.5})
	if err != nil {
		t.Fatal(err)
	}
	d := cost.Document().(report.CostDocument)
	if d.BytesPerToken != 2.5 || d.Tokens != 1_259_258 { // (2,418 + 3,145,728) / 2.5 = 1,259,258.4
		t.Errorf("%d tokens at %v bytes each", d.Tokens, d.BytesPerToken)
	}
	if text := cost.Text(view); !strings.Contains(text, "tokens are an estimate: 2.5 bytes each (--bytes-per-token)\n") {
		t.Errorf("the ratio is not told:\n%s", text)
	}
}

func TestCostOfNothingStillSaysWhatFailedCallsReturned(t *testing.T) {
	t.Parallel()
	s := &shelf{runs: busy().runs, cost: journal.Cost{FailedCalls: 1, FailedReturned: 4096}}
	cost, err := report.ToolCost(t.Context(), s, s, view.Clock, report.CostQuery{BytesPerToken: 4})
	goldenAnswer(t, "cost-none", cost, err)
}

func TestALongTableSaysHowManyRowsItLeavesOut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		all   bool
		rows  int
		stats string
		cost  string
	}{
		{"fifteen rows", false, 15, "… and 5 more tools: deed stats --all\n", "… and 5 more tools: --all"},
		{"all rows", true, 20, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := measured()
			s.stats, s.cost.Tools = nil, nil
			for i := range 20 {
				name := fmt.Sprintf("tool%02d", i)
				s.stats = append(s.stats, journal.ToolStats{Tool: name, Calls: 1, Returned: int64(i)})
				s.cost.Tools = append(s.cost.Tools, journal.ToolCost{Tool: name, Calls: 1, Returned: int64(i), WorstSession: firstID, WorstSeq: 5})
			}
			stats, err := report.ToolFigures(t.Context(), s, view.Clock, report.Scope{}, test.all)
			if err != nil {
				t.Fatal(err)
			}
			if text := stats.Text(view); strings.Count(text, "\ntool") != test.rows || !strings.Contains(text, test.stats) {
				t.Errorf("stats:\n%s", text)
			}
			cost, err := report.ToolCost(t.Context(), s, s, view.Clock, report.CostQuery{BytesPerToken: 4, All: test.all})
			if err != nil {
				t.Fatal(err)
			}
			if text := cost.Text(view); strings.Count(text, "\ntool") != test.rows || !strings.Contains(text, test.cost) || strings.Contains(text, "more tool") == test.all {
				t.Errorf("cost:\n%s", text)
			}
			if got := len(cost.Document().(report.CostDocument).Tools); got != 20 {
				t.Errorf("the document has %d tools", got)
			}
		})
	}
}

func TestFiguresAreAskedForTheWholeSession(t *testing.T) {
	t.Parallel()
	s := measured()
	if _, err := report.ToolFigures(t.Context(), s, view.Clock, report.Scope{Session: "6D4E47", Since: 7}, false); err != nil {
		t.Fatal(err)
	}
	if want := (journal.StatsFilter{Session: firstID, Since: 7}); s.asked[0] != want {
		t.Errorf("asked for %+v", s.asked[0])
	}
}
