package access_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
)

func TestAKeyIsOneWordOfAPrefixASecretAndAChecksum(t *testing.T) {
	t.Parallel()
	_, secret := mint(t, access.ScopesOf(access.ActionsRead))
	text := secret.Reveal()
	if len(text) != 4+8+43+6 || !strings.HasPrefix(text, "spk_") || string(secret.Prefix()) != text[4:12] {
		t.Errorf("%q with the prefix %q", text, secret.Prefix())
	}
	again, err := access.ParseKey(text)
	if err != nil || again.Reveal() != text || again.Prefix() != secret.Prefix() {
		t.Errorf("read again: %v", err)
	}
}

// Computed apart from the program, with Python's zlib.crc32 and hashlib.
func TestTheChecksumAndTheHashAreThoseThatAreDocumented(t *testing.T) {
	t.Parallel()
	text := "spk_" + strings.Repeat("0", 51) + "01d6pP"
	secret, err := access.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := hex.EncodeToString(secret.Hash().Bytes()), "3d3cb12787fe0af0bdc234fe970a970aa529e125b31e64340dee94b96e7b5c36"; got != want {
		t.Errorf("the hash is %s, want %s", got, want)
	}
}

func TestEveryChangeOfOneCharacterAndEverySwapIsSeen(t *testing.T) {
	t.Parallel()
	_, secret := mint(t, access.ScopesOf(access.ActionsRead))
	text := secret.Reveal()
	for i := 4; i < len(text); i++ {
		for _, c := range []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
			typo := []byte(text)
			typo[i] = c
			if _, err := access.ParseKey(string(typo)); (err == nil) != (c == text[i]) {
				t.Errorf("character %d as %c: %v", i, c, err)
			}
		}
		if i+1 < len(text) && text[i] != text[i+1] {
			swapped := []byte(text)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if _, err := access.ParseKey(string(swapped)); err == nil {
				t.Errorf("characters %d and %d swapped: it is a key", i, i+1)
			}
		}
	}
}

func TestWhatIsNoKeySaysWhyAndNothingOfTheText(t *testing.T) {
	t.Parallel()
	_, secret := mint(t, access.ScopesOf(access.ActionsRead))
	text := secret.Reveal()
	for given, want := range map[string]string{
		"":                                   "does not begin",
		"cla_" + text[4:]:                    "does not begin",
		"SPK_" + text[4:]:                    "does not begin",
		" " + text:                           "does not begin",
		text[:60]:                            "too short",
		text + "\n":                          "too long",
		text[:30] + "-" + text[31:]:          "other characters",
		text[:30] + "é" + text[32:]:          "other characters",
		text[:60] + string(text[60]^1):       "", // a digit or not, by chance
		strings.Replace(text, "spk_", "", 1): "does not begin",
	} {
		_, err := access.ParseKey(given)
		form, ok := errors.AsType[*access.KeyFormError](err)
		if !ok || !strings.Contains(form.Problem, want) {
			t.Errorf("of %q: %v, want %s", given, err, want)
		}
	}
}

func TestNeitherAKeyNorItsHashIsEverPrinted(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.ScopesOf(access.ActionsRead))
	type wrapped struct { // fmt asks no methods of what is not exported
		secret access.Secret
		hash   access.Hash
		key    access.Key
	}
	var out bytes.Buffer
	for _, v := range []any{
		secret, &secret, key, &key, key.Hash, &key.Hash,
		wrapped{secret, key.Hash, key},
		&wrapped{secret, key.Hash, key},
		[]access.Secret{secret},
		map[string]access.Hash{"h": key.Hash},
		struct{ S access.Secret }{secret},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%b", "%p", "%T"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		fmt.Fprintln(&out, v)
		// Some of these cannot be marshalled; what matters is what is written.
		text, err := json.Marshal(v)
		fmt.Fprintln(&out, string(text), err)
		text, err = jsonv2.Marshal(v)
		fmt.Fprintln(&out, string(text), err)
		slog.New(slog.NewTextHandler(&out, nil)).Info("a key", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("a key", "v", v)
	}
	printed := out.String()
	if !strings.Contains(printed, "spk_"+string(secret.Prefix())+"…") || !strings.Contains(printed, "(hidden hash)") {
		t.Fatalf("what stands for them is not there either:\n%s", printed)
	}
	body := secret.Reveal()[12:]
	sum := key.Hash.Bytes()
	for what, form := range map[string]string{
		"the secret":              body[:8],
		"the secret in hex":       hex.EncodeToString([]byte(body[:8])),
		"the secret in HEX":       strings.ToUpper(hex.EncodeToString([]byte(body[:8]))),
		"the secret as bytes":     strings.Trim(fmt.Sprint([]byte(body[:8])), "[]"),
		"the hash":                string(sum[:8]),
		"the hash in hex":         hex.EncodeToString(sum[:8]),
		"the hash in HEX":         strings.ToUpper(hex.EncodeToString(sum[:8])),
		"the hash as bytes":       strings.Trim(fmt.Sprint(sum[:8]), "[]"),
		"the hash in Go's syntax": fmt.Sprintf("0x%x, 0x%x, 0x%x", sum[0], sum[1], sum[2]),
	} {
		if strings.Contains(printed, form) {
			t.Errorf("%s is printed", what)
		}
	}
}

func TestTheZeroSecretAndTheZeroHashAreNobodys(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.ScopesOf(access.ActionsRead))
	var noSecret access.Secret
	var noHash access.Hash
	if noHash.Matches(noSecret) || noHash.Matches(secret) || key.Hash.Matches(noSecret) || !key.Hash.Matches(secret) {
		t.Error("a hash matches what is not its key, or not what is")
	}
	if noSecret.Reveal() != "" || noSecret.Prefix() != "" || noHash.Bytes() != nil || noSecret.String() != "(no key)" {
		t.Error("nothing is something")
	}
	_, err := access.FromKey(noSecret, access.Key{Workspace: home}, production, access.REST, noon)
	wantCode(t, "no secret for a key without a hash", err, access.Unauthenticated)
}

func TestAHashIsLoadedAsItWasKept(t *testing.T) {
	t.Parallel()
	key, secret := mint(t, access.ScopesOf(access.ActionsRead))
	kept := key.Hash.Bytes()
	loaded, err := access.LoadHash(kept)
	kept[0] ^= 1 // the caller's copy, and no longer the hash's
	if err != nil || !loaded.Matches(secret) {
		t.Errorf("it does not match: %v", err)
	}
	if changed, err := access.LoadHash(kept); err != nil || changed.Matches(secret) {
		t.Errorf("a hash with one bit changed matches: %v", err)
	}
	for _, short := range [][]byte{nil, {}, kept[:31], append(kept, 0)} {
		if _, err := access.LoadHash(short); err == nil {
			t.Errorf("%d bytes are a hash", len(short))
		}
	}
}

func TestRandomnessThatFailsOrIsNoneMakesNoKey(t *testing.T) {
	t.Parallel()
	order := access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}
	broken := errors.New("no entropy")
	for name, random := range map[string]io.Reader{
		"fails":      iotest.ErrReader(broken),
		"runs dry":   strings.NewReader("too little"),
		"only 0xff":  bytes.NewReader(bytes.Repeat([]byte{0xff}, 1<<16)),
		"only empty": strings.NewReader(""),
	} {
		key, secret, err := access.MintKey(order, production, random, noon)
		if err == nil || secret.Reveal() != "" || key.Prefix != "" {
			t.Errorf("a source that %s: %v", name, err)
		}
	}
	if _, _, err := access.MintKey(order, production, iotest.ErrReader(broken), noon); !errors.Is(err, broken) {
		t.Errorf("the cause is lost: %v", err)
	}
	// The bytes come as they come, one at a time too.
	if _, _, err := access.MintKey(order, production, iotest.OneByteReader(dice(4)), noon); err != nil {
		t.Error(err)
	}
}

// 62 does not divide 256: without throwing bytes away the first eight digits
// would come a quarter more often than the others.
func TestEveryDigitOfASecretIsEquallyLikely(t *testing.T) {
	t.Parallel()
	seen := map[byte]int{}
	random := dice(9)
	const keys, each = 3000, 51
	for range keys {
		_, secret, err := access.MintKey(access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}, production, random, noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []byte(secret.Reveal()[4 : 4+each]) {
			seen[c]++
		}
	}
	// Binomial with n = 153,000 and p = 1/62: 2468 on average, with a deviation of
	// 49. The dice are the same in each run.
	for c, n := range seen {
		if n < 2468-5*49 || n > 2468+5*49 {
			t.Errorf("%c came %d times, 2468 are to be expected", c, n)
		}
	}
	if len(seen) != 62 {
		t.Errorf("%d digits came", len(seen))
	}
}

func FuzzParseKey(f *testing.F) {
	_, secret, err := access.MintKey(access.KeyOrder{ID: "k", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}, production, dice(2), noon)
	if err != nil {
		f.Fatal(err)
	}
	whole := secret.Reveal()
	for _, seed := range []string{"", "spk_", whole, whole[:20], whole + whole, strings.ToUpper(whole), "Bearer " + whole, whole[:40] + "\x00" + whole[41:]} {
		f.Add(seed)
	}
	// All that an error may say: no text that was given is in it.
	problems := map[string]bool{}
	for _, given := range []string{"", "spk_", whole + "0", whole[:30] + "-" + whole[31:], whole[:60] + string(whole[60]^1), whole[:55] + "000000"} {
		if _, err := access.ParseKey(given); err != nil {
			problems[err.Error()] = true
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := access.ParseKey(text)
		if err != nil {
			if !problems[err.Error()] || s.Reveal() != "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if s.Reveal() != text || !s.Hash().Matches(s) || strings.Contains(fmt.Sprintf("%+v", s), text) {
			t.Fatalf("%q is read as another key", text)
		}
	})
}
