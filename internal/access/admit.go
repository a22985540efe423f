package access

import (
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// pageTokenLife is how long a session token of a page works at most, whatever it
// says of itself.
const pageTokenLife = 10 * time.Minute

// FromKey makes the principal of who presents an API key. The store has found k by
// the prefix of s; the comparison of their hashes is done here, so that no
// principal comes of a prefix alone.
//
// Its role is what the key acts as where roles decide: analyst if it may write,
// viewer otherwise. It does not cap the key's scopes.
func FromKey(s Secret, k Key, w Workspace, via Surface, at value.Instant) (Principal, error) {
	if k.Prefix != s.Prefix() || !k.Hash.Matches(s) {
		return Principal{}, &UnknownKeyError{}
	}
	if err := k.usable(w, at); err != nil {
		return Principal{}, err
	}
	return admit(Principal{
		kind: APIKey, via: via, workspace: k.Workspace, actor: keyActor(k.Prefix),
		key: k.ID, scopes: k.Scopes, sources: slices.Clone(k.Sources), limits: k.Limits.clone(),
		// What the key could do elsewhere counts: on the MCP surface it loses
		// facts:write, and its holder still has it over REST.
		selfAttested: k.Scopes.attestsToItself(),
	})
}

// FromSession makes the principal of a signed-in member. The session's secret or
// signature is checked before; m is the member's place in the session's workspace
// now, and the zero Membership if there is none any more.
func FromSession(s Session, m Membership, w Workspace, via Surface, at value.Instant) (Principal, error) {
	expires := s.ExpiresAt
	if s.Kind == PageToken {
		expires = min(expires, s.IssuedAt.Add(pageTokenLife))
	}
	if s.Kind != Cookie && s.Kind != PageToken && s.Kind != Terminal {
		return Principal{}, &SurfaceError{Kind: s.Kind, Via: via}
	}
	if err := memberUsable(s.Kind, s.Workspace, s.Member, m, w); err != nil {
		return Principal{}, err
	}
	if err := lifetime(s.Kind, s.RevokedAt, expires, at); err != nil {
		return Principal{}, err
	}
	return admit(Principal{
		kind: s.Kind, via: via, workspace: s.Workspace, actor: memberActor(m.Email),
		member: s.Member, role: m.Role, scopes: m.Role.Scopes(),
		confirmedAt: s.ConfirmedAt, secondMember: w.SecondMember,
	})
}

// FromOAuth makes the principal of a client that a member approved. That the
// token is known and meant for this server is checked before; m is the member's
// place in the token's workspace now. What was granted is cut to the member's role
// on every call, so that a role taken away takes effect at once.
func FromOAuth(t Token, m Membership, w Workspace, via Surface, at value.Instant) (Principal, error) {
	if err := memberUsable(OAuthToken, t.Workspace, t.Member, m, w); err != nil {
		return Principal{}, err
	}
	if err := lifetime(OAuthToken, t.RevokedAt, t.ExpiresAt, at); err != nil {
		return Principal{}, err
	}
	return admit(Principal{
		kind: OAuthToken, via: via, workspace: t.Workspace, actor: clientActor(m.Email, t.Client),
		member: t.Member, client: t.Client, role: m.Role, scopes: t.Scopes.And(m.Role.Grantable()),
	})
}

// admit is where every principal comes from, and where what must hold of all of
// them is made so.
func admit(p Principal) (Principal, error) {
	if !slices.Contains(accepted[p.kind], p.via) {
		return Principal{}, &SurfaceError{Kind: p.kind, Via: p.via}
	}
	p.modelFacing = modelFacing(p.kind, p.via)
	// A model never writes facts. A person's session does not either: a person who
	// can declare actions and is bound to no source would be the very credential
	// that no key may be.
	if p.modelFacing || p.kind != APIKey {
		p.scopes = p.scopes.Without(FactsWrite)
	}
	if !p.scopes.Has(FactsWrite) {
		p.sources = nil
	}
	if p.kind == APIKey {
		p.role = Viewer
		if p.scopes.writes() {
			p.role = Analyst
		}
	}
	return p, nil
}

// memberUsable says whether a credential, a membership and a workspace belong
// together.
func memberUsable(kind Kind, workspace WorkspaceID, member MemberID, m Membership, w Workspace) error {
	switch {
	case workspace != w.ID || w.ID == "":
		return &WorkspaceError{Kind: kind}
	case member == "" || m.Member != member || m.Workspace != workspace || !m.Role.known():
		return &MembershipError{Kind: kind}
	}
	return nil
}

// lifetime says whether a credential that must expire works now. At the moment of
// its expiry it no longer does.
func lifetime(kind Kind, revoked, expires, at value.Instant) error {
	switch {
	case revoked != 0 && revoked <= at:
		return &RevokedError{Kind: kind, At: revoked}
	case expires <= at:
		return &ExpiredError{Kind: kind, At: expires}
	}
	return nil
}
