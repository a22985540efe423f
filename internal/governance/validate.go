package governance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/weakening"
)

// Validation is what is to be said of a text, whether it is a contract or not.
type Validation struct {
	Problems []contract.Problem // why it is no contract; empty if it is one
	Warnings []contract.Problem // what is allowed but odd

	// The rest is there for a contract only.
	Contract *contract.Contract
	Text     explanation.Text
	// Against is the version that governs now, without its text; nil if none does
	// or the principal may not see it.
	Against *store.ContractVersion
	Changes []weakening.Change
	Weaker  bool
	Sources []SourceProblem
}

// SourceProblem is why a source cannot carry what a contract asks of it here.
type SourceProblem struct {
	Source  string
	Type    string // of facts; empty where it is about the source as a whole
	Code    string // source_unknown, source_too_weak, type_not_provided, no_watermark
	Message string
}

// Validate says what a text comes to as a contract of this workspace, and saves
// nothing. Errors: those of [access.Principal.MayUseContract].
func (s *Service) Validate(ctx context.Context, p access.Principal, yaml []byte) (*Validation, error) {
	if err := p.Require(access.ContractsValidate); err != nil {
		return nil, err
	}
	k, err := s.compile(yaml)
	if invalid, is := errors.AsType[*InvalidError](err); is {
		return &Validation{Problems: invalid.Problems}, nil
	}
	if err != nil {
		return nil, err
	}
	v := &Validation{Warnings: k.Warnings, Contract: k, Text: explanation.Explain(k)}
	err = s.view(ctx, p, func(tx store.Tx) error {
		v.Against, v.Changes, v.Weaker, v.Sources = nil, nil, false, nil
		if p.MayUseContract(access.ContractsValidate, k.ID) == nil {
			versions, err := tx.ContractVersions(k.ID, false)
			if err != nil {
				return err
			}
			if v.Changes, v.Weaker, err = s.against(tx, p, k, versions); err != nil {
				return err
			}
			for i := range versions {
				if active(&versions[i], tx.Now()) {
					v.Against = &versions[i]
				}
			}
		}
		var names []string
		for _, source := range k.Sources {
			names = append(names, source.Name)
		}
		states, err := tx.SourceStates(names...)
		if err != nil {
			return err
		}
		v.Sources = sourceProblems(k, states)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("validate contract %s: %w", k.ID, err)
	}
	return v, nil
}

// sourceProblems says of each source that a contract names why it cannot carry it:
// without a watermark it may show that something happened, and never that it did not.
func sourceProblems(k *contract.Contract, states []store.SourceState) []SourceProblem {
	var problems []SourceProblem
	for _, wanted := range k.Sources {
		at := slices.IndexFunc(states, func(s store.SourceState) bool { return s.Name == wanted.Name })
		if at < 0 {
			problems = append(problems, SourceProblem{
				Source: wanted.Name, Code: "source_unknown",
				Message: fmt.Sprintf("no source %q is connected; what only it can tell stays UNKNOWN", wanted.Name),
			})
			continue
		}
		state := &states[at]
		if state.Trust < wanted.Trust {
			problems = append(problems, SourceProblem{
				Source: wanted.Name, Code: "source_too_weak",
				Message: fmt.Sprintf("the source %q is %s and the contract asks for %s; its facts will not count", wanted.Name, state.Trust, wanted.Trust),
			})
		}
		for _, factType := range expectedOf(k, wanted.Name) {
			switch {
			case len(state.Provides) > 0 && !slices.Contains(state.Provides, factType):
				problems = append(problems, SourceProblem{
					Source: wanted.Name, Type: factType, Code: "type_not_provided",
					Message: fmt.Sprintf("the source %q does not provide %s", wanted.Name, factType),
				})
			case state.Watermark(factType) == 0:
				problems = append(problems, SourceProblem{
					Source: wanted.Name, Type: factType, Code: "no_watermark",
					Message: fmt.Sprintf("the source %q never said up to when its %s are complete; it can carry PASS, and neither FAIL nor absence", wanted.Name, factType),
				})
			}
		}
	}
	return problems
}

// expectedOf are the fact types that a contract looks for in a source, each once.
func expectedOf(k *contract.Contract, source string) []string {
	var all []*contract.Observation
	for i := range k.Steps {
		all = append(all, &k.Steps[i].Observation)
	}
	for i := range k.Never {
		all = append(all, &k.Never[i].Observation)
	}
	for i := range k.State {
		all = append(all, &k.State[i].Observation)
	}
	for i := range k.Approvals {
		all = append(all, &k.Approvals[i].Observation)
	}
	var types []string
	for _, o := range all {
		if slices.Contains(o.From, source) {
			types = append(types, o.Expect)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}
