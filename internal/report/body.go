package report

import (
	"bufio"
	"context"
	"io"

	"github.com/deed-dev/deed/internal/journal"
)

// Bodies gives what was kept of messages. [journal.Reader] does.
type Bodies interface {
	// Body returns the kept bytes of the entry at a position. They end with an
	// error if they are not what was recorded.
	Body(ctx context.Context, position int64) (io.ReadCloser, journal.BodyInfo, error)
}

// Body is what was kept of a message, without what stood around it in a
// batch: a reader wants the message, and brackets and commas of the others are
// none of it. The record keeps them; deed export gives them. Errors:
// [NoAnswerError], and those of [journal.Reader.Body].
func (s *Story) Body(ctx context.Context, bodies Bodies, message Message) (io.ReadCloser, journal.BodyInfo, error) {
	record, err := s.record(message)
	if err != nil {
		return nil, journal.BodyInfo{}, err
	}
	body, info, err := bodies.Body(ctx, record.N)
	if err != nil {
		return nil, info, err
	}
	entry := record.Entry
	// Only of exact bytes can be told how many are of the batch; of others
	// none was kept.
	if entry.Framing == 0 || entry.Kept+entry.Omitted != entry.Bytes+entry.Framing || entry.Kept < entry.Framing {
		return body, info, nil
	}
	e := &element{Closer: body, from: bufio.NewReader(body), left: entry.Kept - entry.Framing}
	before, err := e.skip(entry.Framing)
	if err != nil {
		body.Close() // it was only read
		return nil, info, err
	}
	info.Kept, info.Head = e.left, max(0, info.Head-before)
	return e, info, nil
}

// element reads one message of a batch.
type element struct {
	io.Closer
	from *bufio.Reader
	left int64
}

// skip passes over what stands before the message, and says how much it was.
func (e *element) skip(most int64) (before int64, err error) {
	for ; before < most; before++ {
		b, err := e.from.ReadByte()
		switch {
		case err == io.EOF:
			return before, nil // Read tells whether it is right
		case err != nil:
			return before, err
		}
		switch b {
		case '[', ',', ' ', '\t', '\r', '\n':
		default:
			return before, e.from.UnreadByte()
		}
	}
	return before, nil
}

// Read goes on to the end of what was kept, where it turns out whether that is
// what was recorded.
func (e *element) Read(p []byte) (int, error) {
	if e.left == 0 {
		if _, err := io.Copy(io.Discard, e.from); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	return n, err
}
