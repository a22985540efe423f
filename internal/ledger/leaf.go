package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// The kinds of leaves. One that was ever written is never given another meaning.
const (
	DeclarationKind = "declaration"
	VerdictKind     = "verdict"
	ActivationKind  = "activation"
	RetirementKind  = "retirement"
	AuditKind       = "audit"
)

// Unnumbered is the number of a leaf that has none yet.
const Unnumbered = -1

// Text is the leaf as it is hashed: canonical JSON with its members in the order of
// their names. Its number is its place and no part of it.
func Text(l *store.Leaf) []byte {
	b := append(make([]byte, 0, 256), `{"at":`...)
	b = value.AppendString(b, l.At.String())
	b = append(b, `,"digest":`...)
	b = value.AppendString(b, l.Digest)
	b = append(b, `,"kind":`...)
	b = value.AppendString(b, l.Kind)
	b = append(b, `,"object":`...)
	b = value.AppendString(b, l.Object)
	return append(b, '}')
}

// Hash is the leaf's hash in the tree.
func Hash(l *store.Leaf) tlog.Hash { return tlog.LeafHash(Text(l)) }

// Declaration is the leaf of one revision of a declaration. Its digest is over the
// body as it came, byte for byte; its object is the action and the revision.
func Declaration(d *store.Declared) store.Leaf {
	return leaf(DeclarationKind, revision(d.Ref, d.Revision), digest(d.Body), d.Declaration.ReceivedAt)
}

// Verdict is the leaf of a settled or revised verdict. Its digest is the verdict's.
func Verdict(ref store.Ref, v *verdict.Verdict) store.Leaf {
	return leaf(VerdictKind, revision(ref, v.Revision), v.Digest(), v.EvaluatedAt)
}

// Activation is the leaf that says from when on a version governs.
func Activation(v *store.ContractVersion) store.Leaf {
	b := []byte(`{"contract":`)
	b = value.AppendString(b, v.ContractID)
	b = append(b, `,"contract_digest":`...)
	b = value.AppendString(b, v.Digest)
	b = append(b, `,"from":`...)
	b = value.AppendString(b, v.From.String())
	b = append(b, `,"mode":`...)
	b = value.AppendString(b, string(v.Mode))
	b = append(b, `,"version":`...)
	b = append(strconv.AppendInt(b, int64(v.Version), 10), '}')
	return leaf(ActivationKind, v.ContractID+"@"+strconv.Itoa(v.Version), digest(b), v.From)
}

// Retirement is the leaf that says when the version that governed ended, where no
// other followed it.
func Retirement(v *store.ContractVersion) store.Leaf {
	b := []byte(`{"contract":`)
	b = value.AppendString(b, v.ContractID)
	b = append(b, `,"contract_digest":`...)
	b = value.AppendString(b, v.Digest)
	b = append(b, `,"until":`...)
	b = value.AppendString(b, v.Until.String())
	b = append(b, `,"version":`...)
	b = append(strconv.AppendInt(b, int64(v.Version), 10), '}')
	return leaf(RetirementKind, v.ContractID+"@"+strconv.Itoa(v.Version), digest(b), v.Until)
}

func leaf(kind, object, digest string, at value.Instant) store.Leaf {
	return store.Leaf{Kind: kind, Object: object, Digest: digest, At: at, Number: Unnumbered}
}

// revision names a revision of what belongs to an action: act_…/2.
func revision(ref store.Ref, n int) string { return string(ref) + "/" + strconv.Itoa(n) }

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
