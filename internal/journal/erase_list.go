package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// run is a stretch of entries, both ends in it.
type nRun struct{ first, last int64 }

// eraseList is a sorted list of entries, as stretches.
type eraseList []nRun

// add appends an entry that comes behind all that are in the list.
func (l *eraseList) add(n int64) {
	if end := len(*l) - 1; end >= 0 && (*l)[end].last+1 == n {
		(*l)[end].last = n
		return
	}
	*l = append(*l, nRun{n, n})
}

func (l eraseList) count() int64 {
	var count int64
	for _, r := range l {
		count += r.last - r.first + 1
	}
	return count
}

// hash is SHA-256 over every entry's number, 8 bytes each, big endian.
func (l eraseList) hash() Hash {
	sum := sha256.New()
	var buffer [8 * 512]byte
	used := 0
	for _, r := range l {
		for n := r.first; n <= r.last; n++ {
			binary.BigEndian.PutUint64(buffer[used:], uint64(n))
			if used += 8; used == len(buffer) {
				sum.Write(buffer[:])
				used = 0
			}
		}
	}
	sum.Write(buffer[:used])
	return Hash(sum.Sum(nil))
}

// encode writes each stretch as two varints: how many entries lie between it
// and the one before, and how many more than one it has.
func (l eraseList) encode() []byte {
	var b []byte
	next := int64(0)
	for _, r := range l {
		b = binary.AppendUvarint(b, uint64(r.first-next))
		b = binary.AppendUvarint(b, uint64(r.last-r.first))
		next = r.last + 1
	}
	return b
}

// decodeEraseList reads a list whose entries all lie below limit.
func decodeEraseList(b []byte, limit int64) (eraseList, error) {
	var l eraseList
	next := int64(0)
	for len(b) > 0 {
		skip, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errors.New("it is cut off")
		}
		b = b[size:]
		more, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errors.New("it is cut off")
		}
		b = b[size:]
		if skip >= uint64(limit) || more >= uint64(limit) || next+int64(skip)+int64(more) >= limit {
			return nil, fmt.Errorf("it names entries at or behind %d", limit)
		}
		if skip == 0 && len(l) > 0 {
			return nil, errors.New("two of its stretches are one")
		}
		first := next + int64(skip)
		l = append(l, nRun{first, first + int64(more)})
		next = first + int64(more) + 1
	}
	return l, nil
}

// checkErasureValues checks what must hold between the members of an erasure.
func checkErasureValues(e *Entry) error {
	if e.Kind != KindIntent && (e.Kind == KindErasure) != (e.Session == OwnSession) {
		return &EntryError{Reason: fmt.Sprintf("a %s cannot belong to session %s", e.Kind, e.Session)}
	}
	if e.Kind != KindErasure {
		return nil
	}
	if e.Count < 1 || e.Last < e.First || e.Count > e.Last-e.First+1 {
		return &EntryError{Reason: fmt.Sprintf("%d entries from %d to %d cannot be", e.Count, e.First, e.Last)}
	}
	return nil
}
