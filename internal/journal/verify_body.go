package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// absent is something that an entry had and that is not there.
type absent struct {
	n            int64
	detail, body bool
}

// boundBody is a body that is to be compared with its leaf.
type boundBody struct {
	n   int64
	row bodyRow
	e   entry.Entry
}

// checkBodyRow compares a row of bodies with its leaf. What is in the pieces
// is looked at later, when the rows are read: it needs the connection.
func (c *chunk) checkBodyRow(row *storedRow, e *entry.Entry) {
	bound := e.Body != entry.Hash{}
	switch {
	case !bound && row.body.id.Valid:
		c.find(row.n, "there is a body, and the entry has none")
	case bound && !row.body.id.Valid:
		c.gone(row.n).body = true
	case bound:
		kept := bodyRow{salt: append([]byte(nil), row.bodySalt...), id: row.body.id, kept: row.body.kept, stored: row.body.stored}
		c.bodies = append(c.bodies, boundBody{n: row.n, row: kept, e: *e})
	}
}

// gone notes that something of an entry is not there.
func (c *chunk) gone(n int64) *absent {
	if end := len(c.absent) - 1; end >= 0 && c.absent[end].n == n {
		return &c.absent[end]
	}
	c.absent = append(c.absent, absent{n: n})
	return &c.absent[len(c.absent)-1]
}

// checkRest does what needs further questions: reads the bodies, and finds
// out what was erased by whom.
func (v *verification) checkRest(ctx context.Context, c *chunk) error {
	if err := v.checkBodies(ctx, c); err != nil {
		return err
	}
	if err := v.explain(ctx, c); err != nil {
		return err
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.N, b.N) })
	return nil
}

// countExact adds an entry whose bytes are all there, just as they crossed
// the wire, if its session says that it keeps them so.
func (v *verification) countExact(row *checkedRow, whole *[]int64) {
	if len(*whole) == 0 || (*whole)[0] != row.n {
		return
	}
	*whole = (*whole)[1:]
	if s := v.sessions[row.entry.Session]; s != nil && s.raw {
		v.report.ExactBytes += row.entry.Kept
	}
}

func (v *verification) checkBodies(ctx context.Context, c *chunk) error {
	var u unpacker
	defer u.close()
	var a *ahead
	for i := range c.bodies {
		if i%aheadBodies == 0 {
			var err error
			if a, err = readAhead(ctx, v.db, c.bodies[i:min(len(c.bodies), i+aheadBodies)]); err != nil {
				return err
			}
		}
		b := &c.bodies[i]
		right, size, err := readBound(ctx, v.db, &u, a, b)
		if err != nil {
			return err
		}
		if !right {
			there, err := v.stillThere(ctx, b)
			if err != nil {
				return err
			}
			if !there {
				c.gone(b.n).body = true // erased while we read it, or so it must turn out
				continue
			}
			c.find(b.n, "the body is not the one that was recorded")
		}
		c.bodyCount++
		c.bodyBytes += size
		// Of a batch the framing may have been kept around the element.
		if right && b.e.Omitted == 0 && (b.e.Kept == b.e.Bytes || b.e.Kept == b.e.Bytes+b.e.Framing) {
			c.whole = append(c.whole, b.n)
		}
	}
	c.bodies = nil
	return nil
}

// readBound reads a body piece by piece and says whether it is what its leaf
// says, and how many bytes it has.
func readBound(ctx context.Context, db *sql.DB, u *unpacker, a *ahead, b *boundBody) (right bool, size int64, err error) {
	if len(b.row.salt) != entry.SaltBytes {
		return false, 0, nil
	}
	pieces := pieceReader{ctx: ctx, db: db, id: b.row.id.Int64, ahead: a, unpacker: *u}
	defer func() { *u = pieces.unpacker }()
	sum := newBodySum(b.row.salt)
	for size <= b.e.Kept {
		raw, err := pieces.next()
		if errors.Is(err, ErrBodyAltered) {
			return false, size, nil
		}
		if err != nil {
			return false, size, err
		}
		if raw == nil {
			break
		}
		size += int64(len(raw))
		sum.Write(raw)
	}
	emptyless := size > 0 || b.row.id.Int64 == 0 // a body without bytes has no pieces
	right = emptyless && sum.hash() == b.e.Body && size == b.e.Kept && b.row.kept.Int64 == size && b.row.stored.Int64 == pieces.stored
	return right, size, nil
}

func (v *verification) stillThere(ctx context.Context, b *boundBody) (bool, error) {
	var there bool
	err := v.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM bodies WHERE n = ?)", b.n).Scan(&there)
	return there, err
}

// explain finds the erasure behind everything that is not there.
func (v *verification) explain(ctx context.Context, c *chunk) error {
	index := v.erased.now()
	fresh := false
	for _, a := range c.absent {
		for {
			_, detail := index.detail(a.n)
			_, body := index.body(a.n)
			if (a.detail && !detail || a.body && !body) && !fresh {
				var err error
				if index, err = v.erased.again(ctx); err != nil {
					return err
				}
				fresh = true
				continue
			}
			if a.detail {
				c.erased++
				if !detail {
					c.find(a.n, "the detail is missing, and no entry says that it was erased")
				}
			}
			if a.body {
				c.erasedBodies++
				if !body {
					c.find(a.n, "the body is missing, and no entry says that it was erased")
				}
			}
			break
		}
	}
	return nil
}

// checkPresent finds what is there although an entry says that it was erased.
func (v *verification) checkPresent(c *chunk, row *storedRow) {
	if row.data != nil {
		if by, erased := v.known.detail(row.n); erased {
			c.find(row.n, "the detail is there, and entry %d says that it was erased", by)
		}
	}
	if row.body.id.Valid {
		if by, erased := v.known.body(row.n); erased {
			c.find(row.n, "the body is there, and entry %d says that it was erased", by)
		}
	}
}

// checkLoose looks for bodies and pieces that belong to nothing.
func (v *verification) checkLoose() error {
	err := v.countStrays("SELECT count(*), min(n) FROM bodies WHERE n < 0 OR n >= ?",
		"%d bodies are of entries outside the log, which has %d")
	if err != nil {
		return err
	}
	var strays int64
	err = v.tx.QueryRowContext(v.ctx, `
		SELECT count(*) FROM (SELECT DISTINCT key >> 20 AS id FROM pieces)
		WHERE id NOT IN (SELECT id FROM bodies UNION ALL SELECT id FROM loose)`).Scan(&strays)
	if err != nil {
		return err
	}
	if strays > 0 {
		v.report.find(-1, "%d stored bodies belong to no entry", strays)
		return nil
	}
	return v.checkPieces()
}
