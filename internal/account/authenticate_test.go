package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

func TestARevokedKeyIsDeadHereAtOnceAndElsewhereWithinASecond(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	elsewhere, err := New(h.store, h.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	minted := h.mintKey(access.ActionsRead)
	other := &house{Service: elsewhere, t: t}
	for _, s := range []*house{h, other} {
		if err := s.key(minted, office); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.RevokeKey(t.Context(), h.as(h.owner), minted.Key.ID); err != nil {
		t.Fatal(err)
	}
	wantType[*access.RevokedError](t, "here", h.key(minted, office))
	if err := other.key(minted, office); err != nil {
		t.Errorf("elsewhere at the same time: %v; that it is read each time was not meant", err)
	}
	h.clock.advance(time.Second - time.Microsecond)
	wantType[*access.RevokedError](t, "elsewhere within a second", other.key(minted, office))
}

func TestARotatedKeyLivesUntilItsOverlapIsOver(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	old := h.mintKey(access.ActionsRead)
	next, err := h.RotateKey(t.Context(), h.as(h.owner), old.Key.ID, time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Minted{old, next} {
		if err := h.key(m, office); err != nil {
			t.Errorf("within the overlap: %v", err)
		}
	}
	h.clock.advance(time.Hour)
	wantType[*access.ExpiredError](t, "the old one after it", h.key(old, office))
	if err := h.key(next, office); err != nil {
		t.Errorf("the new one after it: %v", err)
	}
}

func TestSwitchingDevelopmentOffEndsTheKeysThatItAllowedForGood(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	both := KeyOrder{Name: "both", Scopes: access.ScopesOf(access.ActionsRecord, access.FactsWrite), Sources: []string{"stripe"}}
	h.source("stripe")
	_, err := h.MintKey(t.Context(), h.as(h.owner), both)
	wantType[*access.SelfAttestError](t, "without the switch", err)
	set := func(on bool) {
		t.Helper()
		if _, err := h.ChangeSettings(t.Context(), h.as(h.owner), Settings{Development: &on}); err != nil {
			t.Fatal(err)
		}
	}
	set(true)
	minted, err := h.MintKey(t.Context(), h.as(h.owner), both)
	if err != nil {
		t.Fatal(err)
	}
	other := h.mintKey(access.ActionsRecord)
	if err := h.key(minted, office); err != nil {
		t.Fatal(err)
	}
	set(false)
	wantCode(t, "once it is off", h.key(minted, office), access.Unauthenticated)
	set(true)
	wantType[*access.RevokedError](t, "once it is on again", h.key(minted, office))
	if err := h.key(other, office); err != nil {
		t.Errorf("a key that attests to nothing of its own: %v", err)
	}
}

func TestWrongKeysAreHeldUpAndRightOnesAreNot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	minted := h.mintKey(access.ActionsRead)
	if err := h.key(minted, office); err != nil {
		t.Fatal(err)
	}
	// Whole keys that do not exist, and what is none, from one address.
	seen := map[access.Code]int{}
	for i := range 100 {
		text := "spk_no"
		if i%2 == 0 {
			_, secret, err := access.MintKey(access.KeyOrder{Name: "x", Scopes: access.ScopesOf(access.ActionsRead)}, access.Workspace{ID: "ws"}, rand.Reader, noon)
			if err != nil {
				t.Fatal(err)
			}
			text = secret.Reveal()
		}
		_, err := h.Authenticate(t.Context(), Credential{Text: text, Address: office}, access.REST)
		seen[access.CodeOf(err)]++
	}
	if seen[access.Unauthenticated] != addressRate.Burst || seen[access.RateLimited] != 100-addressRate.Burst {
		t.Errorf("of a hundred wrong ones: %v", seen)
	}
	if err := h.key(minted, office); err != nil {
		t.Errorf("a right key from that address: %v", err)
	}
	h.as(h.owner) // a member's session from that address
	if err := h.key(h.mintKey(access.ActionsRead), office); err != nil {
		t.Errorf("a key that was never seen, from that address: %v", err)
	}
	link, err := h.ConsoleLink(t.Context(), h.first.Workspace.ID, "ada@example.com")
	if err != nil {
		t.Fatal(err)
	}
	h.as(h.enter(link)) // a link and a session that were never seen, from there too
	h.clock.advance(time.Duration(addressRate.Burst) * addressRate.Every)
	_, err = h.Authenticate(t.Context(), Credential{Text: "spk_no", Address: office}, access.REST)
	wantCode(t, "a wrong one after a while", err, access.Unauthenticated)
}

// The store counts what it is asked for.
func TestWhatIsNoKeyIsRefusedWithoutALook(t *testing.T) {
	t.Parallel()
	d, secret := newOneKey(t)
	s, err := New(downStore{directory: d}, newTestClock().Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"spk_no", bent(secret.Reveal(), 0), bent(secret.Reveal(), 20), secret.Reveal() + "a", "dss_no"} {
		_, err := s.Authenticate(t.Context(), Credential{Text: text, Address: office}, access.REST)
		wantCode(t, "no key", err, access.Unauthenticated)
	}
	if n := d.asked.Load(); n != 0 {
		t.Errorf("it was looked up %d times", n)
	}
	if _, err := s.Authenticate(t.Context(), Credential{Text: secret.Reveal(), Address: office}, access.REST); err != nil || d.asked.Load() != 1 {
		t.Errorf("the key itself: %v after %d looks", err, d.asked.Load())
	}
}

// One password for many people, from one place; and wrong keys, which say nothing of
// passwords.
func TestPasswordsAreHeldUpByPlaceAndNotByWrongKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	in, err := h.SetPassword(t.Context(), h.owner, "", "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	h.owner = page(in)
	for range addressRate.Burst + 1 {
		_, _ = h.Authenticate(t.Context(), Credential{Text: "spk_no", Address: office}, access.REST)
	}
	try := func(email access.Email, password, address string) error {
		_, err := h.SignInPassword(t.Context(), email, password, "", access.Cookie, address)
		return err
	}
	if err := try("ada@example.com", "correct horse battery", office); err != nil {
		t.Errorf("a right password where wrong keys come from: %v", err)
	}
	for i := range placeRate.Burst {
		// It is not worth hashing them all here: taking the attempt is what counts.
		if err := h.places.Take("198.51.100.7", h.clock.Now()); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	wantCode(t, "another person from there", try("bo@example.com", "correct horse battery", "198.51.100.7"), access.RateLimited)
	if err := h.key(h.mintKey(access.ActionsRead), "198.51.100.7"); err != nil {
		t.Errorf("a key from there: %v", err)
	}
}

// Whoever knows the prefix of a key, which stands in audits, guesses the rest from
// ever new addresses: they are held up, and the key's holder is not.
func TestGuessesAtAKnownPrefixAreHeldUpWhereverTheyComeFrom(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	minted := h.mintKey(access.ActionsRead)
	guess, _, err := sameprefix(minted)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for i := range 50 {
		_, err := h.Authenticate(t.Context(), Credential{Text: guess, Address: fmt.Sprint("192.0.2.", i)}, access.REST)
		if access.CodeOf(err) == access.RateLimited {
			held++
		}
	}
	if held != 50-prefixRate.Burst {
		t.Errorf("%d of 50 guesses were held up", held)
	}
	if err := h.key(minted, "198.51.100.7"); err != nil {
		t.Errorf("the key's holder: %v", err)
	}
}

// sameprefix makes a well-formed key with another's prefix: prefix and secret are the
// first characters drawn, and the checksum follows from them.
func sameprefix(m *Minted) (string, access.Key, error) {
	source := &prefixed{prefix: string(m.Key.Prefix)}
	key, secret, err := access.MintKey(access.KeyOrder{Name: "guess", Scopes: access.ScopesOf(access.ActionsRead)}, access.Workspace{ID: "ws"}, source, noon)
	if err == nil && (key.Prefix != m.Key.Prefix || secret.Reveal() == m.Secret.Reveal()) {
		err = errors.New("the guess is not what it should be")
	}
	return secret.Reveal(), key, err
}

// prefixed gives the numbers of the characters of a prefix, and then random ones.
type prefixed struct {
	prefix string
	given  int
}

func (p *prefixed) Read(b []byte) (int, error) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for i := range b {
		if p.given < len(p.prefix) {
			b[i] = byte(slices.Index([]byte(digits), p.prefix[p.given]))
			p.given++
			continue
		}
		if _, err := rand.Read(b[i:]); err != nil {
			return i, err
		}
		break
	}
	return len(b), nil
}

func TestPasswordsAreHeldUpBeforeTheyAreCompared(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.SetPassword(t.Context(), h.owner, "", "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	try := func(password, address string) error {
		_, err := h.SignInPassword(t.Context(), "ada@example.com", password, "", access.Cookie, address)
		return err
	}
	for range passwordRate.Burst {
		wantType[*UnknownError](t, "a wrong one", try("wrong horse battery", office))
	}
	wantCode(t, "then even the right one from there", try("correct horse battery", office), access.RateLimited)
	if err := try("correct horse battery", "198.51.100.7"); err != nil {
		t.Errorf("the right one from elsewhere: %v", err)
	}
	_, err := h.SignInPassword(t.Context(), "nobody@example.com", "correct horse battery", "", access.Cookie, "198.51.100.8")
	wantType[*UnknownError](t, "nobody", err)
	if err.Error() != try("wrong horse battery", "198.51.100.9").Error() {
		t.Error("the words for nobody and for a wrong password differ")
	}
}

func TestTokensThatNobodyGaveAreNobodys(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for what, c := range map[string]Credential{
		"nothing":            {},
		"a bent session":     {Text: bent(h.owner.Text, 3), Cookie: true},
		"half a session":     {Text: h.owner.Text[:30], Cookie: true},
		"a link":             {Text: h.first.Link.Reveal(), Cookie: true},
		"a key in a cookie":  {Text: h.mintKey(access.ActionsRead).Secret.Reveal(), Cookie: true},
		"a session and more": {Text: h.owner.Text + "a", Cookie: true},
	} {
		c.Address = what
		_, err := h.Authenticate(t.Context(), c, access.REST)
		wantCode(t, what, err, access.Unauthenticated)
	}
	_, err := h.SignIn(t.Context(), h.owner.Text, access.Cookie, office)
	wantType[*UnknownError](t, "a session as a link", err)
}

func TestAStoreThatDoesNotAnswerIsNoWrongKey(t *testing.T) {
	t.Parallel()
	d, secret := newOneKey(t)
	clock := newTestClock()
	down := &store.UnavailableError{Err: errors.New("it is off")}
	s, err := New(downStore{directory: &failing{Directory: d, err: down}}, clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		_, err := s.Authenticate(t.Context(), Credential{Text: secret.Reveal(), Address: office}, access.REST)
		wantType[*store.UnavailableError](t, "while it is off", err)
	}
	if err := s.addresses.Check(office, clock.Now()); err != nil {
		t.Errorf("it counted against the address: %v", err)
	}
}

// downStore is a store of which only the directory is asked.
type downStore struct {
	store.Store
	directory store.Directory
}

func (s downStore) Directory() store.Directory { return s.directory }

type failing struct {
	store.Directory
	err error
}

func (f *failing) KeyByPrefix(context.Context, access.Prefix) (access.Key, store.Workspace, error) {
	return access.Key{}, store.Workspace{}, f.err
}
