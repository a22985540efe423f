package protocol

import (
	"bytes"
	"hash/maphash"
)

// digestKey makes digests that nobody outside of this process can foresee, so
// that a peer cannot make two different values look alike. It never changes.
var digestKey = maphash.MakeSeed()

// textDigest is a digest of what a JSON string says, in whatever pieces it
// comes: a peer that echoes a string may escape it differently.
type textDigest struct {
	hash maphash.Hash
	held [12]byte // an escape, or a pair of them, that is not complete yet
	n    int
}

func (d *textDigest) reset() {
	d.hash.Reset()
	d.n = 0
}

func (d *textDigest) write(b []byte) {
	for len(b) > 0 {
		if d.n == 0 {
			i := bytes.IndexByte(b, '\\')
			if i < 0 {
				d.hash.Write(b)
				return
			}
			d.hash.Write(b[:i])
			b = b[i:]
		}
		d.held[d.n] = b[0]
		d.n++
		b = b[1:]
		if !escapeGoesOn(d.held[:d.n]) {
			d.flush()
		}
	}
}

// flush digests what is held. It stays as it was written where it stands for
// no character. Of two first halves of a pair the second may yet find its own.
func (d *textDigest) flush() {
	whole := d.n
	if whole == len(d.held) {
		if second, ok := hexRune(d.held[6:]); ok && isFirstHalf(second) {
			whole = 6
		}
	}
	var plain [len(d.held)]byte
	decoded, _ := appendDecoded(plain[:0], d.held[:whole])
	d.hash.Write(decoded)
	d.n = copy(d.held[:], d.held[whole:d.n])
}

func (d *textDigest) sum() uint64 {
	d.flush()
	return d.hash.Sum64()
}

// escapeGoesOn says whether b, which begins with a backslash, needs more bytes
// before it can be decoded. The first half of a surrogate pair waits for the
// second.
func escapeGoesOn(b []byte) bool {
	switch {
	case len(b) < 2:
		return true
	case b[1] != 'u':
		return false
	case len(b) < 6:
		return true
	}
	first, ok := hexRune(b)
	if !ok || !isFirstHalf(first) {
		return false
	}
	switch len(b) {
	case 6:
		return true
	case 7:
		return b[6] == '\\'
	default:
		return b[7] == 'u' && len(b) < 12
	}
}

// isFirstHalf says whether r is the first half of a surrogate pair.
func isFirstHalf(r rune) bool { return 0xd800 <= r && r <= 0xdbff }
