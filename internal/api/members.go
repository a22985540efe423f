package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Members are the people of a workspace; see [account.Service] for the errors.
type Members interface {
	Members(ctx context.Context, p access.Principal) ([]store.Member, error)
	Invite(ctx context.Context, p access.Principal, email, name string, role access.Role) (*account.Invited, error)
	MemberLink(ctx context.Context, p access.Principal, member access.MemberID) (account.Token, error)
	ChangeRole(ctx context.Context, p access.Principal, member access.MemberID, to access.Role) (*store.Member, error)
	Remove(ctx context.Context, p access.Principal, member access.MemberID) error
}

type memberList struct {
	Members []view.Member `json:"members"`
}

func listMembers(c *call) (reply, error) {
	found, err := c.services.Members.Members(c.ctx, c.principal)
	list := memberList{Members: make([]view.Member, 0, len(found))}
	for i := range found {
		list.Members = append(list.Members, view.MemberOf(&found[i]))
	}
	return answered(list, err)
}

type invitation struct {
	Email string      `json:"email"`
	Name  string      `json:"name,omitzero"`
	Role  access.Role `json:"role"`
}

type invited struct {
	Member view.Member `json:"member"`
	Link   signInLink  `json:"link" jsonschema:"it is to be given to the person"`
}

// signInLink lets somebody in, once.
type signInLink struct {
	Token     string        `json:"token" jsonschema:"shown once"`
	URL       string        `json:"url,omitzero" jsonschema:"the page to sign in, if the server knows its address"`
	ExpiresAt value.Instant `json:"expires_at"`
}

// linkOf puts the token behind a #, which no browser sends: it shows in no log.
func (c *call) linkOf(t account.Token) signInLink {
	return signInLink{
		Token: t.Reveal(), URL: c.options.Site.Page("/sign-in#" + url.PathEscape(t.Reveal())), ExpiresAt: c.at.Add(account.LinkLife),
	}
}

func inviteMember(c *call, in *invitation) (reply, error) {
	made, err := c.services.Members.Invite(c.ctx, c.principal, in.Email, in.Name, in.Role)
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, content: invited{view.MemberOf(&made.Member), c.linkOf(made.Link)}}, nil
}

type linkOnly struct {
	Link signInLink `json:"link"`
}

func linkMember(c *call) (reply, error) {
	t, err := c.services.Members.MemberLink(c.ctx, c.principal, access.MemberID(c.path("id")))
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, content: linkOnly{c.linkOf(t)}}, nil
}

type newRole struct {
	Role access.Role `json:"role"`
}

type memberOnly struct {
	Member view.Member `json:"member"`
}

func changeRole(c *call, in *newRole) (reply, error) {
	m, err := c.services.Members.ChangeRole(c.ctx, c.principal, access.MemberID(c.path("id")), in.Role)
	if err != nil {
		return reply{}, err
	}
	return answered(memberOnly{view.MemberOf(m)}, nil)
}

func removeMember(c *call) (reply, error) {
	return reply{status: http.StatusNoContent}, c.services.Members.Remove(c.ctx, c.principal, access.MemberID(c.path("id")))
}
