package protocol

import (
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"hash/maphash"

	"github.com/deed-dev/deed/internal/wire"
)

// Reader reads the messages of one direction out of its bytes, in whatever
// pieces they come. It holds at most HeadLimit and a few tokens of a message,
// however long that is. It is not safe for concurrent use.
type Reader struct {
	emit func(*Message)
	from wire.Direction
	at   int64 // of the bytes that are being read

	// The message that is being read, or that is complete and waits for the
	// framing behind it.
	m         Message
	hash      hash.Hash // nil when nobody will be able to check it
	salts     salts
	sink      Sink // nil when nobody keeps bodies
	utf8      utf8Check
	spans     [parts]Span
	words     [5]Token // members that the message has in another form
	tokens    [slots]*Token
	store     [slots][TokenLimit]byte
	long      hash.Hash // over a token above TokenLimit
	arguments maphash.Hash
	state     textDigest

	line    lineState
	scanner scanner
}

// lineState is what is known of the line that is being read.
type lineState struct {
	open    bool  // it has bytes
	lost    bool  // its beginning fell into a gap
	framing bool  // what comes is framing, not part of a message
	waits   bool  // m is a complete element and waits for its framing
	ahead   int64 // bytes of framing before the message that begins next
	batch   int   // elements so far
}

// NewReader returns a reader for the bytes that one side sends.
//
// It calls emit with each message, in the order of their last bytes, from
// within Feed, Gap and Close. The message and all it points to are valid
// until emit returns; [Message.Clone] makes a copy that lasts.
func NewReader(from wire.Direction, emit func(*Message)) *Reader {
	r := &Reader{emit: emit, from: from, hash: sha256.New(), long: sha256.New()}
	r.tokens = r.slotTokens()
	r.arguments.SetSeed(digestKey)
	r.state.hash.SetSeed(digestKey)
	r.startLine()
	return r
}

// SkipHash leaves Salt and Wire of every message zero. It is for a recorder
// that does not keep the salt: nobody could ever check such a hash, and it is
// more than half of the work that a long message takes.
func (r *Reader) SkipHash() { r.hash = nil }

// Sink is given the bytes of each message as they pass, for a recorder that
// keeps bodies. When emit is called, Take has been given exactly the bytes of
// that message since the last Begin, as many as Message.Bytes says: of a line
// with its line end, of an element of a batch without the framing around it.
// Every byte that a Reader reads goes through Take or Frame, in order.
type Sink interface {
	// Begin says that the bytes of a message follow. What was taken since the
	// last Begin is the message that was emitted since, unless framed is true:
	// then the beginning of the line has turned out to be the framing ahead of
	// the first element of a batch.
	Begin(framed bool)
	// Take is given the next bytes, at least one. It must keep no reference
	// to them.
	Take(piece []byte)
	// Frame is given framing that follows the message which will be emitted
	// next, under the conditions of Take.
	Frame(piece []byte)
}

// SetSink sets who is given the bytes of messages, from the next message on.
// It must be called between messages: before the first, or from within emit.
func (r *Reader) SetSink(s Sink) { r.sink = s }

// Feed reads data, which crossed the wire at a time in µs since 1970. It
// keeps no reference to data.
func (r *Reader) Feed(data []byte, at int64) {
	r.at = at
	for len(data) > 0 {
		piece, rest, ended := cutLine(data)
		if !r.line.open {
			r.line.open = true
			r.begin()
		}
		r.scan(piece)
		if ended {
			r.endLine(0)
		}
		data = rest
	}
}

// Gap says that bytes, with so many line ends among them, crossed the wire
// and were never seen. A message in progress is emitted as it is, flagged
// [Cut]. What comes up to the next line end is noise, flagged Cut as well,
// because nobody knows whether a line began with it.
func (r *Reader) Gap(bytes, lines, at int64) {
	if bytes <= 0 {
		return
	}
	r.at = at
	if r.line.open {
		r.endLine(Cut)
	}
	r.line.lost = true
}

// Close says that the stream ended. A last line without its line end is
// emitted, flagged [Unterminated].
func (r *Reader) Close(at int64) {
	if r.line.open {
		r.endLine(Unterminated)
	}
	r.line.lost = false
}

func (r *Reader) startLine() {
	r.line = lineState{}
	r.scanner = scanner{}
}

// begin starts a message with the byte that comes next.
func (r *Reader) begin() {
	r.m = Message{
		From: r.from, Began: r.at, At: r.at, Framing: r.line.ahead,
		Head: r.m.Head[:0],
	}
	r.line.ahead = 0
	r.scanner.frame[0].seen = 0
	r.spans = [parts]Span{}
	r.words = [len(r.words)]Token{}
	r.utf8 = utf8Check{}
	if r.hash != nil {
		r.salts.next(&r.m.Salt)
		r.hash.Reset()
		r.hash.Write(r.m.Salt[:])
	}
	if r.sink != nil {
		r.sink.Begin(r.m.Framing > 0)
	}
	if r.line.lost {
		r.m.Flags |= Cut
		r.scanner.state = stateRest
	}
}

// take gives the bytes that were just scanned to the message, or to the
// framing around it.
func (r *Reader) take(b []byte) {
	if len(b) == 0 {
		return
	}
	if r.line.framing { // and a complete element waits
		r.m.Framing += int64(len(b))
		if r.sink != nil {
			r.sink.Frame(b)
		}
		return
	}
	m := &r.m
	m.At = r.at
	m.Bytes += int64(len(b))
	if r.hash != nil {
		r.hash.Write(b)
	}
	if r.sink != nil {
		r.sink.Take(b)
	}
	if m.Flags&InvalidUTF8 == 0 && !r.utf8.next(b) {
		m.Flags |= InvalidUTF8
	}
	if room := HeadLimit - len(m.Head); room > 0 {
		m.Head = append(m.Head, b[:min(room, len(b))]...)
	}
}

// finish completes the message after its last byte.
func (r *Reader) finish(flags Flags) {
	m := &r.m
	m.Flags |= flags
	if !r.utf8.done() {
		m.Flags |= InvalidUTF8
	}
	if r.line.batch > 0 {
		m.Flags |= InBatch
		m.Batch = r.line.batch
	}
	r.classify()
	if r.hash != nil {
		r.hash.Sum(m.Wire[:0])
	}
}

// endLine completes what is left of the line: after its line end, at the
// stream's end or at a gap, which the flags tell.
func (r *Reader) endLine(flags Flags) {
	broken := r.endScan(flags)
	if r.line.waits {
		r.m.Flags |= broken &^ Cut // it is whole itself
		r.emit(&r.m)
	} else {
		r.finish(broken)
		r.emit(&r.m)
	}
	r.startLine()
}

// beginElement starts an element of a batch at the byte that comes next.
func (r *Reader) beginElement() {
	r.emitWaiting()
	if !r.line.framing {
		// The line began as one message: what there is of it is framing.
		bom := r.m.Flags & BOM
		r.line.ahead = r.m.Bytes
		r.begin()
		r.m.Flags |= bom
	} else {
		r.begin()
	}
	r.line.framing = false
	r.line.batch++
}

// endElement completes an element of a batch. It is emitted once it is known
// how much framing follows it: when the next one begins or the line ends.
func (r *Reader) endElement() {
	r.finish(0)
	r.line.waits, r.line.framing = true, true
}

func (r *Reader) emitWaiting() {
	if r.line.waits {
		r.line.waits = false
		r.emit(&r.m)
	}
}

// salts hands out random salts. They are fetched many at a time, because for
// a small message the system call costs more than all the rest.
type salts struct {
	stock [64 * 32]byte
	left  int
}

func (s *salts) next(salt *[32]byte) {
	if s.left == 0 {
		rand.Read(s.stock[:]) // never fails
		s.left = len(s.stock)
	}
	copy(salt[:], s.stock[s.left-32:s.left])
	s.left -= 32
}
