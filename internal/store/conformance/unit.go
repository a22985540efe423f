package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var unitLaws = []law{
	{"what a unit keeps is there when it returns", keptOnReturn},
	{"of a unit that fails nothing is kept, whatever it wrote", nothingKept},
	{"the error of a unit comes back as it is", errorsComeBack},
	{"a unit that panics keeps nothing and stands in nobody's way", panics},
	{"a unit whose caller has gone keeps nothing", cancelled},
	{"every write shows somewhere", writesShow},
	{"a view writes nothing and says so", viewsDoNotWrite},
	{"a view sees one moment", oneMoment},
	{"of units that do the same at once one does it and the others find it done", conflicts},
	{"what a unit does before it runs again is not kept", startAnew},
	{"the time of units is the store's clock and never goes back", timeGoesOn},
	{"a unit says in which workspace it is", inItsWorkspace},
	{"a store that is there can be pinged and has a name", isThere},
}

func keptOnReturn(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	p.keep(t, func(tx store.Tx) { tx.AddAction(a, nil, nil) })
	got := look(t, p, func(tx store.Tx) (*store.Action, error) { return tx.ActionByRef(a.Ref) })
	if wording(got.Declaration) != wording(a.Declaration) {
		t.Errorf("kept is %s, want %s", wording(got.Declaration), wording(a.Declaration))
	}
}

func nothingKept(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := furnish(t, p)
	before := f.picture(t, p)
	failed := errors.New("it was not to be")
	for _, w := range writes {
		if err := p.try(t, func(tx store.Tx) error {
			if err := w.do(tx, f); err != nil {
				return err
			}
			return failed
		}); !errors.Is(err, failed) {
			t.Errorf("%s: %v", w.method, err)
		}
		for _, name := range differences(before, f.picture(t, p)) {
			t.Errorf("%s in a unit that failed changed what %s says", w.method, name)
		}
	}
}

func errorsComeBack(t *testing.T, s *suite) {
	p := s.workspace(t)
	mine := errors.New("mine")
	if err := p.try(t, func(store.Tx) error { return mine }); err != mine {
		t.Errorf("Do returned %v", err)
	}
	if err := p.store.View(background(t), p.id, func(store.Tx) error { return mine }); err != mine {
		t.Errorf("View returned %v", err)
	}
}

func panics(t *testing.T, s *suite) {
	p := s.workspace(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = p.try(t, func(tx store.Tx) error {
			tx.AddAction(action(1), nil, nil)
			if _, err := tx.ActionsByID([]string{actionID(1)}); err != nil {
				return err
			}
			panic("a defect")
		})
	}()
	declare(t, p, action(2))
	got := look(t, p, func(tx store.Tx) (map[string]*store.Action, error) {
		return tx.ActionsByID([]string{actionID(1), actionID(2)})
	})
	if len(got) != 1 || got[actionID(2)] == nil {
		t.Errorf("there are %v", got)
	}
}

func cancelled(t *testing.T, s *suite) {
	p := s.workspace(t)
	ctx, cancel := context.WithCancel(background(t))
	err := p.store.Do(ctx, p.id, func(tx store.Tx) error {
		tx.AddAction(action(1), nil, nil)
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Do returned %v", err)
	}
	got := look(t, p, func(tx store.Tx) (map[string]*store.Action, error) { return tx.ActionsByID([]string{actionID(1)}) })
	if len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

// writesShow makes sure that the other laws about writes can fail.
func writesShow(t *testing.T, s *suite) {
	for _, w := range writes {
		t.Run(w.method, func(t *testing.T) {
			t.Parallel()
			p := s.workspace(t)
			f := furnish(t, p)
			before := f.picture(t, p)
			p.do(t, func(tx store.Tx) error { return w.do(tx, f) })
			if len(differences(before, f.picture(t, p))) == 0 && !w.unseen {
				t.Error("what it wrote shows nowhere")
			}
		})
	}
}

func viewsDoNotWrite(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := furnish(t, p)
	before := f.picture(t, p)
	for _, w := range writes {
		if w.unseen {
			continue
		}
		err := func() (err error) {
			defer func() {
				if defect := recover(); defect != nil {
					err = fmt.Errorf("a defect: %v", defect)
				}
			}()
			return p.store.View(background(t), p.id, func(tx store.Tx) error { return w.do(tx, f) })
		}()
		if err == nil {
			t.Errorf("%s in a view is no error", w.method)
		}
	}
	for _, name := range differences(before, f.picture(t, p)) {
		t.Errorf("a view changed what %s says", name)
	}
}

func oneMoment(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := furnish(t, p)
	err := p.store.View(background(t), p.id, func(tx store.Tx) error {
		before, err := f.seen(tx)
		if err != nil {
			return err
		}
		for _, w := range writes {
			if w.again {
				p.do(t, func(tx store.Tx) error { return w.do(tx, f) })
			}
		}
		after, err := f.seen(tx)
		if err != nil {
			return err
		}
		for _, name := range differences(before, after) {
			t.Errorf("%s changed under a view", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func conflicts(t *testing.T, s *suite) {
	p := s.workspace(t)
	refs := make([]store.Ref, 20)
	together(t, len(refs), func(i int) error {
		return p.try(t, func(tx store.Tx) error {
			known, err := tx.ActionsByID([]string{actionID(1)})
			if err != nil {
				return err
			}
			if a := known[actionID(1)]; a != nil {
				refs[i] = a.Ref
				return nil
			}
			a := action(1, func(a *store.Action) { a.Ref = ref(i + 1) })
			refs[i] = a.Ref
			tx.AddAction(a, nil, nil)
			return nil
		})
	})
	for i := range refs {
		if refs[i] != refs[0] {
			t.Errorf("one was told %s, another %s", refs[0], refs[i])
		}
	}
}

func startAnew(t *testing.T, s *suite) {
	p := s.workspace(t)
	a := action(1)
	declare(t, p, a)
	const units = 10
	together(t, units, func(int) error {
		return p.try(t, func(tx store.Tx) error {
			got, err := tx.ActionByRef(a.Ref)
			if err != nil {
				return err
			}
			tx.AddRevision(revision(a, got.Revisions+1))
			tx.Audit(store.AuditEntry{At: tx.Now(), Actor: actor, Event: "action.declared", Object: string(a.Ref), Metadata: []byte(`{}`)})
			tx.CountDeclared("2026-11", 1)
			tx.AddLeaf(store.Leaf{Kind: "declaration", Object: string(a.Ref), Digest: fmt.Sprintf("sha256:%064d", got.Revisions+1), At: tx.Now(), Number: -1})
			return nil
		})
	})
	got := look(t, p, func(tx store.Tx) ([4]int, error) {
		declarations, err := tx.Declarations(a.Ref)
		entries, _, err2 := tx.ListAudit(store.Page{Limit: 100})
		count, err3 := tx.DeclaredIn("2026-11")
		leaves, err4 := tx.Unsequenced(100)
		return [4]int{len(declarations), len(entries), int(count), len(leaves)}, errors.Join(err, err2, err3, err4)
	})
	if want := [4]int{units + 1, units, units, units}; got != want {
		t.Errorf("declarations, audit entries, count and leaves are %v, want %v", got, want)
	}
}

func timeGoesOn(t *testing.T, s *suite) {
	p, c := s.apart(t)
	c.set(at(time.Hour))
	now := func() value.Instant {
		return look(t, p, func(tx store.Tx) (value.Instant, error) { return tx.Now(), nil })
	}
	first := now()
	if first < at(time.Hour) || first > at(time.Hour+time.Second) {
		t.Errorf("the clock says one, and a unit %s", first)
	}
	c.set(at(0))
	if second := now(); second < first {
		t.Errorf("after %s came %s", first, second)
	}
	c.set(at(2 * time.Hour))
	p.do(t, func(tx store.Tx) error {
		if third := tx.Now(); third < at(2*time.Hour) {
			t.Errorf("the clock says two, and a unit %s", third)
		} else if tx.Now() != third {
			t.Error("a unit has two times")
		}
		return nil
	})
}

func inItsWorkspace(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.do(t, func(tx store.Tx) error {
		if tx.Workspace() != p.id {
			t.Errorf("it says %s, want %s", tx.Workspace(), p.id)
		}
		return nil
	})
}

func isThere(t *testing.T, s *suite) {
	if err := s.store.Ping(background(t)); err != nil {
		t.Error(err)
	}
	if name := s.store.Name(); name != "sqlite" && name != "postgres" {
		t.Errorf("it is called %q", name)
	}
}

// differences names the readings in which two pictures differ.
func differences(a, b map[string]any) []string {
	var names []string
	for _, r := range reads {
		if !reflect.DeepEqual(a[r.method], b[r.method]) {
			names = append(names, r.method)
		}
	}
	return names
}
