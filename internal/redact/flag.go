package redact

import "bytes"

// flags judges --password value and -u user:password in a command line.
func (s *search) flags(t []byte) {
	for i := nextByte(t, 0, '-'); i >= 0; i = nextByte(t, i+2, '-') {
		if i == 0 || t[i-1] == ' ' {
			s.flag(t, i)
		}
	}
}

func (s *search) flag(t []byte, i int) {
	rest := t[i:min(len(t), i+longestName)]
	n := span(rest, word)
	if n == len(rest) || n < 2 || rest[n] != ' ' {
		return
	}
	name := bytes.TrimLeft(rest[:n], "-")
	from := i + n + 1
	if from >= len(t) || t[from] == '-' {
		return
	}
	to := tokenEnd(t, from)
	exact := false
	if t[from] == '"' || t[from] == '\'' {
		to = quotedEnd(t, from, 0)
		from++
		exact = true
	}
	if from >= to {
		return
	}
	if string(name) == "u" || string(name) == "user" {
		if at := userPassword(t[from:to]); at > 0 {
			s.hit(from+at, to, KeyName)
		}
		return
	}
	switch means := s.names.judge(name); means {
	case secretName, tokenName, keyName, pathName, pinName, cardName:
		s.judgePair(t, from, to, means, exact)
	}
}

// userPassword returns where the password of user:password begins, or 0.
func userPassword(v []byte) int {
	at := bytes.IndexByte(v, ':')
	if at <= 0 || at == len(v)-1 || all(v[at+1:], digits) || isHolder(v[at+1:]) || bytes.HasPrefix(v[at:], []byte("://")) || isReference(v[at+1:]) {
		return 0
	}
	return at + 1
}

// dataSource judges user:password@tcp(host:3306), as Go programs name a
// MySQL server.
func (s *search) dataSource(t []byte) {
	for at := nextByte(t, 0, '@'); at >= 0; at = nextByte(t, at+1, '@') {
		if !bytes.HasPrefix(t[at:], []byte("@tcp(")) && !bytes.HasPrefix(t[at:], []byte("@unix(")) {
			continue
		}
		start := at
		for start > 0 && at-start < 128 && !is(t[start-1], spaceClass) && t[start-1] != '"' && t[start-1] != '\'' {
			start--
		}
		if colon := bytes.IndexByte(t[start:at], ':'); colon >= 0 && !isHolder(t[start+colon+1:at]) {
			s.hit(start+colon+1, at, URLPassword)
		}
	}
}
