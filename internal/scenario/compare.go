package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/verdict"
)

// Difference is one thing in which a verdict is not what was expected, in
// words.
type Difference struct {
	What     string // outcome, check money_moved, notes
	Expected string
	Got      string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: expected %s, got %s", d.What, d.Expected, d.Got)
}

// Differences says where a verdict is not what was expected.
func Differences(want Expectation, v *verdict.Verdict) []Difference {
	var found []Difference
	differ := func(what, expected, got string) {
		found = append(found, Difference{What: what, Expected: expected, Got: got})
	}
	if want.Status != "" && v.Status != want.Status {
		differ("status", string(want.Status), string(v.Status))
	}
	if want.Decided != nil && v.Decided != *want.Decided {
		differ("decided", fmt.Sprint(*want.Decided), fmt.Sprint(v.Decided))
	}
	compareLens(differ, verdict.OutcomeLens, want, want.Outcome, &v.Outcome)
	compareLens(differ, verdict.ConformanceLens, want, want.Conformance, &v.Conformance)
	for _, id := range slices.Sorted(maps.Keys(want.Results)) {
		if check := checkOf(v, id); check == nil {
			differ("check "+id, string(want.Results[id]), "no check of this name")
		} else if check.Result != want.Results[id] {
			differ("check "+id, string(want.Results[id]), because(check.Result, codes(check.Reasons)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(want.Reasons)) {
		given, known := codesOf(v, id)
		if !known {
			differ("reasons of "+id, words(want.Reasons[id]), "no check of this name")
			continue
		}
		for _, code := range want.Reasons[id] {
			if !slices.Contains(given, code) {
				differ("reasons of "+id, word(code)+" among them", words(given))
			}
		}
	}
	notes := codes(v.Notes)
	for _, code := range want.Notes {
		if !slices.Contains(notes, code) {
			differ("notes", word(code)+" among them", words(notes))
		}
	}
	for _, code := range want.Without {
		if slices.Contains(notes, code) {
			differ("notes", "no "+word(code), words(notes))
		}
	}
	compareSum(differ, "verified amount", want.Verified, v.VerifiedAmount)
	var net *money.Amount
	if v.Compensation != nil {
		net = v.Compensation.Net
	}
	compareSum(differ, "net effect", want.Net, net)
	for _, source := range slices.Sorted(maps.Keys(want.Waits)) {
		for _, factType := range want.Waits[source] {
			if !slices.ContainsFunc(v.Waits, func(w verdict.Wait) bool { return w.Source == source && w.Type == factType }) {
				differ("waits", "for "+source+" "+factType+" among others", waits(v.Waits))
			}
		}
	}
	return found
}

func compareLens(differ func(what, expected, got string), name string, want Expectation, result verdict.Result, got *verdict.Lens) {
	if want.LensDecided == name && !got.Decided {
		differ(name, "decided", "not decided")
	}
	if got.Result != result {
		differ(name, string(result), because(got.Result, got.Codes))
	}
}

func compareSum(differ func(what, expected, got string), what string, want *Sum, got *money.Amount) {
	switch {
	case want == nil:
	case want.None && got != nil:
		differ(what, "none", got.String())
	case want.None:
	case got == nil:
		differ(what, want.Amount.String(), "none")
	default:
		if order, known := got.Compare(want.Amount); !known || order != 0 {
			differ(what, want.Amount.String(), got.String())
		}
	}
}

func because(r verdict.Result, given []verdict.Code) string {
	return string(r) + " because of " + words(given)
}

func words(given []verdict.Code) string {
	if len(given) == 0 {
		return "none"
	}
	all := make([]string, len(given))
	for i, code := range given {
		all[i] = word(code)
	}
	return strings.Join(all, ", ")
}

// word is a code with what it means.
func word(code verdict.Code) string {
	if entry, known := verdict.Lookup(code); known {
		return string(code) + " (" + entry.Label + ")"
	}
	return string(code)
}

func waits(list []verdict.Wait) string {
	if len(list) == 0 {
		return "for nothing"
	}
	all := make([]string, len(list))
	for i, w := range list {
		all[i] = w.Source + " " + w.Type
	}
	return "for " + strings.Join(all, ", ")
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
	return codes(check.Reasons), true
}

func codes(reasons []verdict.Reason) []verdict.Code {
	var all []verdict.Code
	for _, r := range reasons {
		all = append(all, r.Code)
	}
	return all
}
