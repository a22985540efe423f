package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/terminal"
)

type contractTestCommand struct {
	Files           []string `arg:"" name:"file" help:"Files of tests, contracts with such a file beside them, or folders."`
	RequireCoverage bool     `help:"Fail if a check of a contract is not seen both to pass and to fail."`
	JUnit           string   `help:"Write the results as JUnit XML too." name:"junit" placeholder:"FILE"`
	JSON            bool     `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed contract test --help.
func (contractTestCommand) Help() string {
	return `Example:

    deed contract test refund.test.yaml
    deed contract test refund.yaml          the tests in refund.test.yaml beside it
    deed contract test contracts            every *.test.yaml below the folder
    deed contract test contracts --require-coverage --junit results.xml

A test is an action, what the systems of record report, how complete they are
at which time, and what the verdict must then be. Several tests in one file
share what the file says outside of tests:.

A check of the contract that no test makes both PASS and FAIL is listed as not
tested: a check that was never seen to fail may be unable to.

Exit code 0: all is as expected. 1: a test failed, or with --require-coverage a
check is not tested. 2: a file could not be read; its name and line are told.`
}

func (c *contractTestCommand) Run(_ context.Context, w *world) error {
	files, contracts, err := c.find()
	if err != nil {
		return err
	}
	tests := &report.ContractTests{Seen: scenario.Seen{}, CoverageRequired: c.RequireCoverage}
	var suites []*scenario.Suite
	for _, file := range files {
		suite, err := scenario.ReadSuite(filepath.ToSlash(file), os.ReadFile)
		if err != nil {
			return suiteError(err)
		}
		suites = append(suites, suite)
	}
	for _, suite := range suites {
		if err := play(tests, suite, w); err != nil {
			return err
		}
	}
	addUntested(tests, contracts)
	if c.JUnit != "" {
		var text bytes.Buffer
		if err := tests.WriteJUnit(&text); err != nil {
			return err
		}
		if err := os.WriteFile(c.JUnit, text.Bytes(), 0o644); err != nil {
			return &misuse{err}
		}
	}
	if err := w.answer(tests, c.JSON); err != nil {
		return err
	}
	if !tests.Good() {
		return exitCode(exitNegative)
	}
	return nil
}

// play runs the tests of one file.
func play(tests *report.ContractTests, suite *scenario.Suite, w *world) error {
	tested := report.TestedFile{File: suite.File}
	for _, test := range suite.Tests {
		begin := w.clock.Now()
		checked, err := test.Check()
		if err != nil {
			return &misuse{err}
		}
		tests.Seen.Add(checked.Outcomes)
		tested.Tests = append(tested.Tests, report.TestedScenario{Checked: checked, Took: w.clock.Now().Sub(begin)})
	}
	tests.Files = append(tests.Files, tested)
	for _, k := range suite.Contracts {
		addContract(tests, report.TestedContract{File: k.File, Contract: k.Contract})
	}
	return nil
}

// addContract adds a contract once, whatever path it was read by.
func addContract(tests *report.ContractTests, k report.TestedContract) {
	if !slices.ContainsFunc(tests.Contracts, func(known report.TestedContract) bool { return known.Contract.Digest == k.Contract.Digest }) {
		tests.Contracts = append(tests.Contracts, k)
	}
}

// addUntested adds the contracts of a folder that no file tests. What does not
// parse is none: it may be any YAML, and a contract that is broken is found by
// deed contract validate.
func addUntested(tests *report.ContractTests, files []string) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if k, err := contract.Parse(text); err == nil {
			addContract(tests, report.TestedContract{File: filepath.ToSlash(file), Contract: k, NoTests: true})
		}
	}
}

// find lists the files of tests that were named, and the other YAML files of
// the folders among them.
func (c *contractTestCommand) find() (tests, others []string, err error) {
	for _, name := range c.Files {
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return nil, nil, &misuse{err}
		case !info.IsDir():
			tests = append(tests, testsOf(name))
			continue
		}
		found := len(tests)
		err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return fs.SkipDir
			case entry.IsDir() || !isYAML(path):
			case isTest(path):
				tests = append(tests, path)
			default:
				others = append(others, path)
			}
			return nil
		})
		if err != nil {
			return nil, nil, &misuse{err}
		}
		if len(tests) == found {
			return nil, nil, &misuse{terminal.WithHint(fmt.Errorf("no tests below %s", name), "the tests of refund.yaml are in refund.test.yaml beside it")}
		}
	}
	return tests, others, nil
}

// testsOf is the file of tests that stands beside a contract, or the file
// itself if none does.
func testsOf(name string) string {
	if !isYAML(name) || isTest(name) {
		return name
	}
	extension := filepath.Ext(name)
	beside := strings.TrimSuffix(name, extension) + ".test" + extension
	if _, err := os.Stat(beside); err == nil {
		return beside
	}
	return name
}

func isYAML(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

func isTest(name string) bool {
	return strings.HasSuffix(name, ".test.yaml") || strings.HasSuffix(name, ".test.yml")
}

// suiteError adds what to do next to what is wrong with a file of tests.
func suiteError(err error) error {
	var at *scenario.Error
	switch {
	case !errors.As(err, &at):
		return &misuse{err}
	case at.Cause != nil:
		return contractError(at.Contract, at.Cause)
	case at.Hint != "":
		return &misuse{terminal.WithHint(fmt.Errorf("%s:%d: %s", at.File, at.Line, at.Message), at.Hint)}
	}
	return &misuse{err}
}
