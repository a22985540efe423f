package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/deed-dev/deed/client"
	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

type gateCmd struct {
	serverFlags
	actionFilter
	Ref     []string      `arg:"" optional:"" name:"action" help:"Actions by their ids; without any, those that the flags find."`
	Period  string        `help:"By their start: a month, last 7 days, or FROM..TO." placeholder:"PERIOD"`
	Until   string        `help:"settled, or decided, which may be earlier: no new fact can change it then." enum:"settled,decided" default:"settled"`
	Timeout time.Duration `help:"How long to wait." default:"10m"`
	Min     int           `help:"Fail unless there are at least so many actions." default:"1"`
}

// Help is printed under the flags of deed gate --help.
func (gateCmd) Help() string {
	return `Example:

    deed gate refund:o-1 refund:o-2
    deed gate --workflow nightly-42 --timeout 30m
    deed gate --contract refund_workflow --period "last 1 days" --min 10

Waits until the verdicts of all these actions are settled, and have all that the
server was told before, prints them, and says by its exit code whether a pipeline
may go on. An agent that was to act and declared nothing fails it too (--min).

Exit code 0: all are PASS. 1: one is FAIL, or there are too few. 3: none is FAIL,
and one is UNKNOWN or not settled in time, or the server did not get that far.`
}

func (c *gateCmd) Run(ctx context.Context, w *world) error {
	if len(c.Ref) == 0 && len(c.query()) == 0 && c.Period == "" {
		return &misuse{errNothingAsked("which actions", "deed gate --workflow nightly-42")}
	}
	if len(c.Ref) > 0 && (len(c.query()) > 0 || c.Period != "") {
		return &misuse{terminal.WithHint(errors.New("actions are named and searched for at once"), "leave out one of both")}
	}
	server, err := c.connect(w)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		waiting, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		g := glance{gate: c, server: server}
		for pause := firstPause; ; pause = min(2*pause, longestPause) {
			// A look is never cut short by the end of the wait: the last one is the answer.
			if err := g.look(ctx); err != nil {
				if passing(err) && pass(waiting, pause) {
					continue // a server that is started again must not fail a pipeline
				}
				return err
			}
			if g.open == 0 && len(g.seen) >= c.Min && g.current || !pass(waiting, pause) {
				return c.report(w, &g)
			}
			w.progress.Tell("verdicts", int64(len(g.seen)-g.open), int64(max(len(g.seen), c.Min)))
		}
	})
}

// glance is what the last look at all actions found.
type glance struct {
	gate   *gateCmd
	server *reached
	seen   map[string]json.RawMessage // by the server's id
	open   int                        // of them, with those that are not there yet
	began  time.Time                  // when the server was first asked, by its own clock
	// current says that all is in the verdicts that the server was told before that.
	current bool
}

func (g *glance) look(ctx context.Context) error {
	if !g.current {
		if err := g.progress(ctx); err != nil {
			return err
		}
	}
	g.seen, g.open = map[string]json.RawMessage{}, 0
	if len(g.gate.Ref) > 0 {
		return g.named(ctx)
	}
	return g.found(ctx)
}

// progress sees how far the server is with evaluating.
func (g *glance) progress(ctx context.Context) error {
	raw, err := g.server.ask(ctx, http.MethodGet, "/v1/actions/pending", url.Values{"limit": {"1"}}, nil)
	if err != nil {
		return err
	}
	var progress struct {
		At          time.Time `json:"at"`
		EvaluatedTo time.Time `json:"evaluated_to"`
	}
	if err := json.Unmarshal(raw, &progress); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	if g.began.IsZero() {
		g.began = progress.At
	}
	g.current = !progress.EvaluatedTo.Before(g.began)
	return nil
}

// take counts one action.
func (g *glance) take(raw json.RawMessage) error {
	var a client.Declared
	if err := json.Unmarshal(raw, &a); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	if v := &a.Verification; !v.IsSettled() && (g.gate.Until == "settled" || !v.Decided) {
		g.open++
	}
	g.seen[a.Action.ID] = raw
	return nil
}

// named reads the actions that were named.
func (g *glance) named(ctx context.Context) error {
	for _, ref := range g.gate.Ref {
		raw, err := g.server.action(ctx, ref)
		if fault, ok := errors.AsType[*remote.Error](err); ok && fault.Code == "not_found" {
			g.open++ // it may be declared yet
			continue
		}
		if err != nil {
			return err
		}
		if err := g.take(raw); err != nil {
			return err
		}
	}
	return nil
}

// found reads those that the flags find.
func (g *glance) found(ctx context.Context) error {
	query := with(g.gate.query(), "period", g.gate.Period)
	query.Set("limit", "200")
	for {
		var page struct {
			Actions []json.RawMessage
			Next    string `json:"next_cursor"`
		}
		raw, err := g.server.ask(ctx, http.MethodGet, "/v1/actions", query, nil)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		for _, raw := range page.Actions {
			if err := g.take(raw); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		query = url.Values(maps.Clone(query))
		query.Set("cursor", page.Next)
	}
}

// report prints the verdicts, and returns the exit code that they come to.
func (c *gateCmd) report(w *world, g *glance) error {
	w.progress.Clear()
	all := []json.RawMessage{}
	worst := client.Pass
	for _, id := range slices.Sorted(maps.Keys(g.seen)) {
		var a client.Declared
		if err := json.Unmarshal(g.seen[id], &a); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		switch {
		case a.Verification.Badge == client.Fail:
			worst = client.Fail
		case a.Verification.Badge != client.Pass && worst != client.Fail:
			worst = client.Unknown
		}
		all = append(all, g.seen[id])
	}
	raw, err := json.Marshal(map[string]any{"actions": all, "open": g.open, "next_cursor": nil})
	if err != nil {
		return fmt.Errorf("show the verdicts: %w", err)
	}
	answer, err := console.Actions(raw)
	if err != nil {
		return err
	}
	if err := w.answer(answer, c.JSON); err != nil {
		return err
	}
	for _, ref := range c.Ref {
		if g.seen[ref] == nil && !refSeen(g.seen, ref) {
			fmt.Fprintf(w.stderr, "deed: nobody declared %s\n", terminal.Clean(ref))
		}
	}
	if !g.current {
		fmt.Fprintln(w.stderr, "deed: the server has not evaluated all that it was told before; verdicts may change")
	}
	switch {
	case worst == client.Fail:
		return exitCode(exitNegative)
	case len(g.seen) < max(c.Min, len(c.Ref)):
		return terminal.WithHint(fmt.Errorf("%s, and at least %d must be there", terminal.Plural(int64(len(g.seen)), "action"), max(c.Min, len(c.Ref))),
			"did the agent declare what it did? what there is: deed action list")
	case worst == client.Unknown || g.open > 0 || !g.current:
		return exitCode(exitUndecided)
	}
	return nil
}

// refSeen says whether an action was seen by the server's own id.
func refSeen(seen map[string]json.RawMessage, ref string) bool {
	for _, raw := range seen {
		var a client.Declared
		if json.Unmarshal(raw, &a) == nil && a.Action.ServerID == ref {
			return true
		}
	}
	return false
}
