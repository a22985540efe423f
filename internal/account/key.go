package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/likeness"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// mintAttempts is how often a key is drawn until it has a prefix of its own. That one
// draw is not enough happens once in 62^8 for each key there is.
const mintAttempts = 3

// KeyOrder says what a new key shall be.
type KeyOrder struct {
	Name      string
	Scopes    access.Scopes
	Sources   []string
	Limits    access.Limits
	ExpiresAt value.Instant // zero: never
}

// Minted is a new key. The secret is to be shown once and then forgotten.
type Minted struct {
	Key    access.Key
	Secret access.Secret
}

// MintKey makes a key. Errors: [access.OrderError], [access.SelfAttestError], those
// of [access.Principal.May].
func (s *Service) MintKey(ctx context.Context, p access.Principal, o KeyOrder) (*Minted, error) {
	var minted *Minted
	err := s.mint(func() error {
		return s.do(ctx, p, func(tx store.Tx) error {
			if err := p.May(access.ManageKeys, tx.Now()); err != nil {
				return err
			}
			if o.Scopes.Has(access.FactsWrite) {
				// The switch that may allow it must not move meanwhile.
				if err := tx.LockMembers(); err != nil {
					return err
				}
			}
			w, err := tx.GetWorkspace()
			if err != nil {
				return err
			}
			id, err := s.newID("key_")
			if err != nil {
				return err
			}
			order := access.KeyOrder{ID: access.KeyID(id), Name: o.Name, Scopes: o.Scopes, Sources: o.Sources, Limits: o.Limits, ExpiresAt: o.ExpiresAt}
			key, secret, err := access.MintKey(order, w.Workspace, s.random, tx.Now())
			if err != nil {
				return err
			}
			if err := knownSources(tx, o.Sources); err != nil {
				return err
			}
			tx.PutKey(key)
			told(tx, p.Actor(), "key.created", string(key.Prefix), keyDetails(key))
			minted = &Minted{Key: key, Secret: secret}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("make an API key: %w", err)
	}
	return minted, nil
}

// knownSources says whether the workspace has all of them: a key for one that was
// misspelt would write to nothing, and to a source that somebody makes later.
func knownSources(tx store.Tx, names []string) error {
	if len(names) == 0 {
		return nil
	}
	states, err := tx.SourceStates()
	if err != nil {
		return err
	}
	known := make([]string, 0, len(states))
	for i := range states {
		known = append(known, states[i].Name)
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		problem := fmt.Sprintf("name %q, which is no source of the workspace", name)
		if meant := likeness.Closest(name, known); meant != "" {
			problem += fmt.Sprintf("; did you mean %q?", meant)
		}
		return &access.OrderError{Field: "sources", Problem: problem}
	}
	return nil
}

// mint tries again where the prefix is another key's.
func (s *Service) mint(try func() error) error {
	var err error
	for range mintAttempts {
		if err = try(); !errors.Is(err, store.ErrTaken) {
			return err
		}
	}
	return err
}

func keyDetails(k access.Key) audit.Metadata {
	m := audit.Metadata{"name": k.Name, "scopes": k.Scopes.String()}
	for name, list := range map[string][]string{
		"sources": k.Sources, "contracts": k.Limits.Contracts, "action_types": k.Limits.ActionTypes, "agents": k.Limits.Agents,
	} {
		if len(list) > 0 {
			m[name] = list
		}
	}
	if k.ExpiresAt != 0 {
		m["expires_at"] = k.ExpiresAt.String()
	}
	return m
}

// Keys lists the keys of the workspace, also those that do not work any more.
func (s *Service) Keys(ctx context.Context, p access.Principal) ([]access.Key, error) {
	if err := signedIn(p.May(access.ManageKeys, s.clock())); err != nil {
		return nil, err
	}
	var keys []access.Key
	err := s.view(ctx, p, func(tx store.Tx) (err error) {
		keys, err = tx.ListKeys()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the API keys: %w", err)
	}
	return keys, nil
}

// RotateKey replaces a key by a new one that may do the same. Both work until the
// overlap is over. Errors: [store.ErrNotFound], those of [access.Rotate] and
// [access.Principal.May].
func (s *Service) RotateKey(ctx context.Context, p access.Principal, id access.KeyID, overlap time.Duration, expires value.Instant) (*Minted, error) {
	var minted *Minted
	err := s.mint(func() error {
		return s.do(ctx, p, func(tx store.Tx) error {
			if err := p.May(access.ManageKeys, tx.Now()); err != nil {
				return err
			}
			w, err := tx.GetWorkspace()
			if err != nil {
				return err
			}
			old, err := tx.Key(id)
			if err != nil {
				return err
			}
			next, err := s.newID("key_")
			if err != nil {
				return err
			}
			rotation := access.Rotation{ID: access.KeyID(next), Overlap: overlap, ExpiresAt: expires}
			key, secret, replaced, err := access.Rotate(*old, rotation, w.Workspace, s.random, tx.Now())
			if err != nil {
				return err
			}
			tx.PutKey(key)
			tx.PutKey(replaced)
			details := keyDetails(key)
			details["replaces"] = string(old.Prefix)
			details["until"] = replaced.ExpiresAt.String()
			told(tx, p.Actor(), "key.rotated", string(key.Prefix), details)
			minted = &Minted{Key: key, Secret: secret}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("rotate an API key: %w", err)
	}
	s.keys.forget(p.Workspace())
	return minted, nil
}

// RevokeKey ends a key: here at once, in other processes within a second. One that is
// over already is no error. Errors: [store.ErrNotFound], those of
// [access.Principal.May].
func (s *Service) RevokeKey(ctx context.Context, p access.Principal, id access.KeyID) error {
	err := s.do(ctx, p, func(tx store.Tx) error {
		if err := p.May(access.ManageKeys, tx.Now()); err != nil {
			return err
		}
		key, err := tx.Key(id)
		if err != nil {
			return err
		}
		if key.RevokedAt != 0 {
			return nil
		}
		s.revoke(tx, p.Actor(), *key, "")
		return nil
	})
	if err != nil {
		return fmt.Errorf("revoke an API key: %w", err)
	}
	s.keys.forget(p.Workspace())
	return nil
}

// revoke ends a key for a reason, which is empty where somebody just wanted it.
func (s *Service) revoke(tx store.Tx, by access.Actor, key access.Key, reason string) {
	key.RevokedAt = tx.Now()
	tx.PutKey(key)
	m := audit.Metadata{"name": key.Name}
	if reason != "" {
		m["reason"] = reason
	}
	told(tx, by, "key.revoked", string(key.Prefix), m)
}
