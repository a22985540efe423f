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

Waits until the verdicts of all these actions are settled, prints them, and says
by its exit code whether a pipeline may go on. An agent that was to act and
declared nothing fails it too (--min).

Exit code 0: all are PASS. 1: one is FAIL, or there are too few. 3: none is FAIL,
and one is UNKNOWN or not settled in time.`
}

func (c *gateCmd) Run(ctx context.Context, w *world) error {
	if len(c.Ref) == 0 && len(c.query()) == 0 && c.Period == "" {
		return &misuse{errNothingAsked("which actions", "deed gate --workflow nightly-42")}
	}
	if len(c.Ref) > 0 && (len(c.query()) > 0 || c.Period != "") {
		return &misuse{terminal.WithHint(errors.New("actions are named and searched for at once"), "leave out one of both")}
	}
	server, err := c.connect(w, asProgram)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		waiting, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		for pause := firstPause; ; pause = min(2*pause, longestPause) {
			// A look is never cut short by the end of the wait: the last one is the answer.
			seen, open, err := c.look(ctx, server)
			if err != nil {
				if passing(err) && pass(waiting, pause) {
					continue // a server that is started again must not fail a pipeline
				}
				return err
			}
			if open == 0 && len(seen) >= c.Min || !pass(waiting, pause) {
				return c.report(w, seen, open)
			}
			w.progress.Tell("verdicts", int64(len(seen)-open), int64(max(len(seen), c.Min)))
		}
	})
}

// look reads all actions once, by their ids, and how many of them are still open.
func (c *gateCmd) look(ctx context.Context, server *reached) (seen map[string]json.RawMessage, open int, err error) {
	seen = map[string]json.RawMessage{}
	take := func(raw json.RawMessage) error {
		var a client.Declared
		if err := json.Unmarshal(raw, &a); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		if v := &a.Verification; !v.IsSettled() && (c.Until == "settled" || !v.Decided) {
			open++
		}
		seen[a.Action.ID] = raw
		return nil
	}
	for _, ref := range c.Ref {
		raw, err := server.action(ctx, ref)
		if fault, ok := errors.AsType[*remote.Error](err); ok && fault.Code == "not_found" {
			open++ // it may be declared yet
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if err := take(raw); err != nil {
			return nil, 0, err
		}
	}
	if len(c.Ref) > 0 {
		return seen, open, nil
	}
	query := with(c.query(), "period", c.Period)
	query.Set("limit", "200")
	for {
		var page struct {
			Actions []json.RawMessage
			Next    string `json:"next_cursor"`
		}
		raw, err := server.ask(ctx, http.MethodGet, "/v1/actions", query, nil)
		if err != nil {
			return nil, 0, err
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, 0, fmt.Errorf("read the server's answer: %w", err)
		}
		for _, raw := range page.Actions {
			if err := take(raw); err != nil {
				return nil, 0, err
			}
		}
		if page.Next == "" {
			return seen, open, nil
		}
		query = url.Values(maps.Clone(query))
		query.Set("cursor", page.Next)
	}
}

// report prints the verdicts, and returns the exit code that they come to.
func (c *gateCmd) report(w *world, seen map[string]json.RawMessage, open int) error {
	w.progress.Clear()
	all := []json.RawMessage{}
	worst := client.Pass
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		var a client.Declared
		if err := json.Unmarshal(seen[id], &a); err != nil {
			return fmt.Errorf("read the server's answer: %w", err)
		}
		switch {
		case a.Verification.Badge == client.Fail:
			worst = client.Fail
		case a.Verification.Badge != client.Pass && worst != client.Fail:
			worst = client.Unknown
		}
		all = append(all, seen[id])
	}
	raw, err := json.Marshal(map[string]any{"actions": all, "open": open, "next_cursor": nil})
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
		if seen[ref] == nil && !refSeen(seen, ref) {
			fmt.Fprintf(w.stderr, "deed: nobody declared %s\n", terminal.Clean(ref))
		}
	}
	switch {
	case worst == client.Fail:
		return exitCode(exitNegative)
	case len(seen) < max(c.Min, len(c.Ref)):
		return terminal.WithHint(fmt.Errorf("%s, and at least %d must be there", terminal.Plural(int64(len(seen)), "action"), max(c.Min, len(c.Ref))),
			"did the agent declare what it did? what there is: deed action list")
	case worst == client.Unknown || open > 0:
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
