package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is what a server answered in place of what was asked for.
type Error struct {
	Status        int           // of HTTP
	Code          string        // for programs: insufficient_scope, not_found, …
	Message       string        // for people
	Field         string        // what of the request it is about, if of one
	RequiredScope string        // of insufficient_scope
	RetryAfter    time.Duration // if the server asks to wait
	Problems      []Problem     // if there are several
	Workspaces    []string      // to choose from when signing in
	RequestID     string        // by which an operator finds it
}

// Problem is one of several things that are wrong with a request.
type Problem struct {
	Index   int    `json:"index"`
	Field   string `json:"field"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
}

func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	case p.Field != "":
		fmt.Fprintf(&b, "%d: %s: ", p.Index, p.Field)
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("the server answered: " + e.Message)
	if e.Field != "" && !strings.Contains(e.Message, e.Field) {
		b.WriteString(" (" + e.Field + ")")
	}
	for i, p := range e.Problems {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-i)
			break
		}
		b.WriteString("; " + p.String())
	}
	return b.String()
}

// UnreachableError says that nothing, or nothing whole, came back. Whether the
// server did what it was asked is not known.
type UnreachableError struct {
	Address string
	Err     error
}

func (e *UnreachableError) Error() string { return "reach " + e.Address + ": " + e.Err.Error() }
func (e *UnreachableError) Unwrap() error { return e.Err }

// readFault makes an error of an answer. One that is not of a Deed server, such
// as of something on the way, says so.
func readFault(response *http.Response, text []byte) *Error {
	var body struct {
		Error struct {
			Code          string    `json:"code"`
			Message       string    `json:"message"`
			Field         string    `json:"field"`
			RequiredScope string    `json:"required_scope"`
			RetryAfter    float64   `json:"retry_after"`
			Errors        []Problem `json:"errors"`
			Workspaces    []string  `json:"workspaces"`
		} `json:"error"`
	}
	e := &Error{Status: response.StatusCode, RequestID: response.Header.Get("Deed-Request-Id")}
	if json.Unmarshal(text, &body) == nil && body.Error.Code != "" {
		e.Code, e.Message, e.Field = body.Error.Code, body.Error.Message, body.Error.Field
		e.RequiredScope, e.Problems, e.Workspaces = body.Error.RequiredScope, body.Error.Errors, body.Error.Workspaces
		e.RetryAfter = demand(body.Error.RetryAfter)
	} else {
		e.Message = fmt.Sprintf("HTTP status %d, in no form of Deed; is the address right?", response.StatusCode)
		if response.StatusCode/100 == 3 {
			e.Message = fmt.Sprintf("HTTP status %d, a redirect, which is not followed; use the address that it leads to", response.StatusCode)
		}
	}
	if e.RetryAfter == 0 {
		e.RetryAfter = retryAfter(response.Header.Get("Retry-After"))
	}
	return e
}
