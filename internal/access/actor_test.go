package access_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
)

func TestTheAuditNamesKeysClientsAndMembers(t *testing.T) {
	t.Parallel()
	key := fromKey(t, access.ScopesOf(access.ActionsRead), production, access.MCP)
	_, secret := mint(t, access.ScopesOf(access.ActionsRead))
	for what, c := range map[string]struct {
		principal access.Principal
		want      access.Actor
	}{
		"a key":     {key, access.Actor("apikey:" + secret.Reveal()[4:12])},
		"a client":  {fromOAuth(t, access.AllScopes(), access.Viewer, access.MCP), "ada@example.com via https://client.example/id"},
		"a member":  {fromSession(t, access.Cookie, access.Viewer, production, access.Page), "ada@example.com"},
		"her token": {fromSession(t, access.PageToken, access.Viewer, production, access.MCP), "ada@example.com"},
		"nobody":    {access.Principal{}, ""},
	} {
		if got := c.principal.Actor(); got != c.want {
			t.Errorf("%s is named %q, want %q", what, got, c.want)
		}
	}
	if got := fmt.Sprint(key); got != "apikey:"+secret.Reveal()[4:12] {
		t.Errorf("a principal is printed as %q", got)
	}
}

func TestNoAddressLooksLikeAnotherActor(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"ada@example.com", "a.b+c@sub.example.co", "jörg@bücher.example", "a@b", "o'neil@example.com"} {
		if got, err := access.ParseEmail(good); err != nil || string(got) != good {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "@", "a@", "@b", "a", "a@b@c", "apikey:4fT9xK2b", "a@b via c", "a@b\tvia", "a@b\n", `"a via b"@c`,
		"apikey:a@b", "a\u202e@b", "a\u200b@b", "a\xff@b", "<a@b>", strings.Repeat("a", 253) + "@b", "a@b\u00a0",
	} {
		if got, err := access.ParseEmail(bad); err == nil {
			t.Errorf("%q is an address", got)
		}
	}
	for _, bad := range []string{"", "a b", "a\x7f", "ä", "a\n", strings.Repeat("c", 2049)} {
		if got, err := access.ParseClientID(bad); err == nil {
			t.Errorf("%q is a client id", got)
		}
	}
	if got, err := access.ParseClientID("https://client.example/id?x=1"); err != nil || got != "https://client.example/id?x=1" {
		t.Errorf("%q, %v", got, err)
	}
}
