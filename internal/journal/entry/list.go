package entry

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Stretch is entries one after another, both ends in it.
type Stretch struct{ First, Last int64 }

// List is a sorted list of entries, as stretches.
type List []Stretch

// Add appends an entry that comes behind all that are in the list.
func (l *List) Add(n int64) {
	if end := len(*l) - 1; end >= 0 && (*l)[end].Last+1 == n {
		(*l)[end].Last = n
		return
	}
	*l = append(*l, Stretch{n, n})
}

// Count is how many entries those are.
func (l List) Count() int64 {
	var count int64
	for _, r := range l {
		count += r.Last - r.First + 1
	}
	return count
}

// Hash is SHA-256 over every entry's number, 8 bytes each, big endian.
func (l List) Hash() Hash {
	sum := sha256.New()
	var buffer [8 * 512]byte
	used := 0
	for _, r := range l {
		for n := r.First; n <= r.Last; n++ {
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

// Encode writes each stretch as two varints: how many entries lie between it
// and the one before, and how many more than one it has.
func (l List) Encode() []byte {
	var b []byte
	next := int64(0)
	for _, r := range l {
		b = binary.AppendUvarint(b, uint64(r.First-next))
		b = binary.AppendUvarint(b, uint64(r.Last-r.First))
		next = r.Last + 1
	}
	return b
}

// DecodeList reads a list whose entries all lie below limit.
func DecodeList(b []byte, limit int64) (List, error) {
	var l List
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
		l = append(l, Stretch{first, first + int64(more)})
		next = first + int64(more) + 1
	}
	return l, nil
}

// Each goes through the entries of a list.
func (l List) Each(yield func(n int64) error) error {
	for _, run := range l {
		for n := run.First; n <= run.Last; n++ {
			if err := yield(n); err != nil {
				return err
			}
		}
	}
	return nil
}
