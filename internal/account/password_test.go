package account

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/argon2"
)

func testHasher(t testing.TB) *hasher {
	t.Helper()
	h, err := newHasher(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAPasswordMatchesItsOwnHashAndNoOther(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	kept, err := h.hash(t.Context(), "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(kept, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("it is kept as %s", kept)
	}
	for password, want := range map[string]bool{"correct horse battery": true, "correct horse batterx": false, "": false} {
		if got, err := h.matches(t.Context(), kept, password); got != want || err != nil {
			t.Errorf("%q matches: %v, %v", password, got, err)
		}
	}
}

// The text was made by hand with another salt and other costs, as an earlier release
// may have kept it.
func TestAHashWithOtherCostsIsStillRead(t *testing.T) {
	t.Parallel()
	p := phc{passes: 1, memoryKiB: 64, lanes: 2, salt: []byte("eight by"), hash: argon2.IDKey([]byte("an old password"), []byte("eight by"), 1, 64, 2, 16)}
	if got, err := testHasher(t).matches(t.Context(), p.String(), "an old password"); !got || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestNobodyHasAPassword(t *testing.T) {
	t.Parallel()
	h := testHasher(t)
	for _, password := range []string{"", "anything at all"} {
		if got, err := h.matches(t.Context(), "", password); got || err != nil {
			t.Errorf("%q: %v, %v", password, got, err)
		}
	}
	// It takes its turn to hash like anybody's, so that its time tells nothing.
	h.turns <- struct{}{}
	h.turns <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.matches(ctx, "", "anything at all"); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody's password is not hashed: %v", err)
	}
}

func TestWhatIsNoHashIsRefused(t *testing.T) {
	t.Parallel()
	const good = "$argon2id$v=19$m=64,t=1,p=1$ZWlnaHQgYnk$c2l4dGVlbiBieXRlcyEhIQ"
	if _, err := parsePHC(good); err != nil {
		t.Fatalf("the good one: %v", err)
	}
	for what, text := range map[string]string{
		"nothing": "", "another scheme": strings.Replace(good, "argon2id", "argon2i", 1), "another version": strings.Replace(good, "v=19", "v=16", 1),
		"all of the memory": strings.Replace(good, "m=64", "m=4294967295", 1), "endless passes": strings.Replace(good, "t=1", "t=4000000", 1),
		"no lane": strings.Replace(good, "p=1", "p=0", 1), "no salt": strings.Replace(good, "ZWlnaHQgYnk", "", 1),
		"a short hash": strings.Replace(good, "c2l4dGVlbiBieXRlcyEhIQ", "c2l4", 1), "too many parts": good + "$",
	} {
		if p, err := parsePHC(text); err == nil {
			t.Errorf("%s is read as %+v", what, p)
		}
	}
}

func FuzzParsePHC(f *testing.F) {
	f.Add("$argon2id$v=19$m=64,t=1,p=1$ZWlnaHQgYnk$c2l4dGVlbiBieXRlcyEhIQ")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePHC(text)
		if err != nil {
			return
		}
		if again, err := parsePHC(p.String()); err != nil || again.String() != p.String() {
			t.Fatalf("%q comes back as %q, %v", text, again.String(), err)
		}
	})
}

func TestOnlyTwoPasswordsAreHashedAtOnce(t *testing.T) {
	t.Parallel()
	nobodys := testHasher(t).nobodys
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		// A channel that was made outside of the bubble cannot be waited for in it.
		h := &hasher{random: rand.Reader, turns: make(chan struct{}, 2), nobodys: nobodys}
		h.turns <- struct{}{}
		h.turns <- struct{}{}
		if _, err := h.hash(ctx, "a third password"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the third: %v", err)
		}
		<-h.turns
		if _, err := h.hash(t.Context(), "a third password"); err != nil {
			t.Errorf("when one is done: %v", err)
		}
	})
}

func TestAPasswordHasTwelveCharacters(t *testing.T) {
	t.Parallel()
	for password, fits := range map[string]bool{
		"twelve chars": true, "eleven char": false, "zwölf Zeiche": true, strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false,
		"ada@example.com": false, "ADA@example.com": false, "twelve char\xff": false,
	} {
		if err := checkPassword(password, "ada@example.com"); (err == nil) != fits {
			t.Errorf("%q: %v", password, err)
		}
	}
}
