package weakening

import (
	"fmt"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Flip is a lens of an action that was FAIL or UNKNOWN by the old contract and
// is PASS by the new one.
type Flip struct {
	ActionID string         `json:"action_id"`
	Lens     string         `json:"lens"`
	Was      verdict.Result `json:"was"`
	Because  []Because      `json:"because"` // what stood in the way; never empty
}

// Because is a check that kept a lens from PASS, or the lens itself where none
// did.
type Because struct {
	Check  string         `json:"check,omitempty"`
	Result verdict.Result `json:"result"`
	Codes  []verdict.Code `json:"codes"`
}

// Replay evaluates each case by both versions of its contract and lists what
// turns PASS, in the order of the cases. A case holds what its own contract
// looked for: facts of a type, or a history over a time, that only the new one
// asks for are not in it, and are unknown. Errors: what is no case.
func Replay(before, after *contract.Contract, cases []*verdict.Case) ([]Flip, error) {
	var flips []Flip
	for _, c := range cases {
		was, err := evaluate(c, before)
		if err != nil {
			return nil, err
		}
		is, err := evaluate(c, after)
		if err != nil {
			return nil, err
		}
		flips = append(flips, Turned(&was, &is)...)
	}
	return flips, nil
}

// evaluate evaluates a case as if another contract governed it.
func evaluate(c *verdict.Case, k *contract.Contract) (verdict.Verdict, error) {
	governed := *c
	governed.Governing = &verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live}
	if c.Governing != nil {
		governed.Governing.Version, governed.Governing.Mode = c.Governing.Version, c.Governing.Mode
	}
	v, err := engine.Evaluate(&governed)
	if err != nil {
		return v, fmt.Errorf("replay an action by contract %s: %w", k.ID, err)
	}
	return v, nil
}

// Turned lists the lenses of one action that turned PASS.
func Turned(was, is *verdict.Verdict) []Flip {
	var flips []Flip
	for _, lens := range []struct {
		name    string
		was, is *verdict.Lens
	}{{verdict.OutcomeLens, &was.Outcome, &is.Outcome}, {verdict.ConformanceLens, &was.Conformance, &is.Conformance}} {
		if lens.was.Result == verdict.Pass || lens.is.Result != verdict.Pass {
			continue
		}
		f := Flip{ActionID: was.ActionID, Lens: lens.name, Was: lens.was.Result}
		for i := range was.Checks {
			check := &was.Checks[i]
			if check.Lens != lens.name || check.Result == verdict.Pass || check.Result == verdict.NotApplicable {
				continue
			}
			because := Because{Check: check.ID, Result: check.Result}
			for _, reason := range check.Reasons {
				because.Codes = append(because.Codes, reason.Code)
			}
			f.Because = append(f.Because, because)
		}
		if len(f.Because) == 0 {
			f.Because = []Because{{Result: lens.was.Result, Codes: lens.was.Codes}}
		}
		flips = append(flips, f)
	}
	return flips
}
