package wire

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// maxQueuedAnswers bounds what waits for a line boundary. Beyond it whoever
// answers has to wait, as a server would whose client does not read.
const maxQueuedAnswers = 1 << 20

// Injector is the client's end of a wire. The server's relay writes into it,
// and answers of our own join the stream, but only between two of the
// server's lines. Answers are not shown to the tap: the server did not send
// them.
type Injector struct {
	dst io.Writer

	mu       sync.Mutex
	changed  sync.Cond
	writing  bool // somebody is in dst.Write, without the lock
	midLine  bool // the last byte written was not 0x0A
	ended    bool // the server will write no more
	err      error
	queue    []byte // answers that wait
	dropped  int64
	injected int64
}

// NewInjector returns an injector that writes to the client.
func NewInjector(client io.Writer) *Injector {
	i := &Injector{dst: client}
	i.changed.L = &i.mu
	return i
}

// Write passes the server's bytes on. Where answers wait, they go in behind
// the first line end.
func (i *Injector) Write(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for i.writing {
		i.changed.Wait()
	}
	i.writing = true
	defer i.release()

	written := 0
	if len(i.queue) > 0 {
		if end := bytes.IndexByte(p, '\n') + 1; end > 0 {
			written = i.write(p[:end])
			i.flush()
		}
	}
	written += i.write(p[written:])
	i.flush()
	if written < len(p) {
		return written, i.err
	}
	return written, nil
}

// Answer puts whole lines into the stream: at once when it is between two
// lines, else as soon as the server's current line is over. It returns before
// that, unless very much waits already. When the client is gone, or the
// server ended amid a line, the answer is dropped and counted.
func (i *Injector) Answer(lines []byte) {
	if len(lines) == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queue = append(i.queue, lines...)
	if lines[len(lines)-1] != '\n' {
		i.queue = append(i.queue, '\n') // else the server's next line would be glued to it
	}
	for {
		if i.err != nil || (i.ended && i.midLine) {
			i.drop()
			return
		}
		if !i.writing && !i.midLine {
			i.writing = true
			i.flush()
			i.release()
			return
		}
		if len(i.queue) <= maxQueuedAnswers {
			return
		}
		i.changed.Wait()
	}
}

// Injected returns how many bytes of answers reached the client.
func (i *Injector) Injected() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.injected
}

// Dropped returns how many bytes of answers could not be written.
func (i *Injector) Dropped() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.dropped
}

// SetWriteDeadline lets a relay cut a write short, where the client's file
// has deadlines.
func (i *Injector) SetWriteDeadline(t time.Time) error {
	if dst, ok := i.dst.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return dst.SetWriteDeadline(t)
	}
	return os.ErrNoDeadline
}

// end says that the server writes no more. Amid a line there will be no
// boundary, so what waits is dropped.
func (i *Injector) end() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ended = true
	if i.midLine && !i.writing {
		i.drop()
	}
	i.changed.Broadcast()
}

// write writes data with the lock let go, as the one who set writing, and
// notes whether the stream is amid a line.
func (i *Injector) write(data []byte) int {
	if i.err != nil || len(data) == 0 {
		return 0
	}
	i.mu.Unlock()
	n, err := writeAll(i.dst, data)
	i.mu.Lock()
	if n > 0 {
		i.midLine = data[n-1] != '\n'
	}
	i.err = err
	return n
}

// flush writes what waits, if the stream is between two lines.
func (i *Injector) flush() {
	for len(i.queue) > 0 && !i.midLine && i.err == nil {
		answers := i.queue
		i.queue = nil
		n := i.write(answers)
		i.injected += int64(n)
		i.dropped += int64(len(answers) - n)
	}
	if i.err != nil {
		i.drop()
	}
}

func (i *Injector) release() {
	i.writing = false
	i.changed.Broadcast()
}

func (i *Injector) drop() {
	i.dropped += int64(len(i.queue))
	i.queue = nil
}
