package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

// chunkEntries is how much one worker reads at a time. Only a few chunks are
// in memory at once, however long the log is.
const chunkEntries = 4_096

// chunk is a stretch of the log with all that can be said about each of its
// entries alone.
type chunk struct {
	rows     []checkedRow
	findings []Finding
	details  int64
	erased   int64
	err      error
	places   map[int64][]string // destinations, by entry

	bodies                             []boundBody // still to be read
	absent                             []absent
	bodyCount, bodyBytes, erasedBodies int64
	whole                              []int64 // entries whose body is all of the message

	lists       []listedTools
	hiddenLists bool // a list of tools that cannot be read
}

type checkedRow struct {
	n        int64
	hash     tlog.Hash
	entry    entry.Entry
	readable bool
	erased   bool // its detail is not there
	derived  entry.Columns
	takes    stretchUsage
}

func (c *chunk) find(n int64, format string, args ...any) {
	c.findings = append(c.findings, Finding{N: n, What: fmt.Sprintf(format, args...)})
}

// scan reads the log in chunks, several at once, and puts them together in
// order.
func (v *verification) scan() error {
	total := v.report.Entries
	var rows int64
	if err := v.tx.QueryRowContext(v.ctx, "SELECT coalesce(max(n) + 1, 0) FROM entries").Scan(&rows); err != nil {
		return err
	}
	rows = min(rows, total) // a size made up must not keep us busy for ever
	workers := min(runtime.GOMAXPROCS(0), readerConnections-2)
	// Each element is a promise of a chunk, in the order of the log; the
	// bound keeps fast workers from running ahead.
	promises := make(chan chan chunk, workers)
	ctx, cancel := context.WithCancel(v.ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	if err := v.checkSize(); err != nil { // of an empty log
		return err
	}
	running.Go(func() {
		defer close(promises)
		for first := int64(0); first < rows; first += chunkEntries {
			promise := make(chan chunk, 1)
			select {
			case promises <- promise:
			case <-ctx.Done():
				return
			}
			running.Go(func() { promise <- v.readChunk(ctx, first, min(first+chunkEntries, rows)) })
		}
	})
	next := int64(0)
	for promise := range promises {
		c := <-promise
		if c.err != nil {
			return c.err
		}
		if err := v.join(c, &next); err != nil {
			return err
		}
		if v.options.Progress != nil {
			v.options.Progress(min(next, total), total)
		}
	}
	if next < total {
		v.missing(next, total-1)
	}
	return v.ctx.Err()
}

// join adds a chunk to what was found before it. next is the entry that
// should come.
func (v *verification) join(c chunk, next *int64) error {
	v.report.Details += c.details
	v.report.Erased += c.erased
	v.report.Bodies += c.bodyCount
	v.report.BodyBytes += c.bodyBytes
	v.report.ErasedBodies += c.erasedBodies
	v.joinTools(&c)
	findings := c.findings
	for i := range c.rows {
		row := &c.rows[i]
		for len(findings) > 0 && findings[0].N <= row.n {
			v.report.find(findings[0].N, "%s", findings[0].What)
			findings = findings[1:]
		}
		if row.n > *next {
			v.missing(*next, row.n-1)
		}
		*next = row.n + 1
		if row.readable {
			v.checkPlace(row.n, &row.entry)
			if row.entry.Kind == entry.KindEnd {
				v.awaitCheckpoint(row.n)
			}
			v.derivation.add(row)
			v.countExact(row, &c.whole)
		} else {
			v.derivation.holes = true
		}
		if err := v.addLeaf(row.hash); err != nil {
			return err
		}
	}
	return nil
}

// readChunk reads the entries from first up to, not including, end.
func (v *verification) readChunk(ctx context.Context, first, end int64) chunk {
	c := chunk{rows: make([]checkedRow, 0, end-first), places: make(map[int64][]string)}
	rows, err := v.db.QueryContext(ctx, `
		SELECT e.n, e.session, e.seq, e.kind, e.at, e.side, e.bytes, e.call, e.took, e.outcome, e.method, e.tool, e.error, e.leaf, d.salt, d.data, b.salt, b.id, b.kept, b.stored
		FROM entries e LEFT JOIN details d ON d.n = e.n LEFT JOIN bodies b ON b.n = e.n
		WHERE e.n >= ? AND e.n < ? ORDER BY e.n`, first, end)
	if err != nil {
		return chunk{err: err}
	}
	defer rows.Close()
	var row storedRow // used again, so that its buffers are
	for rows.Next() {
		if err := row.scan(rows); err != nil {
			return chunk{err: err}
		}
		c.check(&row, v.uids)
		v.checkPresent(&c, &row)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return chunk{err: err}
	}
	if err := v.checkRest(ctx, &c); err != nil {
		return chunk{err: err}
	}
	if err := c.checkPlaces(ctx, v.db, first, end); err != nil {
		return chunk{err: err}
	}
	return c
}

// storedRow is an entry as the database has it. Its bytes are good until the
// next row is read.
type storedRow struct {
	n, session, seq, at                      int64
	bytes, call, took                        sql.NullInt64
	kind, side, outcome, method, tool, error sql.RawBytes
	leaf, salt, data, bodySalt               sql.RawBytes
	body                                     bodyRow // without its salt
}

func (r *storedRow) scan(rows *sql.Rows) error {
	return rows.Scan(&r.n, &r.session, &r.seq, &r.kind, &r.at, &r.side, &r.bytes, &r.call, &r.took,
		&r.outcome, &r.method, &r.tool, &r.error, &r.leaf, &r.salt, &r.data,
		&r.bodySalt, &r.body.id, &r.body.kept, &r.body.stored)
}

// differing names the columns that do not say what they were derived from.
func (r *storedRow) differing(c *entry.Columns) []string {
	var names []string
	add := func(name string, same bool) {
		if !same {
			names = append(names, name)
		}
	}
	add("seq", r.seq == c.Seq)
	add("kind", string(r.kind) == c.Kind)
	add("at", r.at == c.At)
	add("side", sameText(r.side, c.Side))
	add("bytes", sameInteger(r.bytes, c.Bytes))
	add("call", sameInteger(r.call, c.Call))
	add("took", sameInteger(r.took, c.Took))
	add("outcome", sameText(r.outcome, c.Outcome))
	add("method", sameText(r.method, c.Method))
	add("tool", sameText(r.tool, c.Tool))
	add("error", sameText(r.error, c.Error))
	return names
}

func sameText(stored sql.RawBytes, derived *string) bool {
	if stored == nil || derived == nil {
		return stored == nil && derived == nil
	}
	return string(stored) == *derived
}

func sameInteger(stored sql.NullInt64, derived *int64) bool {
	if !stored.Valid || derived == nil {
		return !stored.Valid && derived == nil
	}
	return stored.Int64 == *derived
}

// check judges a row by itself.
func (c *chunk) check(row *storedRow, uids map[int64]string) {
	checked := checkedRow{n: row.n, hash: tlog.LeafHash(row.leaf), takes: row.usage()}
	l, err := entry.DecodeLeaf(row.leaf)
	if err != nil {
		c.find(row.n, "the entry is not valid: %v", err)
		c.rows = append(c.rows, checked)
		return
	}
	c.checkBodyRow(row, &l.Entry)
	detail := c.checkDetail(row, l.Detail)
	derived := entry.DeriveColumns(&l.Entry, detail)
	checked.entry, checked.readable, checked.derived = l.Entry, true, derived
	checked.erased = l.Detail != entry.Hash{} && row.data == nil
	c.rows = append(c.rows, checked)
	c.checkTools(row.n, &l.Entry, detail)
	if places := placesOf(detail); places != nil {
		c.places[row.n] = places
	}
	if names := row.differing(&derived); names != nil {
		c.find(row.n, "the row does not say what the entry says: %s", strings.Join(names, ", "))
	}
	switch uid, listed := uids[row.session]; {
	case !listed:
		c.find(row.n, "the row belongs to a session that is not listed")
	case uid != l.Session:
		c.find(row.n, "the entry belongs to session %s and its row to session %s", l.Session, uid)
	}
}

// checkDetail compares a detail with the hash in its leaf.
func (c *chunk) checkDetail(row *storedRow, bound entry.Hash) *entry.Detail {
	if row.data == nil {
		if bound != (entry.Hash{}) {
			c.gone(row.n).detail = true
		}
		return nil
	}
	c.details++
	if bound == (entry.Hash{}) {
		c.find(row.n, "there is a detail, and the entry has none")
		return nil
	}
	if len(row.salt) != entry.SaltBytes || entry.SaltedHash(row.salt, row.data) != bound {
		c.find(row.n, "the detail is not the one that was recorded")
	}
	detail, err := entry.ReadNames(row.data)
	if err != nil {
		c.find(row.n, "the detail is not valid: %v", err)
		return nil
	}
	return detail
}
