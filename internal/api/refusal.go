package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/view"
)

// faultOf says how an error is answered. What is not known here is a fault of the
// server: it is told to whoever runs it, and the one who asked learns nothing of it.
func faultOf(err error) *fault {
	for _, known := range []func(error) *fault{requestFault, storeFault, contractFault, codedFault} {
		if f := known(err); f != nil {
			return f
		}
	}
	return &fault{
		Code: codeInternal, Message: "a fault of the server; its log has it under the id in Deed-Request-Id",
		status: http.StatusInternalServerError, cause: err,
	}
}

// as finds an error of a type in a chain.
func as[E error](err error) (E, bool) { return errors.AsType[E](err) }

// requestFault answers what this package finds out itself.
func requestFault(err error) *fault {
	invalid := func(status int, message string) *fault {
		return &fault{Code: access.InvalidRequest, Message: message, status: status}
	}
	if e, is := as[*RequestError](err); is {
		f := invalid(http.StatusBadRequest, e.Error())
		f.Field = e.Field
		return f
	}
	if e, is := as[*sizeError](err); is {
		f := invalid(http.StatusRequestEntityTooLarge, e.Error())
		f.LimitBytes = e.limitBytes
		return f
	}
	if e, is := as[*mediaError](err); is {
		return invalid(http.StatusUnsupportedMediaType, e.Error())
	}
	if e, is := as[*methodError](err); is {
		return invalid(http.StatusMethodNotAllowed, e.Error())
	}
	if e, is := as[*NotFoundError](err); is {
		return &fault{Code: codeNotFound, Message: e.Error(), status: http.StatusNotFound}
	}
	return nil
}

// storeFault answers what a store says.
func storeFault(err error) *fault {
	if errors.Is(err, store.ErrNotFound) {
		return &fault{Code: codeNotFound, Message: "there is no such thing", status: http.StatusNotFound}
	}
	if e, is := as[*store.CursorError](err); is {
		return &fault{Code: access.InvalidRequest, Message: e.Error(), Field: cursorParam.name, status: http.StatusBadRequest}
	}
	_, unavailable := as[*store.UnavailableError](err)
	if unavailable || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &fault{
			Code: codeUnavailable, Message: "the server cannot answer now; try again", RetryAfter: retrySoon,
			status: http.StatusServiceUnavailable, cause: err,
		}
	}
	return nil
}

// contractFault answers why a text is no contract.
func contractFault(err error) *fault {
	problems, is := as[contract.Problems](err)
	if !is {
		return nil
	}
	n := fmt.Sprintf("%d problems", len(problems))
	if len(problems) == 1 {
		n = "1 problem"
	}
	return &fault{
		Code: codeInvalidContract, Message: "the contract has " + n,
		Errors: contractItems(view.ProblemsOf(problems)), status: http.StatusBadRequest,
	}
}

// coded is what errors of the domain that are meant for whoever asked have.
type coded interface {
	error
	Code() access.Code
}

// codedFault answers what the domain refuses, in the words of the error that has
// the code: what was attempted around it is known to whoever asked.
func codedFault(err error) *fault {
	e, is := as[coded](err)
	if !is {
		return nil
	}
	f := &fault{Code: e.Code(), Message: e.Error()}
	switch f.Code {
	case access.Unauthenticated:
		f.status = http.StatusUnauthorized
	case access.RateLimited:
		f.status = http.StatusTooManyRequests
	case access.InvalidRequest, codeInvalidContract:
		f.status = http.StatusBadRequest
	case codeNotFound:
		f.status = http.StatusNotFound
	case codeConflict:
		f.status = http.StatusConflict
	case plan.Required:
		f.status = http.StatusPaymentRequired
	case access.InsufficientScope, access.Forbidden, access.ConfirmationRequired:
		f.status = http.StatusForbidden
	default:
		return nil // a code that no page has is a fault of the program
	}
	f.detail(err)
	f.items(err)
	return f
}

// detail adds the further members that some errors have.
func (f *fault) detail(err error) {
	if e, is := as[*access.ScopeError](err); is {
		f.RequiredScope, f.stepUp = e.Required, e.StepUp
	}
	if e, is := as[*plan.RequiredError](err); is {
		f.UpgradeTo = e.UpgradeTo
	}
	if e, is := as[*access.ThrottleError](err); is {
		f.RetryAfter = int(math.Ceil(e.RetryAfter.Seconds()))
		f.Message = fmt.Sprintf("too many attempts, try again in %ds", f.RetryAfter)
	}
	if e, is := as[*access.LimitError](err); is {
		f.Field = e.Field
	}
	if _, is := as[*access.SourceError](err); is {
		f.Field = "source"
	}
	if e, is := as[*access.OrderError](err); is {
		f.Field, f.Message = e.Field, e.Field+" "+e.Problem
	}
	if e, is := as[*governance.RequestError](err); is {
		f.Field = e.Field
	}
	if e, is := as[*account.RequestError](err); is {
		f.Field = e.Field
	}
	if e, is := as[*account.ChoiceError](err); is {
		f.Field, f.Workspaces = "workspace_id", e.Workspaces
	}
	if e, is := as[*ledger.RangeError](err); is {
		f.Field = e.Field
	}
	if e, is := as[*action.ConflictError](err); is {
		f.Field = e.Field()
	}
	if e, is := as[*intake.TakenError](err); is {
		f.Field = e.Field()
	}
}

// items lists what is wrong with which declaration.
func (f *fault) items(err error) {
	if e, is := as[*action.InvalidError](err); is {
		for _, p := range e.Problems {
			f.problem(p.Index, e.Of, p.Field, p.Message)
		}
	}
	if e, is := as[*intake.InvalidError](err); is {
		for _, p := range e.Problems {
			f.problem(p.Index, e.Of, p.Field, p.Message)
		}
	}
	if len(f.Errors) == 1 && f.Errors[0].Index == nil {
		f.Field, f.Errors = f.Errors[0].Field, nil
	}
	if e, is := as[*action.RefusedError](err); is {
		for _, r := range e.Refusals {
			one := &fault{}
			one.detail(r.Err)
			f.Errors = append(f.Errors, faultItem{Index: &r.Index, Field: one.Field, Message: r.Err.Error()})
		}
	}
}

// problem adds what is wrong with an element of a list, or with what came alone.
func (f *fault) problem(index, of int, field, message string) {
	item := faultItem{Field: field, Message: message}
	if of > 0 {
		item.Index = &index
	}
	f.Errors = append(f.Errors, item)
}
