package vault

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/access"
)

func vaultOf(t testing.TB, secrets ...string) *Vault {
	t.Helper()
	v := &Vault{}
	for _, s := range secrets {
		key, err := newMasterKey([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		v.keys = append(v.keys, key)
	}
	return v
}

const (
	oldSecret = "an old secret of thirty-two bytes"
	newSecret = "a new secret of 32 bytes, longer!"
)

func TestASecretComesBackAsItWas(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, newSecret[:32])
	rapid.Check(t, func(t *rapid.T) {
		w := access.WorkspaceID(rapid.String().Draw(t, "workspace"))
		name, secret := rapid.String().Draw(t, "name"), rapid.SliceOf(rapid.Byte()).Draw(t, "secret")
		sealed, err := v.Seal(w, name, secret)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Open(w, name, sealed)
		if err != nil || !bytes.Equal(got, secret) {
			t.Fatalf("got %q, %v", got, err)
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		sealed[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := v.Open(w, name, sealed); err == nil {
			t.Fatalf("with a changed bit it opens as %q", got)
		}
	})
}

// The form is version, short name of the key, nonce, ciphertext and tag, under a
// key that HKDF-SHA256 derives: opened here by hand, as another program would.
func TestTheFormIsTheOneThatIsDocumented(t *testing.T) {
	t.Parallel()
	master := []byte(newSecret[:32])
	sealed, err := vaultOf(t, newSecret[:32]).Seal("ws_1", "stripe", []byte("sk_live_1"))
	if err != nil {
		t.Fatal(err)
	}
	fingerprint, _ := hkdf.Key(sha256.New, master, nil, "deed vault 1 fingerprint", 16)
	if want := append([]byte{1}, fingerprint[:4]...); !bytes.HasPrefix(sealed, want) {
		t.Fatalf("it begins with %x, want %x", sealed[:5], want)
	}
	key, _ := hkdf.Key(sha256.New, master, nil, "deed vault 1 seal\x00ws_1", 32)
	block, _ := aes.NewCipher(key)
	gcm, _ := cipher.NewGCM(block)
	nonce, rest := sealed[5:17], sealed[17:]
	got, err := gcm.Open(nil, nonce, rest, []byte("\x01\x00\x00\x00\x04ws_1\x00\x00\x00\x06stripe"))
	if err != nil || string(got) != "sk_live_1" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestASecretOpensOnlyWhereItWasSealed(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, newSecret[:32])
	sealed, err := v.Seal("ws_1", "stripe", []byte("sk_live_1"))
	if err != nil {
		t.Fatal(err)
	}
	for what, place := range map[string][2]string{
		"in another workspace":      {"ws_2", "stripe"},
		"under another name":        {"ws_1", "shopify"},
		"where the border is moved": {"ws_1s", "tripe"},
	} {
		if got, err := v.Open(access.WorkspaceID(place[0]), place[1], sealed); !errors.Is(err, ErrDoesNotOpen) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
}

func TestAfterARotationOldSecretsOpenAndNewOnesAreSealedAnew(t *testing.T) {
	t.Parallel()
	before, after := vaultOf(t, oldSecret[:32]), vaultOf(t, newSecret[:32], oldSecret[:32])
	old, err := before.Seal("ws_1", "stripe", []byte("sealed before"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := after.Open("ws_1", "stripe", old); err != nil || string(got) != "sealed before" {
		t.Errorf("what was sealed before: %q, %v", got, err)
	}
	sealed, err := after.Seal("ws_1", "stripe", []byte("sealed after"))
	if err != nil {
		t.Fatal(err)
	}
	missing, is := errors.AsType[*MissingKeyError](second(before.Open("ws_1", "stripe", sealed)))
	if !is || missing.Name != after.Fingerprint()[:8] {
		t.Errorf("without the new key: %v", missing)
	}
}

func second[T any](_ T, err error) error { return err }

func TestWhatWasNotSealedIsRefused(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, newSecret[:32])
	sealed, err := v.Seal("ws_1", "stripe", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"nothing": nil, "a word": []byte("sk_live"), "a later version": append([]byte{2}, sealed[1:]...), "half of it": sealed[:20],
	} {
		if _, err := v.Open("ws_1", "stripe", text); !errors.As(err, new(*SealedFormError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAVaultPrintsNoSecret(t *testing.T) {
	t.Parallel()
	v := vaultOf(t, newSecret[:32])
	inJSON, err := json.Marshal(map[string]any{"vault": v})
	if err != nil {
		t.Fatal(err)
	}
	type holder struct{ V *Vault }
	for _, text := range []string{
		fmt.Sprint(v), fmt.Sprintf("%+v %#v %d %x %s", v, v, v, v, v), fmt.Sprintf("%+v %#v", holder{v}, *v), fmt.Sprintf("%+v %x", *v, *v), string(inJSON),
	} {
		if strings.Contains(text, newSecret[:8]) || strings.Contains(text, hex.EncodeToString([]byte(newSecret[:8]))) || strings.Contains(text, "97 32 110") {
			t.Errorf("it prints as %s", text)
		}
	}
}

func FuzzOpen(f *testing.F) {
	v := vaultOf(f, newSecret[:32])
	sealed, err := v.Seal("ws_1", "stripe", []byte("secret"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add([]byte{})
	f.Add(sealed[:5])
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := v.Open("ws_1", "stripe", text)
		if err == nil && !bytes.Equal(text, sealed) {
			t.Fatalf("%x opens as %q", text, got)
		}
	})
}
