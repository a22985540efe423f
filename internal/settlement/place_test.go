package settlement_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	amounts "github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// clock is the only one of a store under test. One that ticks goes on by a microsecond
// whenever somebody looks at it.
type clock struct {
	now   atomic.Int64
	ticks atomic.Bool
}

func (c *clock) read() value.Instant {
	if c.ticks.Load() {
		return value.Instant(c.now.Add(1))
	}
	return value.Instant(c.now.Load())
}

func (c *clock) set(at value.Instant) { c.now.Store(int64(at)) }

// databases are those that the services run on.
var databases = map[string]func(tb testing.TB, c *clock) store.Store{"SQLite": onSQLite, "PostgreSQL": onPostgres}

func onSQLite(tb testing.TB, c *clock) store.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), tb.TempDir(), sqlstore.WithClock(c.read))
	return opened(tb, s, err)
}

func onPostgres(tb testing.TB, c *clock) store.Store {
	tb.Helper()
	return onDatabase(pgtest.Start(tb).Database(tb))(tb, c)
}

// onDatabase opens a database of PostgreSQL that the test looks into as well.
func onDatabase(url string) func(testing.TB, *clock) store.Store {
	return func(tb testing.TB, c *clock) store.Store {
		tb.Helper()
		s, err := postgres.Open(tb.Context(), url, sqlstore.WithClock(c.read))
		return opened(tb, s, err)
	}
}

func opened(tb testing.TB, s store.Store, err error) store.Store {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// server is what serves workspaces: a store with the services over it.
type server struct {
	store      store.Store
	clock      *clock
	actions    *action.Service
	intake     *intake.Service
	contracts  *governance.Service
	evaluator  *settlement.Evaluator
	failures   atomic.Int64
	workspaces atomic.Int64
}

func serve(tb testing.TB, open func(testing.TB, *clock) store.Store, start value.Instant) *server {
	tb.Helper()
	s := &server{clock: &clock{}}
	s.clock.set(start)
	s.store = open(tb, s.clock)
	s.actions = action.NewService(s.store, action.Options{Random: rand.Reader})
	s.intake, s.contracts = intake.NewService(s.store), governance.New(s.store, nil)
	s.evaluator = settlement.NewEvaluator(s.store, settlement.Options{OnFailure: func(w access.WorkspaceID, ref store.Ref, err error) {
		s.failures.Add(1)
		tb.Errorf("in workspace %s action %s: %v", w, ref, err)
	}})
	return s
}

// place is a workspace with those who act in it.
type place struct {
	*server
	id    access.WorkspaceID
	owner access.Membership
}

func (s *server) place(tb testing.TB) *place {
	tb.Helper()
	n := s.workspaces.Add(1)
	p := &place{server: s, id: access.WorkspaceID(fmt.Sprint("ws_", n))}
	p.owner = access.Membership{Workspace: p.id, Member: access.MemberID(fmt.Sprint("per_", n)), Email: access.Email(fmt.Sprintf("owner%d@example.com", n)), Role: access.Owner}
	person := store.Person{ID: p.owner.Member, Email: p.owner.Email, Name: "Ada", CreatedAt: s.clock.read()}
	settings := store.Workspace{Workspace: p.settings(), Name: "Acme", Plan: "default", CreatedAt: s.clock.read()}
	made, err := s.store.Directory().CreateWorkspace(tb.Context(), settings, person, store.SignIn{Hash: store.TokenHash{byte(n), byte(n >> 8)}, Workspace: p.id, Member: person.ID, ExpiresAt: s.clock.read() + 1}, false)
	if err != nil || !made {
		tb.Fatalf("make a workspace: %v, %v", made, err)
	}
	return p
}

func (p *place) settings() access.Workspace { return access.Workspace{ID: p.id} }

// member is the owner, signed in a moment ago.
func (p *place) member(tb testing.TB) access.Principal {
	tb.Helper()
	now := p.clock.read()
	principal, err := access.FromSession(access.Session{
		ID: "s", Kind: access.Terminal, Workspace: p.id, Member: p.owner.Member, IssuedAt: now, ExpiresAt: now + 1<<40, ConfirmedAt: now,
	}, p.owner, p.settings(), access.REST, now)
	if err != nil {
		tb.Fatal(err)
	}
	return principal
}

// key is a key with these scopes, bound to these sources.
func (p *place) key(tb testing.TB, scopes access.Scopes, sources ...string) access.Principal {
	tb.Helper()
	now := p.clock.read()
	key, secret, err := access.MintKey(access.KeyOrder{ID: "k", Name: "key", Scopes: scopes, Sources: sources}, p.settings(), rand.Reader, now)
	if err != nil {
		tb.Fatal(err)
	}
	principal, err := access.FromKey(secret, key, p.settings(), access.REST, now)
	if err != nil {
		tb.Fatal(err)
	}
	return principal
}

func (p *place) recorder(tb testing.TB) access.Principal {
	tb.Helper()
	return p.key(tb, access.ScopesOf(access.ActionsRecord, access.ActionsRead))
}

func (p *place) drain(tb testing.TB) {
	tb.Helper()
	if err := p.evaluator.Drain(tb.Context(), p.id); err != nil {
		tb.Fatal(err)
	}
}

// stale says of which actions the kept verdict is not what their cases come to now:
// those that something should have woken, and did not.
func (p *place) stale(tb testing.TB) []string { return p.left(tb, nil) }

// left is what is stale, and adds to lost what could change a verdict and would not wake
// its action. A watermark that went back is not told to those that it does not change, so
// that they wait for nothing.
func (p *place) left(tb testing.TB, lost *[]string) []string {
	tb.Helper()
	var found []string
	err := p.store.View(tb.Context(), p.id, func(tx store.Tx) error {
		found = nil
		listed, next, err := tx.ListActions(store.Filter{}, store.Page{Limit: 200})
		if err != nil {
			return err
		}
		if next != "" {
			return errors.New("there are more actions than are looked at")
		}
		var ids []string
		for i := range listed {
			ids = append(ids, listed[i].Action.Declaration.ActionID)
		}
		inquiry := docket.NewInquiry(tx.Ask)
		built, err := inquiry.BuildAll(tx.Now(), ids)
		if err != nil {
			return err
		}
		return inquiry.Until(func(r docket.Records) error {
			found = nil
			for i := range listed {
				was, err := r.Latest(ids[i])
				if err != nil {
					return err
				}
				f, err := settlement.Find(listed[i].Action.Ref, built[i].Case, was)
				if err != nil {
					return err
				}
				if f.Changed() {
					found = append(found, fmt.Sprintf("the verdict of %s should be another (-is +should be):\n%s", ids[i],
						cmp.Diff(string(was.Verdict.AppendJSON(nil)), string(f.Verdict.AppendJSON(nil)))))
				}
				if lost != nil {
					if err := unawaited(tx, f, lost); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return found
}

// unawaited says which coverage could change a verdict, and would not wake its action.
func unawaited(tx store.Tx, f *settlement.Finding, lost *[]string) error {
	for _, w := range f.Lacking {
		if w.Watermark >= w.Until {
			continue // only time is lacking
		}
		waiting, err := tx.Waiting(w.Source, w.Type, w.Until, "", 10_000)
		if err != nil {
			return err
		}
		if !slices.Contains(waiting, f.Ref) {
			*lost = append(*lost, fmt.Sprintf("%s does not wait for %s of %s up to %s", f.Ref, w.Type, w.Source, w.Until))
		}
	}
	return nil
}

// on runs a test on both databases.
func on(t *testing.T, start value.Instant, test func(*testing.T, *server)) {
	t.Helper()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, serve(t, open, start))
		})
	}
}

func money(text string) value.Value {
	a, err := amounts.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}
