package scenario

import (
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/verdict"
)

// Differences says, a line each, where a verdict is not what was expected.
func Differences(want Expectation, v *verdict.Verdict) []string {
	var found []string
	differ := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	if want.Status != "" && v.Status != want.Status {
		differ("status is %s, expected %s", v.Status, want.Status)
	}
	if want.Decided != nil && v.Decided != *want.Decided {
		differ("decided is %v, expected %v", v.Decided, *want.Decided)
	}
	if want.LensDecided == verdict.OutcomeLens && !v.Outcome.Decided || want.LensDecided == verdict.ConformanceLens && !v.Conformance.Decided {
		differ("the lens %s is not decided", want.LensDecided)
	}
	if v.Outcome.Result != want.Outcome {
		differ("outcome is %s %v, expected %s", v.Outcome.Result, v.Outcome.Codes, want.Outcome)
	}
	if v.Conformance.Result != want.Conformance {
		differ("conformance is %s %v, expected %s", v.Conformance.Result, v.Conformance.Codes, want.Conformance)
	}
	for _, id := range slices.Sorted(maps.Keys(want.Results)) {
		if check := checkOf(v, id); check == nil {
			differ("there is no check %s", id)
		} else if check.Result != want.Results[id] {
			differ("check %s is %s %v, expected %s", id, check.Result, check.Reasons, want.Results[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want.Reasons)) {
		codes, known := codesOf(v, id)
		if !known {
			differ("there is no check %s", id)
			continue
		}
		for _, code := range want.Reasons[id] {
			if !slices.Contains(codes, code) {
				differ("the reasons of %s are %v, expected %s among them", id, codes, code)
			}
		}
	}
	for _, code := range want.Notes {
		if !slices.ContainsFunc(v.Notes, func(r verdict.Reason) bool { return r.Code == code }) {
			differ("the notes are %v, expected %s among them", v.Notes, code)
		}
	}
	compareSum(differ, "the verified amount", want.Verified, v.VerifiedAmount)
	var net *money.Amount
	if v.Compensation != nil {
		net = v.Compensation.Net
	}
	compareSum(differ, "the net effect", want.Net, net)
	for _, source := range slices.Sorted(maps.Keys(want.Waits)) {
		for _, factType := range want.Waits[source] {
			if !slices.ContainsFunc(v.Waits, func(w verdict.Wait) bool { return w.Source == source && w.Type == factType }) {
				differ("it waits for %v, expected %s %s among that", v.Waits, source, factType)
			}
		}
	}
	return found
}

func compareSum(differ func(string, ...any), what string, want *Sum, got *money.Amount) {
	switch {
	case want == nil:
	case want.None && got != nil:
		differ("%s is %s, expected none", what, got)
	case want.None:
	case got == nil:
		differ("%s is not there, expected %s", what, want.Amount)
	default:
		if order, known := got.Compare(want.Amount); !known || order != 0 {
			differ("%s is %s, expected %s", what, got, want.Amount)
		}
	}
}

func checkOf(v *verdict.Verdict, id string) *verdict.Check {
	i := slices.IndexFunc(v.Checks, func(c verdict.Check) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Checks[i]
}

// codesOf are the codes of a check, or of a lens by its name.
func codesOf(v *verdict.Verdict, id string) ([]verdict.Code, bool) {
	switch id {
	case verdict.OutcomeLens:
		return v.Outcome.Codes, true
	case verdict.ConformanceLens:
		return v.Conformance.Codes, true
	}
	check := checkOf(v, id)
	if check == nil {
		return nil, false
	}
	var codes []verdict.Code
	for _, reason := range check.Reasons {
		codes = append(codes, reason.Code)
	}
	return codes, true
}
