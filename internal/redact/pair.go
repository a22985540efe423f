package redact

import "bytes"

const (
	// longestQuoted is how far the end of a quoted value is looked for. It
	// bounds the work for a quote that is never closed.
	longestQuoted = 8 << 10
	// longestUserinfo is how far the @ of a URL is looked for.
	longestUserinfo = 1 << 10
	// longestLine is how much of a line is looked at to judge it.
	longestLine = 256
)

// pairs looks at every separator: what stands before it may be a name that
// makes what follows a secret.
func (s *search) pairs(t []byte) {
	done := 0
	for i := nextByte(t, 0, ':'); i >= 0; i = nextByte(t, max(i+1, done), ':') {
		switch {
		case i+2 < len(t) && t[i+1] == '/' && t[i+2] == '/':
			s.url(t, i)
			continue
		case i >= 8 && i+1 < len(t) && is(t[i+1], word) && is(t[i-1], word):
			s.numbered(t, i)
		}
		done = s.pair(t, i)
	}
	done = 0
	for i := nextByte(t, 0, '='); i >= 0; i = nextByte(t, max(i+1, done), '=') {
		done = s.pair(t, i)
	}
}

// elements judges <password>…</password>.
func (s *search) elements(t []byte) {
	for i := nextByte(t, 0, '<'); i >= 0; i = nextByte(t, i+1, '<') {
		if i+1 < len(t) && t[i+1] == '/' {
			s.element(t, i)
		}
	}
}

func nextByte(t []byte, from int, c byte) int {
	if from >= len(t) {
		return -1
	}
	n := bytes.IndexByte(t[from:], c)
	if n < 0 {
		return -1
	}
	return from + n
}

// pairName is a name as it stands before a separator.
type pairName struct {
	start, end int // with its quotes
	text       []byte
	quoted     bool
}

// nameBefore finds the name that ends at the separator t[i].
func nameBefore(t []byte, i int) (pairName, bool) {
	end := i
	if end > 0 && t[i] == '=' && t[end-1] == ':' {
		end-- // :=
	}
	for end > 0 && i-end < 4 && (t[end-1] == ' ' || t[end-1] == '\t') {
		end--
	}
	if end > 0 && t[end-1] == ']' {
		end-- // environ["NAME"] =
	}
	if end == 0 {
		return pairName{}, false
	}
	if c := t[end-1]; c == '"' || c == '\'' || c == '`' {
		inner := end - 1
		for inner > 0 && t[inner-1] == '\\' {
			inner--
		}
		start := inner
		for start > 0 && inner-start <= longestName && t[start-1] != c && t[start-1] != '\n' {
			start--
		}
		if start == 0 || t[start-1] != c || start == inner {
			return pairName{}, false
		}
		return pairName{start - 1, end, t[start:inner], true}, true
	}
	start := end
	var kinds class
	for start > 0 && end-start <= longestName && is(t[start-1], word|dot|beyondASCII) {
		start--
		kinds |= classes[t[start]]
	}
	if kinds&(letters|beyondASCII) == 0 {
		return pairName{}, false // nothing, or a time
	}
	return pairName{start, end, t[start:end], false}, true
}

// pair judges the separator at t[i], and returns the offset up to which
// nothing more needs to be judged.
func (s *search) pair(t []byte, i int) int {
	if t[i] == '=' && i > 0 && bytes.IndexByte([]byte("!<>=~"), t[i-1]) >= 0 || i+1 < len(t) && t[i] == '=' && t[i+1] == '=' {
		return 0 // a comparison, or padding
	}
	name, ok := nameBefore(t, i)
	if !ok {
		return 0
	}
	if t[i] == ':' && name.start > 0 && t[name.start-1] == ':' {
		return 0 // a part of an ARN or URN
	}
	means := s.names.judge(name.text)
	if means <= keyName && means != secretName && means != tokenName || means == queryName {
		means = s.widerName(t, &name, means)
	}
	if !name.quoted && name.start > 0 && t[i] == '=' && bytes.IndexByte([]byte("?&#"), t[name.start-1]) >= 0 {
		return s.query(t, i, means)
	}
	switch means {
	case plainName:
		s.namedElsewhere(t, i, name)
		return 0
	case queryName, signName, stateName:
		return 0
	}
	return s.pairValue(t, i, name, means)
}

// widerName takes one more word into an unquoted name: "api key:", "seed
// phrase:". The last word alone has said nothing.
func (s *search) widerName(t []byte, name *pairName, means verdict) verdict {
	if name.quoted || name.start < 3 || t[name.start-1] != ' ' {
		return means
	}
	start := name.start - 1
	for start > 0 && name.end-start <= longestName && is(t[start-1], word|beyondASCII) {
		start--
	}
	if start == name.start-1 {
		return means
	}
	wider := s.names.judge(t[start:name.end])
	if wider == plainName {
		return means
	}
	name.start = start
	return wider
}

// query judges a parameter of a URL or a form.
func (s *search) query(t []byte, i int, means verdict) int {
	end := i + 1
	for end < len(t) && is(t[end], alnum|wordMarks|base64Marks|dot|runMarks|otherMarks|beyondASCII) {
		if c := t[end]; c == '&' || c == '#' || c == '"' || c == '\'' || c == '<' && holderEnd(t, end) == 0 || c == '>' || c == '`' || c == '\\' || c == ';' {
			break
		}
		if n := holderEnd(t, end); n > 0 {
			end = n
			continue
		}
		end++
	}
	v := t[i+1 : end]
	if len(v) == 0 {
		return 0
	}
	secret := false
	switch means {
	case plainName, stateName, cookieName, authName:
		return 0
	case queryName:
		secret = looksRandom(v) || isUUID(v) || all(v, hexDigits) && len(v) >= 16
	case signName:
		secret = len(v) >= 16
	default:
		_, reason := judgeValue(means, v, true)
		secret = reason != ""
	}
	if !secret || isHolder(v) || isReference(v) {
		return 0
	}
	s.hit(i+1, end, URLQuery)
	return end
}

// pairValue finds the value after the separator t[i] and judges it.
func (s *search) pairValue(t []byte, i int, name pairName, means verdict) int {
	p := i + 1
	if p < len(t) && (t[p] == '>' && t[i] == '=' || t[p] == '=' && t[i] == ':') {
		p++ // => and :=
	}
	for p < len(t) && p-i <= 12 && (t[p] == ' ' || t[p] == '\t') {
		p++
	}
	if p >= len(t) {
		return 0
	}
	quote := p
	for quote < len(t) && t[quote] == '\\' {
		quote++
	}
	if quote < len(t) && (t[quote] == '"' || t[quote] == '\'' || t[quote] == '`') {
		end := quotedEnd(t, quote, quote-p)
		return s.judgePair(t, quote+1, end, means, true)
	}
	if t[p] == '\n' || t[p] == '\r' {
		return 0
	}
	if !name.quoted && lineStart(t, name.start) || means == authName || means == cookieName || means == seedName {
		return s.lineValue(t, p, i, name, means)
	}
	return s.judgePair(t, p, tokenEnd(t, p), means, false)
}

func (s *search) judgePair(t []byte, from, to int, means verdict, exact bool) int {
	if from >= to {
		return 0
	}
	keep, reason := judgeValue(means, t[from:to], exact)
	if reason == "" {
		return 0
	}
	s.hit(from+keep, to, reason)
	return to
}

// quotedEnd finds the quote that closes the one at t[quote], with the same
// number of backslashes before it.
func quotedEnd(t []byte, quote, slashes int) int {
	limit := min(len(t), quote+1+longestQuoted)
	for at := quote + 1; at < limit; {
		n := bytes.IndexByte(t[at:limit], t[quote])
		if n < 0 {
			break
		}
		at += n
		before := 0
		for at-before > quote+1 && t[at-before-1] == '\\' {
			before++
		}
		if before == slashes || slashes == 0 && before%2 == 0 {
			return at - before
		}
		if slashes > 0 && before < slashes {
			return at - before // the text around ends here
		}
		at++
	}
	if n := bytes.IndexByte(t[quote+1:limit], '\n'); n >= 0 {
		return quote + 1 + n
	}
	return limit
}

// tokenEnd finds the end of an unquoted value within a line.
func tokenEnd(t []byte, p int) int {
	for p < len(t) {
		if n := holderEnd(t, p); n > 0 {
			p = n
			continue
		}
		switch t[p] {
		case ' ', '\t', '\n', '\r', ',', ';', '&', '"', '\'', '`', '<', '>', ')', '}', ']', '|', '\\':
			return p
		}
		p++
	}
	return p
}

// namedElsewhere judges name: DB_PASSWORD followed by value: …, as container
// files and settings write it.
func (s *search) namedElsewhere(t []byte, i int, name pairName) {
	switch string(name.text) {
	case "name", "key", "Name", "Key":
	default:
		return
	}
	from := i + 1
	for from < len(t) && from-i < 8 && (is(t[from], spaceClass) || t[from] == '"' || t[from] == '\'' || t[from] == '\\') {
		from++
	}
	n := span(t[from:min(len(t), from+longestName)], word|dot)
	means := s.names.judge(t[from : from+n])
	if means != secretName && means != tokenName && means != keyName {
		return
	}
	at := from + n
	window := t[at:min(len(t), at+48)]
	v := bytes.Index(window, []byte("value"))
	if v < 0 || span(window[:v], spaceClass|otherMarks|quoteMarks) != v {
		return
	}
	sep := at + v + len("value")
	for sep < len(t) && sep-at < 56 && (t[sep] == '"' || t[sep] == '\'' || t[sep] == '\\' || t[sep] == ' ') {
		sep++
	}
	if sep < len(t) && (t[sep] == ':' || t[sep] == '=') {
		s.pairValue(t, sep, pairName{start: at + v, end: sep, text: t[at+v : at+v+5]}, means)
	}
}

// element judges <password>…</password>, whose end tag begins at t[i].
func (s *search) element(t []byte, i int) {
	name := t[i+2 : min(len(t), i+2+longestName)]
	name = name[:span(name, word|dot)]
	means := s.names.judge(name)
	if means != secretName && means != tokenName && means != keyName && means != pathName {
		return
	}
	start := i
	for start > 0 && i-start < longestQuoted && t[start-1] != '>' && t[start-1] != '<' {
		start--
	}
	if start == i && start > 0 && t[start-1] == '>' {
		// Nothing between the tags, or a placeholder.
		return
	}
	if start > 0 && t[start-1] == '>' {
		s.judgePair(t, start, i, means, true)
	}
}
