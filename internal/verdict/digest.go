package verdict

import (
	"crypto/sha256"
	"encoding/hex"
)

// usualSize is room for the canonical form of most cases and verdicts, in
// bytes. Others cost another allocation.
const usualSize = 4096

// Digest names the case by everything that its verdict depends on: SHA-256
// over its canonical form without the contract's text, which the contract's
// digest in it stands for.
func (c *Case) Digest() string {
	return digest(c.append(make([]byte, 0, usualSize), false))
}

// Digest names the verdict by SHA-256 over its canonical form.
func (v *Verdict) Digest() string {
	return digest(v.AppendJSON(make([]byte, 0, usualSize)))
}

func digest(canonical []byte) string {
	const scheme = "sha256:"
	sum := sha256.Sum256(canonical)
	var text [len(scheme) + 2*sha256.Size]byte
	copy(text[:], scheme)
	hex.Encode(text[len(scheme):], sum[:])
	return string(text[:])
}
