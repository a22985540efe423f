package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Figures are the sums that stats and cost print. [journal.Reader] has them.
type Figures interface {
	journal.History
	// Stats adds up each tool's calls.
	Stats(ctx context.Context, f journal.StatsFilter) ([]journal.ToolStats, error)
	// Cost adds up what each tool returned to calls that succeeded.
	Cost(ctx context.Context, f journal.StatsFilter) (journal.Cost, error)
	// Destinations counts the calls that named each destination.
	Destinations(ctx context.Context, f journal.StatsFilter) ([]journal.DestinationCount, error)
}

// Stats is what each tool did.
type Stats struct {
	scope        scoped
	all          bool
	tools        []toolStats // most returned first
	destinations []journal.DestinationCount
	gaps         []journal.Gap
}

// toolStats is one tool with the id of its largest answer.
type toolStats struct {
	journal.ToolStats
	worst string
}

// ToolFigures adds up every tool within a scope; all says that no row of the
// text may be left out. Errors: [ErrNothingRecorded], [NoSessionError],
// [AmbiguousError].
func ToolFigures(ctx context.Context, figures Figures, clock terminal.Clock, scope Scope, all bool) (*Stats, error) {
	within, err := scope.resolve(ctx, figures, clock)
	if err != nil {
		return nil, err
	}
	s := &Stats{scope: within, all: all}
	filter := journal.StatsFilter{Session: within.id, Since: within.since}
	tools, err := figures.Stats(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("add up the tools: %w", err)
	}
	ids := newShortener(figures)
	for _, tool := range tools {
		row := toolStats{ToolStats: tool}
		if tool.WorstSession != "" {
			if row.worst, err = ids.place(ctx, tool.WorstSession, tool.WorstSeq); err != nil {
				return nil, err
			}
		}
		s.tools = append(s.tools, row)
	}
	slices.SortStableFunc(s.tools, func(a, b toolStats) int {
		return moreFirst(a.Returned, b.Returned, a.Calls, b.Calls, a.Tool, b.Tool)
	})
	if s.destinations, err = figures.Destinations(ctx, filter); err != nil {
		return nil, fmt.Errorf("count the destinations: %w", err)
	}
	s.gaps, err = within.gaps(ctx, figures)
	return s, err
}

// moreFirst orders by size, then by count, then by name.
func moreFirst(size, otherSize, count, otherCount int64, name, otherName string) int {
	switch {
	case size != otherSize:
		return int(max(-1, min(1, otherSize-size)))
	case count != otherCount:
		return int(max(-1, min(1, otherCount-count)))
	}
	return strings.Compare(name, otherName)
}

const destinationsListed = 20

// Text is one line a tool, the one that returned most first.
func (s *Stats) Text(view View) string {
	if len(s.tools) == 0 {
		return "no tool was called" + s.scope.text(view) + "\n" + gapsText(s.gaps, view)
	}
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "tool", Max: nameWidth},
		{Title: "calls", Right: true},
		{Title: "errors", Right: true},
		{Title: "no answer", Right: true},
		{Title: "p50", Right: true},
		{Title: "p95", Right: true},
		{Title: "returned", Right: true},
		{Title: "worst", Right: true},
		{Title: "worst call"},
	}}
	shown := listed(len(s.tools), s.all)
	for _, tool := range s.tools[:shown] {
		table.Add(
			terminal.Text(orNone(tool.Tool)), terminal.Text(terminal.Count(tool.Calls)),
			countCell(tool.Failed, view.Style.Bad), countCell(tool.Unanswered+tool.Open, view.Style.Warn),
			terminal.Text(spanOrNone(tool.TookP50)), terminal.Text(spanOrNone(tool.TookP95)),
			terminal.Text(terminal.Size(tool.Returned)), terminal.Text(worstSize(tool)), terminal.Cell{Text: tool.worst, Paint: view.Style.Faint},
		)
	}
	var b strings.Builder
	b.WriteString(table.String())
	b.WriteString(moreText(len(s.tools), shown, "tool", "deed stats --all"))
	b.WriteString(view.Style.Faint("p50 and p95 are times until the answer, within 1 %; sizes are bytes on the wire; worst is the largest answer without an error") + "\n")
	b.WriteString(gapsText(s.gaps, view))
	most := destinationsListed
	if s.all {
		most = len(s.destinations)
	}
	b.WriteString(destinationsText(s.destinations, most, "deed stats --all", view))
	return b.String()
}

// countCell leaves a zero out: what is not there draws no eye.
func countCell(n int64, paint func(string) string) terminal.Cell {
	if n == 0 {
		return terminal.Cell{}
	}
	return terminal.Cell{Text: terminal.Count(n), Paint: paint}
}

func spanOrNone(us int64) string {
	if us < 0 {
		return ""
	}
	return terminal.Duration(micros(us))
}

func worstSize(tool toolStats) string {
	if tool.worst == "" {
		return ""
	}
	return terminal.Size(tool.Worst)
}

// StatsDocument is the JSON form of [Stats].
type StatsDocument struct {
	ScopeDocument
	Tools        []ToolStatsDocument   `json:"tools"`        // all of them, most returned first
	Destinations []DestinationDocument `json:"destinations"` // most calls first
	Gaps         []GapDocument         `json:"gaps"`         // what was not seen
}

// ToolStatsDocument is one tool.
type ToolStatsDocument struct {
	Tool          string  `json:"tool"`           // its name
	Calls         int64   `json:"calls"`          // however they ended
	Failed        int64   `json:"failed"`         // answered with an error
	Unanswered    int64   `json:"unanswered"`     // never answered; the session is over
	Open          int64   `json:"open"`           // not answered yet
	TookP50US     *int64  `json:"took_p50_us"`    // median time until the answer, within 1 %
	TookP95US     *int64  `json:"took_p95_us"`    // 95th percentile, within 1 %
	SentBytes     int64   `json:"sent_bytes"`     // of all requests
	ReturnedBytes int64   `json:"returned_bytes"` // of all answers
	WorstBytes    *int64  `json:"worst_bytes"`    // of the largest answer without an error
	WorstCall     *string `json:"worst_call"`     // its call
}

// Document is the answer for programs.
func (s *Stats) Document() any {
	d := StatsDocument{
		ScopeDocument: s.scope.document(), Tools: make([]ToolStatsDocument, 0, len(s.tools)),
		Destinations: destinationDocuments(s.destinations), Gaps: gapDocuments(s.gaps),
	}
	for _, tool := range s.tools {
		row := ToolStatsDocument{
			Tool: tool.Tool, Calls: tool.Calls, Failed: tool.Failed, Unanswered: tool.Unanswered, Open: tool.Open,
			TookP50US: knownOrNil(tool.TookP50), TookP95US: knownOrNil(tool.TookP95),
			SentBytes: tool.Sent, ReturnedBytes: tool.Returned,
		}
		if tool.worst != "" {
			row.WorstBytes, row.WorstCall = &tool.Worst, &tool.worst
		}
		d.Tools = append(d.Tools, row)
	}
	return d
}
