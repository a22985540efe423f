package conformance

import (
	"testing"

	"github.com/deed-dev/deed/internal/store"
)

var limitLaws = []law{
	{"what a version brings up for an earlier action counts like the rest", broughtUp},
}

func broughtUp(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := &furnished{place: p, contract: compile(t, refunds)}
	var actions []*store.Action
	for n := range 4 {
		a := action(n, governed)
		actions = append(actions, a)
		p.keep(t, func(tx store.Tx) {
			tx.Turn(store.Alone)
			if n%2 == 0 {
				tx.AddAction(a, f.entries(a), map[string]string{"order": a.Declaration.SubjectID})
			} else {
				tx.AddAction(a, nil, nil)
			}
		})
	}
	told := func() map[string]string {
		return look(t, p, f.answers)
	}
	if got := told()["History agent_daily"]; got != "2 [160 USD] 0\n" {
		t.Errorf("before, the limit adds up %q", got)
	}
	for range 2 { // a second time changes nothing
		p.keep(t, func(tx store.Tx) {
			tx.Turn(store.Alone)
			for _, a := range actions {
				tx.BackfillLinks(a.Ref, f.entries(a), map[string]string{"order": a.Declaration.SubjectID, "ticket": "t-1"})
			}
		})
		got := told()
		for name, want := range map[string]string{"History agent_daily": "4 [320 USD] 0\n", "History agent_often": "4 [] 0\n"} {
			if got[name] != want {
				t.Errorf("%s adds up %q, want %q", name, got[name], want)
			}
		}
		if want := wording(actions[1].Declaration); got["by parameter"] != want {
			t.Errorf("by parameter there is %q, want %q", got["by parameter"], want)
		}
		if got["by backfill"] == "" {
			t.Error("nothing is found by the parameter that was brought up")
		}
	}
}
