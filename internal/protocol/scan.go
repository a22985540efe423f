package protocol

import "bytes"

// The scanner follows the structure of a line and nothing else: it never
// judges a number or a word, so NaN, 1e400 and a comma too many are
// somebody's JSON. There is no recursion: inside a value that is not looked
// into, depth is a number.

type state uint8

const (
	stateBefore     state = iota // before the value, after white space at most
	stateMark                    // within a byte order mark
	stateKey                     // before a member's name, or the object's end
	stateInKey                   // within a name
	stateColon                   // after a name
	stateValue                   // before a member's value
	stateString                  // within a string that is a member's value
	stateWord                    // within a number, true, or whatever stands there
	stateSkip                    // within a value that is not looked into
	stateSkipString              // within a string of such a value
	stateComma                   // after a member's value
	stateAfter                   // after the line's value
	stateRest                    // in what is not scanned, up to the line's end
	stateFirst                   // after the bracket that opens a batch
	stateElement                 // before an element of a batch
	stateNext                    // after an element of a batch
	stateBatchEnd                // after the bracket that closes a batch
	stateRun                     // within elements of a batch that are no objects
	stateRunString               // within a string of those
)

type scanner struct {
	state   state
	from    int  // where what was not yet taken begins in the piece at hand
	escaped bool // the piece before ended in a backslash that is half an escape
	mark    int  // bytes of a byte order mark so far

	level int      // of the object that is looked into
	frame [4]frame // that object and those around it
	value member   // whose value is being read

	key     [6 * longestKey]byte
	keySize int // above len(key): too long to be one of ours

	keeps     slot // the slot whose token is being read
	tokenFrom int  // where it goes on in the piece at hand

	depth      int    // within a value that is not looked into
	kinds      uint64 // of its brackets, the innermost in the lowest bit: 1 for an array
	deep       bool   // it had more brackets than fit into kinds: any may close any
	afterComma bool   // of a run: the last thing at its top was a comma
}

type frame struct {
	in   node
	of   member // whose value it is
	seen uint64 // members that were there, a bit each
}

// What a byte means outside of strings. From quote on it matters in a value
// that is not looked into.
const (
	plain = iota
	space
	comma
	colon
	quote
	openObject
	openArray
	closeObject
	closeArray
)

var meaning = [256]uint8{
	' ': space, '\t': space, '\r': space, '\n': space,
	'"': quote, '{': openObject, '[': openArray, '}': closeObject, ']': closeArray,
	',': comma, ':': colon,
}

// cutLine splits data after its first line end.
func cutLine(data []byte) (line, rest []byte, ended bool) {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return data[:n+1], data[n+1:], true
	}
	return data, nil, false
}

// scan reads one piece of a line and gives its bytes away.
func (r *Reader) scan(s []byte) {
	sc := &r.scanner
	sc.from, sc.tokenFrom = 0, 0
	for i := 0; i < len(s); {
		i = r.step(s, i)
	}
	if sc.keeps != noSlot {
		r.keep(s[sc.tokenFrom:])
	}
	r.take(s[sc.from:])
}

// step goes on from s[i] as far as one state reaches.
func (r *Reader) step(s []byte, i int) int {
	sc := &r.scanner
	switch sc.state {
	case stateBefore, stateMark:
		return r.stepBefore(s, i)
	case stateKey:
		switch c := s[i]; meaning[c] {
		case space, comma:
		case quote:
			sc.state, sc.keySize = stateInKey, 0
		case closeObject:
			return r.closeObject(s, i)
		default:
			return r.malformed(s)
		}
		return i + 1
	case stateInKey:
		end, done := sc.stringEnd(s, i)
		sc.addKey(s[i:end])
		if done {
			sc.keySize-- // the quote
			sc.value = sc.findKey()
			sc.state = stateColon
		}
		return end
	case stateColon:
		switch meaning[s[i]] {
		case space:
		case colon:
			sc.state = stateValue
		default:
			return r.malformed(s)
		}
		return i + 1
	case stateValue:
		return r.beginValue(s, i)
	case stateString:
		end, done := sc.stringEnd(s, i)
		if done {
			r.endValue(s, end)
		}
		return end
	case stateWord:
		for i < len(s) && meaning[s[i]] == plain {
			i++
		}
		if i < len(s) {
			r.endValue(s, i)
		}
		return i
	case stateSkip:
		return r.skip(s, i)
	case stateSkipString:
		end, done := sc.stringEnd(s, i)
		if done {
			sc.state = stateSkip
		}
		return end
	case stateComma:
		switch meaning[s[i]] {
		case space:
		case comma:
			sc.state = stateKey
		case closeObject:
			return r.closeObject(s, i)
		default:
			return r.malformed(s)
		}
		return i + 1
	case stateAfter:
		for i < len(s) && meaning[s[i]] == space {
			i++
		}
		if i < len(s) {
			r.m.Flags |= Trailing
			sc.state = stateRest
		}
		return i
	case stateFirst, stateElement, stateNext, stateBatchEnd, stateRun, stateRunString:
		return r.stepBatch(s, i)
	default: // stateRest
		return len(s)
	}
}

// stepBefore looks for the line's value.
func (r *Reader) stepBefore(s []byte, i int) int {
	sc := &r.scanner
	const mark = "\xEF\xBB\xBF"
	c := s[i]
	if sc.state == stateMark {
		if c != mark[sc.mark] {
			return r.noJSON(s)
		}
		if sc.mark++; sc.mark == len(mark) {
			r.m.Flags |= BOM
			sc.state = stateBefore
		}
		return i + 1
	}
	switch meaning[c] {
	case space:
	case openObject:
		r.openMessage()
	case openArray:
		sc.state = stateFirst
	default:
		if c != mark[0] || r.m.Bytes+int64(i) > 0 {
			return r.noJSON(s)
		}
		sc.state, sc.mark = stateMark, 1
	}
	return i + 1
}

func (r *Reader) openMessage() {
	sc := &r.scanner
	sc.level = 0
	sc.frame[0] = frame{in: inMessage, of: unread}
	sc.keeps = noSlot
	sc.state = stateKey
}

func (r *Reader) noJSON(s []byte) int {
	r.m.Flags |= NotJSON
	r.scanner.state = stateRest
	return len(s)
}

// malformed gives a message up. In a batch too: behind a broken element it is
// anyone's guess where the next one begins.
func (r *Reader) malformed(s []byte) int {
	r.dropToken()
	r.m.Flags |= Malformed
	r.scanner.state = stateRest
	return len(s)
}

// position says where in the message s[i] is.
func (r *Reader) position(i int) int64 { return r.m.Bytes + int64(i-r.scanner.from) }

// endScan returns the flags for what the line left unfinished.
func (r *Reader) endScan(flags Flags) Flags {
	switch r.scanner.state {
	case stateAfter, stateRest, stateBatchEnd, stateRun, stateRunString:
		return flags
	}
	r.dropToken()
	if flags&Cut != 0 {
		return flags // nobody knows how it went on
	}
	switch r.scanner.state {
	case stateBefore:
		return flags | Blank
	case stateMark, stateFirst:
		return flags | NotJSON
	default:
		return flags | Malformed
	}
}
