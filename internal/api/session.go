package api

import (
	"context"
	"net/http"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Sessions are how people sign in; see [account.Service] for the errors.
type Sessions interface {
	SignIn(ctx context.Context, link string, kind access.Kind, address string) (*account.SignedIn, error)
	SignInPassword(ctx context.Context, email access.Email, password string, w access.WorkspaceID, kind access.Kind, address string) (*account.SignedIn, error)
	Confirm(ctx context.Context, c account.Credential, password string) error
	ConfirmLink(ctx context.Context, c account.Credential, link string) error
	SetPassword(ctx context.Context, c account.Credential, old, password string) (*account.SignedIn, error)
	SignOut(ctx context.Context, c account.Credential) error
}

// signIn is one of two ways to sign in.
type signIn struct {
	Link        string             `json:"link,omitzero" jsonschema:"the token of a sign-in link; or"`
	Email       string             `json:"email,omitzero" jsonschema:"with password"`
	Password    string             `json:"password,omitzero"`
	WorkspaceID access.WorkspaceID `json:"workspace_id,omitzero" jsonschema:"for members of several"`
}

type signedIn struct {
	Token   string       `json:"token" jsonschema:"shown once; send it as a bearer"`
	Session view.Session `json:"session"`
}

func postSession(c *call, in *signIn) (reply, error) {
	byLink := in.Link != ""
	if byLink == (in.Email != "" || in.Password != "" || in.WorkspaceID != "") {
		return reply{}, &RequestError{Field: "link", Message: "send link, or email and password"}
	}
	if byLink {
		signed, err := c.services.Sessions.SignIn(c.ctx, in.Link, access.Terminal, c.remote)
		return c.opened(signed, err)
	}
	email, err := access.ParseEmail(in.Email)
	if err != nil {
		return reply{}, &RequestError{Field: "email", Message: err.Error()}
	}
	signed, err := c.services.Sessions.SignInPassword(c.ctx, email, in.Password, in.WorkspaceID, access.Terminal, c.remote)
	return c.opened(signed, err)
}

// opened answers a new session, the only time that its token is shown.
func (c *call) opened(signed *account.SignedIn, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	w := &signed.Workspace
	p, err := access.FromSession(signed.Session, signed.Member, w.Workspace, access.REST, signed.Session.IssuedAt)
	if err != nil {
		return reply{}, err
	}
	s := view.SessionOf(&p, w)
	s.ExpiresAt, s.ConfirmedUntil = signed.Session.ExpiresAt, signed.Session.ConfirmedAt.Add(access.ConfirmedFor)
	return reply{status: http.StatusCreated, content: signedIn{signed.Token.Reveal(), s}}, nil
}

type sessionOnly struct {
	Session view.Session `json:"session"`
}

func getSession(c *call) (reply, error) {
	w, err := c.services.Workspaces.Workspace(c.ctx, c.principal)
	if err != nil {
		return reply{}, err
	}
	return answered(sessionOnly{view.SessionOf(&c.principal, w)}, nil)
}

func endSession(c *call) (reply, error) {
	return reply{status: http.StatusNoContent}, c.services.Sessions.SignOut(c.ctx, c.credential)
}

// proofOfPresence is one of two.
type proofOfPresence struct {
	Password string `json:"password,omitzero" jsonschema:"or"`
	Link     string `json:"link,omitzero" jsonschema:"the token of a new sign-in link of the same member"`
}

type confirmedUntil struct {
	ConfirmedUntil value.Instant `json:"confirmed_until" jsonschema:"until when what needs a proof of presence works"`
}

func confirmSession(c *call, in *proofOfPresence) (reply, error) {
	if (in.Password == "") == (in.Link == "") {
		return reply{}, &RequestError{Field: "password", Message: "send password or link"}
	}
	var err error
	if in.Link != "" {
		err = c.services.Sessions.ConfirmLink(c.ctx, c.credential, in.Link)
	} else {
		err = c.services.Sessions.Confirm(c.ctx, c.credential, in.Password)
	}
	return answered(confirmedUntil{c.at.Add(access.ConfirmedFor)}, err)
}

type newPassword struct {
	Password string `json:"password"`
	Current  string `json:"current,omitzero" jsonschema:"the one that holds, or a fresh proof of presence"`
}

func setPassword(c *call, in *newPassword) (reply, error) {
	signed, err := c.services.Sessions.SetPassword(c.ctx, c.credential, in.Current, in.Password)
	return c.opened(signed, err)
}
