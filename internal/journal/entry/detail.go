package entry

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// SaltBytes is how long a salt is.
	SaltBytes = 32

	// TextLimit is the longest text that is kept whole, in bytes.
	TextLimit = 8 << 10
	// TextHead is how much is kept of a text that is not kept whole, in raw bytes.
	TextHead = 256
)

// NewText keeps what a peer wrote: whole where it is short and UTF-8, else by
// its beginning, size and hash.
func NewText(raw []byte) *Text {
	if len(raw) <= TextLimit && utf8.Valid(raw) {
		return &Text{Whole: string(raw)}
	}
	return CutText(raw, int64(len(raw)), sha256.Sum256(raw))
}

// CutText keeps a text of which only the beginning is at hand.
func CutText(beginning []byte, size int64, sum Hash) *Text {
	return &Text{Cut: true, Bytes: size, Head: escapeHead(beginning), SHA256: sum}
}

// escapeHead makes the first bytes of a text readable. A byte that is not
// UTF-8 becomes \xNN; a rune that the limit would cut in two is left out.
func escapeHead(raw []byte) string {
	var b strings.Builder
	for used := 0; used < len(raw); {
		r, size := utf8.DecodeRune(raw[used:])
		if used+size > TextHead {
			break
		}
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, raw[used])
		} else {
			b.Write(raw[used : used+size])
		}
		used += size
	}
	return b.String()
}

// String is the text as far as it was kept; … stands for the rest.
func (t *Text) String() string {
	if t == nil {
		return ""
	}
	if t.Cut {
		return t.Head + "…"
	}
	return t.Whole
}

type cutText struct {
	Bytes  int64  `json:"bytes"`
	Head   string `json:"head"`
	SHA256 Hash   `json:"sha256"`
}

// MarshalJSON writes a string, or an object for a text that was cut. A whole
// text that breaks the rules for whole ones is written as a cut one.
func (t Text) MarshalJSON() ([]byte, error) {
	if !t.Cut {
		if len(t.Whole) <= TextLimit && utf8.ValidString(t.Whole) {
			return marshalPlain(t.Whole)
		}
		t = *NewText([]byte(t.Whole))
	}
	return marshalPlain(cutText{Bytes: t.Bytes, Head: t.Head, SHA256: t.SHA256})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*t = Text{}
		return json.Unmarshal(b, &t.Whole)
	}
	var cut cutText
	if err := unmarshalStrict(b, &cut); err != nil {
		return fmt.Errorf("read text: %w", err)
	}
	*t = Text{Cut: true, Bytes: cut.Bytes, Head: cut.Head, SHA256: cut.SHA256}
	return nil
}

// String is the hash in lower-case hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText writes the hash in lower-case hex.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads 64 lower-case hex digits.
func (h *Hash) UnmarshalText(b []byte) error {
	if !isHex(string(b), 2*len(h)) {
		return fmt.Errorf("read hash: %q is not 64 hex digits", b)
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// SealDetail makes the bytes to be stored for a detail, a fresh salt, and the
// hash over both that goes into the leaf. The salt keeps a short detail from
// being guessed from its hash once it is erased.
func SealDetail(d *Detail) (salt, data []byte, hash Hash, err error) {
	data, err = marshalPlain(d)
	if err != nil {
		return nil, nil, Hash{}, &Error{Reason: fmt.Sprintf("its detail cannot be written: %v", err)}
	}
	salt = make([]byte, SaltBytes)
	rand.Read(salt) // never fails
	return salt, data, SaltedHash(salt, data), nil
}

// SaltedHash is the hash by which a leaf binds a detail: SHA-256(salt ‖ data).
func SaltedHash(salt, data []byte) Hash {
	h := sha256.New()
	h.Write(salt)
	h.Write(data)
	return Hash(h.Sum(nil))
}

// OpenDetail reads the bytes of a detail, and refuses members that it does not know.
func OpenDetail(data []byte) (*Detail, error) {
	var d Detail
	if err := unmarshalStrict(data, &d); err != nil {
		return nil, fmt.Errorf("read detail: %w", err)
	}
	return &d, nil
}

// marshalPlain writes JSON without the escapes that only HTML needs.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// unmarshalStrict refuses members that this version does not know: they would
// be shown nowhere, and somebody put them there.
func unmarshalStrict(b []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("something follows the value")
	}
	return nil
}
