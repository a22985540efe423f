package entry

import (
	"bytes"
	"encoding/json"
)

// detailMembers are the members of a detail in the order in which they are
// written.
var detailMembers = [...]string{
	"id", "method", "tool", "error", "target", "peer", "shape",
	"label", "program", "transport", "version", "signal", "note",
	"args", "preview", "error_text", "destinations", "redacted", "command", "tools",
	"declaration",
}

// ReadNames reads of a detail what columns and derived tables repeat: method,
// tool, error, destinations and tools. Verify does that for every entry, and reading details whole would
// take it most of its time. What is not written as this version writes it is
// read whole.
func ReadNames(data []byte) (*Detail, error) {
	if d, ok := scanNames(data); ok {
		return d, nil
	}
	return OpenDetail(data)
}

func scanNames(data []byte) (*Detail, bool) {
	var d Detail
	p := leafParser{rest: data}
	p.expect('{')
	if p.accept('}') {
		return &d, len(p.rest) == 0
	}
	place := 0 // members must come in order, so that none can come twice
	for !p.failed {
		name := p.key()
		for place < len(detailMembers) && detailMembers[place] != string(name) {
			place++
		}
		if place == len(detailMembers) {
			return nil, false
		}
		p.expect(':')
		value := p.value()
		if p.failed {
			return nil, false
		}
		switch detailMembers[place] {
		case "method":
			d.Method = quickText(value, &p)
		case "tool":
			d.Tool = quickText(value, &p)
		case "error":
			d.Error = quickText(value, &p)
		case "destinations":
			p.failed = unmarshalStrict(value, &d.Destinations) != nil || p.failed
		case "tools":
			p.failed = unmarshalStrict(value, &d.Tools) != nil || p.failed
		}
		place++
		if p.accept('}') {
			return &d, !p.failed && len(p.rest) == 0
		}
		p.expect(',')
	}
	return nil, false
}

// key reads a member's name without making a string of it.
func (p *leafParser) key() []byte {
	p.expect('"')
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 {
		p.failed = true
		return nil
	}
	name := p.rest[:end]
	p.rest = p.rest[end+1:]
	return name
}

// value steps over one value and returns it. It finds where the value ends
// and does not judge what is inside.
func (p *leafParser) value() []byte {
	whole := p.rest
	depth := 0
	for len(p.rest) > 0 {
		switch c := p.rest[0]; c {
		case '"':
			p.skipString()
			if p.failed {
				return nil
			}
			if depth == 0 {
				return whole[:len(whole)-len(p.rest)]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				p.rest = p.rest[1:]
				return whole[:len(whole)-len(p.rest)]
			}
		}
		if depth <= 0 { // a bare word, which no member of a detail is
			break
		}
		p.rest = p.rest[1:]
	}
	p.failed = true
	return nil
}

func (p *leafParser) skipString() {
	for i := 1; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case '"':
			p.rest = p.rest[i+1:]
			return
		}
	}
	p.failed = true
}

// quickText reads a text. Most are plain ASCII and need no decoder.
func quickText(value []byte, p *leafParser) *Text {
	if plain(value) {
		return &Text{Whole: string(value[1 : len(value)-1])}
	}
	var t Text
	if err := json.Unmarshal(value, &t); err != nil {
		p.failed = true
	}
	return &t
}

func plain(value []byte) bool {
	if len(value) < 2 || value[0] != '"' {
		return false
	}
	for _, c := range value[1 : len(value)-1] {
		if c < 0x20 || c > 0x7e || c == '\\' {
			return false
		}
	}
	return true
}
