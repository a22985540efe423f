package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store"
)

var limitLaws = []law{
	{"those later in a limit's group are found, and no others", laterInGroup},
	{"what a version brings up for an earlier action counts like the rest", broughtUp},
}

func entry(key, group string, start time.Duration) store.LimitEntry {
	return store.LimitEntry{Key: key, Group: group, Start: at(start), Amount: "80.00", Currency: "USD"}
}

func laterInGroup(t *testing.T, s *suite) {
	p := s.workspace(t)
	for n := range 8 {
		e := entry("refunds/agent_daily", `"bot"`, time.Duration(n)*time.Hour)
		switch n {
		case 3:
			e.Group = `"other"`
		case 4:
			e.Key = "refunds/another"
		case 5:
			e.Amount, e.Currency = "", ""
		}
		p.keep(t, func(tx store.Tx) { tx.AddAction(action(n), []store.LimitEntry{e, entry("refunds/desk", "", 0)}, nil) })
	}
	for _, test := range []struct {
		after, to time.Duration
		n         int
		want      []int
	}{
		{time.Hour, 7 * time.Hour, 10, []int{2, 5, 6, 7}},
		{time.Hour, 6 * time.Hour, 10, []int{2, 5, 6}},
		{time.Hour, 6*time.Hour - time.Microsecond, 10, []int{2, 5}},
		{time.Hour - time.Microsecond, 2 * time.Hour, 10, []int{1, 2}},
		{7 * time.Hour, 100 * time.Hour, 10, nil},
		{-time.Hour, 100 * time.Hour, 100, []int{0, 1, 2, 5, 6, 7}},
	} {
		got := look(t, p, func(tx store.Tx) ([]store.Ref, error) {
			return tx.LaterInLimit(entry("refunds/agent_daily", `"bot"`, test.after), at(test.to), test.n)
		})
		var want []store.Ref
		for _, n := range test.want {
			want = append(want, ref(n))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("after %s and up to %s there are %v, want %v", test.after, test.to, got, want)
		}
	}
	got := look(t, p, func(tx store.Tx) ([]store.Ref, error) {
		return tx.LaterInLimit(entry("refunds/agent_daily", `"bot"`, -time.Hour), at(day), 2)
	})
	if len(got) != 2 {
		t.Errorf("at most two are %v", got)
	}
}

func broughtUp(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := &furnished{place: p, contract: compile(t, refunds)}
	var actions []*store.Action
	for n := range 4 {
		a := action(n, governed)
		actions = append(actions, a)
		p.keep(t, func(tx store.Tx) {
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
	later := look(t, p, func(tx store.Tx) ([]store.Ref, error) {
		return tx.LaterInLimit(f.entries(actions[0])[0], at(day), 100)
	})
	slices.Sort(later)
	if want := []store.Ref{ref(1), ref(2), ref(3)}; fmt.Sprint(later) != fmt.Sprint(want) {
		t.Errorf("later are %v, want %v", later, want)
	}
}
