package main

import (
	"context"
	"errors"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/report"
)

type contractExplainCommand struct {
	File     string `arg:"" help:"The contract; - is standard input."`
	Markdown bool   `help:"As Markdown, for a document."`
	JSON     bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed contract explain --help.
func (contractExplainCommand) Help() string {
	return `Example:

    deed contract explain refund.yaml
    deed contract explain refund.yaml --markdown > refund.md

Says in plain language what a contract demands, for those who answer for it and
do not read YAML. Each sentence has a number, by which it can be quoted. What
applies although nobody wrote it down is said as well, and so is what the
contract does not check.

Exit code 0: it was explained. 2: it could not be read or is not valid.`
}

// Validate refuses flags that do not go together.
func (c *contractExplainCommand) Validate() error {
	if c.Markdown && c.JSON {
		return errTogether("--markdown", "--json")
	}
	return nil
}

func (c *contractExplainCommand) Run(_ context.Context, w *world) error {
	k, err := readContract(w, c.File)
	if err != nil {
		return err
	}
	return w.answer(report.Explanation{Explained: explanation.Explain(k), Markdown: c.Markdown}, c.JSON)
}

// readContract reads a contract that must be valid.
func readContract(w *world, name string) (*contract.Contract, error) {
	file, err := validated(w, name)
	switch {
	case err != nil:
		return nil, err
	case file.Contract == nil && len(file.Problems) > 0:
		return nil, contractError(name, contract.Problems(file.Problems))
	case file.Contract == nil:
		return nil, &misuse{errors.New(name + ": it is no contract")}
	}
	return file.Contract, nil
}
