package redact

import "bytes"

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

const vowels uint32 = 1 | 1<<('e'-'a') | 1<<('i'-'a') | 1<<('o'-'a') | 1<<('u'-'a') | 1<<('y'-'a')

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
