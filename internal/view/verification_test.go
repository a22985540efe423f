package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// anyVerdict draws verdicts with everything that one can have, texts of strangers
// included.
func anyVerdict(t *rapid.T) *verdict.Verdict {
	text := rapid.SampledFrom([]string{"", "stripe", "a \"quoted\" one", "code", "line\nbreak", "ü", "{\"code\":\"x\"}"})
	moment := rapid.Custom(func(t *rapid.T) value.Instant {
		// None, or one of the years that a time may lie in.
		return value.Instant(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1e15, 4e15)).Draw(t, "µs"))
	})
	codes := make([]verdict.Code, 0, 60)
	for _, e := range verdict.Registry() {
		codes = append(codes, e.Code)
	}
	reason := rapid.Custom(func(t *rapid.T) verdict.Reason {
		return verdict.Reason{
			Code: rapid.SampledFrom(codes).Draw(t, "code"), Source: text.Draw(t, "source"),
			Fact: text.Draw(t, "fact"), About: text.Draw(t, "about"),
		}
	})
	wait := rapid.Custom(func(t *rapid.T) verdict.Wait {
		return verdict.Wait{Source: text.Draw(t, "source"), Type: "refund.succeeded", Until: moment.Draw(t, "until"), Watermark: moment.Draw(t, "watermark")}
	})
	result := rapid.SampledFrom([]verdict.Result{verdict.Pass, verdict.Fail, verdict.Unknown})
	lens := rapid.Custom(func(t *rapid.T) verdict.Lens {
		return verdict.Lens{Result: result.Draw(t, "result"), Codes: rapid.SliceOfN(rapid.SampledFrom(codes), 1, 3).Draw(t, "codes"), Decided: rapid.Bool().Draw(t, "decided")}
	})
	check := rapid.Custom(func(t *rapid.T) verdict.Check {
		return verdict.Check{
			ID: text.Draw(t, "id"), Kind: verdict.StepCheck, Lens: verdict.OutcomeLens, Result: result.Draw(t, "result"),
			Reasons: rapid.SliceOfN(reason, 1, 3).Draw(t, "reasons"), From: moment.Draw(t, "from"), Until: moment.Draw(t, "until"),
			Seen: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) verdict.Seen {
				return verdict.Seen{Source: text.Draw(t, "source"), Type: "refund.succeeded", ExternalID: text.Draw(t, "id"), OccurredAt: moment.Draw(t, "at"), Role: verdict.Supports, Link: text.Draw(t, "link")}
			}), 0, 2).Draw(t, "seen"),
			Waits: rapid.SliceOfN(wait, 0, 2).Draw(t, "waits"),
		}
	})
	v := &verdict.Verdict{
		Engine: 1, Case: text.Draw(t, "case"), ActionID: text.Draw(t, "action"), ContractID: text.Draw(t, "contract"),
		ContractVersion: rapid.IntRange(0, 3).Draw(t, "version"), Mode: verdict.Shadow, EvaluatedAt: moment.Draw(t, "evaluated"),
		Status:  rapid.SampledFrom([]verdict.Status{verdict.Provisional, verdict.Settled, verdict.Revised}).Draw(t, "status"),
		Decided: rapid.Bool().Draw(t, "decided"), SettlesAt: moment.Draw(t, "settles"), SettledAt: moment.Draw(t, "settled"),
		Revision: rapid.IntRange(0, 3).Draw(t, "revision"), Supersedes: text.Draw(t, "supersedes"),
		Outcome: lens.Draw(t, "outcome"), Conformance: lens.Draw(t, "conformance"),
		Checks: rapid.SliceOfN(check, 0, 3).Draw(t, "checks"), Waits: rapid.SliceOfN(wait, 0, 5).Draw(t, "waits"),
		Notes: rapid.SliceOfN(reason, 0, 2).Draw(t, "notes"),
	}
	v.Badge = v.Outcome.Result
	if rapid.Bool().Draw(t, "conformance decides") {
		v.Badge = v.Conformance.Result
	}
	if rapid.Bool().Draw(t, "amount") {
		amount, err := money.Parse("180.00 USD")
		if err != nil {
			t.Fatal(err)
		}
		v.VerifiedAmount, v.Compensation = &amount, &verdict.Compensation{
			Of: text.Draw(t, "of"), Net: &amount, NetZero: verdict.Fail, Refused: []string{"a-1"},
			By: []verdict.Compensator{{ActionID: "a-2", ContractID: "c", DeclaredAt: moment.Draw(t, "declared"), Status: verdict.Settled, Outcome: verdict.Pass, Verified: &amount}},
		}
	}
	return v
}

// Taking the words away gives the canonical form back, from which the digest
// follows; and every reason has its words.
func TestAVerificationWithoutItsWordsIsTheVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyVerdict(t)
		whole, err := VerificationOf(v, true)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(whole, &members); err != nil {
			t.Fatalf("%v in %s", err, whole)
		}
		if members["digest"] != v.Digest() || members["self_attested"] != true {
			t.Fatalf("the digest is %v, want %s", members["digest"], v.Digest())
		}
		for _, added := range []string{"digest", "summary", "self_attested"} {
			delete(members, added)
		}
		strip(t, members)
		bare, err := json.Marshal(members, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		if want := v.AppendJSON(nil); string(bare) != string(want) {
			t.Fatalf("without its words it is\n%s\nwant\n%s", bare, want)
		}
	})
}

// strip takes label and next out of what has a code, and checks them.
func strip(t *rapid.T, node any) {
	switch node := node.(type) {
	case map[string]any:
		if code, is := node["code"].(string); is {
			entry, _ := verdict.Lookup(verdict.Code(code))
			if node["label"] != entry.Label || node["next"] != entry.Next {
				t.Fatalf("of %s it says %v and %v", code, node["label"], node["next"])
			}
			delete(node, "label")
			delete(node, "next")
		}
		for _, child := range node {
			strip(t, child)
		}
	case []any:
		for _, child := range node {
			strip(t, child)
		}
	}
}

// What undoes an action is shown in the same form beside a verdict as in it.
func TestCompensationLooksAsInTheVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyVerdict(t)
		if v.Compensation == nil {
			return
		}
		shown, err := json.Marshal(CompensationOf(v.Compensation))
		if err != nil {
			t.Fatal(err)
		}
		members, err := split(v.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		if string(shown) != string(members["compensation"]) {
			t.Fatalf("it is\n%s\nand in the verdict\n%s", shown, members["compensation"])
		}
	})
}

// The members of a whole verification and of its described form are the same, in the
// same order.
func TestAVerificationHasTheMembersThatItsFormDescribes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyVerdict(t)
		whole, err := VerificationOf(v, rapid.Bool().Draw(t, "self-attested"))
		if err != nil {
			t.Fatal(err)
		}
		var form VerificationForm
		if err := json.Unmarshal(whole, &form, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%v in %s", err, whole)
		}
		again, err := json.Marshal(form, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		if string(again) != string(whole) {
			t.Fatalf("the form is\n%s\nand the verification\n%s", again, whole)
		}
	})
}

func TestAHeadlineIsOneShortLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyVerdict(t)
		for i := range v.Waits {
			v.Waits[i].Source = strings.Repeat("x", rapid.IntRange(0, 64).Draw(t, "length"))
		}
		s := summaryOf(v)
		if utf8.RuneCountInString(s.Headline) > longestHeadline || strings.ContainsAny(s.Headline, "\n\r\t\x1b") || !strings.HasPrefix(s.Headline, string(v.Badge)) {
			t.Fatalf("the headline is %q", s.Headline)
		}
		if s.Next == "" {
			t.Fatal("nothing is said of what to do next")
		}
	})
}

func TestAHeadlineSaysWhatDecides(t *testing.T) {
	t.Parallel()
	lens := func(r verdict.Result, codes ...verdict.Code) verdict.Lens {
		return verdict.Lens{Result: r, Codes: codes}
	}
	check := func(id, lens string, code verdict.Code) verdict.Check {
		return verdict.Check{ID: id, Lens: lens, Reasons: []verdict.Reason{{Code: code}}}
	}
	until := value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z
	for want, v := range map[string]verdict.Verdict{
		"FAIL: other than declared (money_moved)": {
			Badge: verdict.Fail, Status: verdict.Settled, Outcome: lens(verdict.Fail, verdict.ValueMismatch), Conformance: lens(verdict.Fail, verdict.LimitExceeded),
			Checks: []verdict.Check{check("cap", verdict.ConformanceLens, verdict.LimitExceeded), check("money_moved", verdict.OutcomeLens, verdict.ValueMismatch)},
		},
		"FAIL so far: over the limit (cap)": {
			Badge: verdict.Fail, Status: verdict.Provisional, Outcome: lens(verdict.Pass, verdict.AllChecksMet), Conformance: lens(verdict.Fail, verdict.LimitExceeded),
			Checks: []verdict.Check{check("cap", verdict.ConformanceLens, verdict.LimitExceeded)},
		},
		"FAIL: not approved": {
			Badge: verdict.Fail, Status: verdict.Provisional, Decided: true, Outcome: lens(verdict.Unknown, verdict.AwaitingEvidence), Conformance: lens(verdict.Fail, verdict.ApprovalMissing),
		},
		"PASS: all checks met": {
			Badge: verdict.Pass, Status: verdict.Revised, Outcome: lens(verdict.Pass, verdict.AllChecksMet), Conformance: lens(verdict.Pass, verdict.AllChecksMet),
		},
		"UNKNOWN so far: waiting for evidence from a, b, c and 1 more, up to 2026-11-02T12:00:00Z": {
			Badge: verdict.Unknown, Status: verdict.Provisional, Outcome: lens(verdict.Unknown, verdict.AwaitingEvidence), Conformance: lens(verdict.Pass, verdict.AllChecksMet),
			Waits: []verdict.Wait{{Source: "a", Until: 1}, {Source: "b", Until: until}, {Source: "b"}, {Source: "c"}, {Source: "d"}},
		},
	} {
		if got := summaryOf(&v).Headline; got != want {
			t.Errorf("the headline is %q, want %q", got, want)
		}
	}
}
