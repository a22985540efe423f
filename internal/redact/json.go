package redact

import (
	"bytes"

	"github.com/deed-dev/deed/internal/redact/lexer"
)

// mostTracked is the depth to which members of one object are seen together.
const mostTracked = 32

// level is what is known of one open bracket.
type level struct {
	elements verdict // of an array: what its own name says of its elements
	schema   bool    // a JSON schema that describes a secret
	// {"name":"DB_PASSWORD","value":"…"}: the name is in one member and the
	// value in another, in either order.
	named                verdict
	valueStart, valueEnd int
	escaped              bool
}

// walk is one pass over a JSON text.
type walk struct {
	*search
	t        []byte
	lex      *lexer.Lexer
	embedded bool // the text around was searched already
	levels   [mostTracked]level

	means    verdict // what the pending key says
	key      []byte  // the pending key, as written, without quotes
	keyStart int     // where it begins; -1 where none is pending

	secretStart, secretDepth int // the container that goes whole; -1 for none
}

// content searches a text that may be JSON.
func (s *search) content(t []byte) {
	trimmed := bytes.TrimLeft(t, " \t\r\n")
	if len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		s.json(t, false)
		return
	}
	s.text(t)
}

// embedded walks the JSON that stands somewhere in a text.
func (s *search) embedded(t []byte) {
	for at := 0; at < len(t); {
		i := bytes.IndexByte(t[at:], '{')
		if i < 0 {
			return
		}
		at += i
		rest := t[at+1:]
		if blank := span(rest, spaceClass); blank == len(rest) || rest[blank] != '"' {
			at++
			continue
		}
		base := len(s.hits)
		n := s.json(t[at:], true)
		s.shift(base, at)
		at += max(n, 1)
	}
}

// json walks t and returns how far it got. What is not JSON, from where it
// goes wrong, is searched as text, unless that was done already.
func (s *search) json(t []byte, embedded bool) int {
	if s.lexing == len(s.lexers) {
		s.lexers = append(s.lexers, new(lexer.Lexer))
	}
	w := walk{search: s, t: t, lex: s.lexers[s.lexing], embedded: embedded, keyStart: -1, secretStart: -1}
	s.lexing++
	defer func() { s.lexing-- }()
	w.lex.Reset(t)
	for {
		token := w.lex.Next()
		switch token.Kind {
		case lexer.End:
			w.closeSecret(len(t))
			return len(t)
		case lexer.Broken:
			w.closeSecret(token.Start)
			if !embedded {
				w.rest(token.Start)
			}
			return token.Start
		case lexer.Key:
			w.readKey(token)
		case lexer.Open:
			w.open(token)
		case lexer.Close:
			w.close(token)
			if embedded && w.lex.Depth() == 0 {
				return token.End
			}
		case lexer.String:
			w.value(token)
		case lexer.Literal:
			w.literal(token)
		}
	}
}

// rest searches what follows valid JSON as text, with the key that waits for
// its value there.
func (w *walk) rest(from int) {
	if w.keyStart >= 0 {
		from = w.keyStart
	}
	base := len(w.hits)
	w.text(w.t[from:])
	w.shift(base, from)
}

// here is what is known of the innermost bracket, nil where it is too deep.
func (w *walk) here() *level {
	if d := w.lex.Depth(); d > 0 && d <= mostTracked {
		return &w.levels[d-1]
	}
	return nil
}

func (w *walk) readKey(token lexer.Token) {
	start, end := token.Text()
	w.keyStart, w.key = token.Start, w.t[start:end]
	w.means = plainName
	if w.secretStart >= 0 {
		return
	}
	if token.Escaped {
		w.key = bytes.Clone(w.decode(w.key))
	}
	w.means = w.names.judge(w.key)
	if here := w.here(); here != nil && here.schema && isSample(w.key) {
		w.means = secretName
	}
	if end-start >= leastRun || token.Cut {
		w.searchString(start, end, token)
	}
}

// isSample says whether a schema's member holds a value of what it describes.
func isSample(key []byte) bool {
	switch string(key) {
	case "default", "example", "examples", "const", "enum":
		return true
	}
	return false
}

// take returns the verdict for the value that begins now.
func (w *walk) take() (means verdict, key []byte) {
	if w.keyStart >= 0 {
		means, key = w.means, w.key
		w.keyStart, w.key = -1, nil
		return means, key
	}
	if here := w.here(); here != nil {
		return here.elements, nil
	}
	return plainName, nil
}

func (w *walk) open(token lexer.Token) {
	// The bracket is on the lexer's stack already, its key belongs one up.
	means, _ := w.takeOutside()
	here := w.here()
	if here != nil {
		*here = level{}
	}
	if w.secretStart >= 0 {
		return
	}
	object := w.t[token.Start] == '{'
	switch means {
	case secretName, cookieName:
		if object && means == secretName && isSchema(w.t[token.Start:]) {
			if here != nil {
				here.schema = true
			}
			return
		}
		if rest := bytes.TrimLeft(w.t[token.End:], " \t\r\n"); len(rest) > 0 && (rest[0] == '}' || rest[0] == ']') {
			return
		}
		w.secretStart, w.secretDepth = token.Start, w.lex.Depth()
	case tokenName, keyName, authName, cardName, pinName, stateName:
		if !object && here != nil {
			here.elements = means
		}
	}
}

func (w *walk) takeOutside() (verdict, []byte) {
	if w.keyStart >= 0 {
		return w.take()
	}
	if d := w.lex.Depth() - 1; d > 0 && d <= mostTracked {
		return w.levels[d-1].elements, nil
	}
	return plainName, nil
}

func (w *walk) close(token lexer.Token) {
	if w.secretStart >= 0 && w.lex.Depth() < w.secretDepth {
		w.closeSecret(token.End)
	}
}

func (w *walk) closeSecret(end int) {
	if w.secretStart < 0 {
		return
	}
	w.hits = append(w.hits, hit{start: w.secretStart, end: end, reason: KeyName, quotes: 1})
	w.secretStart = -1
}

func (w *walk) value(token lexer.Token) {
	means, key := w.take()
	if w.secretStart >= 0 {
		return
	}
	start, end := token.Text()
	if end <= start {
		return
	}
	here := w.here()
	if here != nil && key == nil && !w.lex.InObject() {
		w.flagElement(here, start, end)
	}
	if here != nil && key != nil {
		switch string(key) {
		case "name", "key", "Name", "Key", "variable", "header", "field":
			here.named = w.names.judge(w.t[start:end])
			if here.valueEnd > 0 {
				w.judged(here.named, here.valueStart, here.valueEnd, here.escaped)
			}
		case "value", "Value", "val", "content":
			here.valueStart, here.valueEnd, here.escaped = start, end, token.Escaped
			if w.judged(here.named, start, end, token.Escaped) {
				return
			}
		}
	}
	if w.judged(means, start, end, token.Escaped) {
		return
	}
	w.noEntropy = means == stateName
	w.searchString(start, end, token)
	w.noEntropy = false
}

// flagElement sees that ["--password","…"] and ["Authorization","…"] name the
// element that follows.
func (w *walk) flagElement(here *level, start, end int) {
	v := w.t[start:end]
	next := plainName
	if v[0] == '-' || len(v) < 24 && isHeaderName(v) {
		next = w.names.judge(bytes.TrimLeft(v, "-"))
	}
	if here.named != plainName {
		here.valueStart, here.valueEnd = 0, 0
		w.judged(here.named, start, end, false)
		next = plainName
	}
	here.named = next
}

// isHeaderName says whether v is a header that holds credentials.
func isHeaderName(v []byte) bool {
	for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Auth-Token"} {
		if len(v) == len(name) && bytes.EqualFold(v, []byte(name)) {
			return true
		}
	}
	return false
}

// judged replaces the string in t[start:end] where its name demands it.
func (w *walk) judged(means verdict, start, end int, escaped bool) bool {
	if means == plainName || means == stateName {
		return false
	}
	v := w.t[start:end]
	if escaped {
		v = w.decode(v)
	}
	keep, reason := judgeValue(means, v, true)
	if reason == "" {
		return false
	}
	if escaped {
		keep = 0 // an offset in the decoded text; going whole is safe
	}
	w.hit(start+keep, end, reason)
	return true
}

func (w *walk) literal(token lexer.Token) {
	means, _ := w.take()
	if w.secretStart >= 0 || means == plainName {
		return
	}
	v := w.t[token.Start:token.End]
	if !is(v[0], digits) && v[0] != '-' {
		return
	}
	switch means {
	case secretName, pathName:
	case pinName, cardName:
		if _, reason := judgeValue(means, v, true); reason == "" {
			return
		}
	default:
		return // a count, or a number that is no key
	}
	reason := KeyName
	if means == cardName {
		reason = CardNumber
	}
	w.hits = append(w.hits, hit{start: token.Start, end: token.End, reason: reason, quotes: 1})
}

// searchString searches the inside of a string.
func (w *walk) searchString(start, end int, token lexer.Token) {
	if end-start < 5 && !token.Cut {
		return
	}
	s := w.search
	head, tail := s.cutHead, s.cutTail
	s.cutHead, s.cutTail = false, token.Cut
	base := len(s.hits)
	switch {
	case !token.Escaped:
		if !w.embedded {
			s.plain(w.t[start:end])
		}
	case s.level >= mostLevels:
		s.plain(w.t[start:end])
	default:
		decoded := s.decode(w.t[start:end])
		s.level++
		s.content(decoded)
		s.level--
		s.lift(base, w.t[start:end])
	}
	s.shift(base, start)
	s.cutHead, s.cutTail = head, tail
}

// isSchema says whether an object is a JSON schema, as tool lists have them:
// there a member named password describes one and has none.
func isSchema(t []byte) bool {
	var lex lexer.Lexer
	lex.Reset(t[:min(len(t), 512)])
	var key []byte
	for {
		token := lex.Next()
		if token.Kind == lexer.End || token.Kind == lexer.Broken || lex.Depth() == 0 {
			return false
		}
		if lex.Depth() != 1 {
			continue
		}
		start, end := token.Text()
		switch token.Kind {
		case lexer.Key:
			key = t[start:min(end, len(t))]
			switch string(key) {
			case "$ref", "anyOf", "oneOf", "allOf":
				return true
			}
		case lexer.String:
			if string(key) != "type" {
				continue
			}
			switch string(t[start:end]) {
			case "string", "number", "integer", "boolean", "object", "array", "null":
				return true
			}
		}
	}
}
