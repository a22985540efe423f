package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/deed-dev/deed/internal/store"
)

// Registry keeps small values of the whole installation. A [store.Directory] is one.
type Registry interface {
	Meta(ctx context.Context, name string) (string, error)
	SetMeta(ctx context.Context, name, value string) (string, error)
}

// maxKeys bounds how many keys an installation can have had.
const maxKeys = 1000

// OtherSecretError says that the database holds what was sealed with a key that the
// secret file does not have.
type OtherSecretError struct {
	Wanted string   // fingerprint of the key that is missing
	Has    []string // of those that are there
}

func (e *OtherSecretError) Error() string {
	return fmt.Sprintf("this database is sealed with the key %s, which the secret file does not have (it has %s); start with the secret file of the other instances, or the one from the backup",
		e.Wanted[:8], shorts(e.Has))
}

func shorts(fingerprints []string) string {
	text := ""
	for i, f := range fingerprints {
		if i > 0 {
			text += ", "
		}
		text += f[:8]
	}
	return text
}

// Admit makes sure that all instances of an installation have the same secret: the
// first one leaves its fingerprint, and one that lacks any key that was ever left is
// refused with an [OtherSecretError] before it seals what the others cannot open.
func (v *Vault) Admit(ctx context.Context, r Registry) error {
	var has []string
	for _, k := range v.keys {
		has = append(has, k.fingerprint)
	}
	left := false
	for n := range maxKeys {
		name := registered(n)
		kept, err := r.Meta(ctx, name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("read the fingerprint of the secret: %w", err)
		}
		if kept == "" {
			if left {
				return nil
			}
			// Whoever is first decides: the others find that value here.
			if kept, err = r.SetMeta(ctx, name, v.Fingerprint()); err != nil {
				return fmt.Errorf("keep the fingerprint of the secret: %w", err)
			}
		}
		if !slices.Contains(has, kept) {
			return &OtherSecretError{Wanted: kept, Has: has}
		}
		left = left || kept == v.Fingerprint()
	}
	return fmt.Errorf("read the fingerprint of the secret: there are more than %d", maxKeys)
}

// Begun is the fingerprint of the first key that an installation was served with;
// empty if it never was. What it sealed opens with a file that has this key.
func Begun(ctx context.Context, r Registry) (string, error) {
	kept, err := r.Meta(ctx, registered(0))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("read the fingerprint of the secret: %w", err)
	}
	return kept, nil
}

// registered is the name under which a key's fingerprint is kept.
func registered(n int) string { return "secret." + strconv.Itoa(n) }

// Has says whether one of the keys has this fingerprint.
func (v *Vault) Has(fingerprint string) bool {
	return slices.ContainsFunc(v.keys, func(k masterKey) bool { return k.fingerprint == fingerprint })
}
