package account

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

func TestTheFirstStartLetsOneOwnerInOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.as(h.owner)
	if p.Role() != access.Owner || p.Actor() != "ada@example.com" || p.Workspace() != h.first.Workspace.ID {
		t.Errorf("the owner is %s, %s", p, p.Role())
	}
	again, err := h.Bootstrap(t.Context(), "Another", "eve@example.com")
	if again != nil || err != nil {
		t.Errorf("a second start made %+v, %v", again, err)
	}
	_, err = h.SignIn(t.Context(), h.first.Link.Reveal(), access.Cookie, office)
	wantType[*UnknownError](t, "the link once more", err)
	if got := h.audited(); !slices.Equal(got, []string{"workspace.created", "member.signed_in"}) {
		t.Errorf("the audit has %q", got)
	}
}

func TestOfManyFirstStartsAtOnceOneMakesTheWorkspace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := h.store.Directory().DeleteWorkspace(t.Context(), h.first.Workspace.ID); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	started := make(chan *Started, 8)
	for i := range cap(started) {
		all.Go(func() {
			s, err := h.Bootstrap(t.Context(), fmt.Sprint("Acme ", i), "ada@example.com")
			if err != nil {
				t.Error(err)
			}
			if s != nil {
				started <- s
			}
		})
	}
	all.Wait()
	workspaces, err := h.store.Directory().Workspaces(t.Context())
	if err != nil || len(workspaces) != 1 || len(started) != 1 {
		t.Errorf("%d of 8 made one, and there are %d, %v", len(started), len(workspaces), err)
	}
}

func TestOfManyWhoUseALinkOneIsLetIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	link, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "ADA@example.com")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	in := make(chan *SignedIn, 8)
	for range cap(in) {
		all.Go(func() {
			s, err := h.SignIn(t.Context(), link.Reveal(), access.Terminal, office)
			if err == nil {
				in <- s
			} else if !errors.As(err, new(*UnknownError)) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(in) != 1 {
		t.Errorf("%d were let in", len(in))
	}
}

func TestALinkEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	link, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	h.clock.advance(linkLife)
	_, err = h.SignIn(t.Context(), link.Reveal(), access.Cookie, office)
	wantType[*UnknownError](t, "after its time", err)
}

func TestASessionEndsWithItsTimeItsMemberAndItsSignOut(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	member, bo := h.invite("bo@example.com", access.Analyst)
	_, cy := h.invite("cy@example.com", access.Viewer)

	if err := h.Remove(t.Context(), h.as(h.owner), member); err != nil {
		t.Fatal(err)
	}
	_, err := h.Authenticate(t.Context(), bo, access.Page)
	wantCode(t, "who was removed", err, access.Unauthenticated)

	if err := h.SignOut(t.Context(), cy); err != nil {
		t.Fatal(err)
	}
	_, err = h.Authenticate(t.Context(), cy, access.Page)
	wantType[*access.RevokedError](t, "who signed out", err)
	if err := h.SignOut(t.Context(), cy); err != nil {
		t.Errorf("signing out twice: %v", err)
	}

	h.clock.advance(cookieLife)
	_, err = h.Authenticate(t.Context(), h.owner, access.Page)
	wantType[*access.ExpiredError](t, "after its time", err)
}

// A cookie's token in a header, and a terminal's in a cookie, are nobody's.
func TestASessionIsTakenOnlyTheWayItsKindComes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	asBearer := h.owner
	asBearer.Cookie = false
	_, err := h.Authenticate(t.Context(), asBearer, access.REST)
	wantType[*UnknownError](t, "a page's session as a bearer", err)

	link, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	in, err := h.SignIn(t.Context(), link.Reveal(), access.Terminal, office)
	if err != nil {
		t.Fatal(err)
	}
	terminal := Credential{Text: in.Token.Reveal(), Address: office}
	if _, err := h.Authenticate(t.Context(), terminal, access.REST); err != nil {
		t.Errorf("a terminal's session: %v", err)
	}
	_, err = h.Authenticate(t.Context(), terminal, access.MCP)
	wantType[*access.SurfaceError](t, "a terminal's session where models ask", err)
	terminal.Cookie = true
	_, err = h.Authenticate(t.Context(), terminal, access.Page)
	wantType[*UnknownError](t, "a terminal's session in a cookie", err)
}

func TestAPageTokenIsForModelsAndTenMinutes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in, err := h.PageToken(t.Context(), h.owner)
	if err != nil {
		t.Fatal(err)
	}
	c := Credential{Text: in.Token.Reveal(), Address: office}
	p, err := h.Authenticate(t.Context(), c, access.MCP)
	if err != nil || !p.ModelFacing() || p.Scopes().Has(access.FactsWrite) {
		t.Errorf("it is %v, %v", p.Scopes(), err)
	}
	_, err = h.Authenticate(t.Context(), c, access.REST)
	wantType[*access.SurfaceError](t, "over REST", err)
	_, err = h.PageToken(t.Context(), c)
	wantCode(t, "a token from a token", err, access.Unauthenticated)
	h.clock.advance(10 * time.Minute)
	_, err = h.Authenticate(t.Context(), c, access.MCP)
	wantType[*access.ExpiredError](t, "after ten minutes", err)
}

func TestWhatOpensDoorsWantsAProofOfPresence(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.SetPassword(t.Context(), h.owner, "", "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	in, err := h.SignInPassword(t.Context(), "Ada@Example.com", "correct horse battery", "", access.Cookie, office)
	if err != nil {
		t.Fatal(err)
	}
	c := page(in)
	h.clock.advance(access.ConfirmedFor + time.Second)
	_, err = h.MintKey(t.Context(), h.as(c), KeyOrder{Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)})
	wantType[*access.ConfirmError](t, "a quarter of an hour later", err)
	if _, err := h.Keys(t.Context(), h.as(c)); err != nil {
		t.Errorf("looking at keys: %v", err)
	}
	wantType[*UnknownError](t, "a wrong password", h.Confirm(t.Context(), c, "correct horse batterx"))
	if err := h.Confirm(t.Context(), c, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.MintKey(t.Context(), h.as(c), KeyOrder{Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}); err != nil {
		t.Errorf("once confirmed: %v", err)
	}
}

func TestAMemberWithoutAPasswordConfirmsByALink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, bo := h.invite("bo@example.com", access.Admin)
	h.clock.advance(time.Hour)
	link := func(email string) string {
		l, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, email)
		if err != nil {
			t.Fatal(err)
		}
		return l.Reveal()
	}
	wantType[*UnknownError](t, "by somebody else's link", h.ConfirmLink(t.Context(), bo, link("ada@example.com")))
	if err := h.ConfirmLink(t.Context(), bo, link("bo@example.com")); err != nil {
		t.Fatal(err)
	}
	if err := h.as(bo).May(access.ManageKeys, h.clock.Now()); err != nil {
		t.Errorf("once confirmed: %v", err)
	}
}

func TestANewPasswordEndsTheSessionsOfBefore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in, err := h.SetPassword(t.Context(), h.owner, "", "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Authenticate(t.Context(), h.owner, access.Page)
	wantType[*access.RevokedError](t, "the session of before", err)
	h.as(page(in))
	h.clock.advance(time.Hour)
	_, err = h.SetPassword(t.Context(), page(in), "", "another horse battery")
	wantCode(t, "an hour later without the old one", err, access.ConfirmationRequired)
	_, err = h.SetPassword(t.Context(), page(in), "wrong", "another horse battery")
	wantType[*UnknownError](t, "with a wrong old one", err)
	if _, err = h.SetPassword(t.Context(), page(in), "correct horse battery", "another horse battery"); err != nil {
		t.Errorf("with the old one: %v", err)
	}
}

// Somebody who makes a link for a member holds a way into one workspace. It must not
// become a way into the others that the member is in.
func TestALinkOfOneWorkspaceOpensNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, bo := h.invite("bo@example.com", access.Admin)
	if _, err := h.SetPassword(t.Context(), bo, "", "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	link, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "bo@example.com")
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.CreateWorkspace(t.Context(), "Second", "cy@example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddMember(t.Context(), second.Workspace.ID, "bo@example.com", access.Owner); err != nil {
		t.Fatal(err)
	}
	stolen := h.enter(link)
	if got := h.as(stolen).Workspace(); got != h.first.Workspace.ID {
		t.Fatalf("the link leads to %s", got)
	}
	_, err = h.SetPassword(t.Context(), stolen, "", "a thief's own password")
	wantType[*RequestError](t, "a new password without the old one", err)
	members, err := h.Members(t.Context(), h.as(h.owner))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		if m.Email == "bo@example.com" {
			_, err := h.MemberLink(t.Context(), h.as(h.owner), m.Member)
			wantType[*StateError](t, "a link for who is elsewhere too", err)
		}
	}
	// Who is in two workspaces says which.
	_, err = h.SignInPassword(t.Context(), "bo@example.com", "correct horse battery", "", access.Cookie, office)
	choice, is := errors.AsType[*ChoiceError](err)
	if !is || len(choice.Workspaces) != 2 {
		t.Errorf("without saying which workspace: %v", err)
	}
	in, err := h.SignInPassword(t.Context(), "bo@example.com", "correct horse battery", second.Workspace.ID, access.Cookie, office)
	if err != nil || in.Workspace.Name != "Second" {
		t.Errorf("the second: %v", err)
	}
}

// A link to somebody else's place would let one admin be two members.
func TestOnlyAnOwnerMakesAWayBackInForAnother(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, bo := h.invite("bo@example.com", access.Admin)
	member, _ := h.invite("cy@example.com", access.Viewer)
	_, err := h.MemberLink(t.Context(), h.as(bo), member)
	wantType[*access.RoleError](t, "an admin", err)
	link, err := h.MemberLink(t.Context(), h.as(h.owner), member)
	if err != nil {
		t.Fatal(err)
	}
	if p := h.as(h.enter(link)); p.Member() != member {
		t.Errorf("it lets %s in", p)
	}
	if _, err := h.MemberLink(t.Context(), h.as(h.owner), "per_nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("for nobody: %v", err)
	}
}

// A link that was sent to the wrong place is ended by making another one.
func TestANewLinkEndsTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	cy, err := h.Invite(t.Context(), h.as(h.owner), "cy@example.com", "Cy", access.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	bo, err := h.Invite(t.Context(), h.as(h.owner), "bo@example.com", "Bo", access.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.MemberLink(t.Context(), h.as(h.owner), cy.Member.Member)
	if err != nil {
		t.Fatal(err)
	}
	third, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "cy@example.com")
	if err != nil {
		t.Fatal(err)
	}
	for what, link := range map[string]Token{"the invitation's": cy.Link, "the second": second} {
		_, err := h.SignIn(t.Context(), link.Reveal(), access.Cookie, office)
		wantType[*UnknownError](t, what, err)
	}
	if p := h.as(h.enter(third)); p.Member() != cy.Member.Member {
		t.Errorf("the third lets %s in", p)
	}
	h.enter(bo.Link) // another member's
}

// A session that was left open on a desk.
func TestWhoWasNotAskedAgainOpensNoDoorToOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	member, _ := h.invite("cy@example.com", access.Viewer)
	h.clock.advance(access.ConfirmedFor + time.Second)
	owner := h.as(h.owner)
	for _, role := range []access.Role{access.Admin, access.Owner} {
		_, err := h.Invite(t.Context(), owner, "puppet@example.com", "", role)
		wantCode(t, "an invitation as "+role.String(), err, access.ConfirmationRequired)
		_, err = h.ChangeRole(t.Context(), owner, member, role)
		wantCode(t, "a member becomes "+role.String(), err, access.ConfirmationRequired)
	}
	_, err := h.MemberLink(t.Context(), owner, member)
	wantCode(t, "a link for a member", err, access.ConfirmationRequired)
	if _, err := h.Invite(t.Context(), owner, "dee@example.com", "", access.Analyst); err != nil {
		t.Errorf("an invitation as analyst: %v", err)
	}
	if _, err := h.ChangeRole(t.Context(), owner, member, access.Analyst); err != nil {
		t.Errorf("a member becomes analyst: %v", err)
	}
}

// One admin who invites somebody would be two members behind a weaker contract.
func TestWhereTwoMembersAreWantedAnAdminLetsNoSecondOneIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, bo := h.invite("bo@example.com", access.Admin)
	cy, _ := h.invite("cy@example.com", access.Viewer)
	on := true
	if _, err := h.ChangeSettings(t.Context(), h.as(h.owner), Settings{SecondMember: &on}); err != nil {
		t.Fatal(err)
	}
	_, err := h.Invite(t.Context(), h.as(bo), "sock@example.com", "Sock", access.Analyst)
	wantType[*access.RoleError](t, "an admin who invites", err)
	_, err = h.ChangeRole(t.Context(), h.as(bo), cy, access.Analyst)
	wantType[*access.RoleError](t, "an admin who raises", err)
	if _, err := h.Invite(t.Context(), h.as(bo), "viewer@example.com", "Viewer", access.Viewer); err != nil {
		t.Errorf("an admin who invites a viewer: %v", err)
	}
	if _, err := h.ChangeRole(t.Context(), h.as(h.owner), cy, access.Analyst); err != nil {
		t.Errorf("an owner: %v", err)
	}
}

func TestAKeyIsMadeForSourcesThatThereAre(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.source("stripe")
	order := KeyOrder{Name: "billing", Scopes: access.ScopesOf(access.FactsWrite), Sources: []string{"stripe", "strpe"}}
	_, err := h.MintKey(t.Context(), h.as(h.owner), order)
	wantCode(t, "a source that was misspelt", err, access.InvalidRequest)
	if !strings.Contains(err.Error(), `"strpe"`) || !strings.Contains(err.Error(), `did you mean "stripe"?`) {
		t.Errorf("it says %v", err)
	}
	if keys, err := h.Keys(t.Context(), h.as(h.owner)); err != nil || len(keys) != 0 {
		t.Errorf("%d keys were made, %v", len(keys), err)
	}
	order.Sources = []string{"stripe"}
	if _, err := h.MintKey(t.Context(), h.as(h.owner), order); err != nil {
		t.Error(err)
	}
}

// U+009B begins a command of a terminal, as ESC [ does.
func TestNamesHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, name := range []string{"a\x1b[31mb", "a\nb", "a\u009b31mb"} {
		_, err := h.MintKey(t.Context(), h.as(h.owner), KeyOrder{Name: name, Scopes: access.ScopesOf(access.ActionsRead)})
		wantType[*access.OrderError](t, "a key", err)
		_, err = h.Invite(t.Context(), h.as(h.owner), "bo@example.com", name, access.Viewer)
		wantType[*RequestError](t, "a member", err)
		_, err = h.ChangeSettings(t.Context(), h.as(h.owner), Settings{Name: &name})
		wantType[*RequestError](t, "the workspace", err)
	}
}

func TestAnAddressThatIsOnTheServerIsNotInvited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	second, err := h.CreateWorkspace(t.Context(), "Second", "eve@example.com")
	if err != nil {
		t.Fatal(err)
	}
	eve := h.enter(second.Link)
	if _, err := h.Invite(t.Context(), h.as(eve), "bo@example.com", "Bo", access.Viewer); err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"bo@example.com", "BO@example.com", "ada@example.com"} {
		_, err := h.Invite(t.Context(), h.as(h.owner), email, "", access.Admin)
		wantType[*StateError](t, email, err)
	}
}

func TestAnOwnerRemains(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as(h.owner)
	wantType[*StateError](t, "the last owner goes", h.Remove(t.Context(), owner, owner.Member()))
	_, err := h.ChangeRole(t.Context(), owner, owner.Member(), access.Admin)
	wantType[*StateError](t, "the last owner steps down", err)

	member, bo := h.invite("bo@example.com", access.Viewer)
	if _, err := h.ChangeRole(t.Context(), owner, member, access.Owner); err != nil {
		t.Fatal(err)
	}
	// Both step down at once: one of them is too late.
	var all sync.WaitGroup
	refused := make(chan error, 2)
	for _, c := range []Credential{h.owner, bo} {
		all.Go(func() {
			p := h.as(c)
			if _, err := h.ChangeRole(t.Context(), p, p.Member(), access.Viewer); err != nil {
				refused <- err
			}
		})
	}
	all.Wait()
	if len(refused) != 1 {
		t.Fatalf("%d of two were refused", len(refused))
	}
	wantType[*StateError](t, "the second", <-refused)
}

func TestNobodyRaisesAnybodyAboveThemselves(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	member, bo := h.invite("bo@example.com", access.Admin)
	_, err := h.ChangeRole(t.Context(), h.as(bo), member, access.Owner)
	wantType[*access.RoleError](t, "an admin makes an owner", err)
	_, err = h.Invite(t.Context(), h.as(bo), "cy@example.com", "", access.Owner)
	wantType[*access.RoleError](t, "an admin invites an owner", err)
	wantType[*access.RoleError](t, "an admin removes the owner", h.Remove(t.Context(), h.as(bo), h.as(h.owner).Member()))
	_, err = h.Invite(t.Context(), h.as(h.owner), "cy@example.com", "", 0)
	wantCode(t, "no role", err, access.InvalidRequest)
	_, err = h.Invite(t.Context(), h.as(h.owner), "no address", "", access.Viewer)
	wantCode(t, "no address", err, access.InvalidRequest)
	if err := h.Remove(t.Context(), h.as(h.owner), "per_nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("removing nobody: %v", err)
	}
}

func TestEveryChangeIsInTheAuditAndNoSecretIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	member, _ := h.invite("bo@example.com", access.Analyst)
	minted := h.mintKey(access.ActionsRecord)
	owner := h.as(h.owner)
	rotated, err := h.RotateKey(t.Context(), owner, minted.Key.ID, time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.RevokeKey(t.Context(), owner, rotated.Key.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ChangeRole(t.Context(), owner, member, access.Viewer); err != nil {
		t.Fatal(err)
	}
	name := "Acme 2"
	if _, err := h.ChangeSettings(t.Context(), owner, Settings{Name: &name}); err != nil {
		t.Fatal(err)
	}
	if err := h.Remove(t.Context(), owner, member); err != nil {
		t.Fatal(err)
	}
	if _, err := h.SetPassword(t.Context(), h.owner, "", "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"workspace.created", "member.signed_in", "member.invited", "member.link_made", "member.signed_in", "key.created", "key.rotated", "key.revoked",
		"member.role_changed", "workspace.changed", "member.removed", "member.password_set", "member.signed_in",
	}
	if got := h.audited(); !slices.Equal(got, want) {
		t.Errorf("the audit has\n%q\nwant\n%q", got, want)
	}
	for _, e := range h.trail() {
		text := fmt.Sprint(e.Object, string(e.Metadata))
		for _, secret := range []string{minted.Secret.Reveal(), rotated.Secret.Reveal(), h.first.Link.Reveal(), h.owner.Text, "correct horse"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds a secret: %s", e.Event, text)
			}
		}
	}
	if text := fmt.Sprintf("%v %+v %s %d", h.first.Link, *h.first, h.first.Link, h.first.Link); strings.Contains(text, h.first.Link.Reveal()) {
		t.Errorf("a link prints as %s", text)
	}
}

func TestDeletingTheWorkspaceTakesItsNameAndAnOwner(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	minted := h.mintKey(access.ActionsRead)
	_, bo := h.invite("bo@example.com", access.Admin)
	wantType[*access.RoleError](t, "an admin", h.Delete(t.Context(), h.as(bo), "Acme"))
	wantType[*RequestError](t, "another name", h.Delete(t.Context(), h.as(h.owner), "acme"))
	if err := h.Delete(t.Context(), h.as(h.owner), "Acme"); err != nil {
		t.Fatal(err)
	}
	wantType[*access.UnknownKeyError](t, "a key of it", h.key(minted, office))
	_, err := h.Authenticate(t.Context(), h.owner, access.Page)
	wantCode(t, "its owner", err, access.Unauthenticated)
}
