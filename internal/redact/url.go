package redact

import "bytes"

// url judges the authority of the URL whose :// is at t[i]: the host stays,
// since where data was going is what the journal is for, the password goes.
func (s *search) url(t []byte, i int) {
	start := i + 3
	end := start
	limit := min(len(t), start+longestUserinfo)
	at := -1
	for end < limit {
		if t[end] == '<' {
			if n := holderEnd(t, end); n > 0 {
				end = n
				continue
			}
		}
		if c := t[end]; c == '@' {
			at = end
		} else if urlEnds(c) || c == '/' || c == '?' || c == '#' {
			break
		}
		end++
	}
	end = min(end, len(t))
	if end < limit && !urlEnds(t[end]) && !webScheme(t[:i]) {
		at = max(at, lateAt(t, start, end))
	}
	if at <= start {
		return
	}
	user := t[start:at]
	if colon := bytes.IndexByte(user, ':'); colon >= 0 {
		if pass := user[colon+1:]; len(pass) > 0 && !isHolder(pass) && !isReference(pass) {
			s.hit(start+colon+1, at, URLPassword)
		}
		return
	}
	// One part only is a name in ssh://git@host, and a key in a Sentry DSN.
	if len(user) >= 16 && !isHolder(user) && (looksRandom(user) || all(user, hexDigits)) {
		s.hit(start, at, URLPassword)
	}
}

func urlEnds(c byte) bool {
	return c <= ' ' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\' || c == '`'
}

// webScheme says whether the scheme that ends t is one whose paths have an @
// in them (medium.com/@name); a slash in a password is not looked for there.
func webScheme(t []byte) bool {
	n := spanBack(t, alnum)
	switch string(t[len(t)-n:]) {
	case "http", "https", "ws", "wss", "ftp", "file", "git", "ssh":
		return true
	}
	return false
}

// lateAt finds the @ of a database URL whose password holds a slash or another
// mark that ought to have been escaped.
func lateAt(t []byte, start, from int) int {
	colon := bytes.IndexByte(t[start:from], ':')
	if colon < 0 || all(t[start+colon+1:from], digits) {
		return -1
	}
	at := -1
	for end := from; end < len(t) && end-from < 256 && !urlEnds(t[end]); end++ {
		switch t[end] {
		case '@':
			at = end
		case ':':
			if bytes.HasPrefix(t[end:], []byte("://")) {
				return at
			}
		}
	}
	return at
}
