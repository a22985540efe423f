package attack

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// The office is where honest people work, and where a stranger got in.
const office = "192.0.2.1"

// door is the way into a workspace, with a clock that a test turns.
type door struct {
	*account.Service
	t     *testing.T
	store store.Store
	first *account.Started
	late  atomic.Int64 // by how much the clock is turned
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{t: t}
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(d.now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d.store = s
	d.restart()
	if d.first, err = d.Bootstrap(t.Context(), "Acme", "ada@example.com"); err != nil || d.first == nil {
		t.Fatalf("the first start made nothing: %v", err)
	}
	return d
}

func (d *door) now() value.Instant {
	return value.FromTime(time.Now().Add(time.Duration(d.late.Load())))
}

// restart is a new process on the same data: it has seen nobody.
func (d *door) restart() {
	d.t.Helper()
	service, err := account.New(d.store, d.now)
	if err != nil {
		d.t.Fatal(err)
	}
	d.Service = service
}

func (d *door) enter(link account.Token) account.Credential {
	d.t.Helper()
	in, err := d.SignIn(d.t.Context(), link.Reveal(), access.Terminal, office)
	if err != nil {
		d.t.Fatal(err)
	}
	return account.Credential{Text: in.Token.Reveal(), Address: office}
}

func (d *door) as(c account.Credential) access.Principal {
	d.t.Helper()
	p, err := d.Authenticate(d.t.Context(), c, access.REST)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// besiege sends wrong keys until the address is held up.
func (d *door) besiege() {
	d.t.Helper()
	wrong := account.Credential{Text: "spk_no", Address: office}
	for range 1000 {
		if _, err := d.Authenticate(d.t.Context(), wrong, access.REST); access.CodeOf(err) == access.RateLimited {
			return
		}
	}
	d.t.Fatal("nobody holds up who sends wrong keys")
}

func TestWrongKeysFromAnAddressHoldUpNobodyElseThere(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	owner := d.enter(d.first.Link)
	key, err := d.MintKey(t.Context(), d.as(owner), account.KeyOrder{Name: "a recorder", Scopes: access.ScopesOf(access.ActionsRecord)})
	if err != nil {
		t.Fatal(err)
	}
	guest, err := d.Invite(t.Context(), d.as(owner), "grace@example.com", "", access.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	d.restart()
	d.besiege()
	right := account.Credential{Text: key.Secret.Reveal(), Address: office}
	if _, err := d.Authenticate(t.Context(), right, access.REST); err != nil {
		t.Errorf("a right key that the server has not seen since its start: %v", err)
	}
	if _, err := d.Authenticate(t.Context(), owner, access.REST); err != nil {
		t.Errorf("the session of a member: %v", err)
	}
	if _, err := d.SignIn(t.Context(), guest.Link.Reveal(), access.Terminal, office); err != nil {
		t.Errorf("a sign-in link, which cannot be guessed: %v", err)
	}
}

func TestAnOldSessionIsNotConfirmedByALinkThatItMadeItself(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	owner := d.as(d.enter(d.first.Link))
	d.late.Add(int64(access.ConfirmedFor + time.Minute))
	if _, err := d.MemberLink(t.Context(), owner, owner.Member()); access.CodeOf(err) != access.ConfirmationRequired {
		t.Errorf("an owner who was not asked again made a link for themselves, by which they confirm: %v", err)
	}
}

func TestAnOldSessionMakesNoFreshOneByAnInvitation(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	owner := d.as(d.enter(d.first.Link))
	invited, err := d.Invite(t.Context(), owner, "admin@example.com", "", access.Admin)
	if err != nil {
		t.Fatal(err)
	}
	admin := d.as(d.enter(invited.Link))
	d.late.Add(int64(access.ConfirmedFor + time.Minute))
	order := account.KeyOrder{Name: "evidence", Scopes: access.ScopesOf(access.FactsWrite), Sources: []string{"bank"}}
	if _, err := d.MintKey(t.Context(), admin, order); access.CodeOf(err) != access.ConfirmationRequired {
		t.Fatalf("the session is not old: %v", err)
	}
	puppet, err := d.Invite(t.Context(), admin, "puppet@example.com", "", access.Admin)
	if access.CodeOf(err) == access.ConfirmationRequired {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.MintKey(t.Context(), d.as(d.enter(puppet.Link)), order); err == nil {
		t.Error("who was not asked again invited themselves, and made a key that writes facts")
	}
}
