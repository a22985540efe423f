package conformance

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// reading is one method of a unit that answers, asked for the things of a
// furnished workspace.
type reading struct {
	method string
	ask    func(tx store.Tx, f *furnished) (any, error)
	own    bool // every workspace has an answer, and each another
}

// pages asks for the first page of a list.
func pages[T any](list func(store.Tx, store.Page) ([]T, store.Cursor, error)) func(store.Tx, *furnished) (any, error) {
	return func(tx store.Tx, _ *furnished) (any, error) {
		items, _, err := list(tx, store.Page{Limit: 100})
		return items, err
	}
}

// reads are all of them but Now, which is another every time, and Claim, which
// takes.
var reads = []reading{
	{method: "Workspace", own: true, ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Workspace(), nil }},
	{method: "Ask", ask: func(tx store.Tx, f *furnished) (any, error) { return f.answers(tx) }},
	{method: "ActionsByID", ask: func(tx store.Tx, _ *furnished) (any, error) {
		return tx.ActionsByID([]string{actionID(1), actionID(2), actionID(3)})
	}},
	{method: "ActionByRef", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.ActionByRef(ref(1)) }},
	{method: "Declarations", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Declarations(ref(1)) }},
	{method: "ListActions", ask: pages(func(tx store.Tx, page store.Page) ([]store.Listed, store.Cursor, error) {
		return tx.ListActions(store.Filter{}, page)
	})},
	{method: "ListPending", ask: pages(func(tx store.Tx, page store.Page) ([]store.Listed, store.Cursor, error) {
		return tx.ListPending(store.Filter{}, page)
	})},
	{method: "Summary", ask: func(tx store.Tx, _ *furnished) (any, error) {
		counts, err := tx.Summary(store.Filter{})
		slices.SortFunc(counts, func(a, b store.ContractCount) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return counts, err
	}},
	{method: "Current", ask: func(tx store.Tx, _ *furnished) (any, error) {
		found, err := tx.Current([]store.Ref{ref(1), ref(2), ref(3)})
		words := map[store.Ref]string{}
		for r, v := range found {
			words[r] = word(v)
		}
		return words, err
	}},
	{method: "Settled", ask: func(tx store.Tx, _ *furnished) (any, error) {
		var all []string
		for n := 1; n <= 2; n++ {
			kept, err := tx.Settled(ref(n))
			if err != nil {
				return nil, err
			}
			for i := range kept {
				all = append(all, word(&kept[i].Verdict)+string(kept[i].Case))
			}
		}
		return all, nil
	}},
	{method: "NextDue", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.NextDue() }},
	{method: "Waiting", ask: func(tx store.Tx, _ *furnished) (any, error) {
		return tx.Waiting("stripe", "refund.succeeded", at(100*day), "", 100)
	}},
	{method: "RefsOf", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.RefsOf([]string{actionID(1), actionID(3)}) }},
	{method: "ListFacts", ask: pages(func(tx store.Tx, page store.Page) ([]store.Fact, store.Cursor, error) {
		return tx.ListFacts(store.FactFilter{}, page)
	})},
	{method: "FactRevisions", ask: func(tx store.Tx, f *furnished) (any, error) { return tx.FactRevisions(f.identity()) }},
	{method: "SourceStates", ask: func(tx store.Tx, _ *furnished) (any, error) {
		states, err := tx.SourceStates()
		states = slices.Clone(states)
		for i := range states {
			states[i].Facts = 0 // which may lag
		}
		return states, err
	}},
	{method: "ContractVersions", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.ContractVersions("", true) }},
	{method: "ContractVersion", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.ContractVersion("refunds", 2) }},
	{method: "ActiveContracts", ask: func(tx store.Tx, _ *furnished) (any, error) {
		return tx.ActiveContracts([]string{"refunds"}, at(day))
	}},
	{method: "ListKeys", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.ListKeys() }},
	{method: "Key", ask: func(tx store.Tx, f *furnished) (any, error) { return tx.Key(f.key.ID) }},
	{method: "ListMembers", own: true, ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.ListMembers() }},
	{method: "GetWorkspace", own: true, ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.GetWorkspace() }},
	{method: "ListAudit", ask: pages(func(tx store.Tx, page store.Page) ([]store.AuditEntry, store.Cursor, error) {
		return tx.ListAudit(page)
	})},
	{method: "DeclaredIn", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.DeclaredIn("2026-11") }},
	{method: "LedgerState", ask: func(tx store.Tx, _ *furnished) (any, error) {
		s, err := tx.LedgerState()
		if s.Size == 0 && len(s.Peaks) == 0 && len(s.Checkpoint) == 0 {
			s = store.LedgerState{}
		}
		return s, err
	}},
	{method: "Unsequenced", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Unsequenced(100) }},
	{method: "Leaves", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Leaves(0, 100) }},
	{method: "LeafOf", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.LeafOf(leaf(0).Digest) }},
	{method: "Nodes", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Nodes(tlog.StoredLevel, 0, 2) }},
	{method: "Secret", ask: func(tx store.Tx, _ *furnished) (any, error) { return tx.Secret("signer") }},
	// What is read outside of units, and what only a unit that fails can read.
	{method: "Claim"},
	{method: "Pending"},
	{method: "Directory"},
}

// seen are the answers to all readings in a unit. What is not there is nil.
func (f *furnished) seen(tx store.Tx) (map[string]any, error) {
	all := map[string]any{}
	for _, r := range reads {
		if r.ask == nil {
			continue
		}
		answer, err := r.ask(tx, f)
		switch {
		case errors.Is(err, store.ErrNotFound):
			all[r.method] = nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", r.method, err)
		default:
			all[r.method] = answer
		}
	}
	return all, nil
}

// picture is all that can be read in a place of the things of a furnished one.
func (f *furnished) picture(t testing.TB, p place) map[string]any {
	t.Helper()
	all := look(t, p, f.seen)
	back := errors.New("back")
	err := p.try(t, func(tx store.Tx) error {
		pending, err := tx.Pending([]store.Ref{ref(1), ref(2), ref(3)})
		if err != nil {
			return err
		}
		all["Pending"] = pending
		wakes, err := tx.Claim(100)
		if err != nil {
			return err
		}
		all["Claim"] = wakes
		return back
	})
	if !errors.Is(err, back) {
		t.Fatalf("claim: %v", err)
	}
	session, membership, workspace, err := p.store.Directory().SessionByHash(background(t), f.session)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	all["Directory"] = []any{session, membership, workspace}
	return all
}

// nothing says whether an answer has nothing in it.
func nothing(answer any) bool {
	if answer == nil {
		return true
	}
	v := reflect.ValueOf(answer)
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

// answers are the kinds of questions that are answered with something, and with
// what.
func (f *furnished) answers(tx store.Tx) (map[string]string, error) {
	k := f.contract
	claimant := engine.NewClaimant(k, &action(1).Declaration)
	questions := map[string]*docket.Question{
		"Revisions":    {Revisions: actionID(1)},
		"by action id": {Declared: &docket.ActionKey{ContractID: "refunds", By: contract.ByActionID, Value: actionID(2), To: at(day)}},
		"by parameter": {Declared: &docket.ActionKey{ContractID: "refunds", By: contract.ByParam, Param: "order", Value: "o-1", To: at(day)}},
		"by backfill":  {Declared: &docket.ActionKey{ContractID: "refunds", By: contract.ByParam, Param: "ticket", Value: "t-1", To: at(day)}},
		"by subject":   {Declared: &docket.ActionKey{ContractID: "refunds", By: contract.BySubject, Value: "o-2", To: at(day)}},
		"Facts":        {Facts: &docket.FactKey{Ref: "key", Value: actionID(1)}},
		"Fact":         {Fact: new(f.identity())},
		"Sources":      {Sources: []string{"stripe"}},
		"Active":       {Active: &docket.ActiveKey{ContractID: "refunds", At: at(day)}},
		"Expecting":    {Expecting: "refund.succeeded"},
		"Latest":       {Latest: actionID(1)},
	}
	for i := range k.Limits {
		l := &k.Limits[i]
		questions["History "+l.ID] = &docket.Question{History: &docket.HistoryQuery{
			Contract: k, Limit: l, Mode: verdict.Live, Group: docket.Group(l, claimant), To: at(day), At: at(day),
		}}
		questions["Later "+l.ID] = &docket.Question{Later: &docket.LaterQuery{
			Key: docket.LimitKey(k, l), Group: docket.Group(l, claimant), To: at(day), Most: 100,
		}}
	}
	names := slices.Sorted(maps.Keys(questions))
	var list []*docket.Question
	for _, name := range names {
		list = append(list, questions[name])
	}
	if err := tx.Ask(list); err != nil {
		return nil, err
	}
	told := map[string]string{}
	for i, name := range names {
		if text := answer(list[i]); text != "" {
			told[name] = text
		}
	}
	return told, nil
}

// answer writes the answer to a question; empty if there is none.
func answer(q *docket.Question) string {
	var b strings.Builder
	for _, d := range q.Declarations {
		b.WriteString(wording(d))
	}
	for i := range q.Reported {
		f := &q.Reported[i]
		fmt.Fprintln(&b, f.Source, f.Type, f.ExternalID, f.Revision, f.IngestedAt, f.Refs, f.Retracted)
	}
	for _, s := range q.States {
		fmt.Fprintln(&b, s.Name, s.Trust, s.Provides, s.Unit(), marks(s.Watermarks))
	}
	for _, g := range q.Governing {
		fmt.Fprintln(&b, g.Contract.Digest, g.Version, g.Mode)
	}
	if q.Sum.Count > 0 {
		fmt.Fprintln(&b, q.Sum.Count, q.Sum.Totals, q.Sum.Unvalued)
	}
	for _, l := range q.Following {
		fmt.Fprintln(&b, l.ActionID, l.Start)
	}
	if q.Stored != nil {
		fmt.Fprintln(&b, word(&q.Stored.Verdict), len(q.Stored.Sources))
	}
	return b.String()
}

func marks(watermarks map[string]value.Instant) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(watermarks)) {
		fmt.Fprint(&b, name, " ", watermarks[name], ";")
	}
	return b.String()
}
