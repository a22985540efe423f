package access_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

// However a credential came to be, what is made of it keeps the rules. The
// records are drawn as a store might hold them, also such as no order allows.
func TestNoConstructorMakesAPrincipalThatBreaksARule(t *testing.T) {
	t.Parallel()
	plain, secret := mint(t, access.ScopesOf(access.ActionsRead))
	made := map[access.Kind]int{}
	attempt := func(t *rapid.T) {
		w := access.Workspace{ID: home, Development: rapid.Bool().Draw(t, "development"), SecondMember: rapid.Bool().Draw(t, "second member")}
		via := access.Surface(rapid.Uint8Range(0, 4).Draw(t, "surface"))
		kind := access.Kind(rapid.Uint8Range(0, 6).Draw(t, "kind"))
		scopes := drawScopes(t, "granted")
		role := access.Role(rapid.Uint8Range(0, 5).Draw(t, "role"))
		workspace := rapid.SampledFrom([]access.WorkspaceID{home, home, home, other, ""}).Draw(t, "workspace")
		at := noon.Add(time.Duration(rapid.Int64Range(-7200, 7200).Draw(t, "seconds")) * time.Second)
		revoked := rapid.SampledFrom([]value.Instant{0, 0, 0, noon}).Draw(t, "revoked")

		var p access.Principal
		var err error
		member := membership(role)
		switch kind {
		case access.APIKey:
			k := plain
			k.Scopes, k.Workspace, k.RevokedAt, k.Sources = scopes, workspace, revoked, []string{"stripe"}
			p, err = access.FromKey(secret, k, w, via, at)
		case access.OAuthToken:
			granted := token(scopes)
			granted.Workspace, granted.RevokedAt = workspace, revoked
			p, err = access.FromOAuth(granted, member, w, via, at)
		default:
			s := session(kind)
			s.Workspace, s.RevokedAt = workspace, revoked
			p, err = access.FromSession(s, member, w, via, at)
		}
		if err != nil {
			if access.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			if !p.Scopes().IsEmpty() || p.Workspace() != "" || p.Role() != 0 {
				t.Fatalf("an error and a principal: %v, %+v", err, p)
			}
			return
		}
		made[kind]++

		held := p.Scopes()
		facts, records := p.MayWriteFacts("stripe") == nil, held.Has(access.ActionsRecord)
		switch {
		case facts != held.Has(access.FactsWrite):
			t.Fatal("the scope and what it allows differ")
		case facts && (kind == access.OAuthToken || via == access.MCP):
			t.Fatal("a model may write facts")
		case facts && kind != access.APIKey:
			t.Fatal("something other than a key may write facts")
		case facts && records && (!w.Development || !p.SelfAttested()):
			t.Fatal("declares and proves, and nobody is told")
		case kind == access.APIKey && scopes.Has(access.FactsWrite) && scopes.Has(access.ActionsRecord) && !p.SelfAttested():
			t.Fatal("could prove over REST what it declares here, and nobody is told")
		case p.Workspace() != home || workspace != home:
			t.Fatal("it is in another workspace than its credential")
		case held.And(role.Scopes()) != held && kind != access.APIKey:
			t.Fatal("it holds what its role may not")
		case held.And(scopes) != held && (kind == access.APIKey || kind == access.OAuthToken):
			t.Fatal("it holds what was not granted")
		case kind == access.APIKey && p.Role() > access.Analyst:
			t.Fatal("a key acts above analyst")
		case p.ModelFacing() != (kind == access.OAuthToken || via == access.MCP):
			t.Fatal("whether a model is behind it is told wrongly")
		case kind == access.Cookie && via == access.MCP, kind == access.Terminal && via == access.MCP:
			t.Fatal("a person's session is taken where models are")
		}
		for perm := access.GrantClient; perm <= access.TransferWorkspace; perm++ {
			if p.ModelFacing() && p.May(perm, at) == nil {
				t.Fatalf("a model may %s", perm)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		for range 40 {
			attempt(t)
		}
	})
	for _, kind := range []access.Kind{access.APIKey, access.OAuthToken, access.Cookie, access.PageToken, access.Terminal} {
		if made[kind] == 0 {
			t.Errorf("no principal was made of a %s, so that nothing was looked at", kind)
		}
	}
}

func TestNobodyMayNothing(t *testing.T) {
	t.Parallel()
	var nobody access.Principal
	for _, s := range access.AllScopes().List() {
		wantCode(t, s.String(), nobody.Require(s), access.InsufficientScope)
	}
	wantCode(t, "declare", nobody.MayRecord(access.Target{}), access.InsufficientScope)
	wantCode(t, "write facts", nobody.MayWriteFacts(""), access.InsufficientScope)
}

// A principal lives as long as a request; what its key's record becomes
// meanwhile must not reach into it.
func TestAPrincipalDoesNotChangeWithTheRecordItWasMadeFrom(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.ScopesOf(access.FactsWrite), func(o *access.KeyOrder) {
		o.Sources = []string{"stripe"}
		o.Limits.Agents = []string{"bot"}
	})
	p, err := access.FromKey(secret, key, production, access.REST, noon)
	if err != nil {
		t.Fatal(err)
	}
	key.Sources[0], key.Limits.Agents[0] = "zendesk", "mallory"
	p.Limits().Agents[0] = "mallory"
	if p.MayWriteFacts("stripe") != nil || p.MayWriteFacts("zendesk") == nil || p.Limits().Agents[0] != "bot" {
		t.Error("it changed")
	}
}
