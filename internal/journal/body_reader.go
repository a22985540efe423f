package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"

	"github.com/deed-dev/deed/internal/journal/entry"
)

var (
	// ErrErased says that what was asked for was kept once and was erased.
	ErrErased = errors.New("it was erased; deed verify says by which entry")
	// ErrNoBody says that no body of the entry was ever kept.
	ErrNoBody = errors.New("no body of it was kept; record with --capture redacted or raw to keep one")
	// ErrBodyAltered says that a body is not the one that was recorded.
	ErrBodyAltered = errors.New("the body is not the one that was recorded; see deed verify")
)

// BodyInfo says what is kept of a body.
type BodyInfo struct {
	Hash    entry.Hash // SHA-256 over a salt and the kept bytes
	Kept    int64      // bytes
	Omitted int64      // bytes that were left out after the first Head of the kept ones
	Head    int64
	Stored  int64 // bytes that it takes in the database
}

// Body returns the kept bytes of entry n as a stream. Memory does not grow
// with the body. At its end the stream is compared with the hash in the log,
// and ends with ErrBodyAltered instead of io.EOF if it is not what was
// recorded. A body that is erased while it is read ends with ErrErased.
// Other errors: ErrNotFound, ErrNoBody, ErrErased.
func (r *Reader) Body(ctx context.Context, n int64) (io.ReadCloser, BodyInfo, error) {
	var raw []byte
	var row bodyRow
	var stored sql.NullInt64
	err := r.db.QueryRowContext(ctx, `
		SELECT e.leaf, b.salt, b.id, b.stored FROM entries e LEFT JOIN bodies b ON b.n = e.n WHERE e.n = ?`, n).
		Scan(&raw, &row.salt, &row.id, &stored)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, BodyInfo{}, fmt.Errorf("body of entry %d: %w", n, ErrNotFound)
	}
	if err != nil {
		return nil, BodyInfo{}, databaseError(r.folder, "read body", err)
	}
	l, err := entry.DecodeLeaf(raw)
	if err != nil {
		return nil, BodyInfo{}, fmt.Errorf("body of entry %d: %w", n, err)
	}
	info := BodyInfo{Hash: l.Body, Kept: l.Kept, Omitted: l.Omitted, Head: l.Head, Stored: stored.Int64}
	switch {
	case l.Body == entry.Hash{}:
		return nil, BodyInfo{}, fmt.Errorf("body of entry %d: %w", n, ErrNoBody)
	case row.salt == nil:
		return nil, info, fmt.Errorf("body of entry %d: %w", n, ErrErased)
	}
	return &bodyStream{
		pieces: pieceReader{ctx: ctx, db: r.db, id: row.id.Int64}, folder: r.folder,
		n: n, left: l.Kept, bound: l.Body, sum: newBodySum(row.salt),
	}, info, nil
}

// bodyRow is a row of bodies, as far as there is one.
type bodyRow struct {
	salt             []byte
	id, kept, stored sql.NullInt64
}

// pieceReader reads the pieces of one body, one question each, so that it
// keeps no transaction open.
type pieceReader struct {
	ctx    context.Context
	db     *sql.DB
	id     int64
	i      int64
	stored int64
	ahead  *ahead // what was read before; may be nil
	unpacker
}

// next returns the next piece unpacked, nil behind the last one. The bytes
// are good until the next call.
func (p *pieceReader) next() ([]byte, error) {
	key := p.id<<pieceShift | p.i
	row, known := p.ahead.piece(key)
	if !known {
		row = &pieceRow{}
		err := p.db.QueryRowContext(p.ctx, "SELECT packed, data FROM pieces WHERE key = ?", key).Scan(&row.packed, &row.data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	if row == nil {
		return nil, nil
	}
	data, packed := row.data, row.packed
	if packed != 0 && packed != 1 {
		return nil, fmt.Errorf("%w: piece %d is of an unknown form", ErrBodyAltered, p.i)
	}
	p.i++
	p.stored += int64(len(data))
	raw, err := p.unpack(data, packed == 1)
	if err != nil {
		return nil, fmt.Errorf("%w: piece %d: %w", ErrBodyAltered, p.i-1, err)
	}
	if raw == nil {
		raw = []byte{}
	}
	return raw, nil
}

type bodyStream struct {
	pieces pieceReader
	folder folder
	n      int64
	left   int64
	bound  entry.Hash
	sum    *bodySum
	rest   bytes.Reader
	failed error
}

func (s *bodyStream) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for s.rest.Len() == 0 {
		if s.failed == nil {
			s.failed = s.fill()
		}
		if s.failed != nil {
			return 0, s.failed
		}
	}
	return s.rest.Read(p)
}

// fill gets the next piece. Its error is io.EOF when all was read and is right.
func (s *bodyStream) fill() error {
	if s.left == 0 {
		if s.sum.hash() != s.bound {
			return fmt.Errorf("body of entry %d: %w", s.n, ErrBodyAltered)
		}
		return io.EOF
	}
	raw, err := s.pieces.next()
	if errors.Is(err, ErrBodyAltered) {
		return fmt.Errorf("body of entry %d: %w", s.n, err)
	}
	if err != nil {
		return databaseError(s.folder, "read body", err)
	}
	if raw == nil {
		return s.missing()
	}
	if int64(len(raw)) > s.left || len(raw) == 0 {
		return fmt.Errorf("body of entry %d: %w", s.n, ErrBodyAltered)
	}
	s.left -= int64(len(raw))
	s.sum.Write(raw)
	s.rest.Reset(raw)
	return nil
}

// missing says why a piece is not there.
func (s *bodyStream) missing() error {
	var there int
	err := s.pieces.db.QueryRowContext(s.pieces.ctx, "SELECT count(*) FROM bodies WHERE n = ?", s.n).Scan(&there)
	if err != nil {
		return databaseError(s.folder, "read body", err)
	}
	if there == 0 {
		return fmt.Errorf("body of entry %d: %w", s.n, ErrErased)
	}
	return fmt.Errorf("body of entry %d: %w", s.n, ErrBodyAltered)
}

func (s *bodyStream) Close() error {
	s.pieces.close()
	return nil
}
