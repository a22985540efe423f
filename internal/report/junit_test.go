package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/scenario"
)

// A test's name and what differs are an author's text, so they may hold what
// XML keeps for itself, and what it cannot hold at all.
func TestJUnitXMLIsReadableWhateverATestIsCalled(t *testing.T) {
	t.Parallel()
	const odd = "a < b && \"c\" \x01 'ö' ]]>"
	failed := &scenario.Checked{
		Scenario: &scenario.Scenario{Name: odd, Line: 7},
		Wrong:    []scenario.Wrong{{Differences: []scenario.Difference{{What: odd, Expected: "<x>", Got: "\n\t"}}}},
	}
	passed := &scenario.Checked{Scenario: &scenario.Scenario{Name: "fine", Line: 3}}
	tests := report.ContractTests{Seen: scenario.Seen{}, Files: []report.TestedFile{{
		File:  "a&b.test.yaml",
		Tests: []report.TestedScenario{{Checked: failed, Took: 1500 * time.Microsecond}, {Checked: passed, Took: 500 * time.Microsecond}},
	}}}
	var text bytes.Buffer
	if err := tests.WriteJUnit(&text); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Total  int     `xml:"tests,attr"`
		Failed int     `xml:"failures,attr"`
		Time   float64 `xml:"time,attr"`
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Time    float64 `xml:"time,attr"`
				Line    int     `xml:"line,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text.Bytes(), &read); err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	if read.Total != 2 || read.Failed != 1 || read.Time != 0.002 || len(read.Suites) != 1 || len(read.Suites[0].Cases) != 2 {
		t.Fatalf("read %+v, want one suite of two tests in 2 ms, one of them failed", read)
	}
	one := read.Suites[0].Cases[0]
	if want := strings.ReplaceAll(odd, "\x01", "\ufffd"); one.Name != want || one.Line != 7 || one.Time != 0.0015 {
		t.Errorf("the first test is %+v, want it to be called %q", one, want)
	}
	if one.Failure == nil || !strings.Contains(one.Failure.Message, "expected <x>") {
		t.Errorf("its failure is %+v, want what differs", one.Failure)
	}
	if read.Suites[0].Cases[1].Failure != nil {
		t.Error("a test that passed has a failure")
	}
}
