package api

import (
	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

// String says what is needed, as docs/api.md writes it.
func (n need) String() string {
	switch {
	case !n.credential:
		return "nothing"
	case n.scope != 0:
		text := "`" + n.scope.String() + "`"
		if n.also != 0 {
			text += ", `" + n.also.String() + "`"
		}
		return text
	case n.member:
		return "member"
	case n.permission == 0:
		return "any"
	}
	role, again := leastRole(n.permission)
	text := role.String()
	if again && !n.listing {
		text += ", confirmed"
	}
	if n.proposal {
		text += ", or a key for drafts"
	}
	return text
}

// leastRole finds out which role a permission takes, and whether it takes a fresh
// proof of presence, by trying: so that what is said of it is what holds.
func leastRole(perm access.Permission) (access.Role, bool) {
	const at = value.Second
	w := access.Workspace{ID: "w"}
	for role := access.Viewer; role <= access.Owner; role++ {
		session := access.Session{Kind: access.Terminal, Workspace: w.ID, Member: "m", ExpiresAt: 2 * at}
		place := access.Membership{Workspace: w.ID, Member: "m", Email: "m@example.com", Role: role}
		p, err := access.FromSession(session, place, w, access.REST, at)
		if err != nil {
			continue
		}
		switch err := p.May(perm, at); {
		case err == nil:
			return role, false
		case access.CodeOf(err) == access.ConfirmationRequired:
			return role, true
		}
	}
	return 0, false
}
