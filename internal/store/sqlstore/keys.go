package sqlstore

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// keyColumns are those that [keyRow] reads, of the table k.
const keyColumns = `k.workspace_id, k.key_id, k.prefix, k.hash, k.name, k.scopes, k.bounds, k.created_at, k.expires_at, k.revoked_at, k.replaced_by`

var (
	listKeys = tenant("list_keys", `
		SELECT `+keyColumns+` FROM api_keys k WHERE k.workspace_id = $1 ORDER BY k.created_at, k.key_id`)
	keyByID = tenant("key_by_id", `
		SELECT `+keyColumns+` FROM api_keys k WHERE k.workspace_id = $1 AND k.key_id = $2`)
	putKey = tenant("put_key", `
		INSERT INTO api_keys (workspace_id, key_id, prefix, hash, name, scopes, bounds, created_at, expires_at, revoked_at, replaced_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (workspace_id, key_id) DO UPDATE SET prefix = excluded.prefix, hash = excluded.hash, name = excluded.name,
			scopes = excluded.scopes, bounds = excluded.bounds, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
			replaced_by = excluded.replaced_by`).taken()

	keyByPrefix = directory("key_by_prefix", `
		SELECT `+keyColumns+`, `+workspaceColumns+` FROM api_keys k JOIN workspaces w ON w.workspace_id = k.workspace_id WHERE k.prefix = $1`)
)

// bounds are what a key is narrowed to, as they are kept.
type bounds struct {
	Sources     []string `json:"sources,omitzero"`
	Contracts   []string `json:"contracts,omitzero"`
	ActionTypes []string `json:"action_types,omitzero"`
	Agents      []string `json:"agents,omitzero"`
}

// keyRow reads the columns of keyColumns.
func keyRow(r Row) (access.Key, error) {
	k := access.Key{Workspace: access.WorkspaceID(r.Text()), ID: access.KeyID(r.Text()), Prefix: access.Prefix(r.Text())}
	hash := r.Bytes()
	k.Name = r.Text()
	scopes, narrowed := r.Text(), r.Text()
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = value.Instant(r.Int()), value.Instant(r.Int()), value.Instant(r.Int())
	k.ReplacedBy = access.Prefix(r.Text())
	var err error
	if k.Hash, err = access.LoadHash(hash); err != nil {
		return k, err
	}
	if k.Scopes, err = access.ParseScopes(scopes); err != nil {
		return k, fmt.Errorf("read the scopes of the key %s: %w", k.ID, err)
	}
	var b bounds
	if err := readForm([]byte(narrowed), &b); err != nil {
		return k, err
	}
	k.Sources, k.Limits = b.Sources, access.Limits{Contracts: b.Contracts, ActionTypes: b.ActionTypes, Agents: b.Agents}
	return k, nil
}

// ListKeys implements [store.Keys].
func (u *unit) ListKeys() ([]access.Key, error) {
	var all []access.Key
	err := u.ask(&query{statement: listKeys, row: func(r Row) error {
		k, err := keyRow(r)
		all = append(all, k)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the API keys: %w", err)
	}
	return all, nil
}

// Key implements [store.Keys].
func (u *unit) Key(id access.KeyID) (*access.Key, error) {
	var found *access.Key
	err := u.ask(&query{statement: keyByID, args: []any{id}, row: func(r Row) error {
		k, err := keyRow(r)
		found = &k
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the API key %s: %w", id, err)
	}
	if found == nil {
		return nil, store.ErrNotFound
	}
	return found, nil
}

// PutKey implements [store.Keys].
func (u *unit) PutKey(k access.Key) {
	if !u.owns("an API key", k.Workspace) {
		return
	}
	if k.Hash.Bytes() == nil {
		u.fail(fmt.Errorf("keep the API key %s: it has no hash", k.ID))
		return
	}
	narrowed, err := form(bounds{Sources: k.Sources, Contracts: k.Limits.Contracts, ActionTypes: k.Limits.ActionTypes, Agents: k.Limits.Agents})
	if err != nil {
		u.fail(fmt.Errorf("write what the API key %s is bound to: %w", k.ID, err))
		return
	}
	u.queue(putKey, k.ID, k.Prefix, k.Hash.Bytes(), k.Name, k.Scopes.String(), string(narrowed), k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.ReplacedBy)
}

// owns says whether something belongs to the unit's workspace. That it does not is
// a defect of the caller, and nothing of the unit is kept.
func (u *unit) owns(what string, w access.WorkspaceID) bool {
	if w != u.workspace {
		u.fail(fmt.Errorf("keep %s of another workspace than the unit's", what))
	}
	return w == u.workspace
}

// KeyByPrefix implements [store.Directory]. All of a key is in the directory, and
// not only to which workspace it belongs, so that letting somebody in takes one
// round trip.
func (c *catalogue) KeyByPrefix(ctx context.Context, p access.Prefix) (access.Key, store.Workspace, error) {
	type found struct {
		key access.Key
		in  store.Workspace
	}
	it, err := readOne(ctx, c, query{statement: keyByPrefix, args: []any{p}}, func(r Row) (f found, err error) {
		if f.key, err = keyRow(r); err == nil {
			f.in, err = workspaceRow(r)
		}
		return f, err
	})
	if err != nil {
		return access.Key{}, store.Workspace{}, fmt.Errorf("find an API key by its prefix: %w", err)
	}
	return it.key, it.in, nil
}
