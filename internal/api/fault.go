package api

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/view"
)

// The codes that are this package's, beside those of [access.Code].
const (
	codeNotFound        access.Code = "not_found"
	codeConflict        access.Code = "conflict"
	codeInvalidContract access.Code = "invalid_contract"
	codeInternal        access.Code = "internal"
	codeUnavailable     access.Code = "unavailable"
)

// fault is an error as it is answered: the one shape that all of them have.
type fault struct {
	Code          access.Code          `json:"code" jsonschema:"for programs"`
	Message       string               `json:"message" jsonschema:"for people; its words may change"`
	Field         string               `json:"field,omitzero" jsonschema:"the member or parameter that it is about"`
	Errors        []faultItem          `json:"errors,omitempty" jsonschema:"where several things are wrong"`
	Workspaces    []access.WorkspaceID `json:"workspaces,omitempty" jsonschema:"those to choose from at sign-in"`
	RequiredScope access.Scope         `json:"required_scope,omitzero"`
	UpgradeTo     string               `json:"upgrade_to,omitzero" jsonschema:"the nearest plan that has what was asked for"`
	LimitBytes    int64                `json:"limit_bytes,omitzero"`
	RetryAfter    int                  `json:"retry_after,omitzero" jsonschema:"in seconds"`

	status int
	// stepUp says that an OAuth client may ask its member for more.
	stepUp bool
	// cause is what is logged and never answered.
	cause error
}

// faultBody is the body of an error's answer.
type faultBody struct {
	Error *fault `json:"error"`
}

// faultItem is one of several things that are wrong: with an element of a list, or
// in a contract's text.
type faultItem struct {
	Index   *int   `json:"index,omitzero" jsonschema:"of the element, from 0"`
	Field   string `json:"field,omitzero"`
	Line    int    `json:"line,omitzero" jsonschema:"of a contract's text, from 1"`
	Column  int    `json:"column,omitzero"`
	Path    string `json:"path,omitzero"`
	Text    string `json:"text,omitzero"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}

// contractItems are what is wrong with a contract.
func contractItems(problems []view.Problem) []faultItem {
	items := make([]faultItem, 0, len(problems))
	for _, p := range problems {
		items = append(items, faultItem{Line: p.Line, Column: p.Column, Path: p.Path, Text: p.Text, Message: p.Message, Hint: p.Hint})
	}
	return items
}

// RequestError says that a request cannot be read, or asks for what cannot be.
type RequestError struct {
	Field   string // a path with dots; empty for the whole
	Message string
}

func (e *RequestError) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// NotFoundError says that there is no such thing that the principal may see.
type NotFoundError struct{ What string }

func (e *NotFoundError) Error() string { return "there is no " + e.What }

// mediaError says that a body is no JSON, or compressed.
type mediaError struct{ problem string }

func (e *mediaError) Error() string { return e.problem }

// sizeError says that a body is too large.
type sizeError struct{ limitBytes int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("the body has more than %d bytes", e.limitBytes)
}

// methodError says that an endpoint is not for this method.
type methodError struct{ allow string }

func (e *methodError) Error() string { return "this takes " + e.allow }

// credentialError says that there is no credential that counts.
type credentialError struct{ problem string }

func (e *credentialError) Error() string { return e.problem }

// Code is [access.Unauthenticated].
func (e *credentialError) Code() access.Code { return access.Unauthenticated }
