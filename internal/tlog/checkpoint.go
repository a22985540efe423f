package tlog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Checkpoint says how big a log is and what its root hash is.
type Checkpoint struct {
	Origin string // names the log; its key has the same name
	Size   int64
	Root   Hash
}

// MaxCheckpointBytes bounds what OpenCheckpoint looks at. A note with a
// hundred cosignatures is far below it.
const MaxCheckpointBytes = 64 << 10

// ErrBadSignature says that a note is not signed by the key that was asked
// for, or that its text was changed after it was signed.
var ErrBadSignature = errors.New("not signed by this log's key")

// Signer signs checkpoints. A [Key] is one; it may also be a process of
// another user, out of reach of whoever can write the journal.
type Signer interface{ note.Signer }

// Text is the body of the note: origin, size and root hash, a line each.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n"
}

// Sign returns the checkpoint as a signed note.
func (c Checkpoint) Sign(signer Signer) ([]byte, error) {
	signed, err := note.Sign(&note.Note{Text: c.Text()}, signer)
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	return signed, nil
}

// OpenCheckpoint reads a signed note and checks the signature of the log's
// own key. Cosignatures of others may be there; they are not looked at. The
// error wraps ErrBadSignature if the note is well formed and not signed so.
func OpenCheckpoint(signed []byte, verifier note.Verifier) (Checkpoint, error) {
	if len(signed) > MaxCheckpointBytes {
		return Checkpoint{}, fmt.Errorf("read checkpoint: %d bytes are more than a checkpoint has", len(signed))
	}
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		var unverified *note.UnverifiedNoteError
		var invalid *note.InvalidSignatureError
		if errors.As(err, &unverified) || errors.As(err, &invalid) {
			return Checkpoint{}, fmt.Errorf("read checkpoint: %w", ErrBadSignature)
		}
		return Checkpoint{}, fmt.Errorf("read checkpoint: %w", err)
	}
	c, err := ParseCheckpoint(opened.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != verifier.Name() {
		return Checkpoint{}, fmt.Errorf("read checkpoint: it is of the log %q, not %q", c.Origin, verifier.Name())
	}
	return c, nil
}

// ParseCheckpoint reads the body of a note. Extension lines are allowed, as
// the format demands, and left out of the result.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) < 4 || lines[len(lines)-1] != "" {
		return Checkpoint{}, errors.New("parse checkpoint: it has fewer than three lines")
	}
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			return Checkpoint{}, errors.New("parse checkpoint: it has an empty line")
		}
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, fmt.Errorf("parse checkpoint: %q is no size", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(Hash{}) {
		return Checkpoint{}, fmt.Errorf("parse checkpoint: %q is no root hash", lines[2])
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: Hash(root)}, nil
}

// ParseSigned reads the checkpoint in a signed note without looking at any
// signature, for a note that was checked before.
func ParseSigned(signed []byte) (Checkpoint, error) {
	text, _, ok := strings.Cut(string(signed), "\n\n")
	if !ok {
		return Checkpoint{}, errors.New("read checkpoint: the note has no signatures")
	}
	return ParseCheckpoint(text + "\n")
}
