package protocol

import "bytes"

// addKey adds a piece of a member's name.
func (sc *scanner) addKey(b []byte) {
	if sc.keySize < len(sc.key) {
		copy(sc.key[sc.keySize:], b)
	}
	sc.keySize += len(b)
}

// findKey returns the member that the name just read stands for. A name may
// be written with escapes, which its reader undoes before it compares.
func (sc *scanner) findKey() member {
	if sc.keySize > len(sc.key) {
		return unread
	}
	key := sc.key[:sc.keySize]
	in := sc.frame[sc.level].in
	if bytes.IndexByte(key, '\\') < 0 {
		return find(in, key)
	}
	var plain [6 * longestKey]byte
	decoded, whole := appendDecoded(plain[:0], key)
	if !whole {
		return unread
	}
	return find(in, decoded)
}

// keep adds a piece of the token that is being read.
func (r *Reader) keep(b []byte) {
	t := r.tokens[r.scanner.keeps]
	before := t.Size
	t.Size += int64(len(b))
	if room := TokenLimit - len(t.Raw); room > 0 {
		t.Raw = append(t.Raw, b[:min(room, len(b))]...)
	}
	if t.Size <= TokenLimit {
		return
	}
	if before <= TokenLimit {
		r.long.Reset()
		r.long.Write(t.Raw)
		b = b[TokenLimit-before:]
	}
	r.long.Write(b)
}

func (r *Reader) sumToken() {
	if t := r.tokens[r.scanner.keeps]; t.Size > TokenLimit {
		r.long.Sum(t.Sum[:0])
	}
}

// dropToken forgets a token that broke off: it is not what was meant.
func (r *Reader) dropToken() {
	if r.scanner.keeps != noSlot {
		*r.tokens[r.scanner.keeps] = Token{}
		r.scanner.keeps = noSlot
	}
}
