package view

import (
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// Results counts by result.
type Results struct {
	Pass    int64 `json:"PASS"`
	Fail    int64 `json:"FAIL"`
	Unknown int64 `json:"UNKNOWN"`
}

// Add counts n of a result.
func (r *Results) Add(result verdict.Result, n int64) {
	switch result {
	case verdict.Pass:
		r.Pass += n
	case verdict.Fail:
		r.Fail += n
	default:
		r.Unknown += n
	}
}

// ResultsOf are counts by result.
func ResultsOf(counts map[verdict.Result]int) (r Results) {
	for result, n := range counts {
		r.Add(result, int64(n))
	}
	return r
}

// Statuses counts by status.
type Statuses struct {
	Recorded    int64 `json:"recorded"`
	Provisional int64 `json:"provisional"`
	Settled     int64 `json:"settled"`
	Revised     int64 `json:"revised"`
}

func (s *Statuses) add(status verdict.Status, n int64) {
	switch status {
	case verdict.Provisional:
		s.Provisional += n
	case verdict.Settled:
		s.Settled += n
	case verdict.Revised:
		s.Revised += n
	default:
		s.Recorded += n
	}
}

// Counts are what the actions of one contract came to.
type Counts struct {
	ContractID  string   `json:"contract_id" jsonschema:"as declared; empty where none was named"`
	Total       int64    `json:"total"`
	Badge       Results  `json:"badge"`
	Outcome     Results  `json:"outcome"`
	Conformance Results  `json:"conformance"`
	Status      Statuses `json:"status"`
}

// CountsOf adds counts up by contract, in the order of ids, with their total.
func CountsOf(counts []store.ContractCount) (contracts []Counts, total int64) {
	byID := map[string]*Counts{}
	for i := range counts {
		c := &counts[i]
		one := byID[c.ContractID]
		if one == nil {
			one = &Counts{ContractID: c.ContractID}
			byID[c.ContractID] = one
		}
		one.Total += c.Count
		one.Badge.Add(c.Badge, c.Count)
		one.Outcome.Add(c.Outcome, c.Count)
		one.Conformance.Add(c.Conformance, c.Count)
		one.Status.add(c.Status, c.Count)
		total += c.Count
	}
	contracts = make([]Counts, 0, len(byID))
	for _, one := range byID {
		contracts = append(contracts, *one)
	}
	slices.SortFunc(contracts, func(a, b Counts) int { return cmp.Compare(a.ContractID, b.ContractID) })
	return contracts, total
}

// ReasonCode is an entry of the registry.
type ReasonCode struct {
	Code        verdict.Code     `json:"code"`
	Label       string           `json:"label"`
	Explanation string           `json:"explanation"`
	Results     []verdict.Result `json:"results"`
	Lens        string           `json:"lens"`
	Kinds       []verdict.Kind   `json:"kinds"`
	Side        verdict.Side     `json:"side" jsonschema:"who can do something about it"`
	Next        string           `json:"next"`
}

// ReasonCodes is the registry in the order of its page.
func ReasonCodes() []ReasonCode {
	entries := verdict.Registry()
	list := make([]ReasonCode, 0, len(entries))
	for _, e := range entries {
		list = append(list, ReasonCode(e))
	}
	return list
}
