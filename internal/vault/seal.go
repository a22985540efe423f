package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/deed-dev/deed/internal/access"
)

const (
	keyBytes  = 32
	nameBytes = 4    // of a key's short name in the sealed form
	formV1    = 0x01 // version, short name of the key, then nonce, ciphertext and tag
)

// What HKDF is told a key is for. Two uses never share a key.
const (
	forSealing     = "deed vault 1 seal"
	forFingerprint = "deed vault 1 fingerprint"
)

// Vault seals with its first key and opens with all of them. It is safe for
// concurrent use, and prints as nothing.
type Vault struct {
	keys []masterKey // the one that seals first
}

// masterKey hides its bytes behind a pointer to a string, because fmt follows
// neither through an unexported field.
type masterKey struct {
	secret      *string
	fingerprint string // 16 bytes in hexadecimal digits; says nothing of the key
}

// SealedFormError says that a text was not sealed by this package, or is damaged.
type SealedFormError struct{ Problem string }

func (e *SealedFormError) Error() string { return "open a sealed secret: " + e.Problem }

// MissingKeyError says that the key by which a secret was sealed is not there.
type MissingKeyError struct{ Name string }

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("open a sealed secret: the key %s, by which it was sealed, is not in the secret file", e.Name)
}

// ErrDoesNotOpen says that a sealed secret was changed, or belongs to another
// workspace or name.
var ErrDoesNotOpen = errors.New("open a sealed secret: it was changed, or is not of this workspace and name")

func newMasterKey(secret []byte) (masterKey, error) {
	if len(secret) != keyBytes {
		return masterKey{}, fmt.Errorf("a key has %d bytes, not %d", keyBytes, len(secret))
	}
	print, err := hkdf.Key(sha256.New, secret, nil, forFingerprint, 16)
	if err != nil {
		return masterKey{}, fmt.Errorf("derive a fingerprint: %w", err)
	}
	text := string(secret)
	return masterKey{secret: &text, fingerprint: hex.EncodeToString(print)}, nil
}

// shortName tells the keys of one file apart. It is a part of the fingerprint.
func (k masterKey) shortName() []byte {
	name, _ := hex.DecodeString(k.fingerprint[:2*nameBytes])
	return name
}

// cipher derives the key of a workspace. GCM with random nonces may seal 2^32
// secrets with one key; a key for each workspace keeps far from that.
func (k masterKey) cipher(w access.WorkspaceID) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, []byte(*k.secret), nil, forSealing+"\x00"+string(w), keyBytes)
	if err != nil {
		return nil, fmt.Errorf("derive a workspace's key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("make a cipher: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// bound is what is authenticated with a secret. Lengths stand before the texts, so
// that no two pairs of workspace and name give the same bytes.
func bound(w access.WorkspaceID, name string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{formV1}, uint32(len(w)))
	b = append(b, w...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
	return append(b, name...)
}

// Seal encrypts a secret for one workspace under one name. The same secret sealed
// twice gives two forms.
func (v *Vault) Seal(w access.WorkspaceID, name string, secret []byte) ([]byte, error) {
	key := v.keys[0]
	aead, err := key.cipher(w)
	if err != nil {
		return nil, fmt.Errorf("seal a secret: %w", err)
	}
	sealed := append([]byte{formV1}, key.shortName()...)
	return aead.Seal(sealed, nil, secret, bound(w, name)), nil
}

// Open decrypts what [Vault.Seal] gave for the same workspace and name. Errors:
// [SealedFormError], [MissingKeyError], [ErrDoesNotOpen].
func (v *Vault) Open(w access.WorkspaceID, name string, sealed []byte) ([]byte, error) {
	if len(sealed) < 1+nameBytes {
		return nil, &SealedFormError{Problem: "it is too short"}
	}
	if sealed[0] != formV1 {
		return nil, &SealedFormError{Problem: fmt.Sprintf("version %d of the form is not known here", sealed[0])}
	}
	short, rest := sealed[1:1+nameBytes], sealed[1+nameBytes:]
	known := false
	for _, key := range v.keys {
		if !slices.Equal(key.shortName(), short) {
			continue
		}
		known = true
		aead, err := key.cipher(w)
		if err != nil {
			return nil, fmt.Errorf("open a sealed secret: %w", err)
		}
		if len(rest) < aead.Overhead() {
			return nil, &SealedFormError{Problem: "it is too short"}
		}
		if secret, err := aead.Open(nil, nil, rest, bound(w, name)); err == nil {
			return secret, nil
		}
	}
	if !known {
		return nil, &MissingKeyError{Name: hex.EncodeToString(short)}
	}
	return nil, ErrDoesNotOpen
}

// Fingerprint names the key that seals, and says nothing of it.
func (v *Vault) Fingerprint() string { return v.keys[0].fingerprint }

// String is the fingerprint.
func (v *Vault) String() string { return "vault " + v.Fingerprint() }

// GoString is [Vault.String].
func (v *Vault) GoString() string { return v.String() }

// Format writes [Vault.String], whatever the verb.
func (v *Vault) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, v.String()) }

// MarshalText writes [Vault.String]. JSON and structured logs use it.
func (v *Vault) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
