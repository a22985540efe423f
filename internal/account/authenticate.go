package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

// Credential is what a request came with. Surfaces take it out of x-api-key,
// Authorization or a cookie.
type Credential struct {
	Text string
	// Cookie says that it came in a cookie, which a browser sends by itself. Only
	// the session of a page is taken from there, and from nowhere else.
	Cookie bool
	// Address is where the request came from, without a port: what wrong
	// credentials are counted by.
	Address string
}

// Authenticate finds out who asks. Errors have a code of package access:
// unauthenticated for whatever is wrong with the credential, rate_limited after too
// many wrong ones, and forbidden for a key that attests to itself in a workspace that
// is not for development; else the store did not answer ([store.UnavailableError]).
func (s *Service) Authenticate(ctx context.Context, c Credential, via access.Surface) (access.Principal, error) {
	if IsSession(c.Text) {
		return s.fromSession(ctx, c, via)
	}
	if c.Cookie {
		return access.Principal{}, s.wrong(c, &UnknownError{What: "session"})
	}
	return s.fromKey(ctx, c, via)
}

// wrong counts a wrong credential and says what is to be answered. It comes after the
// look-up and never before it: nobody guesses what was drawn from 2^256, and whoever
// holds up the right ones for the wrong ones of others locks out an office for one
// misspelt setting. What could be guessed, a password, is held up before it is
// compared.
func (s *Service) wrong(c Credential, err error) error {
	at := s.clock()
	if held := s.addresses.Check(c.Address, at); held != nil {
		return held
	}
	s.addresses.Failed(c.Address, at)
	return err
}

func (s *Service) fromKey(ctx context.Context, c Credential, via access.Surface) (access.Principal, error) {
	secret, err := access.ParseKey(c.Text)
	if err != nil {
		return access.Principal{}, s.wrong(c, err)
	}
	prefix := secret.Prefix()
	entry, err := s.keys.get(ctx, prefix)
	if missing(err) {
		return access.Principal{}, s.wrong(c, &access.UnknownKeyError{})
	}
	if err != nil {
		return access.Principal{}, fmt.Errorf("authenticate: %w", err)
	}
	p, err := access.FromKey(secret, entry.key, entry.workspace.Workspace, via, s.clock())
	if errors.As(err, new(*access.UnknownKeyError)) {
		// Somebody has the prefix, which is no secret, and guesses the rest.
		at := s.clock()
		if held := s.prefixes.Check(string(prefix), at); held != nil {
			return access.Principal{}, held
		}
		s.prefixes.Failed(string(prefix), at)
		return access.Principal{}, s.wrong(c, err)
	}
	return p, err
}

func (s *Service) fromSession(ctx context.Context, c Credential, via access.Surface) (access.Principal, error) {
	session, membership, workspace, err := s.session(ctx, c)
	if err != nil {
		return access.Principal{}, err
	}
	return access.FromSession(session, membership, workspace.Workspace, via, s.clock())
}

// session finds the session of a credential, and makes sure that it came as its kind
// does: whoever steals the token of a page from a log cannot use it as a bearer.
func (s *Service) session(ctx context.Context, c Credential) (access.Session, access.Membership, store.Workspace, error) {
	fail := func(err error) (access.Session, access.Membership, store.Workspace, error) {
		return access.Session{}, access.Membership{}, store.Workspace{}, err
	}
	unknown := &UnknownError{What: "session"}
	if !formed(c.Text, sessionMark) {
		return fail(s.wrong(c, unknown))
	}
	session, membership, workspace, err := s.store.Directory().SessionByHash(ctx, hashOf(c.Text))
	if missing(err) {
		return fail(s.wrong(c, unknown))
	}
	if err != nil {
		return fail(fmt.Errorf("authenticate: %w", err))
	}
	if c.Cookie != (session.Kind == access.Cookie) {
		return fail(s.wrong(c, unknown))
	}
	return session, membership, workspace, nil
}
