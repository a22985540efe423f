package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// An API key is one word, so that a double click selects it:
//
//	spk_4fT9xK2bvL…43 characters…q81Zr0aBc
//	^   ^       ^                ^
//	|   |       |                checksum, 6: CRC-32 of all before it
//	|   |       secret, 43: just above 256 bits
//	|   prefix, 8: finds the key, and names it in the audit
//	mark, 4: what secret scanners look for
//
// The checksum tells a key from what only looks like one: a scanner raises no
// false alarm, and a typo or a cut is seen without asking the database.
const (
	keyMark       = "spk_"
	prefixChars   = 8
	secretChars   = 43
	checksumChars = 6
	keyChars      = len(keyMark) + prefixChars + secretChars + checksumChars
	digits        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Prefix is the public part of a key. It is unique in a store.
type Prefix string

// Secret is a whole API key. However it is printed, logged or marshalled, only
// its prefix shows; [Secret.Reveal] is the one way to its text. The text hides
// behind a pointer because fmt prints unexported fields of other types without
// asking their methods. It is a pointer to a string because fmt follows one to an
// array, a slice, a struct or a map when it complains of a wrong verb.
type Secret struct{ text *string }

// ParseKey reads a key. The error is a [KeyFormError] and says nothing of the
// text but what is wrong with it.
func ParseKey(text string) (Secret, error) {
	body, marked := strings.CutPrefix(text, keyMark)
	switch {
	case !marked:
		return Secret{}, &KeyFormError{Problem: "it does not begin with " + keyMark}
	case len(text) < keyChars:
		return Secret{}, &KeyFormError{Problem: "it is too short, a part is missing"}
	case len(text) > keyChars:
		return Secret{}, &KeyFormError{Problem: "it is too long"}
	case strings.Trim(body, digits) != "":
		return Secret{}, &KeyFormError{Problem: "it has other characters than letters and digits"}
	}
	if head := text[:keyChars-checksumChars]; checksum(head) != text[len(head):] {
		return Secret{}, &KeyFormError{Problem: "its checksum is wrong, a character was changed"}
	}
	return Secret{text: &text}, nil
}

// newSecret throws a key: 8 and 43 characters of equal chance each.
func newSecret(random io.Reader) (Secret, error) {
	chars, err := randomChars(random, prefixChars+secretChars)
	if err != nil {
		return Secret{}, fmt.Errorf("make an API key: %w", err)
	}
	head := keyMark + chars
	text := head + checksum(head)
	return Secret{text: &text}, nil
}

// randomChars draws digits. A byte above the last multiple of 62 is thrown away,
// for it would make the first eight digits likelier than the others. A source
// that gives next to nothing else is broken, and its keys could be guessed.
func randomChars(random io.Reader, n int) (string, error) {
	const fair = 256 / len(digits) * len(digits)
	chars := make([]byte, 0, n)
	buffer := make([]byte, n)
	for range 16 {
		if _, err := io.ReadFull(random, buffer); err != nil {
			return "", fmt.Errorf("read randomness: %w", err)
		}
		for _, b := range buffer {
			if int(b) < fair && len(chars) < n {
				chars = append(chars, digits[int(b)%len(digits)])
			}
		}
		if len(chars) == n {
			return string(chars), nil
		}
	}
	return "", errors.New("read randomness: it is not random")
}

// checksum is the CRC-32 (IEEE 802.3) of the text in six digits. It sees every
// changed character and every swap of two neighbours. It protects against
// accidents and against nobody: only the hash decides.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var out [checksumChars]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = digits[sum%uint32(len(digits))]
		sum /= uint32(len(digits))
	}
	return string(out[:])
}

// Prefix is by which a store finds the key. Anybody may see it.
func (s Secret) Prefix() Prefix {
	if s.text == nil {
		return ""
	}
	return Prefix((*s.text)[len(keyMark) : len(keyMark)+prefixChars])
}

// Reveal is the whole key. It is for the one answer that shows a new key to the
// person who ordered it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Hash is what is kept of the key.
//
// One SHA-256 is right here, where it would be wrong for a password. A slow hash
// makes up for secrets that people choose, and a salt keeps equal ones from
// showing; these secrets are drawn from 2^256, so that none can be guessed and no
// two are equal. A slow hash would only make every request slow, and a wave of
// false keys a way to keep the server busy.
func (s Secret) Hash() Hash {
	if s.text == nil {
		return Hash{}
	}
	sum := sha256.Sum256([]byte(*s.text))
	raw := string(sum[:])
	return Hash{sum: &raw}
}

// String has the prefix and nothing else of the key.
func (s Secret) String() string {
	if s.text == nil {
		return "(no key)"
	}
	return keyMark + string(s.Prefix()) + "…"
}

// GoString is [Secret.String].
func (s Secret) GoString() string { return s.String() }

// Format writes [Secret.String], whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes [Secret.String]. JSON and structured logs use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Hash is the SHA-256 of a key, as it is kept. It never shows in print, in logs
// or in JSON: whoever has it could test a key that was found elsewhere. The zero
// Hash is no key's.
type Hash struct{ sum *string }

// LoadHash takes what [Hash.Bytes] gave.
func LoadHash(kept []byte) (Hash, error) {
	if len(kept) != sha256.Size {
		return Hash{}, fmt.Errorf("load the hash of an API key: it has %d bytes, not %d", len(kept), sha256.Size)
	}
	raw := string(kept)
	return Hash{sum: &raw}, nil
}

// Bytes are for a store to keep; nil for the zero Hash.
func (h Hash) Bytes() []byte {
	if h.sum == nil {
		return nil
	}
	return []byte(*h.sum)
}

// Matches says that this is the key's hash. How long it takes does not depend on
// where two hashes differ.
func (h Hash) Matches(s Secret) bool {
	given := s.Hash()
	if h.sum == nil || given.sum == nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(*h.sum), []byte(*given.sum)) == 1
}

const hiddenHash = "(hidden hash)"

func (h Hash) String() string { return hiddenHash }

// GoString is [Hash.String].
func (h Hash) GoString() string { return hiddenHash }

// Format writes [Hash.String], whatever the verb.
func (h Hash) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hiddenHash) }

// MarshalText writes [Hash.String]; a store keeps [Hash.Bytes].
func (h Hash) MarshalText() ([]byte, error) { return []byte(hiddenHash), nil }
