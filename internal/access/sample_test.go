package access_test

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

const (
	home  = access.WorkspaceID("w-home")
	other = access.WorkspaceID("w-other")
)

// noon is the time at which all samples are.
const noon = value.Instant(1_793_620_800_000_000)

var (
	production  = access.Workspace{ID: home}
	development = access.Workspace{ID: home, Development: true}
)

// dice are random and the same in each run.
func dice(seed byte) io.Reader { return rand.NewChaCha8([32]byte{seed}) }

func mint(t *testing.T, scopes access.Scopes, change ...func(*access.KeyOrder)) (access.Key, access.Secret) {
	t.Helper()
	order := access.KeyOrder{ID: "k-1", Name: "a key", Scopes: scopes}
	if scopes.Has(access.FactsWrite) {
		order.Sources = []string{"stripe"}
	}
	for _, c := range change {
		c(&order)
	}
	key, secret, err := access.MintKey(order, development, dice(1), noon)
	if err != nil {
		t.Fatal(err)
	}
	return key, secret
}

func fromKey(t *testing.T, scopes access.Scopes, w access.Workspace, via access.Surface, change ...func(*access.KeyOrder)) access.Principal {
	t.Helper()
	key, secret := mint(t, scopes, change...)
	p, err := access.FromKey(secret, key, w, via, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func membership(role access.Role) access.Membership {
	return access.Membership{Workspace: home, Member: "m-ada", Email: "ada@example.com", Role: role}
}

func session(kind access.Kind) access.Session {
	return access.Session{
		ID: "s-1", Kind: kind, Workspace: home, Member: "m-ada",
		IssuedAt: noon, ExpiresAt: noon.Add(8 * time.Hour), ConfirmedAt: noon,
	}
}

func fromSession(t *testing.T, kind access.Kind, role access.Role, w access.Workspace, via access.Surface) access.Principal {
	t.Helper()
	p, err := access.FromSession(session(kind), membership(role), w, via, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func token(scopes access.Scopes) access.Token {
	return access.Token{
		ID: "t-1", Client: "https://client.example/id", Workspace: home, Member: "m-ada",
		Scopes: scopes, ExpiresAt: noon.Add(time.Hour),
	}
}

func fromOAuth(t *testing.T, scopes access.Scopes, role access.Role, via access.Surface) access.Principal {
	t.Helper()
	p, err := access.FromOAuth(token(scopes), membership(role), production, via, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantCode says that err has a type of the package, by its code.
func wantCode(t *testing.T, what string, err error, code access.Code) {
	t.Helper()
	if got := access.CodeOf(err); got != code {
		t.Errorf("%s: %v with the code %q, want %q", what, err, got, code)
	}
}
