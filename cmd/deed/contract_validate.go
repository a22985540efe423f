package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/weakening"
)

type contractValidateCommand struct {
	Files   []string `arg:"" name:"file" help:"Contracts; - is standard input."`
	Against string   `help:"Also say what differs from this earlier version." placeholder:"FILE"`
	JSON    bool     `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed contract validate --help.
func (contractValidateCommand) Help() string {
	return `Example:

    deed contract validate refund.yaml
    deed contract validate contracts/*.yaml
    git show main:refund.yaml > old.yaml; deed contract validate refund.yaml --against old.yaml

Says everything that is wrong with a contract at once: the line, the place in
it, and what to write instead. Then what is allowed but odd, and how much the
contract asks. With --against it also says what the change makes weaker.

Exit code 0: valid, and not weaker. 1: not valid, or weaker, or it cannot be
shown that it is not weaker. 2: a file could not be read.`
}

// Validate refuses to hold several contracts against one.
func (c *contractValidateCommand) Validate() error {
	if c.Against != "" && len(c.Files) > 1 {
		return errors.New("--against is for one contract")
	}
	return nil
}

func (c *contractValidateCommand) Run(_ context.Context, w *world) error {
	validation := &report.Validation{}
	for _, name := range withoutTests(c.Files) {
		file, err := validated(w, name)
		if err != nil {
			return err
		}
		validation.Files = append(validation.Files, file)
	}
	if one := &validation.Files[0]; c.Against != "" && one.Contract != nil {
		before, err := validated(w, c.Against)
		switch {
		case err != nil:
			return err
		case before.Contract == nil:
			return contractError(c.Against, contract.Problems(before.Problems))
		}
		one.Compared, one.Changes = true, weakening.Compare(before.Contract, one.Contract)
	}
	if err := w.answer(validation, c.JSON); err != nil {
		return err
	}
	if !validation.Good() {
		return exitCode(exitNegative)
	}
	return nil
}

// validated reads a contract and what is wrong with it.
func validated(w *world, name string) (report.ValidatedFile, error) {
	file := report.ValidatedFile{Name: name}
	text, err := contractText(w, name)
	if err != nil {
		return file, err
	}
	file.Text = string(text)
	parsed, err := contract.Parse(text)
	var problems contract.Problems
	switch {
	case errors.As(err, &problems):
		file.Problems = problems
	case err != nil:
		return file, fmt.Errorf("%s: %w", name, err)
	default:
		file.Contract = parsed
	}
	return file, nil
}

// withoutTests leaves files of tests out of several that were named: a pattern
// for a folder's contracts matches its tests too.
func withoutTests(names []string) []string {
	contracts := make([]string, 0, len(names))
	for _, name := range names {
		if !strings.HasSuffix(name, ".test.yaml") {
			contracts = append(contracts, name)
		}
	}
	if len(contracts) == 0 {
		return names // they were meant
	}
	return contracts
}

// contractText reads a file that was named, or standard input for -.
func contractText(w *world, name string) ([]byte, error) {
	if name == "-" {
		text, err := io.ReadAll(w.stdin)
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		return text, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &misuse{err}
	}
	return text, nil
}
