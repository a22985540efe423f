package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// What argon2id is told for new passwords: two passes over 19 MiB, as OWASP advises
// for servers.
// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html
const (
	passes    = 2
	memoryKiB = 19 * 1024
	lanes     = 1
	saltBytes = 16
	hashBytes = 32
)

// What a password has.
const (
	minPasswordRunes = 12
	maxPasswordBytes = 1024
)

// hasher hashes passwords, at most two at once: each takes 19 MiB and some 40 ms of
// a processor, and a wave of sign-ins must not take the server from everybody else.
type hasher struct {
	random io.Reader
	turns  chan struct{}
	// nobody's is compared where there is no such person, so that how long it takes
	// does not tell who is one.
	nobodys string
}

func newHasher(random io.Reader) (*hasher, error) {
	h := &hasher{random: random, turns: make(chan struct{}, 2)}
	unguessable := make([]byte, 32)
	if _, err := io.ReadFull(random, unguessable); err != nil {
		return nil, fmt.Errorf("make a password: %w", err)
	}
	var err error
	h.nobodys, err = h.hash(context.Background(), string(unguessable))
	return h, err
}

// hash makes the PHC text of a password.
// https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltBytes)
	if _, err := io.ReadFull(h.random, salt); err != nil {
		return "", fmt.Errorf("make a salt: %w", err)
	}
	p := phc{passes: passes, memoryKiB: memoryKiB, lanes: lanes, salt: salt}
	sum, err := h.sum(ctx, password, p, hashBytes)
	if err != nil {
		return "", err
	}
	p.hash = sum
	return p.String(), nil
}

// matches says whether a password is the one of a PHC text; an empty text is
// nobody's and takes as long. Errors: of the context, and for a text that is none.
func (h *hasher) matches(ctx context.Context, kept, password string) (bool, error) {
	known := kept != ""
	if !known {
		kept = h.nobodys
	}
	p, err := parsePHC(kept)
	if err != nil {
		return false, err
	}
	sum, err := h.sum(ctx, password, p, uint32(len(p.hash)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, p.hash) == 1 && known, nil
}

func (h *hasher) sum(ctx context.Context, password string, p phc, n uint32) ([]byte, error) {
	select {
	case h.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a turn to hash a password: %w", ctx.Err())
	}
	defer func() { <-h.turns }()
	return argon2.IDKey([]byte(password), p.salt, p.passes, p.memoryKiB, p.lanes, n), nil
}

// phc is the content of a PHC text of argon2id.
type phc struct {
	passes    uint32
	memoryKiB uint32
	lanes     uint8
	salt      []byte
	hash      []byte
}

func (p phc) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memoryKiB, p.passes, p.lanes, b64(p.salt), b64(p.hash))
}

// parsePHC reads what String writes. What it asks of memory and time is bounded, so
// that a row that somebody edited does not take the server down.
func parsePHC(text string) (phc, error) {
	var p phc
	bad := func(problem string) (phc, error) { return phc{}, errors.New("read a password's hash: " + problem) }
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return bad("it is none of argon2id")
	}
	if parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return bad("it is of another version")
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memoryKiB, &p.passes, &p.lanes); n != 3 || err != nil {
		return bad("its costs cannot be read")
	}
	if p.memoryKiB < 8 || p.memoryKiB > 1<<20 || p.passes < 1 || p.passes > 16 || p.lanes < 1 || p.lanes > 16 {
		return bad("its costs are out of bounds")
	}
	var err error
	if p.salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4]); err != nil || len(p.salt) < 8 || len(p.salt) > 64 {
		return bad("its salt cannot be read")
	}
	if p.hash, err = base64.RawStdEncoding.Strict().DecodeString(parts[5]); err != nil || len(p.hash) < 16 || len(p.hash) > 64 {
		return bad("its hash cannot be read")
	}
	return p, nil
}

// checkPassword says whether somebody may choose this password.
func checkPassword(password string, email string) error {
	const field = "password"
	switch {
	case !utf8.ValidString(password):
		return &RequestError{Field: field, Problem: "is not UTF-8"}
	case utf8.RuneCountInString(password) < minPasswordRunes:
		return &RequestError{Field: field, Problem: fmt.Sprintf("has fewer than %d characters", minPasswordRunes)}
	case len(password) > maxPasswordBytes:
		return &RequestError{Field: field, Problem: fmt.Sprintf("has more than %d bytes", maxPasswordBytes)}
	case strings.EqualFold(password, email):
		return &RequestError{Field: field, Problem: "is the address"}
	}
	return nil
}
