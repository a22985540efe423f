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

// beginToken starts to keep the value that begins at s[i].
func (r *Reader) beginToken(in slot, i int, kind uint8) {
	sc := &r.scanner
	if in == slotInput && kind != plain {
		return // only the word null matters
	}
	sc.keeps, sc.tokenFrom = in, i
	switch in {
	case slotArguments:
		r.arguments.Reset()
		return
	case slotRequestState:
		r.state.reset()
	}
	*r.tokens[in] = Token{Raw: r.store[in][:0]}
}

// keep adds a piece of the token that is being read.
func (r *Reader) keep(b []byte) {
	switch r.scanner.keeps {
	case slotArguments:
		r.arguments.Write(b)
		return
	case slotRequestState:
		r.state.write(b)
	}
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

// endToken completes the token that is being read.
func (r *Reader) endToken() {
	keeps := r.scanner.keeps
	r.scanner.keeps = noSlot
	switch keeps {
	case slotArguments:
		r.m.ArgumentsDigest = r.arguments.Sum64()
		return
	case slotRequestState:
		r.m.StateDigest = r.state.sum()
	}
	if t := r.tokens[keeps]; t.Size > TokenLimit {
		r.long.Sum(t.Sum[:0])
	}
}

// dropToken forgets a token that broke off: it is not what was meant.
func (r *Reader) dropToken() {
	keeps := r.scanner.keeps
	r.scanner.keeps = noSlot
	if keeps != noSlot && keeps != slotArguments {
		*r.tokens[keeps] = Token{}
	}
}

// is says whether a token is a string, given with its quotes and without
// escapes, however the token is escaped.
func (t Token) is(quoted string) bool {
	return string(t.Raw) == quoted || t.escaped() && string(t.decoded()) == quoted
}

// begins says whether a token is a string that begins so, as is does.
func (t Token) begins(quoted string) bool {
	return bytes.HasPrefix(t.Raw, []byte(quoted)) || t.escaped() && bytes.HasPrefix(t.decoded(), []byte(quoted))
}

// escaped says whether a token has escapes. There are peers that write
// "tools\/call".
func (t Token) escaped() bool {
	return len(t.Raw) > 0 && t.Raw[0] == '"' && bytes.IndexByte(t.Raw, '\\') >= 0
}

func (t Token) decoded() []byte {
	decoded, _ := appendDecoded(nil, t.Raw)
	return decoded
}

// isNull says whether a token is the word null.
func (t Token) isNull() bool { return string(t.Raw) == "null" }

// given says whether a token is there and not null. Some peers write every
// field of their message type.
func (t Token) given() bool { return t.Raw != nil && !t.isNull() }
