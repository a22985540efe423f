package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/deed-dev/deed/internal/store"
)

// scheme is how digests begin.
const scheme = "sha256:"

// Segment is the digest over the rows between two heads. Rows are added from the
// newest to the oldest, which is the order in which a trail gives them, so that
// however many there are, none has to be held.
//
// What is hashed: a line "deed audit 1", then for each row its fields, each as its
// length in bytes in decimal digits, a colon, and the field itself (id and time in
// microseconds as decimal digits, actor, event, object, metadata as it is kept), and
// a line feed; last the digest of the head before, which is empty for the first.
type Segment struct {
	hash hash.Hash
	rows int64
}

// NewSegment has no rows yet.
func NewSegment() *Segment {
	s := &Segment{hash: sha256.New()}
	s.hash.Write([]byte("deed audit 1\n"))
	return s
}

// Add takes the next older row.
func (s *Segment) Add(e *store.AuditEntry) {
	s.rows++
	var line []byte
	for _, field := range [][]byte{
		strconv.AppendInt(nil, e.ID, 10), strconv.AppendInt(nil, int64(e.At), 10),
		[]byte(e.Actor), []byte(e.Event), []byte(e.Object), e.Metadata,
	} {
		line = strconv.AppendInt(line, int64(len(field)), 10)
		line = append(line, ':')
		line = append(line, field...)
	}
	s.hash.Write(append(line, '\n'))
}

// Rows is how many were added.
func (s *Segment) Rows() int64 { return s.rows }

// Digest ends the segment on the head before it.
func (s *Segment) Digest(before string) string {
	s.hash.Write([]byte(before))
	return scheme + hex.EncodeToString(s.hash.Sum(nil))
}
