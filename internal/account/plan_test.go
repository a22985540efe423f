package account

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

func TestAPlanIsSetByWhoeverRunsTheServerAndAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	home := h.first.Workspace.ID
	for _, one := range []struct{ to, before string }{{"team", "default"}, {"team", "team"}, {"default", "team"}} {
		before, err := h.SetPlan(t.Context(), home, one.to)
		if err != nil || before != one.before {
			t.Errorf("before %s it was on %q, %v; want %s", one.to, before, err, one.before)
		}
		if w, err := h.Workspace(t.Context(), h.as(h.owner)); err != nil || w.Plan != one.to {
			t.Errorf("it is on %+v, %v", w, err)
		}
	}
	var told []string
	for _, e := range h.trail() {
		if e.Event == "workspace.changed" {
			told = append(told, string(e.Actor)+" "+e.Object+" "+string(e.Metadata))
		}
	}
	slices.Sort(told)
	want := []string{
		"console " + string(home) + ` {"plan":"default","plan_before":"team"}`,
		"console " + string(home) + ` {"plan":"team","plan_before":"default"}`,
	}
	if !slices.Equal(told, want) {
		t.Errorf("the audit has %q, want %q", told, want)
	}
}

func TestAPlanThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range []string{"", "Team", "1", "a b", "a\n"} {
		if _, err := h.SetPlan(t.Context(), h.first.Workspace.ID, name); !errors.As(err, new(*RequestError)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := h.SetPlan(t.Context(), access.WorkspaceID("ws_nowhere"), "team"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("in no workspace it is %v", err)
	}
}

// meddled runs something in the midst of a unit, after its workspace was read.
type meddled struct {
	store.Store
	meddle func()
}

func (m meddled) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return m.Store.Do(ctx, w, func(tx store.Tx) error { return fn(meddledUnit{tx, m.meddle}) })
}

type meddledUnit struct {
	store.Tx
	meddle func()
}

func (u meddledUnit) GetWorkspace() (*store.Workspace, error) {
	w, err := u.Tx.GetWorkspace()
	u.meddle()
	return w, err
}

// Both write the whole row: neither may undo the other. With SQLite one unit runs at a
// time.
func TestASettingThatChangesWhileThePlanDoesIsNotUndone(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	servers := instances(t, 2, clock)
	h := furnish(t, servers[0], clock)
	owner, on := h.as(h.owner), true
	var once sync.Once
	other, err := New(meddled{servers[1], func() {
		once.Do(func() {
			if _, err := h.ChangeSettings(t.Context(), owner, Settings{Development: &on}); err != nil {
				t.Error(err)
			}
		})
	}}, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.SetPlan(t.Context(), h.first.Workspace.ID, "team"); err != nil {
		t.Fatal(err)
	}
	if w, err := h.Workspace(t.Context(), owner); err != nil || w.Plan != "team" || !w.Development {
		t.Errorf("it is %+v, %v", w, err)
	}
}
