package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/verdict"
)

type contractDraftCommand struct {
	ActionType string `help:"Only actions of this type." placeholder:"TYPE"`
	ContractID string `help:"Only actions that name this contract." placeholder:"ID"`
	Contract   string `help:"The contract that the actions have: limits are drawn from its settled PASS." placeholder:"FILE"`
	Actions    string `help:"Declared actions, one JSON object a line." placeholder:"FILE" required:""`
	Facts      string `help:"Facts, one JSON object a line." placeholder:"FILE" required:""`
	Watermarks string `help:"The sources and how complete they are, as JSON." placeholder:"FILE"`
	At         string `help:"What was known then counts; without it, what is known now." placeholder:"TIME"`
	JSON       bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed contract draft --help.
func (contractDraftCommand) Help() string {
	return `Example:

    deed contract draft --action-type refund_order --actions actions.jsonl --facts facts.jsonl --watermarks watermarks.json > refund.yaml
    deed contract draft --contract refund.yaml --actions actions.jsonl --facts facts.jsonl --watermarks watermarks.json

Proposes a contract from what was recorded: the parameters and their types, the
rules by which facts belong to the actions, the facts that follow most of them
with counts and windows, and limits that 99 of 100 actions kept. What stands
behind each line is a comment in it. Nothing is saved, and nobody but you knows
what should be: read every line. What must never happen is for you to write.

A limit wants thirty actions with a settled PASS under --contract, or without it
thirty whose effect was seen, for each currency alone.

The files are those of deed evaluate. Warnings stand in the draft and on
standard error.

Exit code 0: a draft was printed. 1: there is nothing to draft from. 2: a file
could not be read; its name, line and key are told.`
}

func (c *contractDraftCommand) Run(_ context.Context, w *world) error {
	in, err := c.input(w)
	if err != nil {
		return err
	}
	proposal, err := draft.Propose(in)
	if nothing := new(draft.NothingSeenError); errors.As(err, &nothing) {
		hint := "see which actions and facts there are: deed evaluate --help"
		if nothing.Actions > 0 {
			hint = "give facts a key of the action under refs, or its subject_id and subject_kind"
		} else if c.ActionType != "" || c.ContractID != "" {
			hint = "leave --action-type and --contract-id out to draft from all actions"
		}
		return terminal.WithHint(err, hint)
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		for _, warning := range proposal.Warnings {
			fmt.Fprintf(w.stderr, "deed: %s\n", terminal.Clean(warning.Text))
		}
	}
	return w.answer(report.Draft{Proposal: proposal}, c.JSON)
}

// input reads the files, and with a contract evaluates the actions under it.
func (c *contractDraftCommand) input(w *world) (draft.Input, error) {
	in := draft.Input{ActionType: c.ActionType, ContractID: c.ContractID}
	var err error
	if in.At, err = (&evaluateCmd{At: c.At}).moment(w); err != nil {
		return in, err
	}
	if c.Contract != "" {
		text, err := contractText(w, c.Contract)
		if err != nil {
			return in, err
		}
		if in.Contract, err = contract.Parse(text); err != nil {
			return in, contractError(c.Contract, err)
		}
	}
	h, err := readHistory(w, c.Actions, c.Facts, c.Watermarks)
	if err != nil {
		return in, err
	}
	in.Actions, in.Facts, in.Sources = h.actions, h.facts, h.sources
	if in.Contract != nil {
		in.Verdicts, err = verdictsOf(in)
	}
	return in, err
}

// verdictsOf evaluates the actions of a contract.
func verdictsOf(in draft.Input) (map[string]verdict.Verdict, error) {
	list, err := docket.Replay(in.Contract, in.Actions, in.Facts, in.Sources, in.At)
	verdicts := make(map[string]verdict.Verdict, len(list))
	for _, v := range list {
		verdicts[v.ActionID] = v
	}
	return verdicts, err
}
