package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

var listLaws = []law{
	{"actions are listed by their start, the newest first", newestFirst},
	{"a list goes through everything once while more comes", onceWhileMoreComes},
	{"each filter leaves what it says, and filters add up", filtersNarrow},
	{"pending are the provisional ones, those that settle first first", pendingInOrder},
	{"a summary counts what a list lists", summaryCounts},
	{"a cursor is refused by another list, and by the same list under another filter", cursorsAreBound},
	{"an action without a verdict is in no list of pending ones", listedWithoutVerdict},
}

// listed goes through all actions of a filter.
func listed(t testing.TB, p place, f store.Filter, limit int, between func()) []store.Listed {
	t.Helper()
	return through(t, p, limit, func(tx store.Tx, page store.Page) ([]store.Listed, store.Cursor, error) {
		return tx.ListActions(f, page)
	}, between)
}

func pending(t testing.TB, p place, f store.Filter, limit int, between func()) []store.Listed {
	t.Helper()
	return through(t, p, limit, func(tx store.Tx, page store.Page) ([]store.Listed, store.Cursor, error) {
		return tx.ListPending(f, page)
	}, between)
}

func refsOf(items []store.Listed) []store.Ref {
	var refs []store.Ref
	for i := range items {
		refs = append(refs, items[i].Action.Ref)
	}
	return refs
}

// wantRefs compares what was listed with the numbers of actions.
func wantRefs(t *testing.T, what string, items []store.Listed, numbers ...int) {
	t.Helper()
	var want []store.Ref
	for _, n := range numbers {
		want = append(want, ref(n))
	}
	if got := refsOf(items); !slices.Equal(got, want) {
		t.Errorf("%s are %v, want %v", what, got, want)
	}
}

func newestFirst(t *testing.T, s *suite) {
	p := s.workspace(t)
	// 2 was requested before it was received; 4 and 5 start at the same moment.
	for n, start := range map[int]time.Duration{1: time.Hour, 2: -time.Hour, 3: 0, 4: time.Minute, 5: time.Minute} {
		declare(t, p, action(n, with(func(d *verdict.Declaration) {
			d.ReceivedAt = at(start)
			if start < 0 {
				d.RequestedAt, d.ReceivedAt = at(start), at(2*time.Hour)
			}
		})))
	}
	for limit := 1; limit <= 6; limit++ {
		items := listed(t, p, store.Filter{}, limit, nil)
		wantRefs(t, fmt.Sprintf("those in pages of %d", limit), items, 1, 5, 4, 3, 2)
		v, _ := judged(t, action(3, with(func(d *verdict.Declaration) { d.ReceivedAt = at(0) })))
		if got := &items[3].Verdict; word(got) != word(v) {
			t.Errorf("listed with %s, want %s", word(got), word(v))
		}
	}
}

func onceWhileMoreComes(t *testing.T, s *suite) {
	p := s.workspace(t)
	const before = 40
	for n := range before {
		declare(t, p, action(2*n))
	}
	more := before
	comes := func() { // some in the middle, some after all others
		declare(t, p, action(2*(more-before)+1))
		declare(t, p, action(2*more))
		more++
	}
	for name, list := range map[string]func(testing.TB, place, store.Filter, int, func()) []store.Listed{"newest": listed, "pending": pending} {
		times := map[store.Ref]int{}
		items := list(t, p, store.Filter{ContractID: "refunds"}, 3, comes)
		for _, r := range refsOf(items) {
			times[r]++
		}
		for n := range before {
			if times[ref(2*n)] != 1 {
				t.Errorf("%s: %s came %d times", name, ref(2*n), times[ref(2*n)])
			}
		}
		for r, n := range times {
			if n != 1 {
				t.Errorf("%s: %s came %d times", name, r, n)
			}
		}
		byStart := func(a, b store.Listed) int {
			return cmp.Or(cmp.Compare(b.Action.Declaration.Start(), a.Action.Declaration.Start()), strings.Compare(string(b.Action.Ref), string(a.Action.Ref)))
		}
		if name == "pending" {
			byStart = func(a, b store.Listed) int { return cmp.Compare(a.Verdict.SettlesAt, b.Verdict.SettlesAt) }
		}
		if !slices.IsSortedFunc(items, byStart) {
			t.Errorf("%s: the order is %v", name, refsOf(items))
		}
	}
}

// variety keeps actions that differ in one thing each from the first.
func variety(t testing.TB, p place) []*store.Action {
	t.Helper()
	changes := []func(*verdict.Declaration){
		func(*verdict.Declaration) {},
		func(d *verdict.Declaration) { d.ContractID = "reversals" },
		func(d *verdict.Declaration) { d.ActionType = "reverse" },
		func(d *verdict.Declaration) { d.WorkflowID = "wf-2" },
		func(d *verdict.Declaration) { d.AgentID = "other" },
		func(d *verdict.Declaration) { d.SubjectID = "another" },
		func(d *verdict.Declaration) { d.SubjectKind = "ticket" },
		func(d *verdict.Declaration) { d.ContractID, d.AgentID = "", "" },
		func(*verdict.Declaration) {}, func(*verdict.Declaration) {}, func(*verdict.Declaration) {},
	}
	verdicts := map[int]func(*verdict.Verdict){
		8: results(verdict.Fail, verdict.Pass), 9: results(verdict.Pass, verdict.Fail), 10: settled(1),
	}
	var all []*store.Action
	for n, change := range changes {
		a := action(n, with(func(d *verdict.Declaration) { d.SubjectID = "o-1" }), with(change))
		v := []func(*verdict.Verdict){results(verdict.Pass, verdict.Pass)}
		if other := verdicts[n]; other != nil {
			v = append(v, other)
		}
		declare(t, p, a, v...)
		all = append(all, a)
	}
	return all
}

func filtersNarrow(t *testing.T, s *suite) {
	p := s.workspace(t)
	variety(t, p)
	but := func(without ...int) []int {
		var rest []int
		for n := 10; n >= 0; n-- {
			if !slices.Contains(without, n) {
				rest = append(rest, n)
			}
		}
		return rest
	}
	for _, test := range []struct {
		name   string
		filter store.Filter
		want   []int
	}{
		{"all", store.Filter{}, but()},
		{"of an action", store.Filter{ActionID: actionID(3)}, []int{3}},
		{"of nobody's action", store.Filter{ActionID: "nobody"}, nil},
		{"of a contract", store.Filter{ContractID: "refunds"}, but(1, 7)},
		{"of another contract", store.Filter{ContractID: "reversals"}, []int{1}},
		{"of a type", store.Filter{ActionType: "refund_order"}, but(2)},
		{"of a workflow", store.Filter{WorkflowID: "wf-2"}, []int{3}},
		{"of an agent", store.Filter{AgentID: "other"}, []int{4}},
		{"on a subject", store.Filter{SubjectID: "another"}, []int{5}},
		{"on a kind of subject", store.Filter{SubjectKind: "ticket"}, []int{6}},
		{"with a badge", store.Filter{Verdict: verdict.Fail}, []int{9, 8}},
		{"with an outcome", store.Filter{Verdict: verdict.Fail, Lens: verdict.OutcomeLens}, []int{8}},
		{"with a conformance", store.Filter{Verdict: verdict.Fail, Lens: verdict.ConformanceLens}, []int{9}},
		{"with a passing outcome", store.Filter{Verdict: verdict.Pass, Lens: verdict.OutcomeLens}, but(8)},
		{"settled", store.Filter{Status: verdict.Settled}, []int{10}},
		{"provisional", store.Filter{Status: verdict.Provisional}, but(10)},
		{"from a moment on", store.Filter{From: at(9 * time.Second)}, []int{10, 9}},
		{"up to a moment", store.Filter{To: at(2 * time.Second)}, []int{1, 0}},
		{"in between", store.Filter{From: at(3 * time.Second), To: at(5 * time.Second)}, []int{4, 3}},
		{"in an empty period", store.Filter{From: at(3 * time.Second), To: at(3 * time.Second)}, nil},
		{"for a key that may see a contract", store.Filter{Limits: access.Limits{Contracts: []string{"reversals", "other"}}}, []int{1}},
		{"for a key that may see two contracts", store.Filter{Limits: access.Limits{Contracts: []string{"reversals", "refunds"}}}, but(7)},
		{"for a key that may see a type", store.Filter{Limits: access.Limits{ActionTypes: []string{"reverse"}}}, []int{2}},
		{"for a key that may see an agent", store.Filter{Limits: access.Limits{Agents: []string{"bot"}}}, but(4, 7)},
		{"for a key with limits of several kinds", store.Filter{Limits: access.Limits{Agents: []string{"other"}, Contracts: []string{"reversals"}}}, nil},
		{"with several filters", store.Filter{ContractID: "refunds", AgentID: "bot", Verdict: verdict.Fail, From: at(9 * time.Second)}, []int{9}},
	} {
		for _, limit := range []int{2, 100} {
			wantRefs(t, fmt.Sprintf("those %s, %d at a time,", test.name, limit), listed(t, p, test.filter, limit, nil), test.want...)
		}
		waits := slices.DeleteFunc(slices.Clone(test.want), func(n int) bool { return n == 10 })
		slices.Reverse(waits)
		wantRefs(t, "pending ones "+test.name, pending(t, p, test.filter, 2, nil), waits...)
	}
}

func pendingInOrder(t *testing.T, s *suite) {
	p := s.workspace(t)
	for n, after := range []time.Duration{3, 1, 2, 1} {
		declare(t, p, action(n), func(v *verdict.Verdict) { v.SettlesAt = at(after * time.Hour) })
	}
	declare(t, p, action(4), settled(1))
	got := refsOf(pending(t, p, store.Filter{}, 1, nil))
	if len(got) != 4 || got[2] != ref(2) || got[3] != ref(0) {
		t.Errorf("they are %v; those that settle after one hour come first, then that after two", got)
	}
	v, c := judged(t, action(2), settled(1))
	p.keep(t, func(tx store.Tx) { tx.KeepVerdict(ref(2), v, c, nil) })
	if got := refsOf(pending(t, p, store.Filter{}, 10, nil)); len(got) != 3 || slices.Contains(got, ref(2)) {
		t.Errorf("after one has settled they are %v", got)
	}
}

func summaryCounts(t *testing.T, s *suite) {
	p := s.workspace(t)
	variety(t, p)
	for _, f := range []store.Filter{
		{},
		{From: at(3 * time.Second), To: at(10 * time.Second)},
		{ContractID: "refunds"},
		{Limits: access.Limits{Agents: []string{"bot"}}},
		{From: at(day)},
	} {
		want := map[store.ContractCount]int64{}
		for _, l := range listed(t, p, f, 100, nil) {
			want[store.ContractCount{
				ContractID: l.Action.Declaration.ContractID, Badge: l.Verdict.Badge, Outcome: l.Verdict.Outcome.Result,
				Conformance: l.Verdict.Conformance.Result, Status: l.Verdict.Status,
			}]++
		}
		got := map[store.ContractCount]int64{}
		for _, c := range look(t, p, func(tx store.Tx) ([]store.ContractCount, error) { return tx.Summary(f) }) {
			n := c.Count
			c.Count = 0
			got[c] += n
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of %+v it counts\n%v\nwant\n%v", f, got, want)
		}
	}
}

func listedWithoutVerdict(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.AddAction(action(1), nil, nil) })
	wantRefs(t, "pending ones", pending(t, p, store.Filter{}, 10, nil))
}

func cursorsAreBound(t *testing.T, s *suite) {
	p := s.workspace(t)
	for n := range 3 {
		declare(t, p, action(n))
		report(t, p, fact(n))
		p.keep(t, func(tx store.Tx) { tx.Audit(entryOf(n)) })
	}
	lists := map[string]func(store.Tx, store.Page) (store.Cursor, error){
		"actions": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListActions(store.Filter{}, page)
			return next, err
		},
		"actions of an agent": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListActions(store.Filter{AgentID: "bot"}, page)
			return next, err
		},
		"pending actions": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListPending(store.Filter{}, page)
			return next, err
		},
		"facts": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListFacts(store.FactFilter{}, page)
			return next, err
		},
		"facts of a source": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListFacts(store.FactFilter{Source: "stripe"}, page)
			return next, err
		},
		"the audit": func(tx store.Tx, page store.Page) (store.Cursor, error) {
			_, next, err := tx.ListAudit(page)
			return next, err
		},
	}
	cursors := map[string]store.Cursor{"nobody": "made up"}
	for name, list := range lists {
		cursors[name] = look(t, p, func(tx store.Tx) (store.Cursor, error) { return list(tx, store.Page{Limit: 1}) })
		if cursors[name] == "" {
			t.Fatalf("the list of %s ends after one", name)
		}
	}
	for of, cursor := range cursors {
		for name, list := range lists {
			err := p.store.View(background(t), p.id, func(tx store.Tx) error {
				_, err := list(tx, store.Page{Limit: 1, After: cursor})
				return err
			})
			if refused := errors.As(err, new(*store.CursorError)); refused != (of != name) || err != nil && !refused {
				t.Errorf("the cursor of %s in the list of %s: %v", of, name, err)
			}
		}
	}
}
