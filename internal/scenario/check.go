package scenario

import (
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/verdict"
)

// Checked is what a scenario came to, held against what it expects.
type Checked struct {
	Scenario *Scenario
	Outcomes []Outcome
	// Wrong are the evaluations that came to something else, in their order.
	Wrong []Wrong
}

// Wrong is an evaluation that did not come to what was expected.
type Wrong struct {
	Evaluation  Evaluation
	Differences []Difference
}

// Check plays a scenario and compares.
func (s *Scenario) Check() (*Checked, error) {
	outcomes, err := s.Run()
	if err != nil {
		return nil, err
	}
	c := &Checked{Scenario: s, Outcomes: outcomes}
	for i := range outcomes {
		o := &outcomes[i]
		if found := Differences(o.Evaluation.Expect, &o.Verdict); len(found) > 0 {
			c.Wrong = append(c.Wrong, Wrong{Evaluation: o.Evaluation, Differences: found})
		}
	}
	return c, nil
}

// Untested is a check and the results, of PASS and FAIL, that no test saw it
// give. A check that was never seen to fail may well be unable to.
type Untested struct {
	Check string
	Never []verdict.Result
}

// Seen collects what checks came to.
type Seen map[string]map[verdict.Result]bool // by contract digest and check

// Add takes the verdicts of a scenario.
func (s Seen) Add(outcomes []Outcome) {
	for i := range outcomes {
		v := &outcomes[i].Verdict
		for j := range v.Checks {
			key := v.ContractDigest + " " + v.Checks[j].ID
			if s[key] == nil {
				s[key] = map[verdict.Result]bool{}
			}
			s[key][v.Checks[j].Result] = true
		}
	}
}

// Gave reports that a check of a contract came to a result.
func (s Seen) Gave(k *contract.Contract, check string, r verdict.Result) bool {
	return s[k.Digest+" "+check][r]
}

// Untested lists the checks of a contract that were not seen both to pass and
// to fail, in the order of the contract.
func (s Seen) Untested(k *contract.Contract) []Untested {
	var gaps []Untested
	for _, id := range Checks(k) {
		gap := Untested{Check: id}
		for _, r := range []verdict.Result{verdict.Pass, verdict.Fail} {
			if !s.Gave(k, id, r) {
				gap.Never = append(gap.Never, r)
			}
		}
		if len(gap.Never) > 0 {
			gaps = append(gaps, gap)
		}
	}
	return gaps
}

// Checks are the ids of a contract's own checks, in the order of the contract.
func Checks(k *contract.Contract) []string {
	var ids []string
	for i := range k.Steps {
		ids = append(ids, k.Steps[i].ID)
	}
	for i := range k.Never {
		ids = append(ids, k.Never[i].ID)
	}
	for i := range k.State {
		ids = append(ids, k.State[i].ID)
	}
	for i := range k.Limits {
		ids = append(ids, k.Limits[i].ID)
	}
	for i := range k.Approvals {
		ids = append(ids, k.Approvals[i].ID)
	}
	return slices.Clip(ids)
}
