package conformance

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

var signInLaws = []law{
	{"a link signs in once, whoever tries at the same time", linkOnce},
	{"a link that is unknown, used or expired signs nobody in", linkRefused},
	{"a session is found by its hash, with the member's present place", sessionFound},
	{"a session ends once, and is confirmed", sessionEnds},
	{"all sessions of a member in a workspace end, and no others", sessionsEnd},
	{"what ended long ago is removed", expired},
	{"a small value is set once", metaOnce},
}

func linkOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	var used atomic.Int64
	together(t, 20, func(int) error {
		link, err := s.store.Directory().UseSignIn(background(t), p.token("first"), at(time.Minute))
		switch {
		case err == nil:
			used.Add(1)
			want := p.link()
			want.UsedAt = at(time.Minute)
			if link != want {
				t.Errorf("it is %+v, want %+v", link, want)
			}
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		return nil
	})
	if got := used.Load(); got != 1 {
		t.Errorf("%d have signed in", got)
	}
}

func linkRefused(t *testing.T, s *suite) {
	p := s.workspace(t)
	d := s.store.Directory()
	use := func(name string, when time.Duration) error {
		_, err := d.UseSignIn(background(t), p.token(name), at(when))
		return err
	}
	bo := newcomer(t, p, "Bo")
	p.keep(t, func(tx store.Tx) {
		for _, link := range []struct {
			name string
			of   access.MemberID
		}{{"earlier", p.owner}, {"a", p.owner}, {"b", bo.ID}} {
			tx.AddSignIn(store.SignIn{Hash: p.token(link.name), Workspace: p.id, Member: link.of, ExpiresAt: at(time.Hour)})
		}
	})
	for _, step := range []struct {
		what, link string
		when       time.Duration
		works      bool
	}{
		{"an unknown one", "unknown", 0, false},
		{"one that a later one took the place of", "earlier", 0, false},
		{"one that expires now", "a", time.Hour, false},
		{"one that expired", "a", day, false},
		{"one just before it expires", "a", time.Hour - time.Microsecond, true},
		{"one that was used", "a", 0, false},
		{"another member's", "b", 0, true},
	} {
		err := use(step.link, step.when)
		if step.works && err != nil || !step.works && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", step.what, err)
		}
	}
}

// session keeps a session of the workspace's owner.
func session(t testing.TB, p place, name string, change func(*access.Session)) access.Session {
	t.Helper()
	made := access.Session{
		ID: access.SessionID("ses_" + name + string(p.id)), Kind: access.Cookie, Workspace: p.id, Member: p.owner,
		IssuedAt: noon, ExpiresAt: at(day), ConfirmedAt: at(time.Minute),
	}
	if change != nil {
		change(&made)
	}
	if err := p.store.Directory().AddSession(background(t), made, p.token(name)); err != nil {
		t.Fatal(err)
	}
	return made
}

func sessionFound(t *testing.T, s *suite) {
	p := s.workspace(t)
	d := s.store.Directory()
	want := session(t, p, "a", func(m *access.Session) { m.Kind = access.Terminal })
	owner := members(t, p)[0]
	got, place, w, err := d.SessionByHash(background(t), p.token("a"))
	if err != nil || got != want || place != owner.Membership || w != p.settings() {
		t.Errorf("it is %+v of %+v in %+v, %v", got, place, w, err)
	}
	bo := newcomer(t, p, "Bo")
	p.keep(t, func(tx store.Tx) {
		tx.PutMember(member(p.id, bo, access.Owner))
		owner.Role = access.Viewer
		tx.PutMember(owner)
	})
	if _, place, _, err := d.SessionByHash(background(t), p.token("a")); err != nil || place.Role != access.Viewer {
		t.Errorf("after a change of role it is of %+v, %v", place, err)
	}
	elsewhere := s.workspace(t)
	elsewhere.keep(t, func(tx store.Tx) { tx.PutMember(member(elsewhere.id, p.person(), access.Admin)) })
	if _, place, _, err := d.SessionByHash(background(t), p.token("a")); err != nil || place.Role != access.Viewer || place.Workspace != p.id {
		t.Errorf("of a member of two workspaces it is of %+v, %v", place, err)
	}
	p.keep(t, func(tx store.Tx) { tx.RemoveMember(p.owner) })
	if got, place, _, err := d.SessionByHash(background(t), p.token("a")); err != nil || place != (access.Membership{}) || got.Member != p.owner {
		t.Errorf("of who has left it is %+v, %v", place, err)
	}
	if _, _, _, err := d.SessionByHash(background(t), p.token("b")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one: %v", err)
	}
}

// sessionNow is a session as it stands.
func sessionNow(t testing.TB, p place, name string) access.Session {
	t.Helper()
	got, _, _, err := p.store.Directory().SessionByHash(background(t), p.token(name))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func sessionEnds(t *testing.T, s *suite) {
	p := s.workspace(t)
	d := s.store.Directory()
	want, other := session(t, p, "a", nil), session(t, p, "b", nil)
	if err := d.ConfirmSession(background(t), want.ID, at(time.Hour)); err != nil {
		t.Error(err)
	}
	want.ConfirmedAt = at(time.Hour)
	if got := sessionNow(t, p, "a"); got != want {
		t.Errorf("confirmed it is %+v, want %+v", got, want)
	}
	for _, when := range []time.Duration{2 * time.Hour, 3 * time.Hour} {
		if err := d.EndSession(background(t), want.ID, at(when)); err != nil {
			t.Error(err)
		}
	}
	want.RevokedAt = at(2 * time.Hour)
	if got := sessionNow(t, p, "a"); got != want {
		t.Errorf("ended twice it is %+v, want %+v", got, want)
	}
	if got := sessionNow(t, p, "b"); got != other {
		t.Errorf("another one is %+v, want %+v", got, other)
	}
}

func sessionsEnd(t *testing.T, s *suite) {
	p, q := s.workspace(t), s.workspace(t)
	bo := newcomer(t, p, "Bo")
	of := func(w access.WorkspaceID, m access.MemberID) func(*access.Session) {
		return func(s *access.Session) { s.Workspace, s.Member = w, m }
	}
	for name, change := range map[string]func(*access.Session){
		"a": of(p.id, bo.ID), "b": of(p.id, bo.ID), "elsewhere": of(q.id, bo.ID), "another's": of(p.id, p.owner),
	} {
		session(t, p, name, change)
	}
	p.keep(t, func(tx store.Tx) { tx.EndSessions(bo.ID, at(time.Hour)) })
	p.keep(t, func(tx store.Tx) { tx.EndSessions(bo.ID, at(2*time.Hour)) })
	for name, want := range map[string]bool{"a": true, "b": true, "elsewhere": false, "another's": false} {
		if got := sessionNow(t, p, name).RevokedAt; want && got != at(time.Hour) || !want && got != 0 {
			t.Errorf("%s ended at %q", name, got)
		}
	}
}

// expired needs a store of its own: it removes what others have.
func expired(t *testing.T, s *suite) {
	p, _ := s.apart(t)
	d := p.store.Directory()
	bo := newcomer(t, p, "Bo")
	session(t, p, "over", func(s *access.Session) { s.ExpiresAt = at(time.Hour) })
	session(t, p, "ended", func(s *access.Session) { s.RevokedAt = at(time.Minute) })
	session(t, p, "ends now", func(s *access.Session) { s.ExpiresAt = at(2 * time.Hour) })
	session(t, p, "lives", nil)
	p.keep(t, func(tx store.Tx) {
		tx.AddSignIn(store.SignIn{Hash: p.token("old"), Workspace: p.id, Member: p.owner, ExpiresAt: at(time.Hour)})
		tx.AddSignIn(store.SignIn{Hash: p.token("young"), Workspace: p.id, Member: bo.ID, ExpiresAt: at(day)})
	})
	if err := d.Expire(background(t), at(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for name, gone := range map[string]bool{"over": true, "ended": true, "ends now": false, "lives": false} {
		_, _, _, err := d.SessionByHash(background(t), p.token(name))
		if gone != errors.Is(err, store.ErrNotFound) {
			t.Errorf("the session that %s: %v", name, err)
		}
	}
	// By a time at which it still was good, so that only its removal can refuse it.
	for name, gone := range map[string]bool{"old": true, "young": false} {
		if _, err := d.UseSignIn(background(t), p.token(name), at(0)); gone != errors.Is(err, store.ErrNotFound) {
			t.Errorf("the %s link: %v", name, err)
		}
	}
}

func metaOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	d := s.store.Directory()
	name := "fingerprint of " + string(p.id)
	if got, err := d.Meta(background(t), name); err != nil || got != "" {
		t.Errorf("at first it is %q, %v", got, err)
	}
	values := make([]string, 10)
	together(t, len(values), func(i int) (err error) {
		values[i], err = d.SetMeta(background(t), name, string(rune('a'+i)))
		return err
	})
	kept, err := d.Meta(background(t), name)
	if err != nil || kept == "" {
		t.Errorf("it is %q, %v", kept, err)
	}
	for _, got := range values {
		if got != kept {
			t.Errorf("one was told %q, and it is %q", got, kept)
		}
	}
}
