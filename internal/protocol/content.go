package protocol

// ContentText returns what the text items of a tool result's content say, one
// after the other with a line end between them, at most limit bytes of it.
// Whole is false when there is more than that, be it beyond the limit or
// because the content breaks off. Content that has no text gives none.
func ContentText(content []byte, limit int) (text string, whole bool) {
	s := shaper{b: content}
	at := s.blank(0, space)
	if at >= len(content) || meaning[content[at]] != openArray {
		return "", true
	}
	var out []byte
	full := false
	_, whole = s.elements(at, func(from, to int) {
		said, found := textOf(content[from:to])
		if !found || full {
			return
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out, _ = appendDecoded(out, said)
		if len(out) > limit {
			out, full = out[:limit-brokenEnd(out[:limit])], true
		}
	})
	return string(out), whole && !full
}

// textOf returns the inside of the string that is an item's text.
func textOf(item []byte) (said []byte, found bool) {
	s := shaper{b: item}
	s.members(0, func(name Token, i int) (end int, whole bool) {
		end, whole = s.inner(i)
		if whole && name.is(`"text"`) && end-i >= 2 && item[i] == '"' {
			said, found = item[i+1:end-1], true
		}
		return end, whole
	})
	return said, found
}
