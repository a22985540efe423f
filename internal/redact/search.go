package redact

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/redact/lexer"
)

// mostLevels is how often a string within a string is decoded. Each level of
// real nesting doubles the backslashes, so a deeper one has little left in it.
const mostLevels = 5

// shortText is the length up to which a text is looked at byte by byte first.
const shortText = 160

// hit is a stretch to be replaced.
type hit struct {
	start, end int
	reason     Reason
	// quotes is 0 where the placeholder stands inside a string. Else it takes
	// a number's or an object's place and needs quotes of its own, which stand
	// quotes-1 strings deep and carry the backslashes for it.
	quotes int
}

// search finds the secrets of one text. It is used again from a pool, and
// holds nothing of the text when it is put back but the memory.
type search struct {
	hits  []hit
	names *names

	cutHead, cutTail bool // the text being searched begins or ends early
	noEntropy        bool // the text is opaque by its name, and stays
	unpacking        bool // the text came out of base64

	level    int
	buffers  [mostLevels + 1][]byte
	lexers   []*lexer.Lexer
	lexing   int
	noJWT    int      // no web token begins before this offset
	cardDone int      // digits up to this offset were looked at
	armour   [][2]int // certificates and the like, which are public
}

func (s *search) hit(start, end int, reason Reason) {
	if start < end {
		s.hits = append(s.hits, hit{start: start, end: end, reason: reason})
	}
}

// text searches what is not JSON as a whole: prose, logs, headers, code, with
// perhaps some JSON in it.
func (s *search) text(t []byte) {
	s.plain(t)
	if s.unpacking {
		return
	}
	if bytes.IndexByte(t, '{') >= 0 {
		s.embedded(t)
	}
	s.deeper(t)
}

// plain searches a text as it is written.
func (s *search) plain(t []byte) {
	if len(t) < 5 {
		return
	}
	s.noJWT, s.cardDone, s.armour = 0, 0, s.armour[:0]
	base := len(s.hits)
	// Most strings are short and plain. One look at their bytes is cheaper
	// than half a dozen searches that find nothing.
	kinds := ^class(0)
	if len(t) <= shortText {
		kinds = kindsOf(t)
		if len(t) < leastRun && kinds&(colon|equals|less|at|dash) == 0 && !s.cutHead && !s.cutTail {
			return
		}
	}
	if kinds&dash != 0 && kinds&spaceClass != 0 {
		s.blocks(t)
		s.flags(t)
	}
	if kinds&(colon|equals) != 0 {
		s.pairs(t)
	}
	if kinds&less != 0 {
		s.elements(t)
	}
	if kinds&at != 0 {
		s.dataSource(t)
	}
	if len(t) >= leastRun {
		s.runs(t)
	}
	if s.cutHead || s.cutTail {
		s.cutEnds(t)
	}
	s.respectHolders(base, t)
}

// respectHolders sees that no hit from base on ends inside a placeholder that
// stands in t: it takes all of it, or, where it has nothing else, none.
func (s *search) respectHolders(base int, t []byte) {
	if len(s.hits) == base || !bytes.Contains(t, []byte(placeholderHead)) {
		return
	}
	s.settle(base)
	kept := s.hits[:base]
	at, start, end := 0, 0, 0 // the placeholder looked at, and where to look on
	next := func() {
		for {
			n := bytes.Index(t[at:], []byte(placeholderHead))
			if n < 0 {
				start, end = len(t)+1, len(t)+1
				return
			}
			start = at + n
			end = holderEnd(t, start)
			at = start + 1
			if end > 0 {
				at = end
				return
			}
		}
	}
	next()
	for _, h := range s.hits[base:] {
		for end <= h.start {
			next()
		}
		// A placeholder may reach over into the next hit as well.
		if start < h.end {
			if h.start >= start && h.end <= end {
				continue
			}
			h.start = min(h.start, start)
		}
		for start < h.end {
			h.end = max(h.end, end)
			next()
		}
		kept = append(kept, h)
	}
	s.hits = kept
}

// deeper searches a text once more as what it means when it is the inside of
// a string: a key may be written in escapes.
func (s *search) deeper(t []byte) {
	if s.level >= mostLevels || bytes.IndexByte(t, '\\') < 0 {
		return
	}
	base := len(s.hits)
	decoded := s.decode(t)
	if len(decoded) == len(t) {
		return // a backslash or two, and no escape
	}
	s.level++
	s.plain(decoded)
	s.deeper(decoded)
	s.level--
	s.lift(base, t)
}

func (s *search) decode(t []byte) []byte {
	s.buffers[s.level] = appendDecoded(s.buffers[s.level][:0], t)
	return s.buffers[s.level]
}

// shift moves the hits from base on to the right.
func (s *search) shift(base, by int) {
	for i := base; i < len(s.hits); i++ {
		s.hits[i].start += by
		s.hits[i].end += by
	}
}

// settle puts the hits from base on in order and makes overlapping ones one.
// The one that begins first, or is longer, gives its reason.
func (s *search) settle(base int) {
	list := s.hits[base:]
	if len(list) < 2 {
		return
	}
	slices.SortFunc(list, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.reason, b.reason))
	})
	kept := list[:1]
	for _, h := range list[1:] {
		last := &kept[len(kept)-1]
		if h.start >= last.end {
			kept = append(kept, h)
			continue
		}
		last.end = max(last.end, h.end)
	}
	s.hits = s.hits[:base+len(kept)]
}

// replace returns t with placeholders, or t itself where nothing was found.
func (s *search) replace(t []byte) ([]byte, Report) {
	s.settle(0)
	if len(s.hits) == 0 {
		return t, nil
	}
	var report Report
	out := make([]byte, 0, len(t)+32*len(s.hits))
	at := 0
	for _, h := range s.hits {
		out = append(out, t[at:h.start]...)
		out = appendQuote(out, h.quotes)
		out = append(out, placeholderHead...)
		out = append(out, h.reason...)
		out = append(out, '>')
		out = appendQuote(out, h.quotes)
		at = h.end
		report.add(h.reason)
	}
	return append(out, t[at:]...), report
}

func appendQuote(out []byte, quotes int) []byte {
	if quotes == 0 {
		return out
	}
	for range 1<<(quotes-1) - 1 {
		out = append(out, '\\')
	}
	return append(out, '"')
}
