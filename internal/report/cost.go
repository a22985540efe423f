package report

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// DefaultBytesPerToken is a middle figure for JSON: dense punctuation and
// other alphabets than Latin take fewer bytes a token, prose takes more.
const DefaultBytesPerToken = 4.0

// Cost is what tools returned, as bytes and as an estimate in tokens.
type Cost struct {
	scope         scoped
	all           bool
	bytesPerToken float64
	cost          journal.Cost
	worst         []string // the id of each tool's largest answer
	schemas       int64    // bytes of the newest definition of every tool
	schemaTools   int64
	gaps          []journal.Gap
}

// CostQuery says what [ToolCost] adds up, and how it is printed.
type CostQuery struct {
	Scope
	BytesPerToken float64 // more than 0
	All           bool    // no row of the text is left out
}

// ToolCost adds up what tools returned to calls that succeeded. Errors:
// [ErrNothingRecorded], [NoSessionError], [AmbiguousError].
func ToolCost(ctx context.Context, figures Figures, catalogue Catalogue, clock terminal.Clock, query CostQuery) (*Cost, error) {
	within, err := query.resolve(ctx, figures, clock)
	if err != nil {
		return nil, err
	}
	c := &Cost{scope: within, all: query.All, bytesPerToken: query.BytesPerToken}
	if c.cost, err = figures.Cost(ctx, journal.StatsFilter{Session: within.id, Since: within.since}); err != nil {
		return nil, fmt.Errorf("add up what tools returned: %w", err)
	}
	slices.SortStableFunc(c.cost.Tools, func(a, b journal.ToolCost) int {
		return moreFirst(a.Returned, b.Returned, a.Calls, b.Calls, a.Tool, b.Tool)
	})
	ids := newShortener(figures)
	for _, tool := range c.cost.Tools {
		id, err := ids.place(ctx, tool.WorstSession, tool.WorstSeq)
		if err != nil {
			return nil, err
		}
		c.worst = append(c.worst, id)
	}
	tools, err := catalogue.Tools(ctx, journal.ToolFilter{Session: within.id, Since: within.since, Uncounted: true})
	if err != nil {
		return nil, fmt.Errorf("measure the tools' definitions: %w", err)
	}
	for _, tool := range tools {
		c.schemas += tool.Bytes
		c.schemaTools++
	}
	c.gaps, err = within.gaps(ctx, figures)
	return c, err
}

func (c *Cost) tokens(bytes int64) int64 {
	return int64(math.Round(float64(bytes) / c.bytesPerToken))
}

func (c *Cost) ratio() string { return strconv.FormatFloat(c.bytesPerToken, 'f', -1, 64) }

// Text is one line a tool, the most expensive first, and under it everything
// that the figures leave out: somebody will hold them next to a bill.
func (c *Cost) Text(view View) string {
	var b strings.Builder
	if len(c.cost.Tools) == 0 {
		b.WriteString("no call succeeded" + c.scope.text(view) + "\n")
	} else {
		b.WriteString(c.tableText(view))
	}
	if c.cost.FailedCalls > 0 {
		fmt.Fprintf(&b, "not in the table: %s that returned %s, ~%s tokens (deed tail --errors)\n",
			terminal.Plural(c.cost.FailedCalls, "failed call"), terminal.Size(c.cost.FailedReturned), terminal.Count(c.tokens(c.cost.FailedReturned)))
	}
	fmt.Fprintf(&b, "tokens are an estimate: %s bytes each (--bytes-per-token)\n", c.ratio())
	b.WriteString("not counted: prompts, the model's own words, and " + c.schemasText() + "\n")
	b.WriteString(gapsText(c.gaps, view))
	return b.String()
}

func (c *Cost) schemasText() string {
	if c.schemaTools == 0 {
		return "the definitions of tools that a client sends at the start of each conversation (none was recorded)"
	}
	return fmt.Sprintf("the definitions of tools that a client sends at the start of each conversation (%s, %s, ~%s tokens if it sends all)",
		terminal.Plural(c.schemaTools, "tool"), terminal.Size(c.schemas), terminal.Count(c.tokens(c.schemas)))
}

func (c *Cost) tableText(view View) string {
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "tool", Max: nameWidth},
		{Title: "calls", Right: true},
		{Title: "returned", Right: true},
		{Title: "~tokens", Right: true},
		{Title: "worst call", Right: true},
		{},
	}}
	shown := listed(len(c.cost.Tools), c.all)
	for i, tool := range c.cost.Tools[:shown] {
		table.Add(
			terminal.Text(orNone(tool.Tool)), terminal.Text(terminal.Count(tool.Calls)), terminal.Text(terminal.Size(tool.Returned)),
			terminal.Text("~"+terminal.Count(c.tokens(tool.Returned))), terminal.Text(terminal.Size(tool.Worst)),
			terminal.Cell{Text: c.worst[i], Paint: view.Style.Faint},
		)
	}
	if rest := len(c.cost.Tools) - shown; rest > 0 {
		table.Add(terminal.Text(fmt.Sprintf("… and %s: --all", terminal.Plural(int64(rest), "more tool"))))
	}
	table.Add(
		terminal.Cell{Text: "total", Paint: view.Style.Strong}, terminal.Text(terminal.Count(c.cost.Calls)), terminal.Text(terminal.Size(c.cost.Returned)),
		terminal.Cell{Text: "~" + terminal.Count(c.tokens(c.cost.Returned)), Paint: view.Style.Strong},
	)
	return table.String()
}

// CostDocument is the JSON form of [Cost].
type CostDocument struct {
	ScopeDocument
	BytesPerToken       float64            `json:"bytes_per_token"`       // what every estimate was made with
	Tools               []ToolCostDocument `json:"tools"`                 // all of them, most returned first
	Calls               int64              `json:"calls"`                 // that succeeded
	ReturnedBytes       int64              `json:"returned_bytes"`        // by those calls
	Tokens              int64              `json:"tokens"`                // estimate
	FailedCalls         int64              `json:"failed_calls"`          // answered with an error; in no sum
	FailedReturnedBytes int64              `json:"failed_returned_bytes"` // not in the sums above
	DefinitionTools     int64              `json:"definition_tools"`      // whose definitions were recorded
	DefinitionBytes     int64              `json:"definition_bytes"`      // of their newest definitions; in no sum
	Gaps                []GapDocument      `json:"gaps"`                  // what was not seen
}

// ToolCostDocument is one tool.
type ToolCostDocument struct {
	Tool          string `json:"tool"`           // its name
	Calls         int64  `json:"calls"`          // that succeeded
	ReturnedBytes int64  `json:"returned_bytes"` // by them
	Tokens        int64  `json:"tokens"`         // estimate
	WorstBytes    int64  `json:"worst_bytes"`    // of its largest answer
	WorstCall     string `json:"worst_call"`     // its id
}

// Document is the answer for programs.
func (c *Cost) Document() any {
	d := CostDocument{
		ScopeDocument: c.scope.document(), BytesPerToken: c.bytesPerToken, Tools: make([]ToolCostDocument, 0, len(c.cost.Tools)),
		Calls: c.cost.Calls, ReturnedBytes: c.cost.Returned, Tokens: c.tokens(c.cost.Returned),
		FailedCalls: c.cost.FailedCalls, FailedReturnedBytes: c.cost.FailedReturned,
		DefinitionTools: c.schemaTools, DefinitionBytes: c.schemas, Gaps: gapDocuments(c.gaps),
	}
	for i, tool := range c.cost.Tools {
		d.Tools = append(d.Tools, ToolCostDocument{
			Tool: tool.Tool, Calls: tool.Calls, ReturnedBytes: tool.Returned, Tokens: c.tokens(tool.Returned),
			WorstBytes: tool.Worst, WorstCall: c.worst[i],
		})
	}
	return d
}
