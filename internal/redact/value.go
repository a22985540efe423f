package redact

import (
	"bytes"
)

// judgeValue says whether v, under a name of the given meaning, is a secret.
// An empty reason means that it is not. The first keep bytes may stay. Where
// exact is set, v is a whole value that was written as one; else it was picked
// from a text, where much that looks like a pair is code or prose.
func judgeValue(means verdict, v []byte, exact bool) (keep int, reason Reason) {
	if len(v) == 0 || isHolder(v) || isBareWord(v) || isReference(v) {
		return 0, ""
	}
	switch means {
	case secretName:
		if !exact && (isCode(v) || isSecretsName(v)) {
			return 0, ""
		}
		return 0, KeyName
	case tokenName:
		if all(v, digits|dash) && len(v) < 10 || !exact && (isCode(v) || isSecretsName(v) || all(v, letters|wordMarks) && naturalShare(v) >= 60) {
			return 0, ""
		}
		return schemeOf(v), KeyName
	case pathName:
		if v[0] == '/' || v[0] == '~' || len(v) > 2 && v[1] == ':' && is(v[0], letters) || !exact && (isCode(v) || all(v, letters) && naturalShare(v) >= 60) {
			return 0, ""
		}
		return 0, KeyName
	case keyName:
		if !exact && (kindsOf(v)&digits == 0 || isSecretsName(v)) {
			return 0, ""
		}
		if len(v) >= 5 && !isObjectID(v) && looksRandomFrom(v, 5) || all(v, hexDigits) && len(v) >= 16 || isUUID(v) {
			return 0, KeyName
		}
	case authName:
		keep = schemeOf(v)
		if keep == 0 && !looksRandomFrom(v, 5) && !all(v, hexDigits) {
			return 0, ""
		}
		if isHolder(v[keep:]) {
			return 0, ""
		}
		return keep, KeyName
	case cookieName:
		if bytes.IndexByte(v, '=') > 0 || looksRandom(v) {
			return 0, Cookie
		}
	case cardName:
		if isCard(v, false) {
			return 0, CardNumber
		}
	case pinName:
		if len(v) >= 3 && len(v) <= 8 && all(v, digits) {
			return 0, KeyName
		}
	case seedName:
		if n := len(bytes.Fields(v)); n >= 11 || n == 1 && len(v) >= 32 {
			return 0, SeedPhrase
		}
	}
	return 0, ""
}

// looksRandomFrom is looksRandom for values under a name that says half of it.
func looksRandomFrom(v []byte, least int) bool {
	if len(v) >= 8 {
		return looksRandom(v)
	}
	var kinds class
	for _, c := range v {
		kinds |= classes[c]
	}
	return len(v) >= least && kinds&letters != 0 && kinds&digits != 0 && kinds&(spaceClass|beyondASCII) == 0 && naturalShare(v) < 60
}

// schemes are the words in front of credentials in an Authorization header.
var schemes = [...]string{"bearer", "basic", "token", "digest", "apikey", "ssws", "key", "negotiate", "aws4-hmac-sha256", "bot", "jwt"}

// schemeOf returns how many bytes the scheme of credentials takes, with the
// blank after it, or 0.
func schemeOf(v []byte) int {
	n := bytes.IndexByte(v, ' ')
	if n <= 0 || n > 16 || n == len(v)-1 {
		return 0
	}
	for _, scheme := range schemes {
		if len(scheme) == n && bytes.EqualFold(v[:n], []byte(scheme)) {
			return n + 1
		}
	}
	return 0
}

// bareWords are values that say there is none, or what kind there is.
var bareWords = wordSet(`true false null none nil undefined yes no on off required optional string str text number int integer bool
	boolean bytes byte object any unknown void never array list dict map auto default default_value disabled enabled missing empty hidden masked
	redacted removed changeme placeholder bearer basic oauth oauth2 required. optional. must should is are was will can may await new function return const let var self this error nothing range`)

func isBareWord(v []byte) bool {
	if len(v) > 16 {
		return false
	}
	var small [16]byte
	for i, c := range v {
		if is(c, upper) {
			c |= 0x20
		}
		small[i] = c
	}
	return bareWords[string(small[:len(v)])]
}

// isReference says whether v names a secret that is kept elsewhere, or shows
// that one was left out.
func isReference(v []byte) bool {
	last := v[len(v)-1]
	switch v[0] {
	case '$':
		if len(v) > 2 && (v[1] == '{' && (last == '}' || all(v[2:], word)) || v[1] == '(' && last == ')') {
			return true
		}
		return len(v) > 1 && all(v[1:], upper|digits|wordMarks) && !is(v[1], digits)
	case '%':
		if len(v) <= 3 && all(v[1:], lower|dash) {
			return true // %s
		}
		return len(v) > 2 && last == '%' && all(v[1:len(v)-1], upper|digits|wordMarks)
	case '{':
		return len(v) > 4 && v[1] == '{' && bytes.HasSuffix(v, []byte("}}"))
	case '<':
		return len(v) > 2 && last == '>' && all(v[1:len(v)-1], lower|wordMarks|spaceClass)
	case '*', '.', 'x', 'X', '#':
		return len(v) >= 3 && bytes.Count(v, v[:1]) == len(v)
	}
	return false
}

// isCode says whether v, picked from a text, is an expression of a program: a
// call, an index, a chain of names, or a name too short to be a secret.
func isCode(v []byte) bool {
	if bytes.IndexByte(v, '(') > 0 || bytes.IndexByte(v, '[') > 0 {
		return true
	}
	if v[0] == '(' || v[0] == '[' || v[0] == '{' || v[0] == '&' || v[0] == '*' || v[0] == '.' {
		return true
	}
	if len(v) < 4 && all(v, letters|wordMarks|runMarks) {
		return true
	}
	return bytes.IndexByte(v, '.') > 0 && all(v, letters|wordMarks|dot) && naturalShare(v) >= 40
}

// isSecretsName says whether v, picked from a text, is itself the name of a
// secret in camelCase: in a program, Token: refreshToken says nothing.
func isSecretsName(v []byte) bool {
	if !all(v, alnum|wordMarks|dot) || !is(v[len(v)-1], letters) {
		return false
	}
	for i := 1; i < len(v); i++ {
		if is(v[i], upper) && is(v[i-1], lower|digits) {
			return judgeName(v) != plainName
		}
	}
	return false
}

// isCard says whether v is the number of a payment card: thirteen to nineteen
// digits of a known network whose check digit is right. Grouped demands the
// groups in which cards are printed, since one long number in ten has a right
// check digit by chance.
func isCard(v []byte, grouped bool) bool {
	var number [19]byte
	var groups [8]int
	n, g := 0, 0
	for i, c := range v {
		switch {
		case is(c, digits):
			if n == len(number) {
				return false
			}
			number[n] = c - '0'
			n++
			groups[g]++
		case c == ' ' || c == '-':
			if i == 0 || groups[g] == 0 || g == len(groups)-1 {
				return false
			}
			g++
		default:
			return false
		}
	}
	if n < 13 || !cardNetwork(number[:n]) || !luhn(number[:n]) {
		return false
	}
	if !grouped {
		return true
	}
	fours := g == 3 && groups[0] == 4 && groups[1] == 4 && groups[2] == 4 && groups[3] == 4
	amex := g == 2 && groups[0] == 4 && groups[1] == 6 && groups[2] == 5
	return fours || amex
}

// cardNetwork says whether a number begins and is as long as those of Visa,
// Mastercard, American Express, Discover, Diners, JCB, UnionPay or Maestro.
func cardNetwork(n []byte) bool {
	two := int(n[0])*10 + int(n[1])
	four := two*100 + int(n[2])*10 + int(n[3])
	switch {
	case n[0] == 4:
		return len(n) == 13 || len(n) == 16 || len(n) == 19
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return len(n) == 16
	case two == 34 || two == 37:
		return len(n) == 15
	case two == 30 || two == 36 || two == 38:
		return len(n) == 14
	case two == 35 || two == 65 || two == 62 || four == 6011 || two == 64 || two == 50 || two == 67 || two == 63:
		return len(n) >= 16
	}
	return false
}

func luhn(n []byte) bool {
	sum := 0
	for i := range n {
		d := int(n[len(n)-1-i])
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
