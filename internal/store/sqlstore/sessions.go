package sqlstore

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var (
	addSession = directory("add_session", `
		INSERT INTO sessions (workspace_id, session_id, hash, kind, person_id, issued_at, expires_at, revoked_at, confirmed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`)
	endSession     = directory("end_session", `UPDATE sessions SET revoked_at = $2 WHERE session_id = $1 AND revoked_at = 0`)
	confirmSession = directory("confirm_session", `UPDATE sessions SET confirmed_at = $2 WHERE session_id = $1`)
	sessionByHash  = directory("session_by_hash", `
		SELECT s.session_id, s.kind, s.person_id, s.issued_at, s.expires_at, s.revoked_at, s.confirmed_at,
			COALESCE(m.role, ''), COALESCE(p.email, ''), `+workspaceColumns+`
		FROM sessions s JOIN workspaces w ON w.workspace_id = s.workspace_id
		LEFT JOIN memberships m ON m.workspace_id = s.workspace_id AND m.person_id = s.person_id
		LEFT JOIN people p ON p.person_id = m.person_id
		WHERE s.hash = $1`)
	expireSessions = directory("expire_sessions", `
		DELETE FROM sessions WHERE expires_at < $1 OR (revoked_at > 0 AND revoked_at < $1)`)

	// Of two that use one link up, the second waits for the first and then finds
	// nothing, or runs again and finds nothing.
	useLink = directory("use_link", `
		UPDATE sign_ins SET used_at = $2 WHERE hash = $1 AND used_at = 0 AND expires_at > $2
		RETURNING workspace_id, person_id, expires_at`)
	expireLinks = directory("expire_links", `
		DELETE FROM sign_ins WHERE expires_at < $1 OR (used_at > 0 AND used_at < $1)`)
)

// sessionKinds are the kinds of sessions as they are kept.
var sessionKinds = map[access.Kind]string{access.Cookie: "cookie", access.PageToken: "page_token", access.Terminal: "terminal"}

// AddSession implements [store.Directory].
func (c *catalogue) AddSession(ctx context.Context, s access.Session, h store.TokenHash) error {
	kind, known := sessionKinds[s.Kind]
	if !known {
		return fmt.Errorf("keep a session: a credential of the kind %s is none", s.Kind)
	}
	err := c.write(ctx, addSession, s.Workspace, s.ID, h[:], kind, s.Member, s.IssuedAt, s.ExpiresAt, s.RevokedAt, s.ConfirmedAt)
	if err != nil {
		return fmt.Errorf("keep a session: %w", err)
	}
	return nil
}

// EndSession implements [store.Directory].
func (c *catalogue) EndSession(ctx context.Context, id access.SessionID, at value.Instant) error {
	if err := c.write(ctx, endSession, id, at); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	return nil
}

// ConfirmSession implements [store.Directory].
func (c *catalogue) ConfirmSession(ctx context.Context, id access.SessionID, at value.Instant) error {
	if err := c.write(ctx, confirmSession, id, at); err != nil {
		return fmt.Errorf("confirm a session: %w", err)
	}
	return nil
}

// standing is a session and where it is of use.
type standing struct {
	session    access.Session
	membership access.Membership
	workspace  store.Workspace
}

// SessionByHash implements [store.Directory].
func (c *catalogue) SessionByHash(ctx context.Context, h store.TokenHash) (access.Session, access.Membership, store.Workspace, error) {
	it, err := readOne(ctx, c, query{statement: sessionByHash, args: []any{h[:]}}, sessionRow)
	if err != nil {
		return access.Session{}, access.Membership{}, store.Workspace{}, fmt.Errorf("find a session: %w", err)
	}
	return it.session, it.membership, it.workspace, nil
}

// sessionRow reads the columns of session_by_hash.
func sessionRow(r Row) (standing, error) {
	var it standing
	s := &it.session
	s.ID = access.SessionID(r.Text())
	kind := r.Text()
	s.Member = access.MemberID(r.Text())
	s.IssuedAt, s.ExpiresAt, s.RevokedAt, s.ConfirmedAt = value.Instant(r.Int()), value.Instant(r.Int()), value.Instant(r.Int()), value.Instant(r.Int())
	role, email := r.Text(), access.Email(r.Text())
	var err error
	if it.workspace, err = workspaceRow(r); err != nil {
		return it, err
	}
	s.Workspace = it.workspace.ID
	for k, name := range sessionKinds {
		if name == kind {
			s.Kind = k
		}
	}
	if role == "" { // who has left
		return it, nil
	}
	it.membership = access.Membership{Workspace: s.Workspace, Member: s.Member, Email: email}
	it.membership.Role, err = access.ParseRole(role)
	return it, err
}

// UseSignIn implements [store.Directory].
func (c *catalogue) UseSignIn(ctx context.Context, h store.TokenHash, at value.Instant) (store.SignIn, error) {
	var used store.SignIn
	err := c.run(ctx, false, func(u *unit) error {
		used = store.SignIn{}
		u.finally(&query{statement: useLink, args: []any{h[:], at}, row: func(r Row) error {
			used = store.SignIn{Hash: h, Workspace: access.WorkspaceID(r.Text()), Member: access.MemberID(r.Text()), ExpiresAt: value.Instant(r.Int()), UsedAt: at}
			return nil
		}})
		return nil
	})
	if err == nil && used.Workspace == "" {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.SignIn{}, fmt.Errorf("use a sign-in link: %w", err)
	}
	return used, nil
}

// Expire implements [store.Directory].
func (c *catalogue) Expire(ctx context.Context, before value.Instant) error {
	err := c.run(ctx, false, func(u *unit) error {
		u.queue(expireSessions, before)
		u.queue(expireLinks, before)
		return nil
	})
	if err != nil {
		return fmt.Errorf("remove what has expired: %w", err)
	}
	return nil
}
