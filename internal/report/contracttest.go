package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/verdict"
)

// ContractTests are the tests of contracts and what they came to.
type ContractTests struct {
	Files []TestedFile
	// Contracts are those that the files test, and contracts that none does.
	Contracts []TestedContract
	// Seen is what the checks of the contracts came to.
	Seen scenario.Seen
	// CoverageRequired makes a check that was not seen to pass and to fail a
	// failure.
	CoverageRequired bool
}

// TestedFile is a file of tests.
type TestedFile struct {
	File  string
	Tests []TestedScenario
}

// TestedScenario is one test and how long it took.
type TestedScenario struct {
	*scenario.Checked
	Took time.Duration
}

// TestedContract is a contract and where it was read.
type TestedContract struct {
	File     string
	Contract *contract.Contract
	NoTests  bool // no file tests it
}

// Counts are how many tests passed and failed.
func (c *ContractTests) Counts() (passed, failed int64) {
	for _, file := range c.Files {
		for _, test := range file.Tests {
			if len(test.Wrong) > 0 {
				failed++
			} else {
				passed++
			}
		}
	}
	return passed, failed
}

// Covered reports that every check of every contract was seen to pass and to
// fail.
func (c *ContractTests) Covered() bool {
	for _, k := range c.Contracts {
		if len(c.Seen.Untested(k.Contract)) > 0 {
			return false
		}
	}
	return true
}

// Good reports that there is nothing to mend.
func (c *ContractTests) Good() bool {
	_, failed := c.Counts()
	return failed == 0 && (c.Covered() || !c.CoverageRequired)
}

// Text is a line for each test, what differs below those that failed, and the
// checks that were not tested at the end.
func (c *ContractTests) Text(view View) string {
	var b strings.Builder
	for i, file := range c.Files {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(view.Style.Strong(terminal.Clean(file.File)) + "\n")
		for _, test := range file.Tests {
			result, paint := "pass", view.Style.Good
			if len(test.Wrong) > 0 {
				result, paint = "FAIL", view.Style.Bad
			}
			fmt.Fprintf(&b, "  %s  %s\n", paint(result), terminal.Clean(test.Scenario.Name))
			for _, wrong := range test.Wrong {
				fmt.Fprintf(&b, "        %s\n", terminal.Clean(testPlace(wrong.Evaluation, test.Scenario)))
				for _, d := range wrong.Differences {
					fmt.Fprintf(&b, "          %s\n            expected  %s\n            got       %s\n", terminal.Clean(d.What), terminal.Clean(d.Expected), terminal.Clean(d.Got))
				}
			}
		}
	}
	b.WriteByte('\n')
	if gaps := c.gaps(); len(gaps) > 0 {
		b.WriteString(view.Style.Warn("not tested") + "\n")
		table := terminal.Table{Indent: 2, Columns: []terminal.Column{{}, {}, {}}}
		for _, gap := range gaps {
			table.Add(terminal.Text(gap.file), terminal.Text(gap.check), terminal.Text(gap.why))
		}
		b.WriteString(table.String() + "\n")
	}
	passed, failed := c.Counts()
	fmt.Fprintf(&b, "%s: %d passed, %d failed", terminal.Plural(passed+failed, "test"), passed, failed)
	if n := len(c.gaps()); n > 0 {
		fmt.Fprintf(&b, "; %s not tested both ways", terminal.Plural(int64(n), "check"))
	}
	b.WriteByte('\n')
	return b.String()
}

// testPlace says which evaluation of a test is meant, with its time as tests
// write it.
func testPlace(e scenario.Evaluation, s *scenario.Scenario) string {
	since := e.At.Time().Sub(s.Start.Time()).String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(since, none) {
			since = since[:len(since)-2]
		}
	}
	if !strings.HasPrefix(since, "-") {
		since = "+" + since
	}
	return fmt.Sprintf("line %d, %s at %s", e.Line, e.ActionID, since)
}

type gap struct{ file, check, why string }

// gaps are the checks that were not tested, in words.
func (c *ContractTests) gaps() []gap {
	var all []gap
	for _, k := range c.Contracts {
		for _, untested := range c.Seen.Untested(k.Contract) {
			all = append(all, gap{k.File, untested.Check, never(untested, k.NoTests)})
		}
	}
	return all
}

func never(u scenario.Untested, noTests bool) string {
	switch {
	case noTests:
		return "no file tests this contract"
	case len(u.Never) == 2:
		return "no test makes it PASS or FAIL"
	}
	return "no test makes it " + string(u.Never[0])
}

// ContractTestsDocument is what the tests of contracts came to, as JSON.
type ContractTestsDocument struct {
	Kind      string             `json:"kind"`      // "contract_tests"
	Passed    int64              `json:"passed"`    // tests
	Failed    int64              `json:"failed"`    // tests
	Covered   bool               `json:"covered"`   // every check was seen to pass and to fail
	Files     []TestFileDocument `json:"files"`     // in the order in which they were given
	Contracts []TestedDocument   `json:"contracts"` // in the order of their files
}

// TestFileDocument is a file of tests.
type TestFileDocument struct {
	File  string         `json:"file"`  // its path
	Tests []TestDocument `json:"tests"` // in the order of the file
}

// TestDocument is one test.
type TestDocument struct {
	Name        string               `json:"name"`        // as the file has it
	Line        int64                `json:"line"`        // where it begins
	Passed      bool                 `json:"passed"`      // all is as expected
	TookUS      int64                `json:"took_us"`     // how long it ran
	Differences []DifferenceDocument `json:"differences"` // empty if it passed
}

// DifferenceDocument is something that is not as a test expects it.
type DifferenceDocument struct {
	Line     int64  `json:"line"`      // of the evaluation
	At       string `json:"at"`        // the time of the evaluation
	ActionID string `json:"action_id"` // of the action that was evaluated
	What     string `json:"what"`      // a lens, a check or another part of the verdict
	Expected string `json:"expected"`  // in words
	Got      string `json:"got"`       // in words
}

// TestedDocument is a contract and how far it is tested.
type TestedDocument struct {
	File       string             `json:"file"`        // its path
	ContractID string             `json:"contract_id"` // its id
	Checks     int64              `json:"checks"`      // how many it has
	Untested   []UntestedDocument `json:"untested"`    // those that were not seen to pass and to fail
}

// UntestedDocument is a check that was not seen to pass and to fail.
type UntestedDocument struct {
	Check string   `json:"check"` // its id
	Never []string `json:"never"` // PASS, FAIL or both
}

// Document is the answer for programs.
func (c *ContractTests) Document() any {
	d := ContractTestsDocument{Kind: "contract_tests", Covered: c.Covered(), Files: []TestFileDocument{}, Contracts: []TestedDocument{}}
	d.Passed, d.Failed = c.Counts()
	for _, file := range c.Files {
		f := TestFileDocument{File: file.File, Tests: []TestDocument{}}
		for _, test := range file.Tests {
			one := TestDocument{Name: test.Scenario.Name, Line: int64(test.Scenario.Line), Passed: len(test.Wrong) == 0, TookUS: test.Took.Microseconds(), Differences: []DifferenceDocument{}}
			for _, wrong := range test.Wrong {
				for _, difference := range wrong.Differences {
					one.Differences = append(one.Differences, DifferenceDocument{
						Line: int64(wrong.Evaluation.Line), At: wrong.Evaluation.At.String(), ActionID: wrong.Evaluation.ActionID,
						What: difference.What, Expected: difference.Expected, Got: difference.Got,
					})
				}
			}
			f.Tests = append(f.Tests, one)
		}
		d.Files = append(d.Files, f)
	}
	for _, k := range c.Contracts {
		t := TestedDocument{File: k.File, ContractID: k.Contract.ID, Checks: int64(len(scenario.Checks(k.Contract))), Untested: []UntestedDocument{}}
		for _, u := range c.Seen.Untested(k.Contract) {
			t.Untested = append(t.Untested, UntestedDocument{Check: u.Check, Never: resultNames(u.Never)})
		}
		d.Contracts = append(d.Contracts, t)
	}
	return d
}

func resultNames(results []verdict.Result) []string {
	names := make([]string, len(results))
	for i, r := range results {
		names[i] = string(r)
	}
	return names
}
