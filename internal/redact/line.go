package redact

import "bytes"

// lineStart says whether a name begins its line, behind what lists, shells
// and container files write in front.
func lineStart(t []byte, at int) bool {
	begin := bytes.LastIndexByte(t[max(0, at-32):at], '\n')
	if begin < 0 {
		if at > 32 {
			return false
		}
		begin = -1
	} else {
		begin += max(0, at-32)
	}
	before := bytes.TrimSpace(t[begin+1 : at])
	switch string(before) {
	case "", "-", "*", "export", "set", "$", "ENV", "setx", ">", "#", "+", "//registry.npmjs.org/:", "declare -x", "-e":
		return true
	}
	return false
}

// lineValue judges a value that may be all of the rest of its line.
func (s *search) lineValue(t []byte, p, sep int, name pairName, means verdict) int {
	// What is judged is bounded, since a line may have a thousand names in it
	// that each say the rest of it is theirs. What is replaced is all of it.
	end := lineEnd(t, p, p+longestLine, means)
	v := bytes.TrimRight(t[p:end], " \t,;")
	if means == authName || means == cookieName || means == seedName {
		done := s.judgePair(t, p, p+len(v), means, true)
		if done > 0 && end == p+longestLine {
			done = lineEnd(t, end, len(t), means)
			s.hits[len(s.hits)-1].end = done
		}
		return done
	}
	if v2, ok := s.blockValue(t, v, end, name.start); ok {
		return s.judgePair(t, v2.start, v2.end, means, true)
	}
	token := tokenEnd(t, p)
	if t[sep] == '=' && !bytes.ContainsAny(t[name.start:sep], " \t") {
		// NAME=value, as shells write it: it ends at the first blank.
		token = p
		for token < end && t[token] != ' ' && t[token] != '\t' && t[token] != '&' && t[token] != '"' {
			token++
		}
		exact := all(name.text, upper|digits|wordMarks)
		return s.judgePair(t, p, token, means, exact)
	}
	if words := len(bytes.Fields(v)); words > 4 {
		if token-p >= 5 && looksRandomFrom(t[p:token], 5) {
			return s.judgePair(t, p, token, means, false)
		}
		return 0 // a sentence about a password
	}
	if token < p+len(v) && isCode(v) || isBareWord(t[p:token]) {
		return 0
	}
	return s.judgePair(t, p, p+len(v), means, false)
}

// lineEnd finds the end of the line, or the quote that closes a header.
func lineEnd(t []byte, from, limit int, means verdict) int {
	for i := from; i < min(limit, len(t)); i++ {
		if c := t[i]; c == '\n' || c == '\r' || means == authName && (c == '"' || c == '\'') {
			return i
		}
	}
	return min(limit, len(t))
}

// blockValue is the value of a YAML block: "password: |" and the lines that
// are indented further.
func (s *search) blockValue(t, v []byte, end, nameStart int) (hit, bool) {
	if len(v) == 0 || len(v) > 2 || v[0] != '|' && v[0] != '>' {
		return hit{}, false
	}
	indent := spanBack(t[max(0, nameStart-longestName):nameStart], wordMarks|spaceClass)
	if n := bytes.LastIndexByte(t[nameStart-indent:nameStart], '\n'); n >= 0 {
		indent -= n + 1
	}
	start, stop := end+1, end+1
	for stop < len(t) && stop-start < longestQuoted {
		n := nextByte(t, stop, '\n')
		if n < 0 {
			n = len(t)
		}
		text := t[stop:n]
		if blank := span(text, spaceClass); blank < len(text) && blank <= indent {
			break
		}
		stop = n + 1
	}
	stop = min(stop, len(t))
	for start < stop && is(t[start], spaceClass) {
		start++
	}
	for stop > start && is(t[stop-1], spaceClass) {
		stop--
	}
	return hit{start: start, end: stop}, start < stop
}
