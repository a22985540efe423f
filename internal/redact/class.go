package redact

import "bytes"

// class is a set of bytes, one bit in the table below.
type class uint32

const (
	digits class = 1 << iota
	lower
	upper
	hexLower     // a-f
	hexUpper     // A-F
	wordMarks    // _ -
	base64Marks  // + / =
	dot          // .
	runMarks     // ~ $
	notBase58    // 0 O I l
	quoteMarks   // quotes, brackets, backslash: what surrounds a value
	otherMarks   // the other printable ASCII
	colon        // : once more, so that one look at a short text says what it needs
	equals       // =
	less         // <
	at           // @
	dash         // -
	beyondASCII  // bytes of letters that are not ASCII
	spaceClass   // blank, tab, line ends
	notCrockford // I L O U in either case
)

const (
	letters   = lower | upper
	alnum     = letters | digits
	word      = alnum | wordMarks
	hexDigits = digits | hexLower | hexUpper
	base64Set = alnum | base64Marks | wordMarks
	// runSet has what a key, a path or a name is written in without a break.
	// Every key format that is known without its name lies within one run.
	runSet = base64Set | dot | runMarks
)

var classes = func() (table [256]class) {
	for c := range 256 {
		switch b := byte(c); {
		case b >= '0' && b <= '9':
			table[c] = digits
		case b >= 'a' && b <= 'z':
			table[c] = lower
		case b >= 'A' && b <= 'Z':
			table[c] = upper
		case b == '_' || b == '-':
			table[c] = wordMarks
		case b == '+' || b == '/' || b == '=':
			table[c] = base64Marks
		case b == '.':
			table[c] = dot
		case b == '~' || b == '$':
			table[c] = runMarks
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			table[c] = spaceClass
		case b >= 0x80:
			table[c] = beyondASCII
		case bytes.IndexByte([]byte("\"'`<>()[]{}|\\"), b) >= 0:
			table[c] = quoteMarks
		case b > ' ' && b < 0x7f:
			table[c] = otherMarks
		}
	}
	for c := byte('a'); c <= 'f'; c++ {
		table[c] |= hexLower
		table[c-'a'+'A'] |= hexUpper
	}
	for c, bit := range map[byte]class{':': colon, '=': equals, '<': less, '@': at, '-': dash} {
		table[c] |= bit
	}
	for _, c := range []byte("0OIl") {
		table[c] |= notBase58
	}
	for _, c := range []byte("iIlLoOuU") {
		table[c] |= notCrockford
	}
	return table
}()

func is(c byte, set class) bool { return classes[c]&set != 0 }

// kindsOf is every class that v has a byte of.
func kindsOf(v []byte) class {
	var kinds class
	for _, c := range v {
		kinds |= classes[c]
	}
	return kinds
}

// all says whether every byte of v is in the set.
func all(v []byte, set class) bool {
	for _, c := range v {
		if classes[c]&set == 0 {
			return false
		}
	}
	return true
}

// span is the number of bytes of the set at the beginning of v.
func span(v []byte, set class) int {
	for i, c := range v {
		if classes[c]&set == 0 {
			return i
		}
	}
	return len(v)
}

// spanBack is the number of bytes of the set at the end of v.
func spanBack(v []byte, set class) int {
	n := 0
	for n < len(v) && classes[v[len(v)-1-n]]&set != 0 {
		n++
	}
	return n
}

// isUUID says whether v is a UUID with its dashes, in either case.
func isUUID(v []byte) bool {
	if len(v) != 36 {
		return false
	}
	for i, c := range v {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !is(c, hexDigits) {
			return false
		}
	}
	return true
}
