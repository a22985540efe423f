package docket_test

import (
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// toldAfter has the customer told at five hours and the money move at ten, with
// the source of messages complete and that of money complete up to a time only.
func toldAfter(t *testing.T, moneyTo time.Duration) *docket.Memory {
	t.Helper()
	s := shape{link: "[refs.key == action_id]", from: "stripe", told: "after: money_moved, within: 72h", evidence: "exclusive: true"}
	m := live(t, s.text())
	m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": at(moneyTo)}})
	m.Connect(evidence.Source{Name: "zendesk", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"ticket.solved": at(400 * time.Hour)}})
	declare(m, refund("r-1"))
	message := paid("t_1", key("key", "r-1"), occurred(5*time.Hour))
	message.Source, message.Type = "zendesk", "ticket.solved"
	report(m, message, paid("re_2", key("key", "r-1"), occurred(10*time.Hour)))
	return m
}

// What comes too early comes too early only as long as what must come first has
// not come earlier still. Where that source is not complete, an earlier one may
// turn up.
func TestAWrongOrderIsUndecidedWhileWhatMustComeFirstMayHaveComeEarlier(t *testing.T) {
	t.Parallel()
	outcome := func(m *docket.Memory, after time.Duration) *verdict.Verdict {
		_, v, err := m.Evaluate("r-1", at(after))
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	open := outcome(toldAfter(t, 4*time.Hour), 73*time.Hour)
	if open.Outcome.Decided || open.Status != verdict.Provisional {
		t.Errorf("while an earlier refund may turn up, the outcome is %s %v, decided %v", open.Status, open.Outcome.Codes, open.Outcome.Decided)
	}
	if given := outcome(toldAfter(t, 4*time.Hour), 84*time.Hour).Outcome; given.Result != verdict.Unknown || strings.Join(words(given.Codes), " ") != "SOURCE_NOT_COVERED" {
		t.Errorf("once nobody waits any more, the outcome is %s %v, want UNKNOWN [SOURCE_NOT_COVERED]", given.Result, given.Codes)
	}
	if sure := outcome(toldAfter(t, 5*time.Hour), 73*time.Hour).Outcome; sure.Result != verdict.Fail || strings.Join(words(sure.Codes), " ") != "OUT_OF_ORDER" {
		t.Errorf("where all earlier refunds are known, the outcome is %s %v, want FAIL [OUT_OF_ORDER]", sure.Result, sure.Codes)
	}
	m := toldAfter(t, 4*time.Hour)
	outcome(m, 73*time.Hour)
	report(m, paid("re_1", key("key", "r-1"), occurred(4*time.Hour+time.Minute)))
	if healed := outcome(m, 84*time.Hour).Outcome; healed.Result != verdict.Pass {
		t.Errorf("once the earlier refund is known, the outcome is %s %v, want PASS", healed.Result, healed.Codes)
	}
}

func words(codes []verdict.Code) []string {
	var all []string
	for _, code := range codes {
		all = append(all, string(code))
	}
	return all
}

// An effect that comes after its window needs an approval like any other, so
// that there is nothing to approve only once it is time to settle.
func TestNothingIsThereToApproveOnlyOnceALateEffectWouldShow(t *testing.T) {
	t.Parallel()
	s := shape{link: "[refs.key == action_id]", count: "count: 1", from: "stripe", approval: "link: [refs.key == action_id]", evidence: "exclusive: true"}
	conformance := func(moneyTo, after time.Duration) verdict.Lens {
		m := live(t, s.text())
		m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": at(moneyTo)}})
		m.Connect(evidence.Source{Name: "approvals", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"approval.granted": at(400 * time.Hour)}})
		declare(m, refund("r-1"))
		_, v, err := m.Evaluate("r-1", at(after))
		if err != nil {
			t.Fatal(err)
		}
		return v.Conformance
	}
	if open := conformance(50*time.Hour, 60*time.Hour); open.Result != verdict.Unknown || open.Decided {
		t.Errorf("while a late refund may come, conformance is %s %v, decided %v", open.Result, open.Codes, open.Decided)
	}
	if given := conformance(50*time.Hour, 84*time.Hour); given.Result != verdict.Unknown {
		t.Errorf("where nobody saw whether a late refund came, conformance is %s %v", given.Result, given.Codes)
	}
	if none := conformance(72*time.Hour, 72*time.Hour); none.Result != verdict.Pass || !none.Decided {
		t.Errorf("once none can come any more, conformance is %s %v, decided %v", none.Result, none.Codes, none.Decided)
	}
}

// A step fails for what its covered window lacks, but as long as a source may
// still tell of an effect under its reference, the last word is not spoken.
func TestAFailureIsNotDecidedWhileAnotherFactMayTellOfItsEffect(t *testing.T) {
	t.Parallel()
	s := shape{link: "[refs.key == action_id]", count: "count: 2", from: "stripe", evidence: "exclusive: true, same_effect: refs.refund"}
	outcome := func(complete time.Duration, refs ...func(*evidence.Fact)) verdict.Lens {
		m := live(t, s.text())
		m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": at(complete)}})
		declare(m, refund("r-1"))
		report(m, paid("re_1", append(refs, key("key", "r-1"))...))
		_, v, err := m.Evaluate("r-1", at(73*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return v.Outcome
	}
	for what, c := range map[string]struct {
		lens    verdict.Lens
		decided bool
	}{
		"with a reference, complete to the window's end": {outcome(48*time.Hour, key("refund", "rf_1")), false},
		"without one, complete to the window's end":      {outcome(48 * time.Hour), true},
		"with a reference, complete to settlement":       {outcome(72*time.Hour, key("refund", "rf_1")), true},
	} {
		if c.lens.Result != verdict.Fail || c.lens.Decided != c.decided {
			t.Errorf("%s, the outcome is %s %v, decided %v", what, c.lens.Result, c.lens.Codes, c.lens.Decided)
		}
	}
}

// Only facts with the key put an effect before its declaration. One without it
// may tell of the same effect, but not that it was too early.
func TestAKeylessFactPutsNoEffectBeforeItsDeclaration(t *testing.T) {
	t.Parallel()
	s := shape{link: "[refs.key == action_id, subject]", count: "count: 1", from: "stripe", evidence: "exclusive: true, same_effect: refs.refund"}
	m := live(t, s.text())
	m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": at(72 * time.Hour)}})
	declare(m, refund("r-1"))
	report(m, paid("re_0", key("refund", "rf_1"), on("o-1"), occurred(-time.Hour)), paid("re_1", key("refund", "rf_1"), key("key", "r-1")))
	_, v, err := m.Evaluate("r-1", at(73*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if lenses(&v) != [2]verdict.Result{verdict.Pass, verdict.Pass} {
		t.Errorf("the outcome is %s %v, conformance %s %v", v.Outcome.Result, v.Outcome.Codes, v.Conformance.Result, v.Conformance.Codes)
	}
}
