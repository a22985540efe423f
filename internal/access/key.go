package access

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/deed-dev/deed/internal/value"
)

// Key is what is kept of an API key. Nothing of it opens anything: the key's own
// text was shown once and is gone.
type Key struct {
	ID        KeyID
	Workspace WorkspaceID
	Name      string
	Prefix    Prefix
	Hash      Hash `json:"-"`
	Scopes    Scopes
	Sources   []string // whose facts it may write; none without facts:write
	Limits    Limits
	CreatedAt value.Instant
	ExpiresAt value.Instant // zero: never
	RevokedAt value.Instant // zero if it was not
	// ReplacedBy is the prefix of the key that a rotation made. This one lives on
	// until ExpiresAt, so that its holders can change over.
	ReplacedBy Prefix
}

// Limits narrow what a key may declare and see of actions and contracts. An empty
// list does not limit. A limited field that a declaration leaves empty is outside.
type Limits struct {
	Contracts   []string
	ActionTypes []string
	Agents      []string
}

// Target is what of an action a key can be limited by.
type Target struct {
	ContractID string
	ActionType string
	AgentID    string
}

// check says whether the target is within the limits: nil or a [LimitError].
func (l Limits) check(t Target) error {
	for _, one := range []struct {
		field, given string
		allowed      []string
	}{
		{"contract_id", t.ContractID, l.Contracts},
		{"action_type", t.ActionType, l.ActionTypes},
		{"agent_id", t.AgentID, l.Agents},
	} {
		if len(one.allowed) > 0 && !slices.Contains(one.allowed, one.given) {
			return &LimitError{Field: one.field, Given: one.given}
		}
	}
	return nil
}

func (l Limits) clone() Limits {
	return Limits{
		Contracts:   slices.Clone(l.Contracts),
		ActionTypes: slices.Clone(l.ActionTypes),
		Agents:      slices.Clone(l.Agents),
	}
}

// What a key may be at most.
const (
	maxNameBytes  = 200
	maxListed     = 100 // names in one list
	MaxKeyOverlap = 30 * 24 * time.Hour
)

// KeyOrder says what a new key shall be.
type KeyOrder struct {
	ID        KeyID
	Name      string
	Scopes    Scopes // of a [Preset], or chosen one by one
	Sources   []string
	Limits    Limits
	ExpiresAt value.Instant // zero: never
}

// MintKey makes a key for a workspace. The [Secret] is to be shown once and then
// forgotten. Prefixes are as good as unique, 1 in 62^8 for two keys; a store that
// has this one already refuses it, and the caller mints again.
//
// An order that cannot be is an [OrderError] or a [SelfAttestError].
func MintKey(o KeyOrder, w Workspace, random io.Reader, at value.Instant) (Key, Secret, error) {
	if err := o.check(w, at); err != nil {
		return Key{}, Secret{}, err
	}
	s, err := newSecret(random)
	if err != nil {
		return Key{}, Secret{}, err
	}
	return Key{
		ID: o.ID, Workspace: w.ID, Name: o.Name,
		Prefix: s.Prefix(), Hash: s.Hash(),
		Scopes: o.Scopes, Sources: slices.Clone(o.Sources), Limits: o.Limits.clone(),
		CreatedAt: at, ExpiresAt: o.ExpiresAt,
	}, s, nil
}

func (o KeyOrder) check(w Workspace, at value.Instant) error {
	switch {
	case o.Scopes.IsEmpty():
		return &OrderError{Field: "scopes", Problem: "must name at least one"}
	case o.Scopes.attestsToItself() && !w.Development:
		return &SelfAttestError{}
	case o.Scopes.Has(FactsWrite) && len(o.Sources) == 0:
		return &OrderError{Field: "sources", Problem: "must name those whose facts the key may write"}
	case !o.Scopes.Has(FactsWrite) && len(o.Sources) > 0:
		return &OrderError{Field: "sources", Problem: "bind nothing without facts:write"}
	case strings.TrimSpace(o.Name) == "" || len(o.Name) > maxNameBytes:
		return &OrderError{Field: "name", Problem: fmt.Sprintf("has 1 to %d bytes", maxNameBytes)}
	case strings.ContainsFunc(o.Name, unicode.IsControl):
		return &OrderError{Field: "name", Problem: "has control characters"}
	case o.ExpiresAt != 0 && o.ExpiresAt <= at:
		return &OrderError{Field: "expires_at", Problem: "has passed"}
	}
	for field, names := range map[string][]string{
		"sources": o.Sources, "contracts": o.Limits.Contracts,
		"action_types": o.Limits.ActionTypes, "agents": o.Limits.Agents,
	} {
		if len(names) > maxListed {
			return &OrderError{Field: field, Problem: fmt.Sprintf("has more than %d names", maxListed)}
		}
		if slices.Contains(names, "") {
			return &OrderError{Field: field, Problem: "has an empty name"}
		}
	}
	return nil
}

// Rotation says how a key is replaced.
type Rotation struct {
	ID        KeyID         // of the new key
	Overlap   time.Duration // how long both work; zero ends the old one at once
	ExpiresAt value.Instant // of the new key; zero: as the old one
}

// Rotate replaces a key by a new one that may do exactly the same. It returns the
// new key, its secret, and the old key as it is to be kept from now on: it works
// until the overlap is over, and no longer than it would have. Only a key that
// works and was not replaced before can be rotated.
func Rotate(old Key, r Rotation, w Workspace, random io.Reader, at value.Instant) (Key, Secret, Key, error) {
	if err := old.usable(w, at); err != nil {
		return Key{}, Secret{}, old, fmt.Errorf("rotate an API key: %w", err)
	}
	switch {
	case old.ReplacedBy != "":
		return Key{}, Secret{}, old, &OrderError{Field: "key", Problem: "was replaced already; rotate the one that replaced it"}
	case r.Overlap < 0 || r.Overlap > MaxKeyOverlap:
		return Key{}, Secret{}, old, &OrderError{Field: "overlap", Problem: "is 0 to 30 days"}
	}
	order := KeyOrder{
		ID: r.ID, Name: old.Name, Scopes: old.Scopes,
		Sources: old.Sources, Limits: old.Limits, ExpiresAt: old.ExpiresAt,
	}
	if r.ExpiresAt != 0 {
		order.ExpiresAt = r.ExpiresAt
	}
	next, s, err := MintKey(order, w, random, at)
	if err != nil {
		return Key{}, Secret{}, old, err
	}
	replaced := old
	replaced.ReplacedBy = next.Prefix
	if end := at.Add(r.Overlap); old.ExpiresAt == 0 || end < old.ExpiresAt {
		replaced.ExpiresAt = end
	}
	return next, s, replaced, nil
}

// usable says whether the key opens this workspace now, whoever holds it.
func (k Key) usable(w Workspace, at value.Instant) error {
	switch {
	case k.Workspace != w.ID || w.ID == "":
		return &WorkspaceError{Kind: APIKey}
	case k.RevokedAt != 0 && k.RevokedAt <= at:
		return &RevokedError{Kind: APIKey, At: k.RevokedAt}
	case k.ExpiresAt != 0 && k.ExpiresAt <= at:
		return &ExpiredError{Kind: APIKey, At: k.ExpiresAt}
	case k.Scopes.attestsToItself() && !w.Development:
		return &SelfAttestError{}
	}
	return nil
}
