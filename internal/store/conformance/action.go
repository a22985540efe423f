package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

var actionLaws = []law{
	{"an action comes back as it was declared, byte for byte", actionReturns},
	{"what is not there is not found", actionMissing},
	{"declarations come back in order, and the action is its first", revisionsInOrder},
	{"a revision that many add at once is added by one after the other", revisionsAtOnce},
	{"one unit keeps many actions", manyActions},
}

func actionReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1, governed, with(func(d *verdict.Declaration) {
		d.RequestedAt, d.ProvedAt, d.Compensates = at(-time.Microsecond), at(5*time.Microsecond), "refund:o-0"
		d.Params["weight"] = decimal("12345678901234567890.10")
		d.Params["price"] = amount("0.10 USD")
	}), func(a *store.Action) {
		a.SelfAttested = true
		a.Body = []byte(" {\"a\":1,\"a\":\"\u2028\\u0000\",\n\"b\":1e400} ")
	})
	bare := &store.Action{Revisions: 1}
	bare.Ref, bare.Revision, bare.Body, bare.By = ref(2), 1, []byte("{}"), actor
	bare.Declaration = verdict.Declaration{ActionID: "ü' \"; --\\", ReceivedAt: at(0)}
	p.keep(t, func(tx store.Tx) {
		tx.AddAction(a, nil, nil)
		tx.AddAction(bare, nil, nil)
	})
	for _, want := range []*store.Action{a, bare} {
		byRef := look(t, p, func(tx store.Tx) (*store.Action, error) { return tx.ActionByRef(want.Ref) })
		sameAction(t, byRef, want)
		byID := look(t, p, func(tx store.Tx) (map[string]*store.Action, error) {
			return tx.ActionsByID([]string{want.Declaration.ActionID, "nobody"})
		})
		if len(byID) != 1 {
			t.Fatalf("by id there are %v", byID)
		}
		sameAction(t, byID[want.Declaration.ActionID], want)
		declared := look(t, p, func(tx store.Tx) ([]store.Declared, error) { return tx.Declarations(want.Ref) })
		if len(declared) != 1 {
			t.Fatalf("there are %d declarations", len(declared))
		}
		sameDeclared(t, &declared[0], &want.Declared)
		refs := look(t, p, func(tx store.Tx) (map[string]store.Ref, error) {
			return tx.RefsOf([]string{want.Declaration.ActionID, "nobody"})
		})
		if !maps.Equal(refs, map[string]store.Ref{want.Declaration.ActionID: want.Ref}) {
			t.Errorf("refs are %v", refs)
		}
	}
}

func sameAction(t *testing.T, got, want *store.Action) {
	t.Helper()
	if got == nil {
		t.Fatalf("there is no action %s", want.Ref)
	}
	sameDeclared(t, &got.Declared, &want.Declared)
	if got.Version != want.Version || got.Mode != want.Mode || got.Revisions != want.Revisions {
		t.Errorf("it is under version %d %q with %d revisions, want %d %q with %d", got.Version, got.Mode, got.Revisions, want.Version, want.Mode, want.Revisions)
	}
}

func sameDeclared(t *testing.T, got, want *store.Declared) {
	t.Helper()
	if g, w := wording(got.Declaration), wording(want.Declaration); g != w {
		t.Errorf("declared is\n%s\nwant\n%s", g, w)
	}
	if got.Ref != want.Ref || got.Revision != want.Revision || got.By != want.By || got.SelfAttested != want.SelfAttested || !bytes.Equal(got.Body, want.Body) {
		t.Errorf("declared is %+v, want %+v", got, want)
	}
}

func actionMissing(t *testing.T, s *suite) {
	p := s.workspace(t)
	err := p.store.View(background(t), p.id, func(tx store.Tx) error {
		_, err := tx.ActionByRef(ref(1))
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an action that nobody declared: %v", err)
	}
	for _, name := range [][]string{nil, {}, {"nobody"}} {
		found := look(t, p, func(tx store.Tx) (map[string]*store.Action, error) { return tx.ActionsByID(name) })
		if len(found) != 0 {
			t.Errorf("by %q there are %v", name, found)
		}
	}
	if found := look(t, p, func(tx store.Tx) ([]store.Declared, error) { return tx.Declarations(ref(1)) }); len(found) != 0 {
		t.Errorf("declarations are %v", found)
	}
}

func revisionsInOrder(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	for n := 2; n <= 12; n++ { // so that 10 does not come before 2
		p.keep(t, func(tx store.Tx) { tx.AddRevision(revision(a, n)) })
	}
	declared := look(t, p, func(tx store.Tx) ([]store.Declared, error) { return tx.Declarations(a.Ref) })
	if len(declared) != 12 {
		t.Fatalf("there are %d declarations", len(declared))
	}
	sameDeclared(t, &declared[0], &a.Declared)
	for n := 2; n <= 12; n++ {
		sameDeclared(t, &declared[n-1], revision(a, n))
	}
	a.Revisions = 12
	sameAction(t, look(t, p, func(tx store.Tx) (*store.Action, error) { return tx.ActionByRef(a.Ref) }), a)
}

func revisionsAtOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	const units = 10
	together(t, units, func(int) error {
		return p.try(t, func(tx store.Tx) error {
			known, err := tx.ActionsByID([]string{a.Declaration.ActionID})
			if err != nil {
				return err
			}
			tx.AddRevision(revision(a, known[a.Declaration.ActionID].Revisions+1))
			return nil
		})
	})
	declared := look(t, p, func(tx store.Tx) ([]store.Declared, error) { return tx.Declarations(a.Ref) })
	var numbers []int
	for i := range declared {
		numbers = append(numbers, declared[i].Revision)
	}
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(numbers, want) {
		t.Errorf("revisions are %v, want %v", numbers, want)
	}
}

func manyActions(t *testing.T, s *suite) {
	p := s.workspace(t)
	const n = 500
	p.keep(t, func(tx store.Tx) {
		for i := range n {
			tx.AddAction(action(i), nil, map[string]string{"order": fmt.Sprint(i)})
			tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: ref(i), Due: at(day)})
		}
	})
	var ids []string
	want := map[string]store.Ref{}
	for i := range n {
		ids = append(ids, actionID(i))
		want[actionID(i)] = ref(i)
	}
	got := look(t, p, func(tx store.Tx) (map[string]store.Ref, error) { return tx.RefsOf(ids) })
	if !reflect.DeepEqual(got, want) {
		t.Errorf("of %d there are %d", n, len(got))
	}
}
