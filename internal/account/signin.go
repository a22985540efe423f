package account

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
)

// How long what lets people in lasts.
const (
	linkLife      = 72 * time.Hour
	cookieLife    = 7 * 24 * time.Hour
	terminalLife  = 24 * time.Hour
	pageTokenLife = 10 * time.Minute
)

// LinkLife is how long a sign-in link works.
const LinkLife = linkLife

// SignedIn is a new session. The token is to be handed to whoever signed in, and then
// forgotten.
type SignedIn struct {
	Token     Token
	Session   access.Session
	Workspace store.Workspace
	Member    access.Membership
}

// SignIn lets a person in by a link, which works once. The kind is [access.Cookie]
// or [access.Terminal]. Errors: [UnknownError], [access.ThrottleError].
func (s *Service) SignIn(ctx context.Context, link string, kind access.Kind, address string) (*SignedIn, error) {
	at := s.clock()
	unknown := &UnknownError{What: "sign-in link"}
	if !formed(link, linkMark) {
		return nil, s.wrong(Credential{Address: address}, unknown)
	}
	used, err := s.store.Directory().UseSignIn(ctx, hashOf(link), at)
	if missing(err) {
		return nil, s.wrong(Credential{Address: address}, unknown)
	}
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	place, err := s.placeOf(ctx, used.Member, used.Workspace)
	if missing(err) {
		return nil, unknown // who was removed does not come back by an old link
	}
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	return s.open(ctx, place, kind, "link")
}

// ChoiceError says that a person is in several workspaces, and has to say which one
// it is to be.
type ChoiceError struct{ Workspaces []access.WorkspaceID }

func (e *ChoiceError) Error() string { return "say which workspace to sign in to" }

// Code is [access.InvalidRequest].
func (e *ChoiceError) Code() access.Code { return access.InvalidRequest }

// SignInPassword lets a person in by address and password; an empty workspace stands
// for the only one that the person is in. Errors: [UnknownError], [ChoiceError],
// [access.ThrottleError].
func (s *Service) SignInPassword(ctx context.Context, email access.Email, password string, w access.WorkspaceID, kind access.Kind, address string) (*SignedIn, error) {
	person, err := s.provePassword(ctx, email, password, address)
	if err != nil {
		return nil, err
	}
	places, err := s.store.Directory().MembershipsOf(ctx, person.ID)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	if w == "" && len(places) > 1 {
		choice := &ChoiceError{}
		for _, m := range places {
			choice.Workspaces = append(choice.Workspaces, m.Workspace)
		}
		return nil, choice
	}
	for _, m := range places {
		if w == "" || m.Workspace == w {
			return s.open(ctx, m.Membership, kind, "password")
		}
	}
	return nil, &UnknownError{What: "password for this address"}
}

// provePassword finds the person of an address and a password. Who is not there costs
// as much time as who is. Attempts count before they are compared: many at once must
// not all pass before the first has failed. They count by email and address, by the
// address alone, which stops those who try one password with many emails, and by the
// email alone at a rate that nobody reaches who mistypes: it stops those who guess
// from many addresses. Wrong keys do not count here. Who is locked out so has links.
func (s *Service) provePassword(ctx context.Context, email access.Email, password, address string) (store.Person, error) {
	at := s.clock()
	who := strings.ToLower(string(email)) // as a store compares addresses
	for _, held := range []error{s.passwords.Take(who+"\x00"+address, at), s.places.Take(address, at), s.emails.Take(who, at)} {
		if held != nil {
			return store.Person{}, held
		}
	}
	if len(password) > maxPasswordBytes {
		password = "" // nobody has one so long, and it is not worth hashing
	}
	person, err := s.store.Directory().PersonByEmail(ctx, email)
	if err != nil && !missing(err) {
		return store.Person{}, fmt.Errorf("sign in: %w", err)
	}
	matches, err := s.hasher.matches(ctx, person.PasswordHash, password)
	if err != nil {
		return store.Person{}, fmt.Errorf("sign in: %w", err)
	}
	if !matches {
		return store.Person{}, &UnknownError{What: "password for this address"}
	}
	return person, nil
}

// placeOf is a person's place in a workspace. Error: [store.ErrNotFound].
func (s *Service) placeOf(ctx context.Context, member access.MemberID, w access.WorkspaceID) (access.Membership, error) {
	places, err := s.store.Directory().MembershipsOf(ctx, member)
	if err != nil {
		return access.Membership{}, err
	}
	for _, m := range places {
		if m.Workspace == w {
			return m.Membership, nil
		}
	}
	return access.Membership{}, store.ErrNotFound
}

// open makes a session for a member who has just proved to be there.
func (s *Service) open(ctx context.Context, m access.Membership, kind access.Kind, by string) (*SignedIn, error) {
	life := cookieLife
	switch kind {
	case access.Cookie:
	case access.Terminal:
		life = terminalLife
	default:
		return nil, fmt.Errorf("sign in: a %s is not for signing in", kind)
	}
	at := s.clock()
	session := access.Session{Kind: kind, Workspace: m.Workspace, Member: m.Member, IssuedAt: at, ExpiresAt: at.Add(life), ConfirmedAt: at}
	signed, err := s.keep(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	signed.Member = m
	err = s.store.Do(ctx, m.Workspace, func(tx store.Tx) error {
		w, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		signed.Workspace = *w
		told(tx, access.Actor(m.Email), "member.signed_in", string(m.Member), audit.Metadata{"by": by, "kind": kind.String()})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	return signed, nil
}

// keep gives a session its id and its token, and keeps it.
func (s *Service) keep(ctx context.Context, session access.Session) (*SignedIn, error) {
	id, err := s.newID("ses_")
	if err != nil {
		return nil, err
	}
	t, hash, err := s.newToken(sessionMark)
	if err != nil {
		return nil, err
	}
	session.ID = access.SessionID(id)
	if err := s.store.Directory().AddSession(ctx, session, hash); err != nil {
		return nil, err
	}
	return &SignedIn{Token: t, Session: session}, nil
}
