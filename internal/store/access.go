package store

import (
	"context"
	"errors"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

// Workspace is a workspace with its settings.
type Workspace struct {
	access.Workspace
	Name      string
	Plan      string
	CreatedAt value.Instant
}

// Member is a person in a workspace.
type Member struct {
	access.Membership
	Name     string
	JoinedAt value.Instant
}

// Person is somebody who can sign in, in whatever workspaces.
type Person struct {
	ID           access.MemberID
	Email        access.Email
	Name         string
	PasswordHash string // argon2id in PHC form; empty: signs in by link only
	CreatedAt    value.Instant
}

// TokenHash is the SHA-256 of a random token of 256 bits that was shown once.
type TokenHash [32]byte

// SignIn is a link by which a person signs in once: the first start's, an
// invitation, a way back in.
type SignIn struct {
	Hash      TokenHash
	Workspace access.WorkspaceID
	Member    access.MemberID
	ExpiresAt value.Instant
	UsedAt    value.Instant // zero: not yet
}

// Keys are the API keys of a workspace. One that says it belongs to another is an
// error of the program, as in [Members].
type Keys interface {
	ListKeys() ([]access.Key, error)
	// Key returns one. Error: [ErrNotFound].
	Key(id access.KeyID) (*access.Key, error)
	// PutKey keeps a key by its id. A prefix that another key has is a conflict that
	// no further run resolves: [ErrTaken].
	PutKey(k access.Key)
}

// Members are the people of a workspace.
type Members interface {
	ListMembers() ([]Member, error)
	// PutMember gives a person who is known a role, or another one. Name and address
	// are the person's and stay as they are.
	PutMember(m Member)
	RemoveMember(id access.MemberID)
	// LockMembers lets no other unit change members until this one ends, so that an
	// owner is sure to remain.
	LockMembers() error
	// PutWorkspace keeps changed settings.
	PutWorkspace(w Workspace)
	// GetWorkspace is the unit's own workspace.
	GetWorkspace() (*Workspace, error)
	// AddSignIn makes a link in the place of the member's unused ones of this
	// workspace. Who wants to be sure that one remains locks the members.
	AddSignIn(s SignIn)
	// EndSessions revokes the sessions of a member in this workspace. What has ended
	// before keeps its time.
	EndSessions(id access.MemberID, at value.Instant)
}

// ErrNoOverview says that this database answers for one workspace at a time only: each
// has to be asked.
var ErrNoOverview = errors.New("the database answers for one workspace at a time")

// DueIn is a workspace in which a wake is due.
type DueIn struct {
	Workspace access.WorkspaceID
	Late      time.Duration // how long the first of them has been
}

// Directory is what is asked before a workspace is known: which workspaces there
// are, and to whom a credential belongs. Each method is a unit of its own.
type Directory interface {
	Workspaces(ctx context.Context) ([]Workspace, error)
	// Due returns the workspaces in which a wake is due, and
	// Unsequenced those in which a leaf has no number: one question however many
	// there are. Error: [ErrNoOverview].
	Due(ctx context.Context) ([]DueIn, error)
	Unsequenced(ctx context.Context) ([]access.WorkspaceID, error)
	// CreateWorkspace makes a workspace with its first owner, who may be known by id
	// and is then left as they are, and a link for them. If onlyFirst, it does
	// nothing and returns false where any workspace exists, whoever else is starting.
	// Error: [ErrTaken] for an id or another's address.
	CreateWorkspace(ctx context.Context, w Workspace, owner Person, link SignIn, onlyFirst bool) (bool, error)
	// DeleteWorkspace removes a workspace and everything in it but people. First
	// nobody gets in any more. If it fails, it may have done a part, and can be done
	// again.
	DeleteWorkspace(ctx context.Context, w access.WorkspaceID) error
	// KeyByPrefix returns a key and its workspace. Error: [ErrNotFound].
	KeyByPrefix(ctx context.Context, p access.Prefix) (access.Key, Workspace, error)
	// SessionByHash returns a session, the member's present place in its workspace
	// (the zero Membership if there is none), and the workspace. Error: [ErrNotFound].
	SessionByHash(ctx context.Context, h TokenHash) (access.Session, access.Membership, Workspace, error)
	// AddSession, EndSession and ConfirmSession keep sessions.
	AddSession(ctx context.Context, s access.Session, h TokenHash) error
	EndSession(ctx context.Context, id access.SessionID, at value.Instant) error
	ConfirmSession(ctx context.Context, id access.SessionID, at value.Instant) error
	// UseSignIn uses a link up: of any number of callers one gets it. Error:
	// [ErrNotFound] for one that is unknown, used or expired.
	UseSignIn(ctx context.Context, h TokenHash, at value.Instant) (SignIn, error)
	// PersonByEmail and Person find people. An address is the same in big and in
	// small letters. Error: [ErrNotFound].
	PersonByEmail(ctx context.Context, e access.Email) (Person, error)
	Person(ctx context.Context, id access.MemberID) (Person, error)
	// PutPerson keeps a person by id. Error: [ErrTaken] for another's address.
	PutPerson(ctx context.Context, p Person) error
	// MembershipsOf returns the workspaces of a person.
	MembershipsOf(ctx context.Context, id access.MemberID) ([]Member, error)
	// Expire removes sessions and links that ended before a time.
	Expire(ctx context.Context, before value.Instant) error
	// Meta keeps small values of the whole installation, such as the fingerprint of
	// the secret; it is empty for one that was never set. SetMeta sets one only if it
	// is absent and returns what holds then.
	Meta(ctx context.Context, name string) (string, error)
	SetMeta(ctx context.Context, name, value string) (string, error)
}
