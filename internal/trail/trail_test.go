package trail

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

func clock() value.Instant { return noon }

// office is a store with one workspace, in which something was done.
func office(t *testing.T) (store.Store, store.Workspace) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := store.Workspace{Workspace: access.Workspace{ID: "w"}, Name: "Acme", Plan: "small", CreatedAt: noon}
	owner := store.Person{ID: "ada", Email: "ada@example.com", CreatedAt: noon}
	way := store.SignIn{Hash: store.TokenHash{1}, Workspace: w.ID, Member: owner.ID, ExpiresAt: noon.Add(time.Hour)}
	if _, err := s.Directory().CreateWorkspace(t.Context(), w, owner, way, false); err != nil {
		t.Fatal(err)
	}
	err = s.Do(t.Context(), w.ID, func(tx store.Tx) error {
		for _, event := range []string{"first", "second", "third"} {
			tx.Audit(store.AuditEntry{At: noon, Actor: "ada@example.com", Event: event, Metadata: []byte("{}")})
		}
		tx.CountDeclared("2026-11", 11)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

func member(t *testing.T, w store.Workspace, role access.Role) access.Principal {
	t.Helper()
	session := access.Session{Kind: access.Terminal, Workspace: w.ID, Member: "ada", IssuedAt: noon, ExpiresAt: noon.Add(time.Hour)}
	place := access.Membership{Workspace: w.ID, Member: "ada", Email: "ada@example.com", Role: role}
	p, err := access.FromSession(session, place, w.Workspace, access.REST, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func key(t *testing.T, w store.Workspace, scopes ...access.Scope) access.Principal {
	t.Helper()
	k, secret, err := access.MintKey(access.KeyOrder{ID: "k", Name: "k", Scopes: access.ScopesOf(scopes...)}, w.Workspace, rand.NewChaCha8([32]byte{1}), noon)
	if err != nil {
		t.Fatal(err)
	}
	p, err := access.FromKey(secret, k, w.Workspace, access.REST, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheAuditShowsTheLatestFirstInPages(t *testing.T) {
	t.Parallel()
	s, w := office(t)
	service := New(s, clock, nil)
	var events []string
	for after, more := store.Cursor(""), true; more; more = after != "" {
		entries, next, err := service.Audit(t.Context(), member(t, w, access.Admin), store.Page{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			events = append(events, e.Event)
		}
		after = next
	}
	if len(events) != 3 || events[0] != "third" || events[2] != "first" {
		t.Errorf("the audit is %v", events)
	}
}

func TestTheAuditIsForAdminsAndForNoKey(t *testing.T) {
	t.Parallel()
	s, w := office(t)
	service := New(s, clock, nil)
	for name, p := range map[string]access.Principal{
		"an analyst": member(t, w, access.Analyst), "a key": key(t, w, access.UsageRead, access.ActionsRead), "nobody": {},
	} {
		if _, _, err := service.Audit(t.Context(), p, store.Page{Limit: 1}); access.CodeOf(err) != access.Forbidden {
			t.Errorf("%s gets %v", name, err)
		}
	}
}

func TestUsageIsHeldAgainstThePlan(t *testing.T) {
	t.Parallel()
	s, w := office(t)
	book := func(most int) *plan.Book {
		b, err := plan.Parse("plans.yaml", fmt.Appendf(nil, "plans: {small: {title: Small, actions_per_month: %d, features: [drafts]}}", most))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	small := func(most int64) plan.Plan {
		return plan.Plan{Name: "small", Title: "Small", ActionsPerMonth: most, Limited: true, Features: []plan.Feature{plan.Drafts}}
	}
	for name, one := range map[string]struct {
		plans *plan.Book
		month string
		want  Usage
		over  bool
	}{
		"over what is included":  {book(10), "2026-11", Usage{Plan: small(10), Period: "2026-11", Recorded: 11}, true},
		"all that is included":   {book(11), "2026-11", Usage{Plan: small(11), Period: "2026-11", Recorded: 11}, false},
		"nothing is included":    {book(0), "2026-11", Usage{Plan: small(0), Period: "2026-11", Recorded: 11}, true},
		"another month":          {book(10), "2026-10", Usage{Plan: small(10), Period: "2026-10"}, false},
		"a plan that is missing": {nil, "2026-11", Usage{Plan: (*plan.Book)(nil).Of("small"), Period: "2026-11", Recorded: 11}, false},
	} {
		got, err := New(s, clock, one.plans).Usage(t.Context(), key(t, w, access.UsageRead), one.month)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(one.want, *got); diff != "" || got.Over() != one.over {
			t.Errorf("%s: over is %t (-want +got):\n%s", name, got.Over(), diff)
		}
	}
	if _, err := New(s, clock, nil).Usage(t.Context(), key(t, w, access.ActionsRead), "2026-11"); access.CodeOf(err) != access.InsufficientScope {
		t.Errorf("without the scope it is %v", err)
	}
}

func TestADatabaseThatIsGoneIsSaidToBe(t *testing.T) {
	t.Parallel()
	s, w := office(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	service := New(s, clock, nil)
	if _, _, err := service.Audit(ctx, member(t, w, access.Owner), store.Page{Limit: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("the audit is %v", err)
	}
	if _, err := service.Usage(ctx, member(t, w, access.Owner), "2026-11"); !errors.Is(err, context.Canceled) {
		t.Errorf("the usage is %v", err)
	}
}
