package scenario_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/verdict"
)

const parcelContract = `contract: parcel
applies_to: {action_type: send_parcel, subject_kind: order}
settle: {after: 48h, grace: 0s}
sources: {depot: {trust: independent}, desk: {trust: attested}}
steps: [{id: sent, expect: parcel.sent, from: depot}]
state: [{id: stands, expect: parcel.status, from: depot, where: fact.status == "sent"}]
limits: [{id: few, count: true, max: 1, over: 1d}]
approvals: [{id: yes_first, expect: approval.granted, from: desk}]
`

const parcelTests = `contract: ../parcel.yaml
start: 2026-11-02T12:00:00Z
actions:
  - {id: p-1, subject: order/o-1}
tests:
  - test: first
    facts:
      - {source: depot, id: s_1, type: parcel.sent, at: +1h, subject: order/o-1}
      - {source: depot, id: t_1, type: parcel.status, at: +2h, subject: order/o-1, attrs: {status: sent}}
    evaluate: {at: +49h, complete: +48h, expect: {outcome: PASS, conformance: FAIL}}
  - test: second
    actions:
      - {id: p-2, subject: order/o-2, requested: +1m}
    sources: {depot: {trust: asserted}, desk: {trust: attested}}
    evaluate: {at: +49h, complete: {depot: +48h, desk: {all: +48h}}, expect: {outcome: UNKNOWN, conformance: PASS}}
`

// readSuite reads tests/a.test.yaml, beside whose folder the contract lies.
func readSuite(t *testing.T, tests string) (*scenario.Suite, error) {
	t.Helper()
	files := map[string]string{"tests/a.test.yaml": tests, "parcel.yaml": parcelContract}
	return scenario.ReadSuite("tests/a.test.yaml", func(name string) ([]byte, error) {
		text, known := files[name]
		if !known {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	})
}

func TestATestSharesWhatItsFileSaysAndReplacesWhatItSaysItself(t *testing.T) {
	t.Parallel()
	suite, err := readSuite(t, parcelTests)
	if err != nil {
		t.Fatal(err)
	}
	if len(suite.Tests) != 2 || len(suite.Contracts) != 1 || suite.Contracts[0].File != "parcel.yaml" {
		t.Fatalf("read %d tests and the contracts %v, want two of parcel.yaml", len(suite.Tests), suite.Contracts)
	}
	first, second := suite.Tests[0], suite.Tests[1]
	if first.Actions[0].ActionID != "p-1" || second.Actions[0].ActionID != "p-2" || len(second.Actions) != 1 {
		t.Errorf("the actions are %v and %v, want p-1 of the file and p-2 in its place", first.Actions, second.Actions)
	}
	if first.Line != 6 || second.Line != 11 {
		t.Errorf("the tests begin on the lines %d and %d, want 6 and 11", first.Line, second.Line)
	}
	if second.Sources[0].Trust != evidence.Asserted {
		t.Errorf("the second test's depot is %s, want asserted as it says itself", second.Sources[0].Trust)
	}
}

func TestWhatTheContractSaysMayBeLeftOutOfATest(t *testing.T) {
	t.Parallel()
	suite, err := readSuite(t, parcelTests)
	if err != nil {
		t.Fatal(err)
	}
	first := suite.Tests[0]
	d := first.Actions[0]
	if d.ContractID != "parcel" || d.ActionType != "send_parcel" || d.ReceivedAt != first.Start || d.RequestedAt != first.Start {
		t.Errorf("declared is %+v, want contract and type of the contract at the start", d)
	}
	if later := suite.Tests[1].Actions[0]; later.ReceivedAt != later.RequestedAt || later.RequestedAt == first.Start {
		t.Errorf("requested at %v and received at %v, want both a minute after the start", later.RequestedAt, later.ReceivedAt)
	}
	trusts := fmt.Sprint(first.Sources[0].Name, first.Sources[0].Trust, first.Sources[1].Name, first.Sources[1].Trust)
	if want := "depot independent desk attested"; strings.Join(strings.Fields(trusts), "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("the sources are %v, want %s", first.Sources, want)
	}
	if first.Facts[0].Mode == evidence.State || first.Facts[1].Mode != evidence.State {
		t.Errorf("the modes are %q and %q, want an event and a snapshot", first.Facts[0].Mode, first.Facts[1].Mode)
	}
	if marks := first.Evaluations[0].Complete; marks["desk"]["approval.granted"] != first.Start.Add(48*3600e9) || marks["depot"]["parcel.status"] == 0 {
		t.Errorf("complete are %v, want both sources for every type", marks)
	}
}

func TestWhatDiffersIsToldInWords(t *testing.T) {
	t.Parallel()
	suite, err := readSuite(t, strings.Replace(parcelTests, "{outcome: PASS, conformance: FAIL}",
		"{status: revised, outcome: FAIL, conformance: FAIL, results: {sent: FAIL, few: PASS}, reasons: {sent: EFFECT_MISSING}, without: [WEAK_LINK], verified: 1 USD, waits: {desk: [approval.granted]}}", 1))
	if err != nil {
		t.Fatal(err)
	}
	checked, err := suite.Tests[0].Check()
	if err != nil {
		t.Fatal(err)
	}
	if len(checked.Wrong) != 1 {
		t.Fatalf("wrong are %v, want the one evaluation", checked.Wrong)
	}
	var got []string
	for _, d := range checked.Wrong[0].Differences {
		got = append(got, d.String())
	}
	want := []string{
		"status: expected revised, got settled",
		"outcome: expected FAIL, got PASS because of ALL_CHECKS_MET (all checks met)",
		"check sent: expected FAIL, got PASS because of EFFECT_SEEN (the effect was seen)",
		"reasons of sent: expected EFFECT_MISSING (it did not happen) among them, got EFFECT_SEEN (the effect was seen)",
		"notes: expected no WEAK_LINK (linked by subject only), got WEAK_LINK (linked by subject only)",
		"verified amount: expected 1 USD, got none",
		"waits: expected for desk approval.granted among others, got for nothing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the differences are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestACheckIsTestedOnceItWasSeenToPassAndToFail(t *testing.T) {
	t.Parallel()
	suite, err := readSuite(t, parcelTests)
	if err != nil {
		t.Fatal(err)
	}
	k := suite.Contracts[0].Contract
	seen := scenario.Seen{}
	untested := func() string { return fmt.Sprint(seen.Untested(k)) }
	if got, want := untested(), "[{sent [PASS FAIL]} {stands [PASS FAIL]} {few [PASS FAIL]} {yes_first [PASS FAIL]}]"; got != want {
		t.Errorf("with no test %s is untested, want %s", got, want)
	}
	for _, test := range suite.Tests {
		checked, err := test.Check()
		if err != nil {
			t.Fatal(err)
		}
		seen.Add(checked.Outcomes)
	}
	// The first test sees the parcel sent, standing so, and not approved; in the
	// second the depot is not trusted, so that nothing is known.
	if got, want := untested(), "[{sent [FAIL]} {stands [FAIL]} {few [FAIL]} {yes_first [PASS]}]"; got != want {
		t.Errorf("%s is untested, want %s", got, want)
	}
	other, err := contract.Parse([]byte(parcelContract + "# another version\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.Untested(other)) != 4 || seen.Gave(other, "sent", verdict.Pass) {
		t.Error("what was seen of one version counts for another")
	}
}

func TestAFileOfTestsThatIsWrongSaysWhereAndWhatToDo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, new, message string }{
		"no tests":                {parcelTests[strings.Index(parcelTests, "tests:"):], "", "tests/a.test.yaml:1: there are no tests in this file"},
		"an unknown key":          {"    actions:\n", "    act:\n", `tests/a.test.yaml:13: there is no key "act"`},
		"two of one name":         {"test: second", "test: first", `tests/a.test.yaml:11: there are two tests "first"`},
		"a test without a name":   {"- test: second\n   ", "-", "tests/a.test.yaml:11: test is missing"},
		"a contract from nowhere": {"../parcel.yaml", "parcel.yaml", "tests/a.test.yaml:1: read contract parcel.yaml: open tests/parcel.yaml: file does not exist"},
		"no lens expected":        {"{outcome: PASS, conformance: FAIL}", "{outcome: PASS}", "tests/a.test.yaml:10: outcome or conformance is missing"},
		"a time that is none":     {"complete: +48h", "complete: soon", "tests/a.test.yaml:10: "},
		"a misspelled code":       {"{outcome: PASS, conformance: FAIL}", "{outcome: PASS, conformance: FAIL, without: [WEAK_LINKS]}", `tests/a.test.yaml:10: there is no code "WEAK_LINKS"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(parcelTests, test.old) {
				t.Fatalf("%q is not there to be changed", test.old)
			}
			_, err := readSuite(t, strings.Replace(parcelTests, test.old, test.new, 1))
			var at *scenario.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), test.message) {
				t.Errorf("error %v, want %s…", err, test.message)
			}
		})
	}
}

// Whatever a file of tests holds, reading and playing it is an answer or an
// error.
func FuzzReadSuite(f *testing.F) {
	f.Add(parcelTests)
	f.Add(strings.ReplaceAll(parcelTests, "  - test:", "  - scenario:"))
	f.Add("tests: [null, 1, [], {test: *a}]\nstart: &a 2026-11-02T12:00:00Z\n")
	f.Add("scenario: x\nevaluate: {at: -9999999d, complete: +1h}\n")
	f.Fuzz(func(t *testing.T, text string) {
		suite, err := scenario.ReadSuite("a.test.yaml", func(name string) ([]byte, error) {
			if name == "a.test.yaml" {
				return []byte(text), nil
			}
			return []byte(parcelContract), nil
		})
		if (suite == nil) != (err != nil) {
			t.Fatalf("neither or both: %v, %v", suite, err)
		}
		if err != nil {
			return
		}
		for _, test := range suite.Tests {
			if checked, err := test.Check(); err == nil && len(checked.Outcomes) != len(test.Evaluations) {
				t.Errorf("%d outcomes of %d evaluations", len(checked.Outcomes), len(test.Evaluations))
			}
		}
	})
}
