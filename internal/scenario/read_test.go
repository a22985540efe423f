package scenario_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

const plainContract = `contract: refunds
params: {amount: {type: money, currency: USD}}
settle: {after: 72h}
sources: {stripe: {trust: independent}}
link: [refs.key == action_id]
steps: [{id: money_moved, expect: refund.succeeded, from: stripe}]
never: [{id: lasts, expect: refund.failed, from: stripe}]
`

const plainScenario = `scenario: a refund
why: It is there.
start: 2026-11-02T12:00:00Z
contract: refunds
sources:
  stripe: {trust: attested, resolution: 1ms, provides: [refund.succeeded, refund.failed]}
actions:
  - {id: r-1, contract: refunds, subject: order/o-1, requested: -1m, received: +1s, params: {amount: 180.00, note: 5.00 USD, done: true}}
facts:
  - {source: stripe, id: re_1, type: refund.succeeded, at: +1d2h3m, refs: {key: r-1},
     attrs: {amount: 180.00 USD, quoted: "180.00 USD", text: {text: 1 USD}, when: {time: -1h}, n: 3.50, list: [a, 2]}}
evaluate:
  - at: 2026-11-05T12:00:00+00:00
    complete: {stripe: {all: +48h, refund.failed: +40h}}
    expect: {outcome: PASS, conformance: PASS, reasons: {money_moved: [EFFECT_SEEN]}, verified: none}
`

func readText(text string) (*scenario.Scenario, error) {
	return scenario.Read(fstest.MapFS{
		"s.yaml":                 {Data: []byte(text)},
		"contracts/refunds.yaml": {Data: []byte(plainContract)},
	}, "s.yaml")
}

func TestAScenarioIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	s, err := readText(plainScenario)
	if err != nil {
		t.Fatal(err)
	}
	noon, err := value.ParseInstant("2026-11-02T12:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	action, fact, e := s.Actions[0], s.Facts[0], s.Evaluations[0]
	if action.RequestedAt != noon.Add(-time.Minute) || action.ReceivedAt != noon.Add(time.Second) || action.SubjectKind != "order" || action.SubjectID != "o-1" {
		t.Errorf("the action is %+v", action)
	}
	if fact.OccurredAt != noon.Add(26*time.Hour+3*time.Minute) || fact.IngestedAt != fact.OccurredAt || fact.Refs["key"] != "r-1" {
		t.Errorf("the fact is %+v", fact)
	}
	for name, want := range map[string]string{
		"amount": `{"amount":"180.00","currency":"USD"}`, "quoted": `"180.00 USD"`, "text": `"1 USD"`,
		"when": `{"time":"2026-11-02T11:00:00Z"}`, "n": "3.50", "list": `["a",2]`,
	} {
		if got, _ := fact.Attrs[name].AppendJSON(nil); string(got) != want {
			t.Errorf("the attribute %s is %s, want %s", name, got, want)
		}
	}
	// What a declaration's text means is for the contract to say.
	for name, want := range map[string]string{"amount": "180.00", "note": `"5.00 USD"`, "done": "true"} {
		if got, _ := action.Params[name].AppendJSON(nil); string(got) != want {
			t.Errorf("the parameter %s is %s, want %s", name, got, want)
		}
	}
	if e.ActionID != "r-1" || e.At != noon.Add(72*time.Hour) || e.Line != 13 {
		t.Errorf("the evaluation is of %s at %s, on line %d", e.ActionID, e.At, e.Line)
	}
	marks := e.Complete["stripe"]
	if marks["refund.succeeded"] != noon.Add(48*time.Hour) || marks["refund.failed"] != noon.Add(40*time.Hour) {
		t.Errorf("the watermarks are %v", marks)
	}
	if source := s.Sources[0]; source.Trust != evidence.Attested || source.Unit() != time.Millisecond {
		t.Errorf("the source is %+v", source)
	}
	if v := s.Versions[0]; v.Version != 1 || v.Mode != verdict.Live || v.Contract.ID != "refunds" {
		t.Errorf("the contract is %+v", v)
	}
}

func TestWhatAScenarioGetsWrongIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, from, to, want string }{
		{"a misspelled key", "received: +1s", "recieved: +1s", `s.yaml:8: there is no key "recieved" (known here: id, `},
		{"a key twice", "id: r-1,", "id: r-1, id: r-2,", "s.yaml:"},
		{"a time that is none", "received: +1s", "received: soon", `s.yaml:8: "soon" is no time`},
		{"a span that is none", "at: +1d2h3m", "at: +1d2x", `s.yaml:10: "+1d2x" is no time (write it as +1h30m, `},
		{"a receipt that is missing", "received: +1s, ", "", "s.yaml:8: received is missing (add received: +1s)"},
		{"a contract that is not there", "contract: refunds\nsources", "contract: refund\nsources", "s.yaml:4: read contract refund: "},
		{"a trust that is none", "trust: attested", "trust: much", `s.yaml:6: trust "much" is not one of`},
		{"a code that is none", "EFFECT_SEEN", "EFFECT_SENT", `s.yaml:15: there is no code "EFFECT_SENT"`},
		{"a result that is none", "outcome: PASS", "outcome: YES", `s.yaml:15: there is no result "YES"`},
		{"a lens without expectation", "outcome: PASS, ", "", "s.yaml:13: outcome or conformance is missing"},
		{"a source that nobody lists", "{stripe: {all", "{bank: {all", `s.yaml:14: there is no source "bank"`},
		{"an evaluation of nobody", "- at: 2026-11-05T12:00:00+00:00", "- at: +72h\n    action: r-2", `there is no action "r-2"`},
		{"an amount that is none", "verified: none", "verified: 180", "s.yaml:15: an amount names its currency"},
		{"no YAML at all", "scenario: a refund", "scenario: {", "s.yaml:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(plainScenario, test.from, test.to, 1)
			if text == plainScenario {
				t.Fatalf("%q is not there", test.from)
			}
			_, err := readText(text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestADifferenceIsToldWhateverItIs(t *testing.T) {
	t.Parallel()
	s, err := readText(plainScenario)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	v := &outcomes[0].Verdict
	yes := !v.Decided
	wrong := scenario.Expectation{
		Status: verdict.Revised, Decided: &yes, Outcome: verdict.Fail, Conformance: verdict.Fail,
		Reasons:  map[string][]verdict.Code{"money_moved": {verdict.EffectMissing}, "outcome": {verdict.NothingApplied}, "none": {verdict.EffectSeen}},
		Results:  map[string]verdict.Result{"money_moved": verdict.Fail, "neither": verdict.Pass},
		Notes:    []verdict.Code{verdict.Compensated},
		Verified: &scenario.Sum{}, Net: &scenario.Sum{},
		Waits: map[string][]string{"bank": {"refund.succeeded"}},
	}
	got := ""
	for _, difference := range scenario.Differences(wrong, v) {
		got += difference.String() + "\n"
	}
	for _, part := range []string{
		"status: ", "decided: ", "outcome: ", "conformance: ", "check money_moved: ", "check neither: ", "reasons of money_moved: ",
		"reasons of outcome: ", "reasons of none: ", "notes: ", "verified amount: ", "net effect: ", "waits: ",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("nothing says %q in\n%s", part, got)
		}
	}
	right := scenario.Expectation{Status: v.Status, Outcome: v.Outcome.Result, Conformance: v.Conformance.Result, Verified: &scenario.Sum{None: true}}
	if differences := scenario.Differences(right, v); differences != nil {
		t.Errorf("a verdict differs from what it is: %v", differences)
	}
}

func TestEachKindOfErrorIsScoredApart(t *testing.T) {
	t.Parallel()
	score := scenario.Score{}
	for _, pair := range [][2]verdict.Result{
		{verdict.Pass, verdict.Pass}, {verdict.Fail, verdict.Pass}, {verdict.Unknown, verdict.Pass}, {verdict.Pass, verdict.Fail}, {verdict.Fail, verdict.Unknown},
	} {
		score.Add(scenario.Expectation{Outcome: pair[0], Conformance: verdict.Pass}, pair[1], verdict.Pass)
	}
	m := score[verdict.OutcomeLens]
	if m.False(verdict.Pass) != 2 || m.False(verdict.Fail) != 1 || m.False(verdict.Unknown) != 1 || m.Total() != 5 {
		t.Errorf("the score is\n%s", score)
	}
	if m := score[verdict.ConformanceLens]; m.False(verdict.Pass) != 0 || m.Total() != 5 {
		t.Errorf("the score of the other lens is\n%s", score)
	}
}
