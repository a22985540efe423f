package conformance

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/store"
)

var workspaceLaws = []law{
	{"of those who make the first workspace at once one does", firstOfMany},
	{"a workspace is not made for an address of another", ownersAddress},
	{"somebody may own several workspaces", severalWorkspaces},
	{"a workspace that is deleted is gone with all that was in it", deleted},
	{"what is in other workspaces stays when one is deleted", othersStay},
	{"a unit in a workspace that is not there finds nothing", nowhere},
}

func firstOfMany(t *testing.T, s *suite) {
	in := s.open(t, newClock().read)
	const starting = 20
	var made atomic.Int64
	together(t, starting, func(int) error {
		p := s.planned(in)
		ok, err := in.Directory().CreateWorkspace(background(t), p.settings(), p.person(), p.link(), true)
		if ok {
			made.Add(1)
			if _, err := in.Directory().UseSignIn(background(t), p.token("first"), at(0)); err != nil {
				t.Errorf("its link: %v", err)
			}
		}
		return err
	})
	all, err := in.Directory().Workspaces(background(t))
	if got := made.Load(); got != 1 || len(all) != 1 || err != nil {
		t.Errorf("%d were told that theirs was made, and there are %+v, %v", got, all, err)
	}
}

func ownersAddress(t *testing.T, s *suite) {
	p := s.workspace(t)
	q := s.planned(s.store)
	q.email = p.email
	made, err := s.store.Directory().CreateWorkspace(background(t), q.settings(), q.person(), q.link(), false)
	if made || !errors.Is(err, store.ErrTaken) {
		t.Errorf("it was made: %v, %v", made, err)
	}
	all, err := s.store.Directory().Workspaces(background(t))
	for _, w := range all {
		if w.ID == q.id {
			t.Error("it is there")
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func severalWorkspaces(t *testing.T, s *suite) {
	p := s.workspace(t)
	q := s.planned(s.store)
	q.owner, q.email = p.owner, p.email
	person := p.person()
	person.Name, person.PasswordHash = "Somebody else", ""
	made, err := s.store.Directory().CreateWorkspace(background(t), q.settings(), person, q.link(), false)
	if !made || err != nil {
		t.Fatalf("it was made: %v, %v", made, err)
	}
	if got, err := s.store.Directory().Person(background(t), p.owner); got != p.person() || err != nil {
		t.Errorf("the owner became %+v, %v", got, err)
	}
	if got, err := s.store.Directory().MembershipsOf(background(t), p.owner); len(got) != 2 || err != nil {
		t.Errorf("the owner is in %+v, %v", got, err)
	}
}

func deleted(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := furnish(t, p)
	p.keep(t, func(tx store.Tx) {
		tx.AddSignIn(store.SignIn{Hash: p.token("second"), Workspace: p.id, Member: p.owner, ExpiresAt: at(day)})
	})
	d := s.store.Directory()
	for range 2 { // a second time does no harm
		if err := d.DeleteWorkspace(background(t), p.id); err != nil {
			t.Fatal(err)
		}
	}
	after := f.picture(t, p)
	for _, r := range reads {
		if !nothing(after[r.method]) && r.method != "Workspace" && r.method != "Directory" {
			t.Errorf("%s still says %v", r.method, after[r.method])
		}
	}
	for what, err := range map[string]error{
		"its key":     third(d.KeyByPrefix(background(t), f.key.Prefix)),
		"its link":    second(d.UseSignIn(background(t), p.token("second"), at(0))),
		"its session": fourth(d.SessionByHash(background(t), f.session)),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	all, err := d.Workspaces(background(t))
	for _, w := range all {
		if w.ID == p.id {
			t.Error("it is still listed")
		}
	}
	if got, err2 := d.MembershipsOf(background(t), p.owner); len(got) != 0 || err != nil || err2 != nil {
		t.Errorf("the owner is still in %+v, %v, %v", got, err, err2)
	}
}

func third[A, B any](_ A, _ B, err error) error          { return err }
func fourth[A, B, C any](_ A, _ B, _ C, err error) error { return err }

func othersStay(t *testing.T, s *suite) {
	p, other := s.workspace(t), s.workspace(t)
	furnish(t, p)
	g := furnish(t, other)
	before := g.picture(t, other)
	if err := s.store.Directory().DeleteWorkspace(background(t), p.id); err != nil {
		t.Fatal(err)
	}
	for _, name := range differences(before, g.picture(t, other)) {
		t.Errorf("%s changed elsewhere", name)
	}
	all, err := s.store.Directory().Workspaces(background(t))
	if err != nil || !slices.Contains(all, other.settings()) {
		t.Errorf("the other is not among %v, %v", all, err)
	}
}

func nowhere(t *testing.T, s *suite) {
	p := s.planned(s.store)
	err := p.store.View(background(t), p.id, func(tx store.Tx) error {
		if _, err := tx.GetWorkspace(); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the workspace: %v", err)
		}
		items, _, err := tx.ListActions(store.Filter{}, store.Page{Limit: 1})
		if len(items) != 0 {
			t.Errorf("there are %v", items)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
