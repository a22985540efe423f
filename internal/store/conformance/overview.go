package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

var overviewLaws = []law{
	{"workspaces in which a wake is due are found, and no others", dueFound},
	{"workspaces with a leaf that has no number are found, and no others", unsequencedFound},
}

func dueFound(t *testing.T, s *suite) {
	p, later, none := s.workspace(t), s.workspace(t), s.workspace(t)
	wake := func(due time.Duration) func(store.Tx) {
		return func(tx store.Tx) {
			tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(1), Due: tx.Now().Add(due)})
		}
	}
	p.keep(t, wake(-time.Hour))
	p.keep(t, wake(-time.Minute))
	p.keep(t, wake(time.Hour))
	later.keep(t, wake(time.Hour))
	found := func() map[access.WorkspaceID]time.Duration {
		all, err := s.store.Directory().Due(background(t))
		if err != nil {
			t.Fatal(err)
		}
		by := map[access.WorkspaceID]time.Duration{}
		for _, one := range all {
			if _, twice := by[one.Workspace]; twice {
				t.Errorf("%s is there twice", one.Workspace)
			}
			by[one.Workspace] = one.Late
		}
		return by
	}
	by := found()
	if late, is := by[p.id]; !is || late < time.Hour || late > 2*time.Hour {
		t.Errorf("where one has been due for an hour it is %s (%v)", late, is)
	}
	for _, other := range []place{later, none} {
		if late, is := by[other.id]; is {
			t.Errorf("where none is due one is, for %s", late)
		}
	}
	p.keep(t, func(tx store.Tx) {
		if _, err := tx.Claim(10); err != nil {
			t.Error(err)
		}
	})
	if late, is := found()[p.id]; is {
		t.Errorf("when all were claimed one is still due, for %s", late)
	}
}

func unsequencedFound(t *testing.T, s *suite) {
	p, none := s.workspace(t), s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.AddLeaf(leaf(1), leaf(2)) })
	found := func() []access.WorkspaceID {
		all, err := s.store.Directory().Unsequenced(background(t))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	all := found()
	if n := len(slices.DeleteFunc(slices.Clone(all), func(w access.WorkspaceID) bool { return w != p.id })); n != 1 {
		t.Errorf("it is there %d times", n)
	}
	if slices.Contains(all, none.id) {
		t.Error("where there is no leaf one waits")
	}
	p.keep(t, func(tx store.Tx) {
		if err := number(tx, 10); err != nil {
			t.Error(err)
		}
	})
	if slices.Contains(found(), p.id) {
		t.Error("when all have numbers it is still there")
	}
}
