package intake

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
)

// Problem is something in what was sent that cannot be taken.
type Problem struct {
	Index   int    // of the fact, from 0
	Field   string // a path with dots; empty for the whole
	Message string
}

// InvalidError says why facts, a watermark or a source cannot be taken. Nothing was
// kept.
type InvalidError struct {
	Of       int // how many facts there were; 0 for what is no list of facts
	Problems []Problem
}

func (e *InvalidError) Error() string {
	if e.Of > 0 {
		indexes := map[int]bool{}
		for _, p := range e.Problems {
			indexes[p.Index] = true
		}
		return fmt.Sprintf("%d of %d facts cannot be kept, so none was", len(indexes), e.Of)
	}
	if len(e.Problems) != 1 {
		return fmt.Sprintf("it cannot be taken for %d reasons", len(e.Problems))
	}
	if p := e.Problems[0]; p.Field != "" {
		return p.Field + ": " + p.Message
	}
	return e.Problems[0].Message
}

// Code is [access.InvalidRequest].
func (e *InvalidError) Code() access.Code { return access.InvalidRequest }

func invalid(field, format string, args ...any) *InvalidError {
	return &InvalidError{Problems: []Problem{{Field: field, Message: fmt.Sprintf(format, args...)}}}
}

// TakenError says that a source of this name is there already.
type TakenError struct{ Name string }

func (e *TakenError) Error() string { return fmt.Sprintf("there is a source %q already", e.Name) }

// Code is conflict.
func (e *TakenError) Code() access.Code { return "conflict" }

// Field is the member that cannot be as it is.
func (e *TakenError) Field() string { return "name" }
