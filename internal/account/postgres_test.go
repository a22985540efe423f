package account

import (
	"fmt"
	"sync"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// instances are several servers on one PostgreSQL database.
func instances(t *testing.T, n int, clock *testClock) []store.Store {
	t.Helper()
	url := pgtest.Start(t).Database(t)
	var all []store.Store
	for range n {
		s, err := postgres.Open(t.Context(), url, sqlstore.WithClock(clock.Now))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, s)
	}
	return all
}

func TestOfManyInstancesThatStartOnceOneMakesTheWorkspace(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	var all sync.WaitGroup
	started := make(chan *Started, 4)
	servers := instances(t, cap(started), clock)
	for i, server := range servers {
		all.Go(func() {
			s, err := New(server, clock.Now)
			if err != nil {
				t.Error(err)
				return
			}
			made, err := s.Bootstrap(t.Context(), fmt.Sprint("Acme ", i), "ada@example.com")
			if err != nil {
				t.Error(err)
			}
			if made != nil {
				started <- made
			}
		})
	}
	all.Wait()
	workspaces, err := servers[0].Directory().Workspaces(t.Context())
	if err != nil || len(workspaces) != 1 || len(started) != 1 {
		t.Errorf("%d of 4 made one, and there are %d, %v", len(started), len(workspaces), err)
	}
}

func TestOnPostgresAnOwnerRemainsWhateverInstanceIsAsked(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	servers := instances(t, 2, clock)
	h := furnish(t, servers[0], clock)
	elsewhere, err := New(servers[1], clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		_, bo := h.invite(fmt.Sprintf("bo%d@example.com", round), access.Owner)
		var all sync.WaitGroup
		refused := make(chan error, 2)
		for i, c := range []Credential{h.owner, bo} {
			p := h.as(c)
			all.Go(func() {
				if _, err := []*Service{h.Service, elsewhere}[i].ChangeRole(t.Context(), p, p.Member(), access.Viewer); err != nil {
					refused <- err
				}
			})
		}
		all.Wait()
		if len(refused) != 1 {
			t.Fatalf("%d of two were refused", len(refused))
		}
		wantType[*StateError](t, "the second", <-refused)
		if h.as(h.owner).Role() != access.Owner {
			h.owner = bo
		}
	}
}

func TestOnPostgresEverythingGoesTheSameWay(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	h := furnish(t, instances(t, 1, clock)[0], clock)
	member, bo := h.invite("bo@example.com", access.Admin)
	in, err := h.SetPassword(t.Context(), bo, "", "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Confirm(t.Context(), page(in), "correct horse battery"); err != nil {
		t.Error(err)
	}
	minted := h.mintKey(access.ActionsRecord)
	if err := h.key(minted, office); err != nil {
		t.Error(err)
	}
	if _, err := h.RotateKey(t.Context(), h.as(h.owner), minted.Key.ID, 0, 0); err != nil {
		t.Error(err)
	}
	wantCode(t, "a key that was replaced at once", h.key(minted, office), access.Unauthenticated)
	on := true
	if _, err := h.ChangeSettings(t.Context(), h.as(h.owner), Settings{Development: &on, SecondMember: &on}); err != nil {
		t.Error(err)
	}
	if err := h.Remove(t.Context(), h.as(h.owner), member); err != nil {
		t.Error(err)
	}
	if err := h.Delete(t.Context(), h.as(h.owner), "Acme"); err != nil {
		t.Error(err)
	}
}
