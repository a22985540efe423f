package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

// standing is a member's session that works now.
type standing struct {
	session    access.Session
	membership access.Membership
}

func (n standing) actor() access.Actor { return access.Actor(n.membership.Email) }

// standing finds the session of a credential and says whether it works. A page token
// is no session that anything could be built on.
func (s *Service) standing(ctx context.Context, c Credential) (standing, error) {
	session, membership, workspace, err := s.session(ctx, c)
	if err != nil {
		return standing{}, err
	}
	via := access.REST
	if session.Kind == access.Cookie {
		via = access.Page
	}
	if _, err := access.FromSession(session, membership, workspace.Workspace, via, s.clock()); err != nil {
		return standing{}, err
	}
	return standing{session: session, membership: membership}, nil
}

// Confirm proves that a signed-in member is there, by the password. It opens what
// wants a proof of presence for [access.ConfirmedFor]. Errors: [UnknownError],
// [access.ThrottleError], those of [access.FromSession].
func (s *Service) Confirm(ctx context.Context, c Credential, password string) error {
	n, err := s.standing(ctx, c)
	if err != nil {
		return err
	}
	if _, err := s.provePassword(ctx, n.membership.Email, password, c.Address); err != nil {
		return err
	}
	return s.confirmed(ctx, n)
}

// ConfirmLink is [Service.Confirm] by a sign-in link of the same member and
// workspace, for members without a password. The link is used up.
func (s *Service) ConfirmLink(ctx context.Context, c Credential, link string) error {
	n, err := s.standing(ctx, c)
	if err != nil {
		return err
	}
	unknown := &UnknownError{What: "sign-in link"}
	if !formed(link, linkMark) {
		return s.wrong(c, unknown)
	}
	used, err := s.store.Directory().UseSignIn(ctx, hashOf(link), s.clock())
	if missing(err) || err == nil && (used.Member != n.session.Member || used.Workspace != n.session.Workspace) {
		return s.wrong(c, unknown)
	}
	if err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	return s.confirmed(ctx, n)
}

func (s *Service) confirmed(ctx context.Context, n standing) error {
	if err := s.store.Directory().ConfirmSession(ctx, n.session.ID, s.clock()); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	err := s.store.Do(ctx, n.session.Workspace, func(tx store.Tx) error {
		told(tx, n.actor(), "member.confirmed", string(n.session.Member), nil)
		return nil
	})
	if err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	return nil
}

// SignOut ends a session. One that is over already is no error.
func (s *Service) SignOut(ctx context.Context, c Credential) error {
	session, membership, _, err := s.session(ctx, c)
	if errors.As(err, new(*UnknownError)) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.store.Directory().EndSession(ctx, session.ID, s.clock()); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	if membership.Email == "" {
		return nil // who has left has no name here any more
	}
	err = s.store.Do(ctx, session.Workspace, func(tx store.Tx) error {
		told(tx, access.Actor(membership.Email), "member.signed_out", string(session.Member), nil)
		return nil
	})
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// PageToken gives a signed-in page a token for the MCP surface. It lives ten minutes,
// and no longer than the session; it can declare and read, and confirm nothing.
func (s *Service) PageToken(ctx context.Context, c Credential) (*SignedIn, error) {
	n, err := s.standing(ctx, c)
	if err != nil {
		return nil, err
	}
	if n.session.Kind != access.Cookie {
		return nil, &access.SurfaceError{Kind: n.session.Kind, Via: access.Page}
	}
	at := s.clock()
	signed, err := s.keep(ctx, access.Session{
		Kind: access.PageToken, Workspace: n.session.Workspace, Member: n.session.Member,
		IssuedAt: at, ExpiresAt: min(at.Add(pageTokenLife), n.session.ExpiresAt),
	})
	if err != nil {
		return nil, fmt.Errorf("make a page token: %w", err)
	}
	signed.Member = n.membership
	err = s.store.Do(ctx, n.session.Workspace, func(tx store.Tx) error {
		told(tx, n.actor(), "session.token_made", string(n.session.Member), nil)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("make a page token: %w", err)
	}
	return signed, nil
}

// PresenceError says that the member has to prove to be there before a password is set.
type PresenceError struct{}

func (e *PresenceError) Error() string {
	return "to set a password, confirm again, by the old one or a sign-in link"
}

// Code is [access.ConfirmationRequired].
func (e *PresenceError) Code() access.Code { return access.ConfirmationRequired }

// SetPassword gives the signed-in member a password, or another one, and ends all
// their sessions but a new one that it returns.
//
// The old password is wanted where there is one and the member is in other
// workspaces too: whoever invites somebody, or makes a link for them, holds a way in
// to one workspace, and must not get into others by it. Without it, it takes a proof
// of presence. Errors: [RequestError], [UnknownError], [PresenceError].
func (s *Service) SetPassword(ctx context.Context, c Credential, old, password string) (*SignedIn, error) {
	n, err := s.standing(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := checkPassword(password, string(n.membership.Email)); err != nil {
		return nil, err
	}
	places, err := s.store.Directory().MembershipsOf(ctx, n.session.Member)
	if err != nil {
		return nil, fmt.Errorf("set a password: %w", err)
	}
	switch {
	case old != "":
		if _, err := s.provePassword(ctx, n.membership.Email, old, c.Address); err != nil {
			return nil, err
		}
	case len(places) > 1:
		return nil, &RequestError{Field: "current", Problem: "is wanted of who is in several workspaces"}
	case s.clock().Sub(n.session.ConfirmedAt) > access.ConfirmedFor || s.clock() < n.session.ConfirmedAt:
		return nil, &PresenceError{}
	}
	person, err := s.store.Directory().Person(ctx, n.session.Member)
	if err != nil {
		return nil, fmt.Errorf("set a password: %w", err)
	}
	if person.PasswordHash, err = s.hasher.hash(ctx, password); err != nil {
		return nil, fmt.Errorf("set a password: %w", err)
	}
	if err := s.store.Directory().PutPerson(ctx, person); err != nil {
		return nil, fmt.Errorf("set a password: %w", err)
	}
	for _, m := range places {
		err := s.store.Do(ctx, m.Workspace, func(tx store.Tx) error {
			tx.EndSessions(m.Member, tx.Now())
			told(tx, access.Actor(m.Email), "member.password_set", string(m.Member), nil)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("end the sessions of before: %w", err)
		}
	}
	return s.open(ctx, n.membership, n.session.Kind, "password")
}
