package access

import "github.com/deed-dev/deed/internal/value"

// Ids of what a store keeps. They are opaque here: equal or not.
type (
	// WorkspaceID names a workspace.
	WorkspaceID string
	// MemberID names a person in all workspaces.
	MemberID string
	// KeyID names an API key; unlike its prefix it is not a part of it.
	KeyID string
	// SessionID names a session of a member.
	SessionID string
	// TokenID names an OAuth access token.
	TokenID string
)

// Workspace is what of a workspace's settings decides about access.
type Workspace struct {
	ID WorkspaceID
	// Development allows keys that declare actions and write facts. Verdicts on
	// what they declare say that they attest to themselves.
	Development bool
	// SecondMember wants two members behind the activation of a contract that is
	// weaker than the one before it.
	SecondMember bool
}

// Membership is a person's place in one workspace. Who has left has none.
type Membership struct {
	Workspace WorkspaceID
	Member    MemberID
	Email     Email
	Role      Role
}

// Session is what is kept of a member who signed in, for one workspace.
type Session struct {
	ID        SessionID
	Kind      Kind // Cookie, PageToken or Terminal
	Workspace WorkspaceID
	Member    MemberID
	IssuedAt  value.Instant
	ExpiresAt value.Instant // required
	RevokedAt value.Instant // zero if it was not
	// ConfirmedAt is when the member last proved to be there, by password or
	// otherwise. Signing in is such a proof.
	ConfirmedAt value.Instant
}

// Token is what is kept of an OAuth access token: what a member granted to a
// client, for one workspace.
type Token struct {
	ID        TokenID
	Client    ClientID
	Workspace WorkspaceID
	Member    MemberID
	Scopes    Scopes
	ExpiresAt value.Instant // required
	RevokedAt value.Instant // zero if it was not
}
