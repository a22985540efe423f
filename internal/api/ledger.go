package api

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Ledger proves what is in the log of a workspace; see [ledger.Service] for the
// errors.
type Ledger interface {
	Checkpoint(ctx context.Context, w access.WorkspaceID) (*ledger.Checkpoint, error)
	Inclusion(ctx context.Context, w access.WorkspaceID, digest string) (*ledger.Inclusion, error)
	Consistency(ctx context.Context, w access.WorkspaceID, older, newer int64) ([]tlog.Hash, error)
}

type checkpoint struct {
	Size       int64  `json:"size"`
	Root       string `json:"root" jsonschema:"base64"`
	Checkpoint string `json:"checkpoint" jsonschema:"the signed note"`
	Key        string `json:"key" jsonschema:"what verifies it"`
}

func checkpointOf(c *ledger.Checkpoint) checkpoint {
	return checkpoint{Size: c.Size, Root: base64Of(c.Root), Checkpoint: string(c.Signed), Key: c.VerifierKey}
}

func getCheckpoint(c *call) (reply, error) {
	found, err := c.services.Ledger.Checkpoint(c.ctx, c.principal.Workspace())
	if err != nil {
		return reply{}, named(err, "checkpoint: the ledger has no leaf yet")
	}
	return answered(checkpointOf(found), nil)
}

// proof is one of two: that a leaf is in the log, or that the log of one size is
// the beginning of that of another.
type proof struct {
	Leaf       *view.Leaf  `json:"leaf,omitzero" jsonschema:"of a proof of inclusion"`
	Text       string      `json:"text,omitzero" jsonschema:"the leaf as it is hashed"`
	Checkpoint *checkpoint `json:"checkpoint,omitzero" jsonschema:"that the proof of inclusion leads to"`
	From       int64       `json:"from,omitzero" jsonschema:"of a proof of consistency"`
	To         int64       `json:"to,omitzero"`
	Hashes     []string    `json:"hashes" jsonschema:"base64, as RFC 6962 orders them"`
}

const mostLeaves = 1 << 53

var proofParams = []param{
	{name: "digest", about: "of a declaration, a settled verdict or an activation"},
	{name: "from", about: "a size of the log", least: 1, most: mostLeaves},
	{name: "to", about: "a later size", least: 1, most: mostLeaves},
}

func getProof(c *call) (reply, error) {
	q := c.query
	if q.has("digest") == (q.has("from") || q.has("to")) || q.has("from") != q.has("to") {
		return reply{}, &RequestError{Field: "digest", Message: "give digest, or from and to"}
	}
	if q.has("from") {
		from, to := int64(q.number("from")), int64(q.number("to"))
		hashes, err := c.services.Ledger.Consistency(c.ctx, c.principal.Workspace(), from, to)
		return answered(proof{From: from, To: to, Hashes: allBase64(hashes)}, err)
	}
	digest, err := digestOf("digest", q.text("digest"))
	if err != nil {
		return reply{}, err
	}
	in, err := c.services.Ledger.Inclusion(c.ctx, c.principal.Workspace(), digest)
	if err != nil {
		return reply{}, named(err, "leaf of this digest; a leaf gets its place within a second or two")
	}
	leaf, reached := view.LeafOf(&in.Leaf), checkpointOf(in.Checkpoint)
	return answered(proof{Leaf: &leaf, Text: string(in.Text), Checkpoint: &reached, Hashes: allBase64(in.Proof)}, nil)
}

type verified struct {
	Found    bool          `json:"found"`
	Kind     string        `json:"kind,omitzero"`
	Object   string        `json:"object,omitzero"`
	Digest   string        `json:"digest,omitzero"`
	At       value.Instant `json:"at,omitzero"`
	Number   *int64        `json:"number,omitzero" jsonschema:"its place, from 0"`
	Included bool          `json:"included,omitzero" jsonschema:"its proof was computed and holds"`
	Size     int64         `json:"size,omitzero" jsonschema:"of the log that it is in"`
}

func verifyHash(c *call) (reply, error) {
	digest, err := digestOf("hash", c.path("hash"))
	if err != nil {
		return reply{}, err
	}
	in, err := c.services.Ledger.Inclusion(c.ctx, c.principal.Workspace(), digest)
	if errors.Is(err, store.ErrNotFound) {
		return answered(verified{}, nil)
	}
	if err != nil {
		return reply{}, err
	}
	l := &in.Leaf
	return answered(verified{
		Found: true, Kind: l.Kind, Object: l.Object, Digest: l.Digest, At: l.At, Number: &l.Number,
		Included: in.Check() == nil, Size: in.Checkpoint.Size,
	}, nil)
}

// digestOf reads a SHA-256 with or without its scheme.
func digestOf(field, text string) (string, error) {
	digits := strings.TrimPrefix(text, "sha256:")
	if raw, err := hex.DecodeString(digits); err != nil || len(raw) != 32 || digits != strings.ToLower(digits) {
		return "", &RequestError{Field: field, Message: "is no digest; write sha256: and 64 hexadecimal digits in small letters"}
	}
	return "sha256:" + digits, nil
}

func base64Of(h tlog.Hash) string { return base64.StdEncoding.EncodeToString(h[:]) }

func allBase64(hashes []tlog.Hash) []string {
	list := make([]string, 0, len(hashes))
	for _, h := range hashes {
		list = append(list, base64Of(h))
	}
	return list
}

// named says what was not found, where a store only says that something was not.
func named(err error, what string) error {
	if errors.Is(err, store.ErrNotFound) {
		return &NotFoundError{What: what}
	}
	return err
}
