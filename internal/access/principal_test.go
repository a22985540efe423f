package access_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// Who holds which scope, by what was granted and where it arrives: + held, . not.
// In development, because only there a full key exists.
const scopeTable = `
granted     arrives  read record facts contracts validate draft reconcile connectors usage
recorder    REST      +     +      .       .        .      .       .         .         .
recorder    MCP       +     +      .       .        .      .       .         .         .
evidence    REST      +     .      +       .        .      .       .         +         .
evidence    MCP       +     .      .       .        .      .       .         +         .
reader      REST      +     .      .       +        +      +       +         +         +
reader      MCP       +     .      .       +        +      +       +         +         +
full        REST      +     +      +       +        +      +       +         +         +
full        MCP       +     +      .       +        +      +       +         +         +
viewer      page      +     .      .       +        .      .       +         +         +
analyst     page      +     +      .       +        +      +       +         +         +
admin       page      +     +      .       +        +      +       +         +         +
owner       page      +     +      .       +        +      +       +         +         +
owner       REST      +     +      .       +        +      +       +         +         +
owner       MCP       +     +      .       +        +      +       +         +         +
client-of-viewer   MCP    +  .  .  +  .  .  +  +  +
client-of-viewer   REST   +  .  .  +  .  .  +  +  +
client-of-analyst  MCP    +  +  .  +  +  +  +  +  +
client-of-owner    MCP    +  +  .  +  +  +  +  +  +
client-of-owner    REST   +  +  .  +  +  +  +  +  +
`

func TestWhoHoldsWhichScopeWhere(t *testing.T) {
	t.Parallel()
	surfaces := map[string]access.Surface{"REST": access.REST, "MCP": access.MCP, "page": access.Page}
	for _, line := range strings.Split(strings.TrimSpace(scopeTable), "\n")[1:] {
		cells := strings.Fields(line)
		p := granted(t, cells[0], surfaces[cells[1]])
		for i, s := range access.AllScopes().List() {
			want := cells[2+i] == "+"
			if got := p.Require(s) == nil; got != want {
				t.Errorf("%s on %s, %s: %t, want %t", cells[0], cells[1], s, got, want)
			}
		}
	}
}

func granted(t *testing.T, name string, via access.Surface) access.Principal {
	t.Helper()
	if scopes, err := access.Preset(name).Scopes(); err == nil {
		return fromKey(t, scopes, development, via)
	}
	roleName, isClient := strings.CutPrefix(name, "client-of-")
	role, err := access.ParseRole(roleName)
	if err != nil {
		t.Fatal(err)
	}
	if isClient {
		return fromOAuth(t, access.AllScopes(), role, via)
	}
	kind := map[access.Surface]access.Kind{access.Page: access.Cookie, access.REST: access.Terminal, access.MCP: access.PageToken}[via]
	return fromSession(t, kind, role, development, via)
}

func TestEachKindOfCredentialIsTakenOnItsSurfacesOnly(t *testing.T) {
	t.Parallel()
	taken := map[access.Kind][]access.Surface{
		access.APIKey: {access.REST, access.MCP}, access.OAuthToken: {access.REST, access.MCP},
		access.Cookie: {access.REST, access.Page}, access.PageToken: {access.MCP}, access.Terminal: {access.REST},
	}
	key, secret := mint(t, access.ScopesOf(access.ActionsRead))
	for kind := access.Kind(0); kind <= access.Terminal+1; kind++ {
		for via := access.Surface(0); via <= access.Page+1; via++ {
			var err error
			switch kind {
			case access.APIKey:
				_, err = access.FromKey(secret, key, production, via, noon)
			case access.OAuthToken:
				_, err = access.FromOAuth(token(access.AllScopes()), membership(access.Owner), production, via, noon)
			default:
				_, err = access.FromSession(session(kind), membership(access.Owner), production, via, noon)
			}
			_, refused := errors.AsType[*access.SurfaceError](err)
			if want := slices.Contains(taken[kind], via); (err == nil) != want || refused == want {
				t.Errorf("%s on %s: %v", kind, via, err)
			}
		}
	}
	for _, kind := range []access.Kind{access.APIKey, access.OAuthToken} {
		if _, err := access.FromSession(session(kind), membership(access.Owner), production, access.REST, noon); err == nil {
			t.Errorf("a session of the kind %s was taken", kind)
		}
	}
}

func TestAKeyActsAsAnalystIfItWritesAndAsViewerOtherwise(t *testing.T) {
	t.Parallel()
	for preset, want := range map[access.Preset]access.Role{
		access.RecorderPreset: access.Analyst, access.EvidencePreset: access.Analyst,
		access.FullPreset: access.Analyst, access.ReaderPreset: access.Viewer,
	} {
		scopes, _ := preset.Scopes()
		if got := fromKey(t, scopes, development, access.REST).Role(); got != want {
			t.Errorf("%s acts as %s, want %s", preset, got, want)
		}
	}
}

func TestAKeyThatCouldProveWhatItDeclaresWorksInDevelopmentOnlyAndSaysSo(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.AllScopes())
	for _, via := range []access.Surface{access.REST, access.MCP} {
		p, err := access.FromKey(secret, key, development, via, noon)
		if err != nil || !p.SelfAttested() {
			t.Errorf("%s in development: %t, %v", via, p.SelfAttested(), err)
		}
		_, err = access.FromKey(secret, key, production, via, noon)
		wantCode(t, "in production", err, access.Forbidden)
	}
	if fromKey(t, access.ScopesOf(access.ActionsRecord), development, access.REST).SelfAttested() {
		t.Error("a recorder key is said to attest to itself")
	}
	if fromSession(t, access.Cookie, access.Owner, development, access.Page).SelfAttested() {
		t.Error("a person is said to attest to itself")
	}
}

func TestAnEvidenceKeyWritesTheFactsOfItsSourcesOnly(t *testing.T) {
	t.Parallel()
	scopes, _ := access.EvidencePreset.Scopes()
	p := fromKey(t, scopes, production, access.REST, func(o *access.KeyOrder) { o.Sources = []string{"stripe", "zendesk"} })
	for source, want := range map[string]bool{"stripe": true, "zendesk": true, "shopify": false, "": false, "Stripe": false} {
		err := p.MayWriteFacts(source)
		if _, refused := errors.AsType[*access.SourceError](err); (err == nil) != want || refused == want {
			t.Errorf("%q: %v", source, err)
		}
	}
	wantCode(t, "a recorder", fromKey(t, access.ScopesOf(access.ActionsRecord), production, access.REST).MayWriteFacts("stripe"), access.InsufficientScope)
	wantCode(t, "over MCP", fromKey(t, scopes, production, access.MCP).MayWriteFacts("stripe"), access.InsufficientScope)
}

func TestAKeyDeclaresAndSeesWithinItsLimits(t *testing.T) {
	t.Parallel()
	within := access.Target{ContractID: "refunds", ActionType: "refund_order", AgentID: "support-bot"}
	all := access.ScopesOf(access.ActionsRecord, access.ActionsRead, access.ContractsRead)
	limited := fromKey(t, all, production, access.REST, func(o *access.KeyOrder) {
		o.Limits = access.Limits{Contracts: []string{"refunds", "returns"}, ActionTypes: []string{"refund_order"}, Agents: []string{"support-bot"}}
	})
	for name, c := range map[string]struct {
		change func(*access.Target)
		field  string
	}{
		"within":            {func(*access.Target) {}, ""},
		"another contract":  {func(t *access.Target) { t.ContractID = "payouts" }, "contract_id"},
		"no contract":       {func(t *access.Target) { t.ContractID = "" }, "contract_id"},
		"another type":      {func(t *access.Target) { t.ActionType = "pay" }, "action_type"},
		"another agent":     {func(t *access.Target) { t.AgentID = "sales-bot" }, "agent_id"},
		"an unnamed agent":  {func(t *access.Target) { t.AgentID = "" }, "agent_id"},
		"the other allowed": {func(t *access.Target) { t.ContractID = "returns" }, ""},
	} {
		target := within
		c.change(&target)
		for act, err := range map[string]error{"declare": limited.MayRecord(target), "see": limited.MaySeeAction(target)} {
			limit, refused := errors.AsType[*access.LimitError](err)
			if (err == nil) != (c.field == "") || refused && limit.Field != c.field {
				t.Errorf("%s, %s: %v", act, name, err)
			}
		}
	}
	if err := limited.MayUseContract(access.ContractsRead, "returns"); err != nil {
		t.Error(err)
	}
	wantCode(t, "another contract's text", limited.MayUseContract(access.ContractsRead, "payouts"), access.Forbidden)
	wantCode(t, "a scope that is missing", limited.MayUseContract(access.ContractsDraft, "returns"), access.InsufficientScope)
	if err := fromKey(t, all, production, access.REST).MayRecord(access.Target{}); err != nil {
		t.Errorf("a key without limits: %v", err)
	}
}

func TestOnlyATokenWhoseMemberMayGrantTheScopeIsToldToStepUp(t *testing.T) {
	t.Parallel()
	reading := access.ScopesOf(access.ActionsRead)
	for name, c := range map[string]struct {
		principal access.Principal
		scope     access.Scope
		want      bool
	}{
		"an analyst's client":     {fromOAuth(t, reading, access.Analyst, access.MCP), access.ActionsRecord, true},
		"a viewer's client":       {fromOAuth(t, reading, access.Viewer, access.MCP), access.ActionsRecord, false},
		"an owner's, for facts":   {fromOAuth(t, reading, access.Owner, access.MCP), access.FactsWrite, false},
		"a key":                   {fromKey(t, reading, production, access.MCP), access.ActionsRecord, false},
		"a key that writes":       {fromKey(t, access.ScopesOf(access.ActionsRecord), production, access.REST), access.ContractsRead, false},
		"a session":               {fromSession(t, access.PageToken, access.Viewer, production, access.MCP), access.ActionsRecord, false},
		"nobody":                  {access.Principal{}, access.ActionsRead, false},
		"a scope that there isnt": {fromOAuth(t, reading, access.Owner, access.MCP), access.Scope(99), false},
	} {
		missing, ok := errors.AsType[*access.ScopeError](c.principal.Require(c.scope))
		if !ok || missing.Required != c.scope || missing.StepUp != c.want {
			t.Errorf("%s: %+v", name, missing)
		}
	}
}

func TestACredentialWorksUntilTheMomentItExpires(t *testing.T) {
	t.Parallel()
	expiring, secret := mint(t, access.ScopesOf(access.ActionsRead), func(o *access.KeyOrder) { o.ExpiresAt = noon.Add(time.Hour) })
	makers := map[string]func(after time.Duration) error{
		"key": func(after time.Duration) error {
			_, err := access.FromKey(secret, expiring, production, access.REST, noon.Add(after))
			return err
		},
		"token": func(after time.Duration) error {
			_, err := access.FromOAuth(token(access.AllScopes()), membership(access.Viewer), production, access.MCP, noon.Add(after))
			return err
		},
	}
	for name, at := range makers {
		if err := at(time.Hour - time.Microsecond); err != nil {
			t.Errorf("%s before: %v", name, err)
		}
		if _, expired := errors.AsType[*access.ExpiredError](at(time.Hour)); !expired {
			t.Errorf("%s at its expiry: %v", name, at(time.Hour))
		}
	}
	forever := token(access.AllScopes())
	forever.ExpiresAt = 0
	_, err := access.FromOAuth(forever, membership(access.Owner), production, access.MCP, noon)
	wantCode(t, "a token without expiry", err, access.Unauthenticated)
}

func TestAPageTokenLivesTenMinutesWhateverItSays(t *testing.T) {
	t.Parallel()
	long := session(access.PageToken) // says eight hours
	for after, want := range map[time.Duration]bool{0: true, 10*time.Minute - time.Microsecond: true, 10 * time.Minute: false} {
		_, err := access.FromSession(long, membership(access.Owner), production, access.MCP, noon.Add(after))
		if (err == nil) != want {
			t.Errorf("after %s: %v", after, err)
		}
	}
}

func TestWhatWasRevokedOrLeftOpensNothing(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.ScopesOf(access.ActionsRead))
	revokedKey, revokedSession, revokedToken := key, session(access.Cookie), token(access.AllScopes())
	revokedKey.RevokedAt, revokedSession.RevokedAt, revokedToken.RevokedAt = noon, noon, noon
	stranger := membership(access.Owner)
	stranger.Member = "m-bob"
	elsewhere := membership(access.Owner)
	elsewhere.Workspace = other
	for name, attempt := range map[string]func() (access.Principal, error){
		"a revoked key": func() (access.Principal, error) {
			return access.FromKey(secret, revokedKey, production, access.REST, noon)
		},
		"a revoked session": func() (access.Principal, error) {
			return access.FromSession(revokedSession, membership(access.Owner), production, access.Page, noon)
		},
		"a revoked token": func() (access.Principal, error) {
			return access.FromOAuth(revokedToken, membership(access.Owner), production, access.MCP, noon)
		},
		"a session of one who left": func() (access.Principal, error) {
			return access.FromSession(session(access.Cookie), access.Membership{}, production, access.Page, noon)
		},
		"a token of one who left": func() (access.Principal, error) {
			return access.FromOAuth(token(access.AllScopes()), access.Membership{}, production, access.MCP, noon)
		},
		"a session with another's membership": func() (access.Principal, error) {
			return access.FromSession(session(access.Cookie), stranger, production, access.Page, noon)
		},
		"a token with a membership elsewhere": func() (access.Principal, error) {
			return access.FromOAuth(token(access.AllScopes()), elsewhere, production, access.MCP, noon)
		},
		"a member without a role": func() (access.Principal, error) {
			return access.FromSession(session(access.Cookie), membership(0), production, access.Page, noon)
		},
		"a key in another workspace": func() (access.Principal, error) {
			return access.FromKey(secret, key, access.Workspace{ID: other}, access.REST, noon)
		},
		"a session in another workspace": func() (access.Principal, error) {
			return access.FromSession(session(access.Cookie), membership(access.Owner), access.Workspace{ID: other}, access.Page, noon)
		},
		"a token in another workspace": func() (access.Principal, error) {
			return access.FromOAuth(token(access.AllScopes()), membership(access.Owner), access.Workspace{ID: other}, access.MCP, noon)
		},
		"nothing of nowhere": func() (access.Principal, error) {
			return access.FromSession(access.Session{Kind: access.Cookie}, access.Membership{}, access.Workspace{}, access.Page, noon)
		},
	} {
		p, err := attempt()
		wantCode(t, name, err, access.Unauthenticated)
		if p.Workspace() != "" || !p.Scopes().IsEmpty() {
			t.Errorf("%s left a principal with %s in %q", name, p.Scopes(), p.Workspace())
		}
	}
}
