package api

import (
	"context"
	"net/http"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Keys are the API keys of a workspace; see [account.Service] for the errors.
type Keys interface {
	Keys(ctx context.Context, p access.Principal) ([]access.Key, error)
	MintKey(ctx context.Context, p access.Principal, o account.KeyOrder) (*account.Minted, error)
	RotateKey(ctx context.Context, p access.Principal, id access.KeyID, overlap time.Duration, expires value.Instant) (*account.Minted, error)
	RevokeKey(ctx context.Context, p access.Principal, id access.KeyID) error
}

type keyList struct {
	Keys []view.Key `json:"keys"`
}

func listKeys(c *call) (reply, error) {
	found, err := c.services.Keys.Keys(c.ctx, c.principal)
	list := keyList{Keys: make([]view.Key, 0, len(found))}
	for i := range found {
		list.Keys = append(list.Keys, view.KeyOf(&found[i], c.at))
	}
	return answered(list, err)
}

type keyOrder struct {
	Name      string         `json:"name"`
	Preset    access.Preset  `json:"preset,omitzero" jsonschema:"a set of scopes; or"`
	Scopes    []access.Scope `json:"scopes,omitempty" jsonschema:"those"`
	Sources   []string       `json:"sources,omitempty" jsonschema:"whose facts it may write"`
	Limits    view.Limits    `json:"limits,omitzero" jsonschema:"what it may declare and see"`
	ExpiresAt value.Instant  `json:"expires_at,omitzero" jsonschema:"never without it"`
}

// scopes are those of the preset or those that are named.
func (o *keyOrder) scopes() (access.Scopes, error) {
	if (o.Preset == "") == (len(o.Scopes) == 0) {
		return access.Scopes{}, &RequestError{Field: "preset", Message: "send preset or scopes"}
	}
	if o.Preset == "" {
		return access.ScopesOf(o.Scopes...), nil
	}
	set, err := o.Preset.Scopes()
	if err != nil {
		return access.Scopes{}, &RequestError{Field: "preset", Message: err.Error()}
	}
	return set, nil
}

// newKey has a secret, the only time that it is shown.
type newKey struct {
	Key    view.Key `json:"key"`
	Secret string   `json:"secret" jsonschema:"shown once"`
}

func mintKey(c *call, in *keyOrder) (reply, error) {
	scopes, err := in.scopes()
	if err != nil {
		return reply{}, err
	}
	minted, err := c.services.Keys.MintKey(c.ctx, c.principal, account.KeyOrder{
		Name: in.Name, Scopes: scopes, Sources: in.Sources, Limits: access.Limits(in.Limits), ExpiresAt: in.ExpiresAt,
	})
	return c.minted(minted, err)
}

func (c *call) minted(m *account.Minted, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return reply{status: http.StatusCreated, content: newKey{view.KeyOf(&m.Key, c.at), m.Secret.Reveal()}}, nil
}

type rotation struct {
	Overlap   duration      `json:"overlap,omitzero" jsonschema:"how long both work; 0s without it"`
	ExpiresAt value.Instant `json:"expires_at,omitzero" jsonschema:"of the new key; as the old one without it"`
}

func rotateKey(c *call, in *rotation) (reply, error) {
	minted, err := c.services.Keys.RotateKey(c.ctx, c.principal, access.KeyID(c.path("id")), time.Duration(in.Overlap), in.ExpiresAt)
	return c.minted(minted, err)
}

func revokeKey(c *call) (reply, error) {
	return reply{status: http.StatusNoContent}, c.services.Keys.RevokeKey(c.ctx, c.principal, access.KeyID(c.path("id")))
}
