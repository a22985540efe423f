package conformance

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

var keyLaws = []law{
	{"a key comes back as it was made, and opens with its secret", keyReturns},
	{"a key is found by its prefix, with its workspace, whatever became of it", byPrefix},
	{"a key is changed by its id", keyChanges},
	{"a prefix that another has is taken, in this workspace and in any other", prefixTaken},
}

func keyReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	order := access.KeyOrder{ID: "key_1", Name: "ü ' \"", Scopes: access.ScopesOf(access.ActionsRecord)}
	bare, secret, err := access.MintKey(order, p.settings().Workspace, newDice(p, "bare"), noon)
	if err != nil {
		t.Fatal(err)
	}
	whole := newKey(t, p, "whole")
	whole.RevokedAt, whole.ReplacedBy = at(time.Hour), bare.Prefix
	whole.Limits.ActionTypes = []string{"refund_order"}
	p.keep(t, func(tx store.Tx) { tx.PutKey(whole); tx.PutKey(bare) })
	for _, want := range []access.Key{bare, whole} {
		got := look(t, p, func(tx store.Tx) (*access.Key, error) { return tx.Key(want.ID) })
		sameKey(t, *got, want)
	}
	kept := look(t, p, func(tx store.Tx) (*access.Key, error) { return tx.Key("key_1") })
	if !kept.Hash.Matches(secret) {
		t.Error("its secret does not open it")
	}
	all := look(t, p, func(tx store.Tx) ([]access.Key, error) { return tx.ListKeys() })
	slices.SortFunc(all, func(a, b access.Key) int { return len(a.ID) - len(b.ID) })
	if len(all) != 2 {
		t.Fatalf("there are %d", len(all))
	}
	sameKey(t, all[0], bare)
	sameKey(t, all[1], whole)
	err = p.store.View(background(t), p.id, func(tx store.Tx) error {
		_, err := tx.Key("nobody's")
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key that is not there: %v", err)
	}
}

func sameKey(t *testing.T, got, want access.Key) {
	t.Helper()
	if !slices.Equal(got.Hash.Bytes(), want.Hash.Bytes()) {
		t.Errorf("%s has another hash", want.Name)
	}
	got.Hash = want.Hash // which is a pointer
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %+v, want %+v", got, want)
	}
}

func byPrefix(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := newKey(t, p, "reader")
	if _, _, err := s.store.Directory().KeyByPrefix(background(t), k.Prefix); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before it is kept: %v", err)
	}
	p.keep(t, func(tx store.Tx) { tx.PutKey(k) })
	settings := p.settings()
	settings.Development, settings.Plan = true, "other"
	p.keep(t, func(tx store.Tx) { tx.PutWorkspace(settings) })
	for _, revoked := range []bool{false, true} {
		if revoked {
			k.RevokedAt = at(time.Hour)
			p.keep(t, func(tx store.Tx) { tx.PutKey(k) })
		}
		got, w, err := s.store.Directory().KeyByPrefix(background(t), k.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		sameKey(t, got, k)
		if w != settings {
			t.Errorf("its workspace is %+v, want %+v", w, settings)
		}
	}
}

func keyChanges(t *testing.T, s *suite) {
	p := s.workspace(t)
	k := newKey(t, p, "reader")
	p.keep(t, func(tx store.Tx) { tx.PutKey(k) })
	next := newKey(t, p, "next")
	k.ExpiresAt, k.ReplacedBy = at(day), next.Prefix
	p.keep(t, func(tx store.Tx) { tx.PutKey(k); tx.PutKey(next) })
	sameKey(t, *look(t, p, func(tx store.Tx) (*access.Key, error) { return tx.Key(k.ID) }), k)
	if all := look(t, p, func(tx store.Tx) ([]access.Key, error) { return tx.ListKeys() }); len(all) != 2 {
		t.Errorf("there are %d", len(all))
	}
}

func prefixTaken(t *testing.T, s *suite) {
	p, other := s.workspace(t), s.workspace(t)
	k := newKey(t, p, "reader")
	p.keep(t, func(tx store.Tx) { tx.PutKey(k) })
	for _, in := range []place{p, other} {
		same := newKey(t, in, "another")
		same.Prefix = k.Prefix
		runs := 0
		err := in.try(t, func(tx store.Tx) error {
			runs++
			tx.PutKey(same)
			tx.AddLeaf(leaf(1))
			return nil
		})
		if !errors.Is(err, store.ErrTaken) || runs != 1 {
			t.Errorf("the same prefix after %d runs: %v", runs, err)
		}
		if got := look(t, in, func(tx store.Tx) ([]store.Leaf, error) { return tx.Unsequenced(10) }); len(got) != 0 {
			t.Error("the rest of the unit was kept")
		}
	}
	got, w, err := s.store.Directory().KeyByPrefix(background(t), k.Prefix)
	if err != nil || w.ID != p.id {
		t.Fatalf("after it, the prefix belongs to %s, %v", w.ID, err)
	}
	sameKey(t, got, k)
}
