package redact

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

const (
	// leastRandom is the length from which a run is judged. Below it random
	// strings and product codes cannot be told apart (nanoids have 21).
	leastRandom = 24
	// mostRandom is the length above which a run is a blob, not a key; private
	// keys, which may be longer, are known by how they begin.
	mostRandom = 512
	// A unit is random when less than this share of its letters, in
	// hundredths, belongs to something that reads like a word.
	mostNatural = 38
	// leastKinds is how many different bytes a random unit has at least.
	leastKinds = 10
)

// follows has, for each small letter, the letters that commonly follow it in
// the words of European languages. Nine pairs in ten of a text are in it, and
// less than half of all pairs.
var follows = func() (table [26]uint32) {
	for i, next := range [26]string{
		"bcdfgiklmnprstuvwxyz", "aeilorsuby", "aehikloruty", "aeiorsudgy", "abcdefgilmnoprstuvwxy",
		"aefiloruty", "aehilnorsuy", "aeiortuy", "abcdefgklmnoprstvz", "aeiou", "aeilnosy", "abdefiklmnopstuvy",
		"abeimnopsuy", "acdefgiknorstuy", "abcdefgiklmnoprstuvwx", "aehiloprstuy", "u", "abcdegiklmnoprstuvy",
		"acehiklmnopqstuwy", "aehilorstuwy", "abcdegilmnprstx", "aeioru", "aehinorsy", "aceiptuy", "aceilmnoprst", "aeiozuy",
	} {
		for _, c := range []byte(next) {
			table[i] |= 1 << (c - 'a')
		}
	}
	return table
}()

const vowels uint32 = 1<<('a'-'a') | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

// readable says whether a piece of letters, all of one word, reads like one:
// it has a vowel and nearly all its pairs of letters are common ones.
func readable(piece []byte) bool {
	if len(piece) < 3 {
		return false
	}
	var seen uint32
	common := 0
	previous := piece[0] | 0x20 - 'a'
	seen |= 1 << previous
	for _, c := range piece[1:] {
		c = c | 0x20 - 'a'
		if follows[previous]>>c&1 == 1 {
			common++
		}
		seen |= 1 << c
		previous = c
	}
	return seen&vowels != 0 && common*4 >= (len(piece)-1)*3
}

// naturalShare is how many hundredths of v's letters belong to readable
// pieces. Pieces end where letters end and where camelCase begins a word.
func naturalShare(v []byte) int {
	total, natural := 0, 0
	for i := 0; i < len(v); {
		if !is(v[i], letters) {
			i++
			continue
		}
		start := i
		if is(v[i], upper) {
			for i < len(v) && is(v[i], upper) {
				i++
			}
			switch {
			case i-start > 1 && i < len(v) && is(v[i], lower):
				i-- // the last capital begins the next word: HTTPServer
			case i-start == 1:
				for i < len(v) && is(v[i], lower) {
					i++
				}
			}
		} else {
			for i < len(v) && is(v[i], lower) {
				i++
			}
		}
		total += i - start
		if readable(v[start:i]) {
			natural += i - start
		}
	}
	if total == 0 {
		return 100
	}
	return natural * 100 / total
}

// looksRandom says whether v, which may be short, has the look of a password
// or key rather than of a word, a number or a name.
func looksRandom(v []byte) bool {
	var kinds class
	for _, c := range v {
		kinds |= classes[c]
	}
	if kinds&(spaceClass|beyondASCII) != 0 || len(v) < 8 {
		return false
	}
	mixed := 0
	for _, set := range []class{lower, upper, digits} {
		if kinds&set != 0 {
			mixed++
		}
	}
	return mixed >= 2 && naturalShare(v) < 60
}

// unit judges t[from:to], a run of base64 and word bytes, and reports a hit
// where it looks drawn at random.
func (s *search) unit(t []byte, from, to int) {
	v := bytes.TrimRight(t[from:to], "=")
	for len(v) > 0 && !is(v[0], alnum) && v[0] != '/' && v[0] != '+' {
		v, from = v[1:], from+1
	}
	if len(v) > mostRandom {
		s.blob(from, to, v)
		return
	}
	if len(v) < leastRandom {
		return
	}
	if madeOfNames(v) {
		s.segments(t, from, v)
		return
	}
	if !mixedEnough(v) || isIdentifier(v) || isDigest(t, from, v) {
		return
	}
	if bytes.IndexByte(v, '/') >= 0 && isPath(v) {
		return
	}
	if naturalShare(v) >= mostNatural {
		return
	}
	switch what, reason := s.unpack(v); what {
	case isKept:
		return
	case isSecret:
		s.hit(from, to, reason)
		return
	}
	s.hit(from, to, HighEntropy)
}

// blob judges a run that is too long for a key: a private key without armour,
// or text in base64 with a secret in it.
func (s *search) blob(from, to int, v []byte) {
	head, ok := decodeBase64(v[:64])
	if what, reason := packedHead(v); what == isSecret {
		s.hit(from, to, reason)
		return
	} else if what == isKept || !ok || !printable(head) {
		return
	}
	if what, reason := s.unpack(v); what == isSecret {
		s.hit(from, to, reason)
	}
}

// mixedEnough is the cheap test that most runs fail: a random key has capitals,
// small letters and digits in turn, or two of them, and many different bytes.
func mixedEnough(v []byte) bool {
	if all := kindsOf(v); all&letters == 0 || all&letters != letters && all&digits == 0 {
		return false
	}
	var seen [4]uint64
	changes, nonHex, numerals := 0, 0, 0
	var kinds, previous class
	for _, c := range v {
		k := classes[c]
		seen[c>>6] |= 1 << (c & 63)
		if k&hexDigits == 0 && k&alnum != 0 {
			nonHex++
		}
		if k&digits != 0 {
			numerals++
		}
		k &= alnum
		if k&letters != previous&letters || k&digits != previous&digits {
			changes++
		}
		kinds |= k
		previous = k
	}
	if nonHex == 0 || kinds&letters == 0 || kinds&alnum == lower || kinds&alnum == upper {
		return false
	}
	// Of neighbours in a random key with all three kinds, six in ten differ in
	// kind; with capitals and digits only, as in base32, three in ten.
	least := 20
	if kinds&letters == letters && kinds&digits != 0 {
		least = 35
	}
	if changes*100 < len(v)*least || numerals*5 > len(v)*3 {
		return false
	}
	n := 0
	for _, w := range seen {
		for ; w != 0; w &= w - 1 {
			n++
		}
	}
	return n >= leastKinds
}

// madeOfNames says whether v has more underscores and dashes than base64 has,
// or has them without having both cases, as names of constants and slugs do.
func madeOfNames(v []byte) bool {
	marks := 0
	var kinds class
	for _, c := range v {
		k := classes[c]
		kinds |= k
		if k&wordMarks != 0 {
			marks++
		}
	}
	return marks >= 4 && marks*8 > len(v) || marks > 0 && kinds&letters != letters
}

// segments judges the names that v is made of, each on its own.
func (s *search) segments(t []byte, from int, v []byte) {
	if isIdentifier(v) || isDigest(t, from, v) || bytes.IndexByte(v, '/') >= 0 && isPath(v) {
		return
	}
	for i := 0; i < len(v); {
		n := span(v[i:], alnum)
		segment := v[i : i+n]
		if n >= leastRandom && mixedEnough(segment) && !isIdentifier(segment) && naturalShare(segment) < mostNatural {
			s.hit(from+i, from+i+n, HighEntropy)
		}
		i += n + 1
	}
}

// isIdentifier knows the shapes of identifiers that are long and random and
// no secret: whoever holds one can name a thing and do nothing else.
func isIdentifier(v []byte) bool {
	if bytes.IndexByte(v, '-') >= 0 && hexSegments(v) {
		return true // a UUID, a trace header
	}
	if len(v) == 26 && isULID(v) {
		return true
	}
	if len(v) == 46 && v[0] == 'Q' && v[1] == 'm' {
		return true // an IPFS address
	}
	for _, prefix := range []string{"bafy", "bafk", "bc1", "age1", "npub1", "0x"} {
		if bytes.HasPrefix(v, []byte(prefix)) && all(v, alnum) {
			return true
		}
	}
	if len(v) <= 35 && (v[0] == '1' || v[0] == '3') && base58Check(v) {
		return true // a bitcoin address
	}
	return isObjectID(v) || isVerifierKey(v)
}

// isVerifierKey says whether v is the public key of a signed note: a name,
// eight hex digits and a key, joined by plus signs.
func isVerifierKey(v []byte) bool {
	_, rest, ok := bytes.Cut(v, []byte("+"))
	return ok && len(rest) > 40 && rest[8] == '+' && all(rest[:8], hexDigits)
}

// isULID says whether v is a ULID, in one case. Its first byte is at most 7.
func isULID(v []byte) bool {
	if v[0] > '7' || v[0] < '0' {
		return false
	}
	var kinds class
	for _, c := range v {
		k := classes[c]
		if k&alnum == 0 || k&notCrockford != 0 {
			return false
		}
		kinds |= k
	}
	return kinds&letters != letters
}

// hexSegments says whether v is made of hex digits between dashes only.
func hexSegments(v []byte) bool {
	for _, c := range v {
		if c != '-' && c != '_' && !is(c, hexDigits) {
			return false
		}
	}
	return true
}

// secretPrefixes are words that begin keys rather than object identifiers.
var secretPrefixes = map[string]bool{
	"sk": true, "rk": true, "key": true, "secret": true, "token": true, "pat": true, "api": true,
	"tok": true, "auth": true, "pw": true, "pwd": true, "pass": true, "password": true, "live": true, "prod": true,
	"private": true, "priv": true, "access": true, "bearer": true, "apikey": true, "s": true, "cred": true,
}

// testableObjects are the kinds of object whose identifiers say live or test.
var testableObjects = map[string]bool{"cs": true, "pk": true, "ca": true, "acs": true}

// isObjectID says whether v is like cus_…, ch_…, chatcmpl-…: a short word that
// names a kind of object, and one random piece.
func isObjectID(v []byte) bool {
	n := span(v, lower)
	if n < 2 || n > 12 || n == len(v) || v[n] != '_' && v[n] != '-' || secretPrefixes[string(v[:n])] {
		return false
	}
	rest := v[n+1:]
	if testableObjects[string(v[:n])] {
		rest = bytes.TrimPrefix(bytes.TrimPrefix(rest, []byte("live_")), []byte("test_"))
	}
	return len(rest) >= 8 && len(rest) <= 40 && all(rest, alnum)
}

// digestMarks stand in front of content hashes in base64.
var digestMarks = []string{"sha1-", "sha256-", "sha384-", "sha512-", "md5-", "sha256=", "sha512=", "h1:", "SHA256:", "sha256:", "W/\""}

// isDigest says whether the unit v, which begins at t[from], is marked as a
// content hash. Lock files are full of them, and they open nothing.
func isDigest(t []byte, from int, v []byte) bool {
	before := t[max(0, from-8):from]
	for _, mark := range digestMarks {
		if bytes.HasPrefix(v, []byte(mark)) || bytes.HasSuffix(before, []byte(mark)) {
			return true
		}
	}
	return false
}

// isPath says whether v, which has a slash, is a path and not base64: the
// pieces of base64 between slashes are as random as the whole.
func isPath(v []byte) bool {
	if v[0] == '/' {
		// /nix/store/…: base64 hardly begins with a small word between slashes.
		if n := span(v[1:], lower); n >= 2 && n <= 12 && n+1 < len(v) && v[n+1] == '/' {
			return true
		}
	}
	pieces, plain, plainBytes := 0, 0, 0
	for piece := range bytes.SplitSeq(v, []byte("/")) {
		if len(piece) == 0 {
			continue
		}
		pieces++
		if all(piece, digits|hexLower|wordMarks) || len(piece) >= 2 && naturalShare(piece) >= 50 {
			plain++
			plainBytes += len(piece)
		}
	}
	if pieces >= 5 && len(v) < pieces*10 {
		return true // base64 has one slash in sixty-four bytes
	}
	return pieces > 0 && plain*2 >= pieces && (pieces > 2 || plainBytes*3 >= len(v))
}

type unpacked uint8

const (
	isOpaque unpacked = iota // random bytes, for all one can see
	isKept                   // something harmless in base64
	isSecret                 // something secret in base64
)

// blobMarks begin files, public keys and other things that are often carried
// in base64 and are no key.
var blobMarks = []string{
	"\x89PNG", "\xff\xd8\xff", "GIF8", "%PDF", "PK\x03\x04", "\x1f\x8b", "RIFF", "OggS", "ID3", "fLaC", "wOFF", "wOF2",
	"7z\xbc\xaf", "BZh", "\x28\xb5\x2f\xfd", "\x7fELF", "\x00asm", "\x00\x00\x01\x00", "MZ",
	"\x00\x00\x00\x07ssh-", "\x00\x00\x00\x0bssh-", "\x00\x00\x00\x13ecdsa-",
}

// unpack looks at what v holds if it is base64.
func (s *search) unpack(v []byte) (unpacked, Reason) {
	if what, reason := packedHead(v); what != isOpaque {
		return what, reason
	}
	if s.unpacking {
		return isOpaque, ""
	}
	text, ok := decodeBase64(v)
	if !ok || !printable(text) {
		return isOpaque, ""
	}
	// Text in base64 is kept, as text would be, unless a secret is in it.
	inner := search{unpacking: true, names: s.names}
	inner.text(text)
	for _, h := range inner.hits {
		if h.reason != HighEntropy {
			return isSecret, h.reason
		}
	}
	return isKept, ""
}

// packedHead knows files and keys by the first bytes.
func packedHead(v []byte) (unpacked, Reason) {
	head, ok := decodeBase64(v[:min(len(v), 32)&^3])
	if !ok {
		return isOpaque, ""
	}
	for _, mark := range blobMarks {
		if bytes.HasPrefix(head, []byte(mark)) {
			return isKept, ""
		}
	}
	if bytes.HasPrefix(head, []byte("openssh-key-v1")) {
		return isSecret, PrivateKey
	}
	return derKey(head)
}

// derKey tells a private key in DER, which begins with a version number, from
// a certificate or public key, which begins with another sequence.
func derKey(head []byte) (unpacked, Reason) {
	if len(head) < 8 || head[0] != 0x30 {
		return isOpaque, ""
	}
	body := head[2:]
	switch head[1] {
	case 0x81:
		body = head[3:]
	case 0x82:
		body = head[4:]
	}
	if body[0] == 0x02 && body[1] == 0x01 && body[2] <= 1 {
		return isSecret, PrivateKey
	}
	if head[1] >= 0x81 && body[0] == 0x30 || bytes.HasPrefix(head, []byte{0x30, 0x2a, 0x30, 0x05}) {
		return isKept, ""
	}
	return isOpaque, ""
}

// decodeBase64 decodes as much of v as is whole, in either alphabet.
func decodeBase64(v []byte) ([]byte, bool) {
	if len(v)%4 == 1 {
		v = v[:len(v)-1]
	}
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(v, "-_") {
		encoding = base64.RawURLEncoding
	}
	out := make([]byte, encoding.DecodedLen(len(v)))
	n, err := encoding.Decode(out, v)
	return out[:n], err == nil
}

// printable says whether b is text: UTF-8 (its last rune may be cut), with at
// most one control byte in twenty.
func printable(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	odd := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:]) {
				i = len(b)
				continue
			}
			return false
		case r < ' ' && r != '\n' && r != '\t' && r != '\r', r == 0x7f:
			odd++
		}
		i += size
	}
	return odd*20 <= len(b)
}
