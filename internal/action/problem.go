package action

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
)

// Problem is something in a declaration that cannot be read.
type Problem struct {
	Index   int    // of the declaration in a batch, from 0
	Field   string // a path with dots; empty for the whole
	Message string
}

// InvalidError says why declarations cannot be read. Nothing was recorded.
type InvalidError struct {
	Of       int // how many there were; 0 for a declaration that came alone
	Problems []Problem
}

func (e *InvalidError) Error() string {
	if e.Of > 0 {
		return fmt.Sprintf("%d of %d actions cannot be recorded, so none was", affected(e.Problems), e.Of)
	}
	if len(e.Problems) == 1 {
		return placed(e.Problems[0].Field, e.Problems[0].Message)
	}
	return fmt.Sprintf("the action cannot be recorded for %d reasons", len(e.Problems))
}

// Code is [access.InvalidRequest].
func (e *InvalidError) Code() access.Code { return access.InvalidRequest }

func placed(field, message string) string {
	if field == "" {
		return message
	}
	return field + ": " + message
}

func affected(problems []Problem) int {
	indexes := map[int]bool{}
	for _, p := range problems {
		indexes[p.Index] = true
	}
	return len(indexes)
}

// Refusal is a declaration of a batch that the principal may not make.
type Refusal struct {
	Index int
	Err   error // such as an [access.LimitError] or a [ConflictError]
}

// RefusedError says which declarations of a batch the principal may not make.
// Nothing was recorded.
type RefusedError struct {
	Of       int
	Refusals []Refusal
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d of %d actions cannot be recorded, so none was", len(e.Refusals), e.Of)
}

// Code is [access.Forbidden], or that of [ConflictError] if there is nothing else.
func (e *RefusedError) Code() access.Code {
	code := access.Code("")
	for _, r := range e.Refusals {
		if c := access.CodeOf(r.Err); c != conflict {
			return access.Forbidden
		}
		code = conflict
	}
	return code
}

// conflict is the code of a name that belongs to another.
const conflict access.Code = "conflict"

// ConflictError says that an action id is taken by an action that the principal may
// not see.
type ConflictError struct{ ActionID string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the action id %q is taken by an action that this key may not see", e.ActionID)
}

// Code is conflict.
func (e *ConflictError) Code() access.Code { return conflict }

// Field is the member that cannot be as it is.
func (e *ConflictError) Field() string { return "action_id" }

// WarningCode names a kind of warning to programs.
type WarningCode string

// The codes of warnings.
const (
	UnknownField           WarningCode = "unknown_field"
	UnreadableParam        WarningCode = "unreadable_param"
	ContractNotFound       WarningCode = "contract_not_found"
	ContractDoesNotApply   WarningCode = "contract_does_not_apply"
	ContractVersionIgnored WarningCode = "contract_version_ignored"
	DeclarationChanged     WarningCode = "declaration_changed"
	DeclaredLate           WarningCode = "declared_late"
	OverAllowance          WarningCode = "over_allowance"
)

// Warning is something odd about a declaration that was recorded all the same.
type Warning struct {
	Code    WarningCode
	Field   string // a path with dots; empty where it is about none
	Message string
}
