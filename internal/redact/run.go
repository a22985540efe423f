package redact

import (
	"bytes"
	"crypto/sha256"
	"math/big"
)

// leastRun is the length of the shortest run in which anything is looked for.
// A search for breaks can so leap ahead this many bytes at a time.
const leastRun = 16

// shapeReasons are the formats that are known by their whole shape, since they
// have no telling beginning.
var shapeReasons = []Reason{
	"twilio_key", "mailgun_key", "mailchimp_key", "newrelic_key", "okta_token", "bitcoin_key", "discord_token",
	"terraform_token", "azure_secret", "telegram_token", "asana_token", "teams_webhook", "firebase_key",
}

// runs looks at every run of at least leastRun bytes without a break.
func (s *search) runs(t []byte) {
	i := 0
	for i+leastRun <= len(t) {
		j := i + leastRun - 1
		for j >= i && classes[t[j]]&runSet != 0 {
			j--
		}
		if j >= i {
			if t[j] == ' ' && j > 0 && j+1 < len(t) && is(t[j-1], digits) && is(t[j+1], digits) {
				s.groups(t, j)
			}
			i = j + 1
			continue
		}
		end := i + leastRun
		for end < len(t) && classes[t[end]]&runSet != 0 {
			end++
		}
		s.run(t, i+escapeTail(t, i), end)
		i = end + 1
	}
}

// escapeTail is how many bytes of a run that begins at t[i] belong to an escape
// such as \n. Replacing them would leave half of one.
func escapeTail(t []byte, i int) int {
	if i == 0 || t[i-1] != '\\' || spanBackslash(t[:i])%2 == 0 {
		return 0
	}
	switch t[i] {
	case 'n', 'r', 't', 'b', 'f':
		return 1
	case 'u':
		if _, ok := hexUnit(t[i-1:]); ok {
			return 5
		}
	}
	return 0
}

// spanBackslash is the number of backslashes at the end of v, of which an odd
// number leaves one that escapes. More than sixteen are not told apart.
func spanBackslash(v []byte) int {
	n := 0
	for n < 16 && n < len(v) && v[len(v)-1-n] == '\\' {
		n++
	}
	return n
}

// groups looks at digits in groups, as card numbers are printed.
func (s *search) groups(t []byte, at int) {
	if at < s.cardDone {
		return
	}
	start, end := at, at
	for start > 0 && at-start < 20 && (is(t[start-1], digits) || t[start-1] == ' ') {
		start--
	}
	for end < len(t) && end-at < 20 && (is(t[end], digits) || t[end] == ' ') {
		end++
	}
	s.cardDone = end
	v := t[start:end]
	trimmed := bytes.TrimLeft(v, " ")
	start += len(v) - len(trimmed)
	trimmed = bytes.TrimRight(trimmed, " ")
	if isCard(trimmed, true) {
		s.hit(start, start+len(trimmed), CardNumber)
	}
}

// run judges t[from:to], which has no break in it.
func (s *search) run(t []byte, from, to int) {
	// No key is in small letters only, and most names, words and paths are.
	kinds := kindsOf(t[from:to])
	if kinds&(digits|upper) == 0 {
		return
	}
	base := len(s.hits)
	s.credentials(t, from, to)
	s.keys(t, from, to)
	s.shapes(t, from, to, kinds)
	if len(s.hits) > base {
		s.settle(base)
	}
	if s.noEntropy || to-from < leastRandom || afterScheme(t, from) || s.inArmour(from) {
		return
	}
	found := s.hits[base:]
	known := len(found)
	for i := from; i < to; {
		n := unitLength(t[i:to])
		if n >= leastRandom && !overlaps(s.hits[base:base+known], i, i+n) {
			s.unit(t, i, i+n)
		}
		i += max(n, 1)
	}
}

func overlaps(hits []hit, start, end int) bool {
	for _, h := range hits {
		if h.start < end && start < h.end {
			return true
		}
	}
	return false
}

// unitLength is how much of v is base64 or a word, with signs of equality at
// its end only: elsewhere they separate.
func unitLength(v []byte) int {
	n := 0
	for n < len(v) && classes[v[n]]&base64Set != 0 && v[n] != '=' {
		n++
	}
	padded := n
	for padded < len(v) && padded-n < 2 && v[padded] == '=' {
		padded++
	}
	if padded < len(v) && classes[v[padded]]&base64Set != 0 {
		return n
	}
	return padded
}

// afterScheme says whether a run is the host and path of a URL. Their random
// parts name documents and commits; the secret ones have formats of their own.
func afterScheme(t []byte, from int) bool {
	return from > 0 && t[from-1] == ':' && bytes.HasPrefix(t[from:], []byte("//"))
}

// credentials judges a run after "Bearer " and its like.
func (s *search) credentials(t []byte, from, to int) {
	if from < 5 || t[from-1] != ' ' {
		return
	}
	n := spanBack(t[max(0, from-12):from-1], alnum)
	scheme := t[from-1-n : from-1]
	v := t[from:to]
	switch {
	case bytes.EqualFold(scheme, []byte("bearer")), bytes.EqualFold(scheme, []byte("ssws")):
		if naturalShare(v) < 60 || all(v, hexDigits|wordMarks) {
			s.hit(from, to, BearerToken)
		}
	case bytes.EqualFold(scheme, []byte("basic")):
		if text, ok := decodeBase64(bytes.TrimRight(v, "=")); ok && bytes.IndexByte(text, ':') > 0 {
			s.hit(from, to, BasicAuth)
		}
	}
}

// shapes looks for formats that have no telling beginning.
func (s *search) shapes(t []byte, from, to int, kinds class) {
	v := t[from:to]
	if kinds&dot != 0 && kinds&digits != 0 && kinds&letters == letters {
		s.webTokens(t, from, to)
		s.dotted(t, from, to)
	}
	if kinds&runMarks != 0 {
		s.azure(t, from, to)
	}
	if kinds&^(digits|wordMarks|dash) == 0 && isCard(v, true) {
		s.hit(from, to, CardNumber)
		return
	}
	if len(v) < 34 || kinds&digits == 0 {
		return
	}
	for i := from; i < to; {
		n := span(t[i:to], word)
		if n >= 34 && n <= 130 {
			s.shape(t, i, i+n)
		}
		i += n + 1
	}
}

// azure looks for a client secret of Azure: three bytes, a digit and Q~, then
// the rest.
func (s *search) azure(t []byte, from, to int) {
	v := t[from:to]
	i := bytes.IndexByte(v, '~')
	if i < 5 || v[i-1] != 'Q' || !is(v[i-2], digits) || len(v)-i < 31 {
		return
	}
	s.hit(from+i-5, to, "azure_secret")
}

// shape judges one word of thirty-four bytes or more.
func (s *search) shape(t []byte, from, to int) {
	v := t[from:to]
	switch {
	case len(v) == 34 && v[0] == 'S' && v[1] == 'K' && all(v[2:], hexDigits):
		s.hit(from, to, "twilio_key")
	case len(v) == 50 && v[32] == '-' && v[41] == '-' && hexSegments(v):
		s.hit(from, to, "mailgun_key")
	case len(v) >= 36 && len(v) <= 37 && bytes.HasPrefix(v[32:], []byte("-us")) && all(v[:32], hexDigits) && all(v[35:], digits):
		s.hit(from, to, "mailchimp_key")
	case len(v) == 40 && bytes.HasSuffix(v, []byte("NRAL")) && all(v[:36], hexDigits):
		s.hit(from, to, "newrelic_key")
	case len(v) == 42 && v[0] == '0' && v[1] == '0' && mixedEnough(v) && naturalShare(v) < mostNatural:
		s.hit(from, to, "okta_token")
	case (len(v) == 51 || len(v) == 52) && (v[0] == '5' || v[0] == 'K' || v[0] == 'L') && base58Check(v):
		s.hit(from, to, "bitcoin_key")
	case len(v) == 111 && (bytes.HasPrefix(v, []byte("xprv")) || bytes.HasPrefix(v, []byte("zprv")) || bytes.HasPrefix(v, []byte("tprv"))):
		s.hit(from, to, "bitcoin_key")
	}
}

// webTokens looks for JSON web tokens: parts of base64 between dots, of which
// the first is a JSON object.
func (s *search) webTokens(t []byte, from, to int) {
	for at := from; at < to; {
		n := bytes.Index(t[at:to], []byte("eyJ"))
		if n < 0 {
			return
		}
		start := at + n
		at = start + 3
		if start < s.noJWT {
			continue
		}
		end := start
		parts := 0
		for parts < 5 {
			size := span(t[end:to], word)
			if size < 10 && !(parts > 1 && size == 0) {
				break
			}
			parts++
			end += size
			if end >= to || t[end] != '.' {
				break
			}
			end++
		}
		if end > start && t[end-1] == '.' {
			end--
		}
		if parts >= 2 || s.cutTail && end == len(t) {
			s.hit(start, end, JWT)
			at = end
		} else {
			// The words after this one within it would end where it does.
			s.noJWT = end
		}
	}
}

// dotted looks for formats with a shape between dots.
func (s *search) dotted(t []byte, from, to int) {
	v := t[from:to]
	if len(v) < 59 {
		return
	}
	if i := bytes.Index(v, []byte(".atlasv1.")); i >= 10 {
		start := i - spanBack(v[:i], alnum)
		end := i + 9 + span(v[i+9:], word)
		s.hit(from+start, from+end, "terraform_token")
	}
	// Discord: an account's number in base64, a time, and a key.
	for i := 0; i < len(v); {
		n := span(v[i:], word)
		if n >= 23 && n <= 30 && i+n+8 < len(v) && v[i+n] == '.' && v[i+n+7] == '.' && all(v[i+n+1:i+n+7], word) && is(v[i], upper) {
			if last := span(v[i+n+8:], word); last >= 27 && last <= 40 {
				s.hit(from+i, from+i+n+8+last, "discord_token")
				return
			}
		}
		i += n + 1
	}
}

// numbered judges a key after the colon at t[i], which has the number or name
// of its owner before it.
func (s *search) numbered(t []byte, i int) {
	n := spanBack(t[max(0, i-24):i], digits)
	key := span(t[i+1:min(len(t), i+1+64)], word)
	switch {
	case i >= 11 && string(t[i-11:i-7]) == "AAAA" && key == 64:
		s.hit(i-11, i+1+span(t[i+1:], word), "firebase_key")
	case n >= 8 && n <= 10 && key >= 34 && key <= 36 && t[i+1] == 'A':
		s.hit(i-n, i+1+key, "telegram_token")
	case n >= 12 && key == 32 && i > n && t[i-n-1] == '/' && all(t[i+1:i+33], hexDigits):
		start := i - n - 1 - spanBack(t[max(0, i-n-3):i-n-1], digits)
		s.hit(start, i+33, "asana_token")
	}
}

const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Check says whether v is base58 whose last four bytes are the checksum
// of the rest, as bitcoin writes keys and addresses. By chance one text in four
// thousand million is.
func base58Check(v []byte) bool {
	if len(v) > 60 {
		return false
	}
	number := new(big.Int)
	for _, c := range v {
		digit := bytes.IndexByte([]byte(base58Digits), c)
		if digit < 0 {
			return false
		}
		number.Mul(number, big.NewInt(58))
		number.Add(number, big.NewInt(int64(digit)))
	}
	zeros := 0
	for zeros < len(v) && v[zeros] == '1' {
		zeros++
	}
	raw := append(make([]byte, zeros), number.Bytes()...)
	if len(raw) < 5 {
		return false
	}
	once := sha256.Sum256(raw[:len(raw)-4])
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], raw[len(raw)-4:])
}
