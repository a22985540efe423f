package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/verdict"
)

// settle puts the findings together: what each lens comes to, whether the
// verdict is final, and what it waits for.
func (t *trial) settle(v *verdict.Verdict, findings []finding) {
	v.SettlesAt = t.self.settles
	due := t.c.At >= v.SettlesAt
	over := t.c.At >= v.SettlesAt.Add(t.k.Settle.Grace) || t.c.Previous != nil
	waiting := waits(findings, verdict.OutcomeLens) || waits(findings, verdict.ConformanceLens)

	v.Status = verdict.Provisional
	if due && (over || !waiting) {
		v.Status, v.SettledAt, v.Revision = verdict.Settled, t.c.At, 1
		for i := range findings {
			findings[i].giveUp()
		}
	}
	v.Checks = make([]verdict.Check, len(findings))
	for i := range findings {
		v.Checks[i] = findings[i].Check
	}
	v.Outcome, v.Conformance = lens(v.Checks, verdict.OutcomeLens), lens(v.Checks, verdict.ConformanceLens)
	v.Badge = worse(v.Outcome.Result, v.Conformance.Result)
	v.Outcome.Decided, v.Conformance.Decided = decided(findings, verdict.OutcomeLens), decided(findings, verdict.ConformanceLens)
	v.Decided = v.Outcome.Decided && v.Conformance.Decided
	for i := range findings {
		if findings[i].open && !failed(findings, findings[i].Lens) {
			v.Waits = merge(v.Waits, findings[i].Waits)
		}
	}
}

// waits says whether coverage may still move a lens. One that has failed does
// not wait for checks that can no longer move it.
func waits(findings []finding, name string) bool {
	if failed(findings, name) {
		return false
	}
	return slices.ContainsFunc(findings, func(f finding) bool { return f.Lens == name && f.open })
}

func failed(findings []finding, name string) bool {
	return slices.ContainsFunc(findings, func(f finding) bool { return f.Lens == name && f.Result == verdict.Fail && !f.open })
}

// decided says that no new fact and no coverage can change a lens.
func decided(findings []finding, name string) bool {
	all := true
	for i := range findings {
		f := &findings[i]
		if f.Lens != name {
			continue
		}
		if f.Result == verdict.Fail && f.Final {
			return true
		}
		all = all && f.Final
	}
	return all
}

// giveUp concludes a check that is still open when the verdict settles: what
// its sources do not show proves nothing.
func (f *finding) giveUp() {
	if !f.open {
		return
	}
	reason := verdict.Reason{Code: verdict.SourceNotCovered}
	if len(f.Waits) > 0 {
		reason.Source = f.Waits[0].Source
	}
	if f.Result != verdict.Unknown {
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{reason}
		return
	}
	if i := slices.IndexFunc(f.Reasons, func(r verdict.Reason) bool { return r.Code == verdict.AwaitingEvidence }); i >= 0 {
		f.Reasons = slices.Clone(f.Reasons)
		f.Reasons[i] = reason
	} else if !slices.ContainsFunc(f.Reasons, func(r verdict.Reason) bool { return r.Code == verdict.HistoryNotCovered }) {
		f.Reasons = append(slices.Clone(f.Reasons), reason)
	}
}

// lens puts the checks of one lens together: the worst result that one of them
// has, and the codes of those that have it.
func lens(checks []verdict.Check, name string) verdict.Lens {
	result := verdict.Result("")
	for i := range checks {
		if checks[i].Lens == name && checks[i].Result != verdict.NotApplicable {
			result = worse(result, checks[i].Result)
		}
	}
	switch result {
	case "":
		return verdict.Lens{Result: verdict.Unknown, Codes: []verdict.Code{verdict.NothingApplied}}
	case verdict.Pass:
		return verdict.Lens{Result: verdict.Pass, Codes: []verdict.Code{verdict.AllChecksMet}}
	}
	l := verdict.Lens{Result: result}
	for i := range checks {
		if checks[i].Lens != name || checks[i].Result != result {
			continue
		}
		for _, reason := range checks[i].Reasons {
			if !slices.Contains(l.Codes, reason.Code) {
				l.Codes = append(l.Codes, reason.Code)
			}
		}
	}
	return l
}

// worse is the worse of two results: FAIL, then UNKNOWN, then PASS.
func worse(a, b verdict.Result) verdict.Result {
	for _, r := range []verdict.Result{verdict.Fail, verdict.Unknown, verdict.Pass} {
		if a == r || b == r {
			return r
		}
	}
	return ""
}

// merge adds what is waited for, of each source and type the latest time.
func merge(waits, more []verdict.Wait) []verdict.Wait {
	for _, w := range more {
		i := slices.IndexFunc(waits, func(known verdict.Wait) bool { return known.Source == w.Source && known.Type == w.Type })
		if i < 0 {
			waits = append(waits, w)
		} else if w.Until > waits[i].Until {
			waits[i] = w
		}
	}
	return waits
}
