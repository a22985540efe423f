package conformance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Open makes an empty store that lives as long as the test and whose only clock
// is the given one.
type Open func(tb testing.TB, clock func() value.Instant) store.Store

// law is one promise and the test of it.
type law struct {
	name string
	hold func(*testing.T, *suite)
}

// suite is what the laws share: a store in which each of them makes workspaces of
// its own. Laws about what a whole store does, or about time that passes, open one
// for themselves.
type suite struct {
	open  Open
	store store.Store
	made  atomic.Int64 // workspaces, whose names come of it
}

// Run tests a store.
func Run(t *testing.T, open func(tb testing.TB, clock func() value.Instant) store.Store) {
	t.Helper()
	s := &suite{open: open, store: open(t, newClock().read)}
	for _, part := range []struct {
		name string
		laws []law
	}{
		{"units", unitLaws},
		{"isolation", isolationLaws},
		{"actions", actionLaws},
		{"lists", listLaws},
		{"verdicts", verdictLaws},
		{"limits", limitLaws},
		{"wakes", wakeLaws},
		{"locks", lockLaws},
		{"evidence", evidenceLaws},
		{"questions", questionLaws},
		{"contracts", contractLaws},
		{"keys", keyLaws},
		{"members", memberLaws},
		{"sign-in", signInLaws},
		{"workspaces", workspaceLaws},
		{"overview", overviewLaws},
		{"trail", trailLaws},
		{"ledger", ledgerLaws},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			for _, l := range part.laws {
				t.Run(l.name, func(t *testing.T) {
					t.Parallel()
					l.hold(t, s)
				})
			}
		})
	}
}

// noon is 2026-11-02T12:00:00Z, when clocks begin.
const noon = value.Instant(1_793_620_800_000_000)

func at(d time.Duration) value.Instant { return noon.Add(d) }

const day = 24 * time.Hour

// clock goes on by a microsecond whenever somebody looks at it, until it is stopped.
type clock struct {
	now     atomic.Int64
	stopped atomic.Bool
}

func newClock() *clock {
	c := &clock{}
	c.now.Store(int64(noon))
	return c
}

func (c *clock) read() value.Instant {
	if c.stopped.Load() {
		return value.Instant(c.now.Load())
	}
	return value.Instant(c.now.Add(1))
}

func (c *clock) set(to value.Instant) { c.now.Store(int64(to)) }

// patience is after how long a test gives up waiting for another goroutine.
const patience = 5 * time.Minute

func background(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// place is a workspace in which a test works.
type place struct {
	store store.Store
	id    access.WorkspaceID
	owner access.MemberID
	email access.Email
}

// workspace makes one in the shared store.
func (s *suite) workspace(t testing.TB) place {
	t.Helper()
	return s.workspaceIn(t, s.store)
}

// apart makes a workspace in a store of the test's own.
func (s *suite) apart(t testing.TB) (place, *clock) {
	t.Helper()
	c := newClock()
	return s.workspaceIn(t, s.open(t, c.read)), c
}

func (s *suite) workspaceIn(t testing.TB, in store.Store) place {
	t.Helper()
	p := s.planned(in)
	made, err := in.Directory().CreateWorkspace(background(t), p.settings(), p.person(), p.link(), false)
	if err != nil || !made {
		t.Fatalf("create a workspace: %v, %v", made, err)
	}
	return p
}

// planned is a workspace with names that no other test has, which is still to be made.
func (s *suite) planned(in store.Store) place {
	n := s.made.Add(1)
	return place{
		store: in, id: access.WorkspaceID(fmt.Sprintf("ws_%06d", n)), owner: access.MemberID(fmt.Sprintf("per_%06d", n)),
		email: access.Email(fmt.Sprintf("owner%d@example.com", n)),
	}
}

// settings are those with which the workspace was made.
func (p place) settings() store.Workspace {
	w := store.Workspace{Name: "Acme " + string(p.id), Plan: "free", CreatedAt: noon}
	w.ID = p.id
	return w
}

// person is the workspace's first owner.
func (p place) person() store.Person {
	return store.Person{ID: p.owner, Email: p.email, Name: "Ada", PasswordHash: "$argon2id$v=19$m=1,t=1,p=1$c2FsdA$aGFzaA", CreatedAt: noon}
}

// link is by which the first owner signs in.
func (p place) link() store.SignIn {
	return store.SignIn{Hash: p.token("first"), Workspace: p.id, Member: p.owner, ExpiresAt: at(day)}
}

// token is the hash of a token of this workspace.
func (p place) token(name string) store.TokenHash {
	return store.TokenHash(sha256.Sum256([]byte(string(p.id) + name)))
}

// do runs a unit that must succeed.
func (p place) do(t testing.TB, fn func(store.Tx) error) {
	t.Helper()
	if err := p.store.Do(background(t), p.id, fn); err != nil {
		t.Fatalf("run a unit: %v", err)
	}
}

// keep runs a unit that only writes.
func (p place) keep(t testing.TB, write func(store.Tx)) {
	t.Helper()
	p.do(t, func(tx store.Tx) error {
		write(tx)
		return nil
	})
}

// try runs a unit and returns what became of it.
func (p place) try(t testing.TB, fn func(store.Tx) error) error {
	return p.store.Do(background(t), p.id, fn)
}

// look reads something on a snapshot.
func look[T any](t testing.TB, p place, read func(store.Tx) (T, error)) T {
	t.Helper()
	var found T
	err := p.store.View(background(t), p.id, func(tx store.Tx) (err error) {
		found, err = read(tx)
		return err
	})
	if err != nil {
		t.Fatalf("look: %v", err)
	}
	return found
}

// together runs functions at once, each in a goroutine, and waits for all.
func together(t testing.TB, n int, fn func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-gate
			if err := fn(i); err != nil {
				t.Errorf("number %d of %d at once: %v", i, n, err)
			}
		})
	}
	close(gate)
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// through goes through a list page by page, doing something between pages.
func through[T any](t testing.TB, p place, limit int, list func(store.Tx, store.Page) ([]T, store.Cursor, error), between func()) []T {
	t.Helper()
	var all []T
	page := store.Page{Limit: limit}
	for range 1000 {
		type part struct {
			items []T
			next  store.Cursor
		}
		got := look(t, p, func(tx store.Tx) (part, error) {
			items, next, err := list(tx, page)
			return part{items, next}, err
		})
		if len(got.items) > limit {
			t.Fatalf("a page of at most %d has %d", limit, len(got.items))
		}
		all = append(all, got.items...)
		if got.next == "" {
			return all
		}
		if len(got.items) == 0 {
			t.Fatal("a page is empty, and the list goes on")
		}
		page.After = got.next
		if between != nil {
			between()
		}
	}
	t.Fatal("the list does not end")
	return nil
}
