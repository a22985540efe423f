package redact

import "bytes"

// blocks replaces private keys in armour whole: a key's lines are as secret as
// its first one. A block without an end goes to the end of the text, one
// without a beginning from where its base64 begins.
func (s *search) blocks(t []byte) {
	mark := []byte("PRIVATE KEY")
	for at := 0; at < len(t); {
		n := bytes.Index(t[at:], mark)
		if n < 0 {
			break
		}
		i := at + n
		at = i + len(mark)
		before := t[max(0, i-40):i]
		if begin := lastMark(before, "BEGIN "); begin >= 0 {
			start := i - len(before) + begin
			start -= spanBack(t[:start], wordMarks|spaceClass&^spaceClass)
			end := blockEnd(t, at)
			s.hit(start, end, PrivateKey)
			at = end
		} else if end := lastMark(before, "END "); end >= 0 {
			start := i - len(before) + end
			start -= spanBack(t[:start], wordMarks)
			from := blockStart(t, start)
			stop := at + span(t[at:min(len(t), at+16)], wordMarks|spaceClass|upper)
			s.hit(from, at+len(bytes.TrimRight(t[at:stop], " \t\r\n")), PrivateKey)
		}
	}
	s.putty(t)
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
	end += span(t[end:], upper|digits|spaceClass&^spaceClass) // the kind's first word
	for end < len(t) && (t[end] == ' ' || is(t[end], upper|digits)) {
		end++
	}
	return end + span(t[end:], wordMarks)
}

// blockStart goes back from the line that ends a block to where its base64
// begins.
func blockStart(t []byte, end int) int {
	start := end
	for start > 0 {
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

// partial says whether v could be a piece of a key: longer than three bytes and
// neither a word nor a number.
func partial(v []byte) bool {
	return len(v) > 3 && naturalShare(v) < 60 || len(v) > 3 && naturalShare(v) == 100 && all(v, digits|base64Marks) && len(v) > 20
}
