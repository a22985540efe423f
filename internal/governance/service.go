package governance

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
)

// Service is what may be done to contracts. It is safe for concurrent use.
type Service struct {
	store    store.Store
	compiled *compiler
	plans    *plan.Book
}

// New serves the contracts of a store's workspaces. What a plan leaves out is
// refused; nil leaves out nothing.
func New(s store.Store, plans *plan.Book) *Service {
	return &Service{store: s, compiled: newCompiler(), plans: plans}
}

// The codes of this package's errors.
const (
	InvalidContract access.Code = "invalid_contract"
	Conflict        access.Code = "conflict"
)

// InvalidError says that a text is no contract, and everything that is wrong with it.
type InvalidError struct{ Problems contract.Problems }

func (e *InvalidError) Error() string { return "it is no contract: " + e.Problems.Error() }

// Code is [InvalidContract].
func (e *InvalidError) Code() access.Code { return InvalidContract }

// Unwrap gives the problems.
func (e *InvalidError) Unwrap() error { return e.Problems }

// StateError says that a contract or a version does not stand so that this could be
// done to it.
type StateError struct{ Problem string }

func (e *StateError) Error() string { return e.Problem }

// Code is [Conflict].
func (e *StateError) Code() access.Code { return Conflict }

// RequestError says what of a request cannot be.
type RequestError struct{ Field, Problem string }

func (e *RequestError) Error() string { return e.Field + " " + e.Problem }

// Code is [access.InvalidRequest].
func (e *RequestError) Code() access.Code { return access.InvalidRequest }

// maxNoteBytes is the longest note of a version.
const maxNoteBytes = 1 << 10

// compile reads a text that somebody sent.
func (s *Service) compile(yaml []byte) (*contract.Contract, error) {
	k, err := s.compiled.compile(string(yaml))
	if problems, are := errors.AsType[contract.Problems](err); are {
		return nil, &InvalidError{Problems: problems}
	}
	return k, err
}

// stored compiles a version that was kept. That it does not is a fault of this
// release, which must read whatever an earlier one took.
func (s *Service) stored(v *store.ContractVersion) (*contract.Contract, error) {
	k, err := s.compiled.compile(v.Text)
	if err != nil {
		return nil, fmt.Errorf("read version %d of contract %s as it was kept: %w", v.Version, v.ContractID, err)
	}
	return k, nil
}

// visible says whether the principal may use a contract. One that it is not meant to
// see looks like one that is not there.
func visible(p access.Principal, scope access.Scope, contractID string) error {
	err := p.MayUseContract(scope, contractID)
	if errors.As(err, new(*access.LimitError)) {
		return store.ErrNotFound
	}
	return err
}

// do runs a unit in the principal's workspace.
func (s *Service) do(ctx context.Context, p access.Principal, fn func(store.Tx) error) error {
	return s.store.Do(ctx, p.Workspace(), fn)
}

func (s *Service) view(ctx context.Context, p access.Principal, fn func(store.Tx) error) error {
	return s.store.View(ctx, p.Workspace(), fn)
}

// VersionName is how audits and the ledger name a version.
func VersionName(contractID string, version int) string {
	return fmt.Sprintf("%s@%d", contractID, version)
}
