package access

import (
	"errors"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// Code names a kind of refusal to programs. All surfaces use the same names.
type Code string

// The codes of this package's errors.
const (
	Unauthenticated      Code = "unauthenticated"       // no credential that counts
	InsufficientScope    Code = "insufficient_scope"    // another scope is needed
	Forbidden            Code = "forbidden"             // not with this credential
	ConfirmationRequired Code = "confirmation_required" // sign in again, then it may work
	RateLimited          Code = "rate_limited"          // later
	InvalidRequest       Code = "invalid_request"       // what was asked for cannot be
)

// CodeOf is the code of the first error in a chain that has one, else empty.
// Every error type of this package has one.
func CodeOf(err error) Code {
	if denial, ok := errors.AsType[interface {
		error
		Code() Code
	}](err); ok {
		return denial.Code()
	}
	return ""
}

// KeyFormError says that a text is no API key. It never holds any of the text.
type KeyFormError struct{ Problem string }

func (e *KeyFormError) Error() string { return "read an API key: " + e.Problem }

// Code is [Unauthenticated].
func (e *KeyFormError) Code() Code { return Unauthenticated }

// UnknownKeyError says that no such key exists: the same words whether the prefix
// or the rest is wrong.
type UnknownKeyError struct{}

func (e *UnknownKeyError) Error() string { return "there is no such API key" }

// Code is [Unauthenticated].
func (e *UnknownKeyError) Code() Code { return Unauthenticated }

// ExpiredError says that a credential's time is over.
type ExpiredError struct {
	Kind Kind
	At   value.Instant
}

func (e *ExpiredError) Error() string {
	if e.At == 0 {
		return fmt.Sprintf("the %s has no expiry, and needs one", e.Kind)
	}
	return fmt.Sprintf("the %s expired at %s", e.Kind, e.At)
}

// Code is [Unauthenticated].
func (e *ExpiredError) Code() Code { return Unauthenticated }

// RevokedError says that a credential was taken back.
type RevokedError struct {
	Kind Kind
	At   value.Instant
}

func (e *RevokedError) Error() string { return fmt.Sprintf("the %s was revoked at %s", e.Kind, e.At) }

// Code is [Unauthenticated].
func (e *RevokedError) Code() Code { return Unauthenticated }

// MembershipError says that the member of a session or token is no longer a
// member of its workspace.
type MembershipError struct{ Kind Kind }

func (e *MembershipError) Error() string {
	return fmt.Sprintf("the member of the %s is not in the workspace", e.Kind)
}

// Code is [Unauthenticated].
func (e *MembershipError) Code() Code { return Unauthenticated }

// WorkspaceError says that a credential is for another workspace. It names
// neither.
type WorkspaceError struct{ Kind Kind }

func (e *WorkspaceError) Error() string {
	return fmt.Sprintf("the %s is for another workspace", e.Kind)
}

// Code is [Unauthenticated].
func (e *WorkspaceError) Code() Code { return Unauthenticated }

// SurfaceError says that this kind of credential is not taken there.
type SurfaceError struct {
	Kind Kind
	Via  Surface
}

func (e *SurfaceError) Error() string {
	return fmt.Sprintf("a credential of the kind %s is not accepted on the surface %s", e.Kind, e.Via)
}

// Code is [Unauthenticated].
func (e *SurfaceError) Code() Code { return Unauthenticated }

// SelfAttestError says that a key could prove what it declares, in a workspace
// that is not for development.
type SelfAttestError struct{}

func (e *SelfAttestError) Error() string {
	return "a key with actions:record and facts:write works only while the workspace is switched to development"
}

// Code is [Forbidden].
func (e *SelfAttestError) Code() Code { return Forbidden }

// ScopeError says which scope is missing.
type ScopeError struct {
	Required Scope
	// StepUp says that asking the member again can help: the credential is an
	// OAuth token and the member's role may grant the scope.
	StepUp bool
}

func (e *ScopeError) Error() string { return fmt.Sprintf("the scope %s is required", e.Required) }

// Code is [InsufficientScope].
func (e *ScopeError) Code() Code { return InsufficientScope }

// RoleError says which role is needed.
type RoleError struct {
	Permission Permission
	Required   Role
	Role       Role // that the principal has
}

func (e *RoleError) Error() string {
	return fmt.Sprintf("to %s takes the role %s, not %s", e.Permission, e.Required, e.Role)
}

// Code is [Forbidden].
func (e *RoleError) Code() Code { return Forbidden }

// MemberOnlyError says that only a signed-in member may do it.
type MemberOnlyError struct{ Permission Permission }

func (e *MemberOnlyError) Error() string {
	return fmt.Sprintf("only a signed-in member may %s", e.Permission)
}

// Code is [Forbidden].
func (e *MemberOnlyError) Code() Code { return Forbidden }

// ConfirmError says that the member has to prove again to be there.
type ConfirmError struct{ Permission Permission }

func (e *ConfirmError) Error() string { return fmt.Sprintf("to %s, confirm again", e.Permission) }

// Code is [ConfirmationRequired].
func (e *ConfirmError) Code() Code { return ConfirmationRequired }

// SecondMemberError says that one member is not enough for a weaker contract.
type SecondMemberError struct{}

func (e *SecondMemberError) Error() string {
	return "a weaker contract needs a second member behind it"
}

// Code is [Forbidden].
func (e *SecondMemberError) Code() Code { return Forbidden }

// SourceError says that a key is not bound to the source of a fact.
type SourceError struct{ Source string }

func (e *SourceError) Error() string {
	return fmt.Sprintf("the key may not write facts of the source %q", e.Source)
}

// Code is [Forbidden].
func (e *SourceError) Code() Code { return Forbidden }

// LimitError says that a key is limited to others: other contracts, action types
// or agents. Where somebody only wanted to read, surfaces answer as if the thing
// were not there.
type LimitError struct {
	Field string // contract_id, action_type or agent_id
	Given string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the key is limited to others than %s %q", e.Field, e.Given)
}

// Code is [Forbidden].
func (e *LimitError) Code() Code { return Forbidden }

// ThrottleError says when to come again.
type ThrottleError struct{ RetryAfter time.Duration }

func (e *ThrottleError) Error() string {
	return fmt.Sprintf("too many attempts, try again in %s", e.RetryAfter)
}

// Code is [RateLimited].
func (e *ThrottleError) Code() Code { return RateLimited }

// OrderError says why a key cannot be made as ordered.
type OrderError struct {
	Field   string
	Problem string
}

func (e *OrderError) Error() string { return "make an API key: " + e.Field + " " + e.Problem }

// Code is [InvalidRequest].
func (e *OrderError) Code() Code { return InvalidRequest }
