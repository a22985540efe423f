package protocol

// beginValue starts the value of a member of an object that is looked into.
func (r *Reader) beginValue(s []byte, i int) int {
	sc := &r.scanner
	c := s[i]
	kind := meaning[c]
	if kind == space {
		return i + 1
	}
	sc.keeps = noSlot
	if sc.value != unread {
		do := &members[sc.value]
		r.note(sc.value)
		if do.part != noPart {
			r.spans[do.part].Start = r.position(i)
		}
		if kind == openObject && do.child != nowhere {
			r.openObject(do.child)
			return i + 1
		}
		if do.slot != noSlot {
			r.beginToken(do.slot, i, kind)
		}
	}
	switch kind {
	case plain:
		sc.state = stateWord
	case quote:
		sc.state = stateString
	case openObject, openArray:
		sc.state, sc.depth, sc.kinds, sc.deep = stateSkip, 0, 0, false
		return i // skip counts it
	default:
		return r.malformed(s)
	}
	return i + 1
}

// openObject goes into an object that is the value of the member at hand.
func (r *Reader) openObject(in node) {
	sc := &r.scanner
	if in == inPeer {
		// A name from one place and a version from another are nobody's.
		r.m.PeerName, r.m.PeerVersion = Token{}, Token{}
		r.m.PeerInMeta = sc.value == memberMetaClient || sc.value == memberMetaServer
	}
	sc.level++
	sc.frame[sc.level] = frame{in: in, of: sc.value}
	sc.state = stateKey
}

// endValue completes the value of a member that ends before s[end].
func (r *Reader) endValue(s []byte, end int) {
	sc := &r.scanner
	if sc.keeps != noSlot {
		r.keep(s[sc.tokenFrom:end])
		r.endToken()
	}
	r.endMember(sc.value, end)
}

func (r *Reader) endMember(m member, end int) {
	if m != unread && members[m].part != noPart {
		r.spans[members[m].part].End = r.position(end)
	}
	r.scanner.state = stateComma
}

// closeObject ends an object that is looked into, at s[i].
func (r *Reader) closeObject(s []byte, i int) int {
	sc := &r.scanner
	i++
	if sc.level > 0 {
		of := sc.frame[sc.level].of
		sc.level--
		r.endMember(of, i)
		return i
	}
	if r.line.batch == 0 {
		sc.state = stateAfter
		return i
	}
	r.take(s[sc.from:i])
	sc.from = i
	r.endElement()
	sc.state = stateNext
	return i
}

// skip passes over a value that is not looked into.
func (r *Reader) skip(s []byte, i int) int {
	sc := &r.scanner
	depth, kinds := sc.depth, sc.kinds
	for i < len(s) {
		kind := meaning[s[i]]
		i++
		if kind < quote {
			if i < len(s) && meaning[s[i]] < quote {
				i = dull(s, i+1)
			}
			continue
		}
		switch kind {
		case quote:
			end, done := sc.stringEnd(s, i)
			i = end
			if !done {
				sc.state = stateSkipString
			}
		case openObject, openArray:
			depth++
			kinds <<= 1
			if kind == openArray {
				kinds |= 1
			}
			if depth > 64 {
				sc.deep = true
			}
		case closeObject, closeArray:
			if (kind == closeArray) != (kinds&1 == 1) && !sc.deep {
				return r.malformed(s)
			}
			kinds >>= 1
			if depth--; depth == 0 {
				r.endValue(s, i)
				return i
			}
		}
	}
	sc.depth, sc.kinds = depth, kinds
	return i
}
