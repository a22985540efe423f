package account

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

const office = "192.0.2.1"

// house is a store with one workspace, whose owner has just signed in on a page.
type house struct {
	*Service
	t     *testing.T
	clock *testClock
	first *Started
	owner Credential
}

func newHouse(t *testing.T) *house {
	t.Helper()
	clock := newTestClock()
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(clock.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return furnish(t, s, clock)
}

// furnish makes the workspace and lets its owner in.
func furnish(t *testing.T, s store.Store, clock *testClock) *house {
	t.Helper()
	service, err := New(s, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{Service: service, t: t, clock: clock}
	if h.first, err = h.Bootstrap(t.Context(), "Acme", "ada@example.com"); err != nil || h.first == nil {
		t.Fatalf("the first start made nothing: %v", err)
	}
	h.owner = h.enter(h.first.Link)
	return h
}

// enter signs in on a page by a link.
func (h *house) enter(link Token) Credential {
	h.t.Helper()
	in, err := h.SignIn(h.t.Context(), link.Reveal(), access.Cookie, office)
	if err != nil {
		h.t.Fatal(err)
	}
	return page(in)
}

func page(in *SignedIn) Credential {
	return Credential{Text: in.Token.Reveal(), Cookie: true, Address: office}
}

// as is who a page's credential is.
func (h *house) as(c Credential) access.Principal {
	h.t.Helper()
	p, err := h.Authenticate(h.t.Context(), c, access.Page)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

// invite makes somebody a member and lets them in.
func (h *house) invite(email string, role access.Role) (access.MemberID, Credential) {
	h.t.Helper()
	in, err := h.Invite(h.t.Context(), h.as(h.owner), email, "", role)
	if err != nil {
		h.t.Fatal(err)
	}
	return in.Member.Member, h.enter(in.Link)
}

// mint makes a key.
func (h *house) mintKey(scopes ...access.Scope) *Minted {
	h.t.Helper()
	order := KeyOrder{Name: "a key", Scopes: access.ScopesOf(scopes...)}
	if order.Scopes.Has(access.FactsWrite) {
		order.Sources = []string{"stripe"}
		h.source("stripe")
	}
	m, err := h.MintKey(h.t.Context(), h.as(h.owner), order)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// source makes a source.
func (h *house) source(name string) {
	h.t.Helper()
	err := h.store.Do(h.t.Context(), h.first.Workspace.ID, func(tx store.Tx) error {
		tx.PutSource(store.SourceState{Source: evidence.Source{Name: name, Trust: evidence.Asserted}, CreatedAt: tx.Now(), CreatedBy: "ada@example.com"})
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// key asks with an API key.
func (h *house) key(m *Minted, address string) error {
	_, err := h.Authenticate(h.t.Context(), Credential{Text: m.Secret.Reveal(), Address: address}, access.REST)
	return err
}

// audited are the events of the audit, the first first.
func (h *house) audited() []string {
	h.t.Helper()
	var events []string
	for _, e := range h.trail() {
		events = append(events, e.Event)
	}
	return events
}

func (h *house) trail() []store.AuditEntry {
	h.t.Helper()
	var all []store.AuditEntry
	err := h.store.View(h.t.Context(), h.first.Workspace.ID, func(tx store.Tx) (err error) {
		all, _, err = tx.ListAudit(store.Page{Limit: 1000})
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// wantType says that err is of a type.
func wantType[E error](t *testing.T, what string, err error) {
	t.Helper()
	if _, is := errors.AsType[E](err); !is {
		t.Errorf("%s: %v", what, err)
	}
}

func wantCode(t *testing.T, what string, err error, code access.Code) {
	t.Helper()
	if got := access.CodeOf(err); got != code {
		t.Errorf("%s: %v with the code %q, want %q", what, err, got, code)
	}
}

// bent is a token or key with its last character but n changed.
func bent(text string, n int) string {
	at := len(text) - 1 - n
	other := "a"
	if strings.HasPrefix(text[at:], "a") {
		other = "b"
	}
	return text[:at] + other + text[at+1:]
}
