package conformance

import (
	"errors"
	"reflect"
	"testing"

	"github.com/deed-dev/deed/internal/store"
)

var isolationLaws = []law{
	{"every method of a unit is tried", everyMethod},
	{"no question is answered with another workspace's things", nothingOfOthers},
	{"no write reaches another workspace's things", nothingInOthers},
	{"two workspaces may use the same names", sameNames},
}

// everyMethod fails when a method is added that no law tries.
func everyMethod(t *testing.T, _ *suite) {
	tried := map[string]bool{"Now": true}
	for _, r := range reads {
		tried[r.method] = true
	}
	for _, w := range writes {
		tried[w.method] = true
	}
	for m := range reflect.TypeFor[store.Tx]().Methods() {
		if !tried[m.Name] {
			t.Errorf("%s is not tried", m.Name)
		}
	}
}

func nothingOfOthers(t *testing.T, s *suite) {
	p, other := s.workspace(t), s.workspace(t)
	f := furnish(t, p)
	mine, theirs := f.picture(t, p), f.picture(t, other)
	for _, r := range reads {
		switch {
		case nothing(mine[r.method]):
			t.Errorf("%s says nothing where there is something", r.method)
		case r.method == "Directory":
		case r.own:
			if reflect.DeepEqual(mine[r.method], theirs[r.method]) {
				t.Errorf("%s says the same in another workspace", r.method)
			}
		case !nothing(theirs[r.method]):
			t.Errorf("%s says in another workspace: %v", r.method, theirs[r.method])
		}
	}
	for _, kind := range []string{
		"Revisions", "by action id", "by parameter", "by subject", "Facts", "Fact", "Sources", "Active", "Expecting", "Latest",
		"History agent_daily", "History agent_often", "Later agent_daily", "Later agent_often",
	} {
		if mine["Ask"].(map[string]string)[kind] == "" {
			t.Errorf("the question %s is not answered where there is something", kind)
		}
	}
}

func nothingInOthers(t *testing.T, s *suite) {
	p, empty, full := s.workspace(t), s.workspace(t), s.workspace(t)
	f := furnish(t, p)
	furnish(t, full)
	before := f.picture(t, p)
	for _, w := range writes {
		for _, other := range []place{empty, full} {
			// It may well fail: there is nothing there to write to.
			_ = other.try(t, func(tx store.Tx) error { return w.do(tx, f) })
			for _, name := range differences(before, f.picture(t, p)) {
				t.Errorf("%s in another workspace changed what %s says", w.method, name)
			}
		}
	}
	link, err := p.store.Directory().UseSignIn(background(t), f.token("second"), at(0))
	if err == nil && link.Workspace == p.id || err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link that another workspace made signs in: %v", err)
	}
}

func sameNames(t *testing.T, s *suite) {
	one, two := s.workspace(t), s.workspace(t)
	f, g := furnish(t, one), furnish(t, two)
	a, b := f.picture(t, one), g.picture(t, two)
	// What is left out counts across workspaces or is told by its times.
	for _, name := range []string{
		"Ask", "ActionsByID", "ActionByRef", "Declarations", "ListActions", "ListPending", "Summary", "Current", "Settled",
		"Waiting", "RefsOf", "ContractVersions", "ActiveContracts", "DeclaredIn", "LedgerState", "Nodes", "Secret",
	} {
		if nothing(a[name]) || !reflect.DeepEqual(a[name], b[name]) {
			t.Errorf("%s says in one %v, in the other %v", name, a[name], b[name])
		}
	}
}
