package access

import (
	"slices"

	"github.com/deed-dev/deed/internal/value"
)

// Principal is who asks, for the length of one request. It cannot be changed, and
// only the constructors of this package make one that may do anything.
type Principal struct {
	kind         Kind
	via          Surface
	workspace    WorkspaceID
	actor        Actor
	key          KeyID
	member       MemberID
	client       ClientID
	role         Role
	scopes       Scopes
	sources      []string
	limits       Limits
	modelFacing  bool
	selfAttested bool
	secondMember bool
	confirmedAt  value.Instant
}

// Workspace is the only one that the principal can reach.
func (p Principal) Workspace() WorkspaceID { return p.workspace }

// Actor is how the audit names the principal.
func (p Principal) Actor() Actor { return p.actor }

// Kind is what the principal was made from.
func (p Principal) Kind() Kind { return p.kind }

// Via is where the request came in.
func (p Principal) Via() Surface { return p.via }

// Role is the member's, or what a key acts as.
func (p Principal) Role() Role { return p.role }

// Scopes are what is left after all that cuts them.
func (p Principal) Scopes() Scopes { return p.scopes }

// Member is the person, empty for a key.
func (p Principal) Member() MemberID { return p.member }

// Key is the API key, empty for a person.
func (p Principal) Key() KeyID { return p.key }

// Client is the OAuth client, empty for anything else.
func (p Principal) Client() ClientID { return p.client }

// ModelFacing says that a model may be behind the request.
func (p Principal) ModelFacing() bool { return p.modelFacing }

// SelfAttested says that whoever declares with this credential can also write
// the facts. Verdicts on what it declares have to say so.
func (p Principal) SelfAttested() bool { return p.selfAttested }

// Limits are for a store to narrow lists by.
func (p Principal) Limits() Limits { return p.limits.clone() }

// String is the actor.
func (p Principal) String() string { return string(p.actor) }

// Require says whether the principal holds a scope: nil or a [ScopeError].
func (p Principal) Require(s Scope) error {
	if p.scopes.Has(s) {
		return nil
	}
	return &ScopeError{Required: s, StepUp: p.kind == OAuthToken && p.role.Grantable().Has(s)}
}

// MayRecord says whether the principal may declare this action: nil, a
// [ScopeError] or a [LimitError].
func (p Principal) MayRecord(t Target) error {
	if err := p.Require(ActionsRecord); err != nil {
		return err
	}
	return p.limits.check(t)
}

// MaySeeAction says whether the principal may read this action and its verdict.
func (p Principal) MaySeeAction(t Target) error {
	if err := p.Require(ActionsRead); err != nil {
		return err
	}
	return p.limits.check(t)
}

// MayUseContract says whether the principal may read, validate or draft this
// contract, which of them being the scope.
func (p Principal) MayUseContract(s Scope, contractID string) error {
	if err := p.Require(s); err != nil {
		return err
	}
	return Limits{Contracts: p.limits.Contracts}.check(Target{ContractID: contractID})
}

// MayWriteFacts says whether the principal may write facts of a source, and state
// up to when they are complete: nil, a [ScopeError] or a [SourceError].
func (p Principal) MayWriteFacts(source string) error {
	if err := p.Require(FactsWrite); err != nil {
		return err
	}
	if !slices.Contains(p.sources, source) {
		return &SourceError{Source: source}
	}
	return nil
}
