package access_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

func TestEveryRefusalSaysWhatAndHasACode(t *testing.T) {
	t.Parallel()
	hour := noon.Add(time.Hour)
	for _, c := range []struct {
		err  error
		code access.Code
		text string
	}{
		{&access.KeyFormError{Problem: "it is too long"}, "unauthenticated", "read an API key: it is too long"},
		{&access.UnknownKeyError{}, "unauthenticated", "there is no such API key"},
		{&access.ExpiredError{Kind: access.APIKey, At: noon}, "unauthenticated", "the API key expired at 2026-11-02T12:00:00Z"},
		{&access.ExpiredError{Kind: access.OAuthToken}, "unauthenticated", "the OAuth token has no expiry, and needs one"},
		{&access.RevokedError{Kind: access.Terminal, At: hour}, "unauthenticated", "the command line session was revoked at 2026-11-02T13:00:00Z"},
		{&access.MembershipError{Kind: access.Cookie}, "unauthenticated", "the member of the session cookie is not in the workspace"},
		{&access.WorkspaceError{Kind: access.APIKey}, "unauthenticated", "the API key is for another workspace"},
		{&access.SurfaceError{Kind: access.Cookie, Via: access.MCP}, "unauthenticated", "a credential of the kind session cookie is not accepted on the surface MCP"},
		{&access.SurfaceError{Kind: 9, Via: 9}, "unauthenticated", "a credential of the kind none is not accepted on the surface none"},
		{&access.SelfAttestError{}, "forbidden", "a key with actions:record and facts:write works only while the workspace is switched to development"},
		{&access.ScopeError{Required: access.FactsWrite}, "insufficient_scope", "the scope facts:write is required"},
		{&access.RoleError{Permission: access.ManageKeys, Required: access.Admin, Role: access.Viewer}, "forbidden", "to manage keys takes the role admin, not viewer"},
		{&access.MemberOnlyError{Permission: access.ActivateContract}, "forbidden", "only a signed-in member may activate contracts"},
		{&access.ConfirmError{Permission: access.DeleteWorkspace}, "confirmation_required", "to delete the workspace, confirm again"},
		{&access.SecondMemberError{}, "forbidden", "a weaker contract needs a second member behind it"},
		{&access.SourceError{Source: "str\nipe"}, "forbidden", `the key may not write facts of the source "str\nipe"`},
		{&access.LimitError{Field: "contract_id", Given: "payouts"}, "forbidden", `the key is limited to others than contract_id "payouts"`},
		{&access.ThrottleError{RetryAfter: 12 * time.Second}, "rate_limited", "too many attempts, try again in 12s"},
		{&access.OrderError{Field: "overlap", Problem: "is 0 to 30 days"}, "invalid_request", "make an API key: overlap is 0 to 30 days"},
	} {
		if c.err.Error() != c.text {
			t.Errorf("%T says %q, want %q", c.err, c.err, c.text)
		}
		if got := access.CodeOf(fmt.Errorf("answer a request: %w", c.err)); got != c.code {
			t.Errorf("%T has the code %q, want %q", c.err, got, c.code)
		}
	}
	if got := access.CodeOf(errors.New("another package's")); got != "" {
		t.Errorf("an error of another package has the code %q", got)
	}
}

func TestAPrincipalKnowsWhatItWasMadeFrom(t *testing.T) {
	t.Parallel()
	type origin struct {
		kind   access.Kind
		via    access.Surface
		key    access.KeyID
		member access.MemberID
		client access.ClientID
	}
	for what, c := range map[string]struct {
		principal access.Principal
		want      origin
	}{
		"a key":     {fromKey(t, access.ScopesOf(access.ActionsRead), production, access.MCP), origin{kind: access.APIKey, via: access.MCP, key: "k-1"}},
		"a client":  {fromOAuth(t, access.AllScopes(), access.Viewer, access.REST), origin{kind: access.OAuthToken, via: access.REST, member: "m-ada", client: "https://client.example/id"}},
		"a session": {fromSession(t, access.Cookie, access.Viewer, production, access.Page), origin{kind: access.Cookie, via: access.Page, member: "m-ada"}},
		"nobody":    {access.Principal{}, origin{}},
	} {
		p := c.principal
		if got := (origin{p.Kind(), p.Via(), p.Key(), p.Member(), p.Client()}); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}
