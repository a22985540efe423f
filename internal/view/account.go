package view

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Workspace is a workspace with its settings.
type Workspace struct {
	ID           access.WorkspaceID `json:"id"`
	Name         string             `json:"name"`
	Plan         string             `json:"plan"`
	Development  bool               `json:"development" jsonschema:"keys may declare actions and write facts"`
	SecondMember bool               `json:"second_member" jsonschema:"a weaker contract needs a second member behind it"`
	CreatedAt    value.Instant      `json:"created_at"`
}

// WorkspaceOf is a workspace with its settings.
func WorkspaceOf(w *store.Workspace) Workspace {
	return Workspace{
		ID: w.ID, Name: w.Name, Plan: w.Plan, Development: w.Development, SecondMember: w.SecondMember, CreatedAt: w.CreatedAt,
	}
}

// Member is a person in a workspace.
type Member struct {
	ID       access.MemberID `json:"id"`
	Email    access.Email    `json:"email"`
	Name     string          `json:"name,omitzero"`
	Role     access.Role     `json:"role"`
	JoinedAt value.Instant   `json:"joined_at"`
}

// MemberOf is a person in a workspace.
func MemberOf(m *store.Member) Member {
	return Member{ID: m.Member, Email: m.Email, Name: m.Name, Role: m.Role, JoinedAt: m.JoinedAt}
}

// KeyStatus says whether a key works.
type KeyStatus string

// The statuses of a key.
const (
	KeyActive   KeyStatus = "active"
	KeyReplaced KeyStatus = "replaced" // works until it expires, and another one took its place
	KeyExpired  KeyStatus = "expired"
	KeyRevoked  KeyStatus = "revoked"
)

// Key is an API key without its secret.
type Key struct {
	ID         access.KeyID   `json:"id"`
	Name       string         `json:"name"`
	Prefix     access.Prefix  `json:"prefix" jsonschema:"names the key in the audit"`
	Scopes     []access.Scope `json:"scopes"`
	Sources    []string       `json:"sources,omitempty" jsonschema:"whose facts it may write"`
	Limits     *Limits        `json:"limits,omitzero" jsonschema:"what it may declare and see"`
	Status     KeyStatus      `json:"status"`
	CreatedAt  value.Instant  `json:"created_at"`
	ExpiresAt  value.Instant  `json:"expires_at,omitzero"`
	RevokedAt  value.Instant  `json:"revoked_at,omitzero"`
	ReplacedBy access.Prefix  `json:"replaced_by,omitzero"`
}

// Limits narrow what a key may declare and see. An absent list does not.
type Limits struct {
	Contracts   []string `json:"contracts,omitempty"`
	ActionTypes []string `json:"action_types,omitempty"`
	Agents      []string `json:"agents,omitempty"`
}

// LimitsOf are a key's limits; nil if there are none.
func LimitsOf(l access.Limits) *Limits {
	if len(l.Contracts)+len(l.ActionTypes)+len(l.Agents) == 0 {
		return nil
	}
	return &Limits{Contracts: l.Contracts, ActionTypes: l.ActionTypes, Agents: l.Agents}
}

// KeyOf is a key without its secret, as it stands at a time.
func KeyOf(k *access.Key, at value.Instant) Key {
	status := KeyActive
	switch {
	case k.RevokedAt != 0 && k.RevokedAt <= at:
		status = KeyRevoked
	case k.ExpiresAt != 0 && k.ExpiresAt <= at:
		status = KeyExpired
	case k.ReplacedBy != "":
		status = KeyReplaced
	}
	return Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: k.Scopes.List(), Sources: k.Sources, Limits: LimitsOf(k.Limits),
		Status: status, CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, ReplacedBy: k.ReplacedBy,
	}
}

// AuditEntry is something that somebody did.
type AuditEntry struct {
	ID       int64          `json:"id"`
	At       value.Instant  `json:"at"`
	Actor    access.Actor   `json:"actor"`
	Event    string         `json:"event"`
	Object   string         `json:"object,omitzero"`
	Metadata jsontext.Value `json:"metadata,omitzero" jsonschema:"an object without secrets"`
}

// AuditEntryOf is an entry of the audit.
func AuditEntryOf(e *store.AuditEntry) AuditEntry {
	return AuditEntry{ID: e.ID, At: e.At, Actor: e.Actor, Event: e.Event, Object: e.Object, Metadata: jsontext.Value(e.Metadata)}
}

// Leaf is an entry of the ledger.
type Leaf struct {
	Number int64         `json:"number" jsonschema:"its place, from 0"`
	Kind   string        `json:"kind"`
	Object string        `json:"object"`
	Digest string        `json:"digest"`
	At     value.Instant `json:"at"`
}

// LeafOf is a numbered leaf.
func LeafOf(l *store.Leaf) Leaf {
	return Leaf{Number: l.Number, Kind: l.Kind, Object: l.Object, Digest: l.Digest, At: l.At}
}

// Session is who asks, as the server sees them.
type Session struct {
	Kind      string         `json:"kind" jsonschema:"session, api_key or oauth_token"`
	Actor     access.Actor   `json:"actor" jsonschema:"as the audit names it"`
	Workspace Home           `json:"workspace"`
	Role      access.Role    `json:"role" jsonschema:"of a key: as what it acts where roles decide"`
	Scopes    []access.Scope `json:"scopes"`
	Member    *SignedMember  `json:"member,omitzero"`
	Key       *SignedKey     `json:"key,omitzero"`
	// What only signing in tells.
	ExpiresAt      value.Instant `json:"expires_at,omitzero"`
	ConfirmedUntil value.Instant `json:"confirmed_until,omitzero" jsonschema:"until when what needs a proof of presence works"`
}

// Home names a workspace.
type Home struct {
	ID   access.WorkspaceID `json:"id"`
	Name string             `json:"name"`
}

// SignedMember is the member of a session.
type SignedMember struct {
	ID    access.MemberID `json:"id"`
	Email access.Email    `json:"email"`
}

// SignedKey is the key that asks.
type SignedKey struct {
	ID     access.KeyID `json:"id"`
	Limits *Limits      `json:"limits,omitzero" jsonschema:"what it may declare and see"`
}

// SessionOf is who asks.
func SessionOf(p *access.Principal, w *store.Workspace) Session {
	s := Session{
		Kind: "session", Actor: p.Actor(), Workspace: Home{ID: w.ID, Name: w.Name},
		Role: p.Role(), Scopes: p.Scopes().List(),
	}
	switch p.Kind() {
	case access.APIKey:
		s.Kind, s.Key = "api_key", &SignedKey{ID: p.Key(), Limits: LimitsOf(p.Limits())}
	case access.OAuthToken:
		s.Kind = "oauth_token"
	default:
		s.Member = &SignedMember{ID: p.Member(), Email: access.Email(p.Actor())}
	}
	return s
}
