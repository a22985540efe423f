package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Service is how one gets in. It is safe for concurrent use.
type Service struct {
	store  store.Store
	clock  func() value.Instant
	random io.Reader

	keys      *keyCache
	addresses *access.Throttle // wrong credentials, by address
	prefixes  *access.Throttle // wrong keys, by prefix
	passwords *access.Throttle // attempts, by who tries from where
	places    *access.Throttle // attempts, by where somebody tries
	emails    *access.Throttle // attempts, by who tries
	hasher    *hasher
}

// Wrong credentials are answered at these rates, and passwords compared. A right key,
// session or link is never held up by wrong ones.
var (
	addressRate  = access.Rate{Burst: 30, Every: 2 * time.Second}
	prefixRate   = access.Rate{Burst: 10, Every: 6 * time.Second}
	passwordRate = access.Rate{Burst: 5, Every: 30 * time.Second}
	placeRate    = access.Rate{Burst: 60, Every: 2 * time.Second}
	emailRate    = access.Rate{Burst: 100, Every: 30 * time.Second}
)

// New serves the accounts of a store. The clock is that of the store, for what
// happens before a workspace is known.
func New(s store.Store, clock func() value.Instant) (*Service, error) {
	salt := make([]byte, 32)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("make a salt: %w", err)
	}
	h, err := newHasher(rand.Reader)
	if err != nil {
		return nil, err
	}
	return &Service{
		store: s, clock: clock, random: rand.Reader,
		keys:      newKeyCache(s.Directory(), clock),
		addresses: access.NewThrottle(addressRate, append([]byte("address"), salt...)),
		prefixes:  access.NewThrottle(prefixRate, append([]byte("prefix"), salt...)),
		passwords: access.NewThrottle(passwordRate, append([]byte("password"), salt...)),
		places:    access.NewThrottle(placeRate, append([]byte("place"), salt...)),
		emails:    access.NewThrottle(emailRate, append([]byte("email"), salt...)),
		hasher:    h,
	}, nil
}

// Conflict is the code of a [StateError].
const Conflict access.Code = "conflict"

// StateError says that something does not stand so that this could be done to it.
type StateError struct{ Problem string }

func (e *StateError) Error() string { return e.Problem }

// Code is [Conflict].
func (e *StateError) Code() access.Code { return Conflict }

// RequestError says what of a request cannot be.
type RequestError struct{ Field, Problem string }

func (e *RequestError) Error() string { return e.Field + " " + e.Problem }

// Code is [access.InvalidRequest].
func (e *RequestError) Code() access.Code { return access.InvalidRequest }

// UnknownError says that a link, a session or a password is none: the same words
// whatever is wrong with it.
type UnknownError struct{ What string }

func (e *UnknownError) Error() string { return "there is no such " + e.What + ", or not any more" }

// Code is [access.Unauthenticated].
func (e *UnknownError) Code() access.Code { return access.Unauthenticated }

// token is a text that was drawn from 2^256 and is shown once.
type token struct{ text *string }

const (
	linkMark    = "dsl_" // a sign-in link's
	sessionMark = "dss_" // a session's
	tokenChars  = 52     // 32 bytes in base 32
)

var lowercase = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (s *Service) newToken(mark string) (Token, store.TokenHash, error) {
	raw := make([]byte, 32)
	if _, err := io.ReadFull(s.random, raw); err != nil {
		return Token{}, store.TokenHash{}, fmt.Errorf("make a token: %w", err)
	}
	text := mark + lowercase.EncodeToString(raw)
	return Token{token{text: &text}}, hashOf(text), nil
}

// hashOf is what is kept of a token. One SHA-256 is enough for what nobody can guess.
func hashOf(text string) store.TokenHash { return sha256.Sum256([]byte(text)) }

// IsSession says whether a text claims to be a session's token.
func IsSession(text string) bool { return strings.HasPrefix(text, sessionMark) }

// formed says whether a text could be a token of a kind, so that nothing else is
// asked for.
func formed(text, mark string) bool {
	rest, marked := strings.CutPrefix(text, mark)
	return marked && len(rest) == tokenChars && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// Token is a link's or a session's token. However it is printed or logged, it does
// not show; [Token.Reveal] is for the one answer that hands it over.
type Token struct{ token token }

// Reveal is the token's text.
func (t Token) Reveal() string {
	if t.token.text == nil {
		return ""
	}
	return *t.token.text
}

// Format writes nothing of the token, whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "(hidden token)") }

// MarshalText writes nothing of the token. JSON and structured logs use it.
func (t Token) MarshalText() ([]byte, error) { return []byte("(hidden token)"), nil }

// newID makes an id that nobody else makes.
func (s *Service) newID(mark string) (string, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(s.random, raw); err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return mark + lowercase.EncodeToString(raw), nil
}

// do runs a unit in the principal's workspace.
func (s *Service) do(ctx context.Context, p access.Principal, fn func(store.Tx) error) error {
	return s.store.Do(ctx, p.Workspace(), fn)
}

func (s *Service) view(ctx context.Context, p access.Principal, fn func(store.Tx) error) error {
	return s.store.View(ctx, p.Workspace(), fn)
}

// told writes a row of the audit.
func told(tx store.Tx, actor access.Actor, event, object string, m audit.Metadata) {
	tx.Audit(audit.Entry(actor, tx.Now(), event, object, m))
}

func missing(err error) bool { return errors.Is(err, store.ErrNotFound) }
