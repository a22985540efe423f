package action_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// far is a store whose every read is a round trip, and counts them. What is written
// goes with the commit.
type far struct {
	store.Store
	trips atomic.Int64
}

func (f *far) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return f.Store.Do(ctx, w, func(tx store.Tx) error { return fn(farTx{tx, f}) })
}

type farTx struct {
	store.Tx
	of *far
}

func (tx farTx) Ask(q []*docket.Question) error {
	tx.of.trips.Add(1)
	return tx.Tx.Ask(q)
}

func (tx farTx) ActionsByID(ids []string) (map[string]*store.Action, error) {
	tx.of.trips.Add(1)
	return tx.Tx.ActionsByID(ids)
}

func (tx farTx) DeclaredIn(period string) (int64, error) {
	tx.of.trips.Add(1)
	return tx.Tx.DeclaredIn(period)
}

func (tx farTx) GetWorkspace() (*store.Workspace, error) {
	tx.of.trips.Add(1)
	return tx.Tx.GetWorkspace()
}

func (tx farTx) ContractVersions(id string, text bool) ([]store.ContractVersion, error) {
	tx.of.trips.Add(1)
	return tx.Tx.ContractVersions(id, text)
}

func (tx farTx) RefsOf(ids []string) (map[string]store.Ref, error) {
	tx.of.trips.Add(1)
	return tx.Tx.RefsOf(ids)
}

func (tx farTx) Lock(refs []store.Ref) error {
	tx.of.trips.Add(1)
	return tx.Tx.Lock(refs)
}

func (tx farTx) Current(refs []store.Ref) (map[store.Ref]*verdict.Verdict, error) {
	tx.of.trips.Add(1)
	return tx.Tx.Current(refs)
}

// One round asks what is known, one what bears on the actions, and one how many there
// are this month, however many are declared at once.
func TestNewActionsTakeThreeRoundTripsAndTheCommit(t *testing.T) {
	t.Parallel()
	p := governed(t)
	f := &far{Store: p.store}
	actions := action.NewService(f, action.Options{Random: rand.Reader})
	key := p.key(t)
	one := func(id string) *action.Declaration {
		return parsed(t, strings.NewReplacer(`"o-1"`, fmt.Sprintf("%q", "o-"+id), `"bot"`, fmt.Sprintf("%q", "bot-"+id)).Replace(refund(id)))
	}
	if _, err := actions.Declare(t.Context(), key, one("first")); err != nil { // reads the plan and the versions
		t.Fatal(err)
	}
	for _, n := range []int{1, 300} {
		var all []*action.Declaration
		for i := range n {
			all = append(all, one(fmt.Sprint(n, "-", i)))
		}
		before := f.trips.Load()
		if _, err := actions.DeclareAll(t.Context(), key, all); err != nil {
			t.Fatal(err)
		}
		if trips := f.trips.Load() - before; trips != 3 {
			t.Errorf("%d new actions took %d round trips, want 3", n, trips)
		}
	}
	before := f.trips.Load()
	if r, err := actions.Declare(t.Context(), key, one("first")); err != nil || r.Recorded != action.Replayed {
		t.Fatal(r, err)
	}
	if trips := f.trips.Load() - before; trips > 4 {
		t.Errorf("a replay took %d round trips, want at most 4", trips)
	}
}
