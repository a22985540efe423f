package main

import (
	"context"
	"errors"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/weakening"
)

type contractDiffCommand struct {
	Old        string `arg:"" help:"The version that counts now; - is standard input."`
	New        string `arg:"" help:"The version that is proposed; - is standard input."`
	Actions    string `help:"Declared actions to replay by both, one JSON object a line." placeholder:"FILE"`
	Facts      string `help:"Facts, one JSON object a line." placeholder:"FILE"`
	Watermarks string `help:"The sources and how complete they are, as JSON." placeholder:"FILE"`
	At         string `help:"What was known then counts; without it, what is known now." placeholder:"TIME"`
	JSON       bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed contract diff --help.
func (contractDiffCommand) Help() string {
	return `Example:

    deed contract diff old.yaml new.yaml
    git show main:refund.yaml | deed contract diff - refund.yaml
    deed contract diff old.yaml new.yaml --actions actions.jsonl --facts facts.jsonl --watermarks watermarks.json

Says what a new version of a contract lets through that the old one did not.
Each change is weaker, stronger, or different where no verdict depends on it. It
is unclear where the structure of both cannot show that it is not weaker. How a
contract is laid out makes no difference.

With recorded actions, in the files of deed evaluate, it also evaluates each by
both versions, and names those that were FAIL or UNKNOWN and turn PASS.

Exit code 0: nothing is weaker. 1: something is, or it cannot be shown that it
is not, or an action turns PASS. 2: a file could not be read or is not valid.`
}

// Validate refuses flags that do not go together.
func (c *contractDiffCommand) Validate() error {
	if c.Old == "-" && c.New == "-" {
		return errors.New("standard input is one contract, not two")
	}
	if c.Actions == "" {
		for flag, given := range map[string]bool{"--facts": c.Facts != "", "--watermarks": c.Watermarks != "", "--at": c.At != ""} {
			if given {
				return errOnlyWith(flag, "--actions")
			}
		}
	}
	return nil
}

func (c *contractDiffCommand) Run(_ context.Context, w *world) error {
	before, err := readContract(w, c.Old)
	if err != nil {
		return err
	}
	after, err := readContract(w, c.New)
	if err != nil {
		return err
	}
	diff := &report.ContractDiff{Old: c.Old, New: c.New, Changes: weakening.Compare(before, after)}
	if c.Actions != "" {
		if err := c.replay(w, before, after, diff); err != nil {
			return err
		}
	}
	if err := w.answer(diff, c.JSON); err != nil {
		return err
	}
	if diff.Suspect() {
		return exitCode(exitNegative)
	}
	return nil
}

// replay evaluates the recorded actions by both versions. Each has its own case,
// since the new version may look for facts that the old one did not.
func (c *contractDiffCommand) replay(w *world, before, after *contract.Contract, diff *report.ContractDiff) error {
	at, err := (&evaluateCmd{At: c.At}).moment(w)
	if err != nil {
		return err
	}
	h, err := readHistory(w, c.Actions, c.Facts, c.Watermarks)
	if err != nil {
		return err
	}
	was, err := docket.Replay(before, h.actions, h.facts, h.sources, at)
	if err != nil {
		return err
	}
	is, err := docket.Replay(after, h.actions, h.facts, h.sources, at)
	if err != nil {
		return err
	}
	diff.Replayed, diff.Actions = true, len(was)
	for i := range was {
		diff.Flips = append(diff.Flips, weakening.Turned(&was[i], &is[i])...)
	}
	return nil
}
