package redact

import "bytes"

// blocks replaces private keys in armour whole: a key's lines are as secret as
// its first one. A block without an end goes to the end of the text, one
// without a beginning from where its base64 begins.
func (s *search) blocks(t []byte) {
	mark := []byte("PRIVATE KEY")
	for at, done := 0, 0; at < len(t); {
		n := bytes.Index(t[at:], mark)
		if n < 0 {
			break
		}
		i := at + n
		at = i + len(mark)
		before := t[max(0, i-40):i]
		if begin := lastMark(before, "BEGIN "); begin >= 0 {
			start := i - len(before) + begin
			start -= spanBack(t[:start], wordMarks)
			end := blockEnd(t, at)
			s.hit(start, end, PrivateKey)
			at, done = end, end
		} else if end := lastMark(before, "END "); end >= 0 {
			start := i - len(before) + end
			start -= spanBack(t[:start], wordMarks)
			from := blockStart(t, min(done, start), start)
			stop := at + span(t[at:min(len(t), at+16)], wordMarks|spaceClass|upper)
			s.hit(from, at+len(bytes.TrimRight(t[at:stop], " \t\r\n")), PrivateKey)
			done = at
		}
	}
	s.putty(t)
	s.publicBlocks(t)
}

// publicBlocks remembers where certificates, public keys, signatures and
// encrypted files stand: their base64 is as random as that of a key, and
// opens nothing.
func (s *search) publicBlocks(t []byte) {
	mark := []byte("-----BEGIN ")
	for at := 0; at < len(t); {
		n := bytes.Index(t[at:], mark)
		if n < 0 {
			return
		}
		start := at + n
		at = start + len(mark)
		label := t[at:min(len(t), at+40)]
		if n := bytes.Index(label, []byte("-----")); n < 0 || bytes.Contains(label[:n], []byte("PRIVATE")) {
			continue
		}
		n = bytes.Index(t[at:], []byte("-----END "))
		if n < 0 {
			s.armour = append(s.armour, [2]int{start, len(t)})
			return
		}
		s.armour = append(s.armour, [2]int{start, at + n})
		at += n
	}
}

// inArmour says whether t[at] stands in a public block.
func (s *search) inArmour(at int) bool {
	for len(s.armour) > 0 && s.armour[0][1] <= at {
		s.armour = s.armour[1:]
	}
	return len(s.armour) > 0 && s.armour[0][0] <= at
}

// lastMark finds a word of a marker line, if only the key's kind stands after
// it.
func lastMark(before []byte, mark string) int {
	i := bytes.LastIndex(before, []byte(mark))
	if i < 1 || before[i-1] != '-' && before[i-1] != ' ' || !all(before[i+len(mark):], upper|digits|spaceClass|wordMarks) {
		return -1
	}
	return i
}

// blockEnd finds the end of the line that ends the block whose first line is
// at t[from].
func blockEnd(t []byte, from int) int {
	n := bytes.Index(t[from:], []byte("END "))
	if n < 0 {
		return len(t)
	}
	end := from + n + len("END ")
	for end < len(t) && (t[end] == ' ' || is(t[end], upper|digits)) {
		end++
	}
	return end + span(t[end:], wordMarks)
}

// blockStart goes back from the line that ends a block to where its base64
// begins, but not before the end of an earlier one.
func blockStart(t []byte, floor, end int) int {
	start := end
	for start > floor {
		c := t[start-1]
		if !is(c, base64Set|spaceClass) && c != '\\' {
			break
		}
		start--
	}
	for start < end && is(t[start], spaceClass) {
		start++
	}
	return start
}

// putty replaces the private part of a PuTTY key file.
func (s *search) putty(t []byte) {
	mark := []byte("Private-Lines: ")
	i := bytes.Index(t, mark)
	if i < 0 {
		return
	}
	end := len(t)
	if n := bytes.Index(t[i:], []byte("Private-MAC: ")); n >= 0 {
		end = i + n
	}
	s.hit(i+len(mark), end, PrivateKey)
}

// cutEnds replaces what may be half of a secret where the text was cut: its
// other half is what would have told it.
func (s *search) cutEnds(t []byte) {
	if s.cutTail {
		n := spanBack(t, runSet)
		if v := t[len(t)-n:]; partial(v) {
			from := len(t) - n
			if i := bytes.LastIndexByte(v, '/'); i >= 0 && isPath(v) {
				from += i + 1
			}
			s.hit(from, len(t), Cut)
		}
	}
	if s.cutHead {
		n := span(t, runSet)
		if v := t[:n]; partial(v) {
			to := n
			if i := bytes.IndexByte(v, '/'); i >= 0 && isPath(v) {
				to = i
			}
			s.hit(0, to, Cut)
		}
	}
}

// partial says whether v could be a piece of a key: longer than three bytes,
// and not made of plain words. Being wrong here costs one word of a text that
// has lost its end anyway.
func partial(v []byte) bool {
	if len(v) < 4 {
		return false
	}
	var previous class
	for _, c := range v {
		k := classes[c]
		if k&digits != 0 || k&upper != 0 && previous&lower != 0 {
			return true
		}
		previous = k
	}
	return naturalShare(v) < 90
}
