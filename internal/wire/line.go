package wire

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// Line is one line of the client, its 0x0A included where it has one. Only
// the last line of a stream may lack it.
type Line struct {
	place Place
	size  int64
	long  bool    // above the limit: the bytes are not kept
	kept  content // what has not gone on yet

	complete bool
	decision <-chan Decision
}

// Place is the place of the line's last piece: when the observer has got that
// far, it has seen the whole line.
func (l *Line) Place() Place { return l.place }

// Size is the line's length in bytes, with its line end.
func (l *Line) Size() int64 { return l.size }

// Held says whether the line is kept whole. One above 64 MiB is not: most of
// it has gone on, it cannot be refused, and its reader is empty.
func (l *Line) Held() bool { return !l.long }

// Reader reads the line's bytes. It is valid until the decision is sent; each
// call returns a reader of its own.
func (l *Line) Reader() io.ReadSeeker {
	if l.long {
		return io.NewSectionReader(&content{}, 0, 0)
	}
	return io.NewSectionReader(&l.kept, 0, l.size)
}

// Bytes are the line's bytes where memory holds all of them, which it does up to
// 1 MiB; else nil. They are valid until the decision is sent, and must not be
// changed.
func (l *Line) Bytes() []byte {
	if l.long || l.kept.file != nil {
		return nil
	}
	return l.kept.mem
}

// content is a line's bytes: the first in a file once there are many, the
// rest in memory.
type content struct {
	file    *os.File
	spilled int64 // bytes in the file
	mem     []byte
}

func (c *content) size() int64 { return c.spilled + int64(len(c.mem)) }

// add appends data, and moves what memory holds to a file when it is more
// than spillAt. Where no file can be had the bytes stay in memory: they are
// bounded, and a full disk must not stop the wire.
func (c *content) add(data []byte, spillAt int, folder string) {
	c.mem = append(c.mem, data...)
	if len(c.mem) <= spillAt {
		return
	}
	if c.file == nil {
		file, err := createSpill(folder)
		if err != nil {
			return
		}
		c.file = file
	}
	n, err := c.file.WriteAt(c.mem, c.spilled)
	c.spilled += int64(n)
	c.mem = c.mem[:copy(c.mem, c.mem[n:])]
	if err != nil {
		return // the next piece tries again, behind the bytes that were written
	}
}

// ReadAt reads across the file and memory.
func (c *content) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, fmt.Errorf("read a line at %d: negative offset", offset)
	}
	n := 0
	if offset < c.spilled {
		part := p[:min(int64(len(p)), c.spilled-offset)]
		read, err := c.file.ReadAt(part, offset)
		if read < len(part) {
			return read, fmt.Errorf("read a line back from its file: %w", err)
		}
		n = read
	}
	if rest := offset + int64(n) - c.spilled; n < len(p) && rest < int64(len(c.mem)) {
		n += copy(p[n:], c.mem[rest:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// sendTo writes all but the last keep bytes to dst and drops what it wrote.
// It returns how many bytes dst accepted.
func (c *content) sendTo(dst io.Writer, keep int64, buf []byte) (int64, error) {
	end, sent := c.size()-keep, int64(0)
	for sent < c.spilled && sent < end {
		part := buf[:min(int64(len(buf)), end-sent, c.spilled-sent)]
		if _, err := c.ReadAt(part, sent); err != nil {
			return sent, err
		}
		n, err := writeAll(dst, part)
		sent += int64(n)
		if err != nil {
			return sent, err
		}
	}
	if from := sent - c.spilled; from >= 0 && sent < end {
		n, err := writeAll(dst, c.mem[from:int64(len(c.mem))-keep])
		sent += int64(n)
		if err != nil {
			return sent, err
		}
	}
	rest := make([]byte, keep)
	if _, err := c.ReadAt(rest, end); err != nil {
		return sent, err
	}
	c.release()
	c.mem = rest
	return sent, nil
}

// release gives the file and memory back. It may be called twice.
func (c *content) release() {
	if c.file != nil {
		// Nothing can be done about a failure here, and the wire has no log.
		_ = c.file.Close()
		if !removesOpenFiles {
			_ = os.Remove(c.file.Name())
		}
	}
	*c = content{}
}

// removesOpenFiles is whether a file may lose its name while it is open. Then
// it does so at once, and not even a kill leaves a client's bytes behind.
const removesOpenFiles = runtime.GOOS != "windows"

func createSpill(folder string) (*os.File, error) {
	file, err := os.CreateTemp(folder, "deed-line-*")
	if err != nil {
		return nil, fmt.Errorf("create a file for a long line: %w", err)
	}
	if removesOpenFiles {
		if err := os.Remove(file.Name()); err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("remove the name of a long line's file: %w", err)
		}
	}
	return file, nil
}
