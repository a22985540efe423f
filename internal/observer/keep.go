package observer

import (
	"github.com/deed-dev/deed/internal/journal"
)

// Capture is how much of a message is kept.
type Capture string

// The capture levels.
const (
	Shape    Capture = "shape"    // names, types and sizes, no value
	Redacted Capture = "redacted" // values with their secrets taken out
	Raw      Capture = "raw"      // the exact bytes, in the clear
)

// What is kept of a long message under Redacted.
const (
	headLimit = 256 << 10
	tailLimit = 64 << 10
)

// wideLimit is how much of the head is held while it is needed whole.
const wideLimit = 4 << 20

// memoryLimit is how much of a message is held under Raw before it goes to a
// file.
const memoryLimit = 1 << 20

// keeper collects the bytes of the message that is passing, as far as the
// capture level keeps them. It is the sink of one direction's reader.
type keeper struct {
	level Capture
	spill func() (*journal.Spill, error)

	// wide asks for more of the head than is kept, for an answer whose whole
	// is needed once.
	wide bool

	head   []byte
	tail   []byte // a ring, once it is full
	tailAt int    // where its oldest byte is
	size   int64
	ahead  int64 // under Raw, bytes of a batch's framing before the message
	file   *journal.Spill
	failed error // the file could not be written: this body is lost
}

// Begin implements [protocol.Sink].
func (k *keeper) Begin(framed bool) {
	if framed && k.level == Raw {
		k.ahead = k.size // and the message goes behind it
		return
	}
	k.head, k.tail, k.tailAt, k.size, k.ahead, k.failed = k.head[:0], k.tail[:0], 0, 0, 0, nil
	k.discard()
}

// discard drops a file that no entry took.
func (k *keeper) discard() {
	if k.file != nil {
		k.file.Close()
		k.file = nil
	}
}

// Take implements [protocol.Sink].
func (k *keeper) Take(piece []byte) {
	k.size += int64(len(piece))
	if k.level == Raw {
		k.takeAll(piece)
		return
	}
	limit := headLimit
	if k.wide {
		limit = wideLimit
	}
	if room := limit - len(k.head); room > 0 {
		n := min(room, len(piece))
		k.head = append(k.head, piece[:n]...)
		piece = piece[n:]
	}
	if len(piece) > tailLimit {
		piece = piece[len(piece)-tailLimit:]
	}
	if room := tailLimit - len(k.tail); room > 0 {
		n := min(room, len(piece))
		k.tail = append(k.tail, piece[:n]...)
		piece = piece[n:]
	}
	for len(piece) > 0 {
		n := copy(k.tail[k.tailAt:], piece)
		k.tailAt = (k.tailAt + n) % tailLimit
		piece = piece[n:]
	}
}

// Frame implements [protocol.Sink]. What is exact has every byte of the wire,
// and no other message has these.
func (k *keeper) Frame(piece []byte) {
	if k.level == Raw {
		k.takeAll(piece)
	}
}

// takeAll keeps everything, in memory while it is little.
func (k *keeper) takeAll(piece []byte) {
	if k.failed != nil {
		return
	}
	if k.file == nil && len(k.head)+len(piece) <= memoryLimit {
		k.head = append(k.head, piece...)
		return
	}
	if k.file == nil {
		if k.file, k.failed = k.spill(); k.failed != nil {
			return
		}
		if _, k.failed = k.file.Write(k.head); k.failed != nil {
			return
		}
	}
	_, k.failed = k.file.Write(piece)
}

// ending is what was kept of the message's end, in order.
func (k *keeper) ending() []byte {
	if k.tailAt == 0 {
		return k.tail
	}
	return append(append(make([]byte, 0, len(k.tail)), k.tail[k.tailAt:]...), k.tail[:k.tailAt]...)
}

// parts are the beginning and the end of the message that are kept, and how
// many bytes lie between them.
func (k *keeper) parts() (head, tail []byte, omitted int64) {
	head, tail = k.head, k.ending()
	if len(head) > headLimit {
		rest := append(head[headLimit:len(head):len(head)], tail...)
		head, tail = head[:headLimit], rest[max(0, len(rest)-tailLimit):]
	}
	return head, tail, k.size - int64(len(head)) - int64(len(tail))
}
