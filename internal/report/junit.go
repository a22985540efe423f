package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The elements of JUnit's XML that CI systems read.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	File     string      `xml:"file,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`

	took time.Duration
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the tests as JUnit's XML: a suite for each file, and one
// for the coverage of checks where that is required.
func (c *ContractTests) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "deed contract test"}
	for _, file := range c.Files {
		var cases []junitCase
		for _, test := range file.Tests {
			cases = append(cases, junitCase{
				Name: test.Scenario.Name, Class: class(file.File), File: file.File, Line: test.Scenario.Line, Failure: junitDifferences(&test), took: test.Took,
			})
		}
		all.add(file.File, cases)
	}
	if c.CoverageRequired {
		for _, k := range c.Contracts {
			one := junitCase{Name: "every check is seen to pass and to fail", Class: class(k.File), File: k.File}
			var lines []string
			for _, u := range c.Seen.Untested(k.Contract) {
				lines = append(lines, u.Check+": "+never(u, k.NoTests))
			}
			if len(lines) > 0 {
				one.Failure = &junitFailure{Type: "coverage", Message: lines[0], Text: strings.Join(lines, "\n")}
			}
			all.add(k.File, []junitCase{one})
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitDifferences(test *TestedScenario) *junitFailure {
	var lines []string
	for _, wrong := range test.Wrong {
		for _, d := range wrong.Differences {
			lines = append(lines, testPlace(wrong.Evaluation, test.Scenario)+": "+d.String())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return &junitFailure{Type: "difference", Message: test.Wrong[0].Differences[0].String(), Text: strings.Join(lines, "\n")}
}

// class is a file's path as CI systems show classes: without dots that they
// would take for packages.
func class(file string) string {
	return strings.NewReplacer(".test.yaml", "", ".test.yml", "", ".yaml", "", ".yml", "").Replace(file)
}

func (s *junitSuites) add(name string, cases []junitCase) {
	suite := junitSuite{Name: name, File: name, Tests: len(cases)}
	var took time.Duration
	for i := range cases {
		cases[i].Time = seconds(cases[i].took)
		took += cases[i].took
		if cases[i].Failure != nil {
			suite.Failures++
		}
	}
	suite.Cases, suite.Time = cases, seconds(took)
	s.Suites = append(s.Suites, suite)
	s.Tests += suite.Tests
	s.Failures += suite.Failures
	var whole time.Duration
	for _, one := range s.Suites {
		for i := range one.Cases {
			whole += one.Cases[i].took
		}
	}
	s.Time = seconds(whole)
}

func seconds(took time.Duration) string { return strconv.FormatFloat(took.Seconds(), 'f', 6, 64) }
