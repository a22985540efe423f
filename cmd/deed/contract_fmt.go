package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type contractFmtCommand struct {
	Files []string `arg:"" name:"file" help:"Contracts; - is standard input."`
	Write bool     `help:"Write into the files what would be printed." short:"w"`
	Check bool     `help:"Print the names of files that are laid out otherwise, and fail if there is one."`
}

// Help is printed under the flags of deed contract fmt --help.
func (contractFmtCommand) Help() string {
	return `Example:

    deed contract fmt refund.yaml           prints it
    deed contract fmt -w contracts/*.yaml
    deed contract fmt --check contracts/*.yaml     in CI

Lays contracts out in one way: keys in the order of the language's reference,
two blanks for each level, what is in brackets on one line or opened. Comments
stay, and the meaning never changes. What is no YAML is left as it is.

Exit code 0: done. 1: a file is no YAML, or with --check laid out otherwise.
2: a file could not be read.`
}

// Validate refuses flags that do not go together.
func (c *contractFmtCommand) Validate() error {
	if c.Write && c.Check {
		return errTogether("--write", "--check")
	}
	for _, name := range c.Files {
		if name == "-" && c.Write {
			return errTogether("--write", "-")
		}
	}
	return nil
}

func (c *contractFmtCommand) Run(_ context.Context, w *world) error {
	wrong := &report.Validation{}
	otherwise := false
	for _, name := range withoutTests(c.Files) {
		text, err := contractText(w, name)
		if err != nil {
			return err
		}
		out, err := contract.Format(text)
		var problems contract.Problems
		switch {
		case errors.As(err, &problems):
			wrong.Files = append(wrong.Files, report.ValidatedFile{Name: name, Text: string(text), Problems: problems})
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		same := bytes.Equal(text, out)
		switch {
		case c.Check && !same:
			otherwise = true
			err = w.print(terminal.Clean(name) + "\n")
		case c.Write && !same:
			err = replaceFile(name, out)
		case !c.Check && !c.Write:
			err = w.print(string(out))
		}
		if err != nil {
			return err
		}
	}
	if len(wrong.Files) > 0 {
		fmt.Fprint(w.stderr, wrong.Text(report.View{Clock: w.clock}))
	}
	if len(wrong.Files) > 0 || otherwise {
		return exitCode(exitNegative)
	}
	return nil
}

// replaceFile puts a text in the place of a file's, in one step, so that a full
// disk leaves the old one.
func replaceFile(name string, text []byte) error {
	fail := func(err error) error { return &misuse{fmt.Errorf("write %s: %w", name, err)} }
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fail(err)
	}
	old, err := os.Stat(path)
	if err != nil {
		return fail(err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fail(err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), old.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}
