package main

import (
	"context"
	"fmt"
	"math"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type costCmd struct {
	scopeFlags
	BytesPerToken float64 `help:"How many bytes make one token." default:"${bytes_per_token}" placeholder:"BYTES"`
	All           bool    `help:"Every tool, not only the first ones."`
	JSON          bool    `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed cost --help.
func (costCmd) Help() string {
	return `Example:
    deed cost --since 7d
    deed cost --bytes-per-token 3.2

What tools returned to calls that succeeded, as bytes on the wire and as an
estimate in tokens. Four bytes a token is a middle figure for JSON: fewer with
dense punctuation or other alphabets, more with prose. The answer says what it
leaves out, for whoever holds it next to a bill.`
}

// Validate refuses a ratio that estimates nothing.
func (c *costCmd) Validate() error {
	if !(c.BytesPerToken > 0) || math.IsInf(c.BytesPerToken, 0) {
		return terminal.WithHint(fmt.Errorf("--bytes-per-token %g is no number above 0", c.BytesPerToken), "a middle figure for JSON: --bytes-per-token 4")
	}
	return nil
}

func (c *costCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		cost, err := report.ToolCost(ctx, reader, reader, w.clock, report.CostQuery{Scope: scope, BytesPerToken: c.BytesPerToken, All: c.All})
		if err != nil {
			return err
		}
		return w.answer(cost, c.JSON)
	})
}
