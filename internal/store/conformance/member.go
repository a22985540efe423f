package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

var memberLaws = []law{
	{"a workspace has its first owner as a member", firstOwner},
	{"a member gets a role, another one, and leaves", comesAndGoes},
	{"a person's workspaces are told", membershipsOf},
	{"of owners who all leave at once one remains", oneOwnerRemains},
	{"a unit that locks the members waits until the one before it has ended", membersWait},
	{"a workspace's settings are changed", settingsChange},
	{"people are found by address and by id", peopleFound},
	{"an address belongs to one person, however it is written", addressTaken},
}

func members(t testing.TB, p place) []store.Member {
	t.Helper()
	all := look(t, p, func(tx store.Tx) ([]store.Member, error) { return tx.ListMembers() })
	slices.SortFunc(all, func(a, b store.Member) int { return strings.Compare(string(a.Member), string(b.Member)) })
	return all
}

// newcomer is a person who is in no workspace.
func newcomer(t testing.TB, p place, name string) store.Person {
	t.Helper()
	person := store.Person{
		ID: access.MemberID("per_" + name + string(p.id)), Email: access.Email(name + "-" + string(p.id) + "@example.com"), Name: name, CreatedAt: at(time.Minute),
	}
	if err := p.store.Directory().PutPerson(background(t), person); err != nil {
		t.Fatal(err)
	}
	return person
}

func firstOwner(t *testing.T, s *suite) {
	p := s.workspace(t)
	want := store.Member{Name: "Ada", JoinedAt: noon}
	want.Workspace, want.Member, want.Email, want.Role = p.id, p.owner, p.email, access.Owner
	if got := members(t, p); len(got) != 1 || got[0] != want {
		t.Errorf("there are %+v, want %+v", got, want)
	}
}

func comesAndGoes(t *testing.T, s *suite) {
	p := s.workspace(t)
	bo := newcomer(t, p, "Bo")
	for _, role := range []access.Role{access.Viewer, access.Admin} {
		want := member(p.id, bo, role)
		p.keep(t, func(tx store.Tx) { tx.PutMember(want) })
		got := members(t, p)
		if len(got) != 2 || !slices.Contains(got, want) {
			t.Errorf("as %s there are %+v", role, got)
		}
	}
	p.keep(t, func(tx store.Tx) { tx.RemoveMember(bo.ID); tx.RemoveMember("nobody") })
	if got := members(t, p); len(got) != 1 || got[0].Member != p.owner {
		t.Errorf("after it there are %+v", got)
	}
	if got, err := s.store.Directory().Person(background(t), bo.ID); err != nil || got != bo {
		t.Errorf("who has left is %+v, %v", got, err)
	}
	err := p.try(t, func(tx store.Tx) error {
		tx.PutMember(member(p.id, store.Person{ID: "per_nobody"}, access.Viewer))
		return nil
	})
	if err == nil {
		t.Error("nobody became a member")
	}
}

func membershipsOf(t *testing.T, s *suite) {
	one, two := s.workspace(t), s.workspace(t)
	bo := newcomer(t, one, "Bo")
	if got, err := s.store.Directory().MembershipsOf(background(t), bo.ID); err != nil || len(got) != 0 {
		t.Errorf("at first there are %+v, %v", got, err)
	}
	one.keep(t, func(tx store.Tx) { tx.PutMember(member(one.id, bo, access.Viewer)) })
	two.keep(t, func(tx store.Tx) { tx.PutMember(member(two.id, bo, access.Admin)) })
	got, err := s.store.Directory().MembershipsOf(background(t), bo.ID)
	if err != nil || len(got) != 2 || !slices.Contains(got, member(one.id, bo, access.Viewer)) || !slices.Contains(got, member(two.id, bo, access.Admin)) {
		t.Errorf("there are %+v, %v", got, err)
	}
}

func oneOwnerRemains(t *testing.T, s *suite) {
	p := s.workspace(t)
	const owners = 8
	all := []access.MemberID{p.owner}
	for n := 1; n < owners; n++ {
		person := newcomer(t, p, fmt.Sprint("Owner", n))
		p.keep(t, func(tx store.Tx) { tx.PutMember(member(p.id, person, access.Owner)) })
		all = append(all, person.ID)
	}
	together(t, owners, func(i int) error {
		return p.try(t, func(tx store.Tx) error {
			if err := tx.LockMembers(); err != nil {
				return err
			}
			known, err := tx.ListMembers()
			if err != nil {
				return err
			}
			if len(known) > 1 {
				tx.RemoveMember(all[i])
			}
			return nil
		})
	})
	if got := members(t, p); len(got) != 1 {
		t.Errorf("there remain %+v", got)
	}
}

func membersWait(t *testing.T, s *suite) {
	waits(t, s.workspace(t), store.Tx.LockMembers)
}

func settingsChange(t *testing.T, s *suite) {
	p := s.workspace(t)
	get := func() store.Workspace {
		return *look(t, p, func(tx store.Tx) (*store.Workspace, error) { return tx.GetWorkspace() })
	}
	want := p.settings()
	if got := get(); got != want {
		t.Errorf("at first it is %+v, want %+v", got, want)
	}
	want.Name, want.Plan, want.Development, want.SecondMember = "ü", "other", true, true
	p.keep(t, func(tx store.Tx) { tx.PutWorkspace(want) })
	if got := get(); got != want {
		t.Errorf("it is %+v, want %+v", got, want)
	}
	all, err := s.store.Directory().Workspaces(background(t))
	if err != nil || !slices.Contains(all, want) {
		t.Errorf("it is not among all, %v", err)
	}
}

func peopleFound(t *testing.T, s *suite) {
	p := s.workspace(t)
	d := s.store.Directory()
	want := p.person()
	for name, find := range map[string]func() (store.Person, error){
		"by id":      func() (store.Person, error) { return d.Person(background(t), want.ID) },
		"by address": func() (store.Person, error) { return d.PersonByEmail(background(t), want.Email) },
		"by address in big letters": func() (store.Person, error) {
			return d.PersonByEmail(background(t), access.Email(strings.ToUpper(string(want.Email))))
		},
	} {
		if got, err := find(); err != nil || got != want {
			t.Errorf("%s it is %+v, %v", name, got, err)
		}
	}
	want.Name, want.PasswordHash, want.Email = "Ada L", "", "new-"+want.Email
	if err := d.PutPerson(background(t), want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.PersonByEmail(background(t), want.Email); err != nil || got != want {
		t.Errorf("after a change it is %+v, %v", got, err)
	}
	if got := members(t, p)[0]; got.Email != want.Email || got.Name != want.Name {
		t.Errorf("as a member it is %+v", got)
	}
	for name, err := range map[string]error{
		"by id":          second(d.Person(background(t), "per_nobody")),
		"by address":     second(d.PersonByEmail(background(t), "nobody@example.com")),
		"by old address": second(d.PersonByEmail(background(t), p.email)),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s nobody is %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func addressTaken(t *testing.T, s *suite) {
	p := s.workspace(t)
	bo := newcomer(t, p, "Bo")
	for _, address := range []string{string(p.email), strings.ToUpper(string(p.email))} {
		taken := bo
		taken.Email = access.Email(address)
		if err := s.store.Directory().PutPerson(background(t), taken); !errors.Is(err, store.ErrTaken) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := s.store.Directory().PutPerson(background(t), bo); err != nil {
		t.Errorf("one's own address: %v", err)
	}
}
