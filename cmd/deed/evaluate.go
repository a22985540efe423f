package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

type evaluateCmd struct {
	Contract   []string `help:"A contract; give it again for more of them." placeholder:"FILE"`
	Actions    string   `help:"Declared actions, one JSON object a line." placeholder:"FILE"`
	Facts      string   `help:"Facts, one JSON object a line." placeholder:"FILE"`
	Watermarks string   `help:"The sources and how complete they are, as JSON." placeholder:"FILE"`
	At         string   `help:"What was known then counts; without it, what is known now." placeholder:"TIME"`
	Action     string   `help:"Only this action, with what its reasons mean and its evidence." placeholder:"ID"`
	Case       string   `help:"Print the case of this action instead: all that its verdict depends on." placeholder:"ID"`
	CaseFile   string   `help:"Evaluate a case that --case printed, and nothing else." placeholder:"FILE"`
	JSON       bool     `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed evaluate --help.
func (evaluateCmd) Help() string {
	return `Example:

    deed evaluate --contract refund.yaml --actions actions.jsonl --facts facts.jsonl --watermarks watermarks.json
    deed evaluate … --action refund:o-1     why, and what to do next
    deed evaluate … --case refund:o-1 > case.json
    deed evaluate --case-file case.json     anybody gets the same verdict

Says of declared actions whether they really happened and whether they were
allowed, from facts that systems of record report. What is not there counts as
missing only where its source is complete to the end of the time for it; until
then the answer is UNKNOWN. Each contract is taken as live from the beginning
of time.

An action is the body that declares it, with received_at added. A fact has
source, external_id, type and occurred_at, and may have subject_id,
subject_kind, refs, attrs, ingested_at, observed_at, revision and retracted. An
amount is {"amount": "180.00", "currency": "USD"}. Watermarks are
{"sources": [{"name": "stripe", "trust": "independent", "watermarks": {"refund.succeeded": "2026-11-05T12:00:00Z"}}]}.

Exit code 0: every action is PASS. 1: one is FAIL. 3: none is FAIL, and one is
UNKNOWN. 2: a file could not be read; its name, line and key are told.
Effects that no action claims change no exit code.`
}

// Validate refuses flags that do not go together.
func (c *evaluateCmd) Validate() error {
	if c.CaseFile == "" {
		switch {
		case len(c.Contract) == 0:
			return errNothingAsked("by which contract (--contract)", "deed evaluate --contract refund.yaml --actions actions.jsonl --facts facts.jsonl --watermarks watermarks.json")
		case c.Actions == "":
			return errNothingAsked("which actions (--actions)", "deed evaluate --contract refund.yaml --actions actions.jsonl")
		case c.Action != "" && c.Case != "":
			return errTogether("--action", "--case")
		}
		return nil
	}
	for flag, given := range map[string]bool{
		"--contract": len(c.Contract) > 0, "--actions": c.Actions != "", "--facts": c.Facts != "", "--watermarks": c.Watermarks != "",
		"--at": c.At != "", "--action": c.Action != "", "--case": c.Case != "",
	} {
		if given {
			return errTogether("--case-file", flag)
		}
	}
	return nil
}

func (c *evaluateCmd) Run(_ context.Context, w *world) error {
	verdicts, err := c.verdicts(w)
	if err != nil || verdicts == nil {
		return err
	}
	if err := w.answer(verdicts, c.JSON); err != nil {
		return err
	}
	switch {
	case len(verdicts.Verdicts) == 0:
		return nil
	case verdicts.Worst() == verdict.Fail:
		return exitCode(exitNegative)
	case verdicts.Worst() == verdict.Unknown:
		return exitCode(exitUndecided)
	}
	return nil
}

// verdicts evaluates what was asked for. It returns none where a case was
// printed instead.
func (c *evaluateCmd) verdicts(w *world) (*report.Verdicts, error) {
	if c.CaseFile != "" {
		return c.stored()
	}
	at, err := c.moment(w)
	if err != nil {
		return nil, err
	}
	records, contracts, err := c.records(w)
	if err != nil {
		return nil, err
	}
	if c.Case != "" {
		found, _, err := evaluate(records, c.Case, at)
		if err != nil {
			return nil, err
		}
		return nil, w.print(string(found.AppendJSON(nil)) + "\n")
	}
	all := &report.Verdicts{At: at, Detailed: c.Action != ""}
	if c.Action != "" {
		_, v, err := evaluate(records, c.Action, at)
		all.Verdicts = append(all.Verdicts, v)
		return all, err
	}
	for _, id := range records.ActionIDs() {
		_, v, err := records.Evaluate(id, at)
		if errors.As(err, new(*docket.UnknownActionError)) {
			continue // it was declared after that time
		}
		if err != nil {
			return nil, err
		}
		all.Verdicts = append(all.Verdicts, v)
	}
	for _, k := range contracts {
		facts, err := docket.Orphans(records, k, at, all.Verdicts)
		if err != nil {
			return nil, err
		}
		for _, f := range facts {
			all.Orphans = append(all.Orphans, report.Orphan{ContractID: k.ID, Fact: f})
		}
	}
	return all, nil
}

func evaluate(records *docket.Memory, actionID string, at value.Instant) (*verdict.Case, verdict.Verdict, error) {
	c, v, err := records.Evaluate(actionID, at)
	if errors.As(err, new(*docket.UnknownActionError)) {
		return nil, v, &misuse{err}
	}
	return c, v, err
}

// stored evaluates a case that was printed before.
func (c *evaluateCmd) stored() (*report.Verdicts, error) {
	text, err := os.ReadFile(c.CaseFile)
	if err != nil {
		return nil, &misuse{err}
	}
	stored, err := verdict.DecodeCase(text)
	if err != nil {
		return nil, &misuse{fmt.Errorf("%s: %w", c.CaseFile, err)}
	}
	v, err := engine.Evaluate(stored)
	if err != nil {
		return nil, &misuse{fmt.Errorf("%s: %w", c.CaseFile, err)}
	}
	return &report.Verdicts{At: stored.At, Verdicts: []verdict.Verdict{v}, Detailed: true}, nil
}

// moment is the time of --at. It may lie ahead.
func (c *evaluateCmd) moment(w *world) (value.Instant, error) {
	if c.At == "" {
		return value.FromTime(w.clock.Now()), nil
	}
	if at, err := value.ParseInstant(c.At); err == nil {
		return at, nil
	}
	at, err := w.clock.Since(c.At)
	if err != nil {
		return 0, &misuse{terminal.WithHint(fmt.Errorf("--at %q is no time", c.At), "examples: --at 2026-11-05T12:00:00Z   --at 24h   --at yesterday")}
	}
	return value.FromTime(at), nil
}

// records reads the files.
func (c *evaluateCmd) records(w *world) (*docket.Memory, []*contract.Contract, error) {
	records := docket.NewMemory()
	var contracts []*contract.Contract
	for _, name := range c.Contract {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, &misuse{err}
		}
		k, err := contract.Parse(text)
		if err != nil {
			return nil, nil, contractError(name, err)
		}
		for _, odd := range k.Warnings {
			fmt.Fprintf(w.stderr, "deed: %s\n", terminal.Clean(problemAt(name, odd)))
		}
		v := docket.Version{}
		v.Contract, v.Version, v.Mode = k, 1, verdict.Live
		if err := records.Activate(v); err != nil {
			return nil, nil, &misuse{fmt.Errorf("%s: another file has the contract %s too", name, k.ID)}
		}
		contracts = append(contracts, k)
	}
	h, err := readHistory(w, c.Actions, c.Facts, c.Watermarks)
	if err != nil {
		return nil, nil, err
	}
	records.Load(h.actions, h.facts, h.sources)
	return records, contracts, nil
}

// contractError tells the first thing that is wrong with a contract, what to
// write instead, and the rest.
func contractError(name string, err error) error {
	var problems contract.Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		return &misuse{fmt.Errorf("%s: %w", name, err)}
	}
	var next []string
	if problems[0].Hint != "" {
		next = append(next, problems[0].Hint)
	}
	for _, problem := range problems[1:] {
		next = append(next, problemAt(name, problem))
	}
	first := errors.New(problemAt(name, problems[0]))
	if len(next) == 0 {
		return &misuse{first}
	}
	return &misuse{terminal.WithHint(first, strings.Join(next, "\n"))}
}

func problemAt(name string, p contract.Problem) string {
	text := fmt.Sprintf("%s:%d:%d: ", name, p.Line, p.Column)
	if p.Path != "" {
		text += p.Path + ": "
	}
	return text + p.Message
}

// read opens a file that was named.
func read(name string, from func(name string, r io.Reader) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return &misuse{err}
	}
	defer file.Close()
	if err := from(name, file); err != nil {
		return &misuse{err}
	}
	return nil
}
