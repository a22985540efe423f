package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/baseline"
	"github.com/deed-dev/deed/internal/terminal"
)

// recordedCall is what the comparison reads of a line of deed tail --json.
type recordedCall struct {
	Kind, Label, Tool, Outcome string
	ReturnedBytes              *int64 `json:"returned_bytes"`
}

// compare shows how large each answer was beside the built-in baseline. The
// sizes are the journal's: the baseline has whole lines on the wire, and what
// this client makes of a line is something else.
func (d *Demo) compare(ctx context.Context, home string) error {
	calls, err := d.recorded(ctx, home)
	if err != nil || len(calls) == 0 {
		return err
	}
	census, err := baseline.BuiltIn()
	if err != nil {
		return fmt.Errorf("compare with the baseline: %w", err)
	}
	pkg := baseline.FromCommand(d.Command)
	if pkg == "" {
		pkg = census.FromLabel(calls[0].Label)
	}
	calls = largest(calls)
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Max: 36}, {Right: true}, {}}}
	for _, call := range calls {
		if call.Outcome != "ok" || call.ReturnedBytes == nil {
			table.Add(terminal.Text(call.Tool), terminal.Cell{}, terminal.Cell{Text: "not compared, it failed", Paint: d.Style.Faint})
			continue
		}
		size := *call.ReturnedBytes
		table.Add(terminal.Text(call.Tool), terminal.Text(terminal.Size(size)), terminal.Text(census.Compare(pkg, call.Tool, size).String()))
	}
	d.heading("How large the answers were, beside a built-in census of public servers")
	d.say("%s", strings.TrimRight(table.String(), "\n"))
	d.say("\n  Whole answers on the wire, beside %s of %s\n  that were measured on %s. What that tells and what not: docs/baseline.md",
		terminal.Plural(int64(census.Overall.Calls), "answer"), terminal.Plural(int64(census.Overall.Tools), "tool"), day(census.MeasuredAt))
	return nil
}

// largest keeps one call of each tool: the one with the largest answer, or one that
// failed if all did.
func largest(calls []recordedCall) []recordedCall {
	size := func(c *recordedCall) int64 {
		if c.Outcome != "ok" || c.ReturnedBytes == nil {
			return -1
		}
		return *c.ReturnedBytes
	}
	var kept []recordedCall
	at := map[string]int{}
	for i := range calls {
		c := &calls[i]
		if place, known := at[c.Tool]; !known {
			at[c.Tool] = len(kept)
			kept = append(kept, *c)
		} else if size(c) > size(&kept[place]) {
			kept[place] = *c
		}
	}
	return kept
}

// recorded asks deed tail for the calls, oldest first.
func (d *Demo) recorded(ctx context.Context, home string) ([]recordedCall, error) {
	cmd := exec.CommandContext(ctx, d.Program, "tail", "--json", "-n", "100")
	cmd.Env, cmd.Stderr = environment(home), d.Err
	text, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("run deed tail: %w", err)
	}
	var calls []recordedCall
	for line := range bytes.Lines(text) {
		var call recordedCall
		if err := json.Unmarshal(line, &call); err != nil {
			return nil, fmt.Errorf("read what deed tail says: %w", err)
		}
		// Gaps stand among the calls; deed last tells of them.
		if call.Kind == "call" {
			calls = append(calls, call)
		}
	}
	return calls, nil
}

// day is the date of a time in RFC 3339.
func day(moment string) string {
	return moment[:min(len(moment), len(time.DateOnly))]
}
