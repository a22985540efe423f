package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// step erases as many of the entries as one transaction should, and appends
// the entry that says so. It returns those that are left.
func (e *eraser) step(list []int64) ([]int64, error) {
	if err := e.lock.acquire(); err != nil {
		return nil, err
	}
	defer e.lock.release()
	if err := e.connectToErase(); err != nil {
		return nil, err
	}
	result := e.result // kept only once it is committed
	var rest []int64
	now := time.Now().UnixMicro()
	change := func(n int64) (*item, error) {
		var erased entry.List
		var err error
		if erased, rest, err = e.delete(list, &result); err != nil || len(erased) == 0 {
			return nil, err
		}
		if result.What == entry.ErasedAll {
			if err := forgetErased(context.Background(), e.db, erased); err != nil {
				return nil, err
			}
		}
		result.Records = append(result.Records, n)
		return e.erasureItem(erased, now)
	}
	if err := e.commitGroup(nil, commitOptions{durable: true, now: now, change: change}); err != nil {
		e.disconnect()
		return nil, databaseError(e.folder, "erase", err)
	}
	e.result = result
	return rest, nil
}

// letOthers waits half as long as a step has taken. Whoever gives the lock
// back and takes it again at once gets it, and recorders would starve.
func letOthers(ctx context.Context, began time.Time) {
	timer := time.NewTimer(max(2*time.Millisecond, time.Since(began)/2))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// connectToErase connects so that SQLite writes zeros over what is deleted.
func (e *eraser) connectToErase() error {
	if err := e.connect(); err != nil {
		return err
	}
	if err := e.exec("PRAGMA secure_delete = ON"); err != nil {
		e.disconnect()
		return databaseError(e.folder, "prepare to erase", err)
	}
	return nil
}

// delete takes away what entries have, until the step is full.
func (e *eraser) delete(list []int64, result *Erasure) (erased entry.List, rest []int64, err error) {
	list, rest = cut(list, stepEntries)
	bodies, err := e.findBodies(list)
	if err != nil {
		return nil, nil, err
	}
	// So many bytes that others need not wait long, but at least one entry.
	var bytes int64
	for i, n := range list {
		if bytes += min(bodies[n].stored, directBytes); bytes > stepBytes && i > 0 {
			list, rest = list[:i], append(list[i:len(list):len(list)], rest...)
			break
		}
	}
	numbers := joinNumbers(list)
	if err := forgetIntents(e.db, numbers); err != nil {
		return nil, nil, err
	}
	details := make(map[int64]int64) // bytes by entry
	if result.What == entry.ErasedAll {
		if details, err = e.deleteDetails(numbers); err != nil {
			return nil, nil, err
		}
	}
	if err := e.deleteBodies(list, numbers, bodies); err != nil {
		return nil, nil, err
	}
	if err := forgetUsage(context.Background(), e.db, numbers, details, bodies); err != nil {
		return nil, nil, err
	}
	for _, n := range list {
		detail, hadDetail := details[n]
		body, hadBody := bodies[n]
		if hadDetail || hadBody {
			erased.Add(n)
			result.add(n, sql.NullInt64{Int64: detail, Valid: hadDetail}, sql.NullInt64{Int64: body.stored + body.salt, Valid: hadBody})
		}
	}
	return erased, rest, nil
}

func cut(list []int64, limit int) (front, rest []int64) {
	if len(list) <= limit {
		return list, nil
	}
	return list[:limit], list[limit:]
}

// joinNumbers makes a JSON list, so that one statement takes all entries.
func joinNumbers(list []int64) string {
	b := []byte{'['}
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

// deleteDetails also empties the columns that repeat what details said.
func (e *eraser) deleteDetails(numbers string) (map[int64]int64, error) {
	rows, err := e.db.Query("DELETE FROM details WHERE n IN (SELECT value FROM json_each(?)) RETURNING n, length(salt) + length(data)", numbers)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	bytes := make(map[int64]int64)
	for rows.Next() {
		var n, size int64
		if err := rows.Scan(&n, &size); err != nil {
			return nil, err
		}
		bytes[n] = size
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	_, err = e.db.Exec(`UPDATE entries SET method = NULL, tool = NULL, error = NULL
		WHERE n IN (SELECT value FROM json_each(?)) AND coalesce(method, tool, error) IS NOT NULL`, numbers)
	return bytes, err
}

// directBytes is how big a body may be to be deleted within the step. The
// pieces of a bigger one only lose their entry, and are swept afterwards.
const directBytes = 128 << 10

type erasedBody struct{ id, kept, stored, salt int64 }

func (e *eraser) findBodies(list []int64) (map[int64]erasedBody, error) {
	rows, err := e.db.Query("SELECT n, id, kept, stored, length(salt) FROM bodies WHERE n IN (SELECT value FROM json_each(?))", joinNumbers(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	bodies := make(map[int64]erasedBody)
	for rows.Next() {
		var n int64
		var b erasedBody
		if err := rows.Scan(&n, &b.id, &b.kept, &b.stored, &b.salt); err != nil {
			return nil, err
		}
		bodies[n] = b
	}
	return bodies, rows.Err()
}

func (e *eraser) deleteBodies(list []int64, numbers string, bodies map[int64]erasedBody) error {
	if len(bodies) == 0 {
		return nil
	}
	if _, err := e.db.Exec("DELETE FROM bodies WHERE n IN (SELECT value FROM json_each(?))", numbers); err != nil {
		return err
	}
	pieces, err := e.db.Prepare("DELETE FROM pieces WHERE key >= ? AND key < ?")
	if err != nil {
		return err
	}
	defer pieces.Close()
	for _, n := range list {
		b, had := bodies[n]
		switch {
		case !had || b.stored == 0:
		case b.stored <= directBytes:
			_, err = pieces.Exec(b.id<<pieceShift, (b.id+1)<<pieceShift)
		default:
			_, err = e.db.Exec("INSERT INTO loose (id, mark, since) VALUES (?, 0, 0)", b.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// erasureItem makes the entry of a step.
func (e *eraser) erasureItem(erased entry.List, now int64) (*item, error) {
	seq, err := e.nextOwn()
	if err != nil {
		return nil, err
	}
	it, err := newItem(&entry.Entry{
		Kind: entry.KindErasure, Session: entry.OwnSession, Seq: seq, At: now, Scope: e.result.Scope, What: e.result.What,
		Count: erased.Count(), First: erased[0].First, Last: erased[len(erased)-1].Last, Erased: erased.Hash(),
	}, nil)
	if err != nil {
		return nil, err
	}
	it.erased = erased.Encode()
	return it, nil
}

// sweep deletes pieces that belong to no entry: those of erased bodies, and
// those staged before a time, whose recorder must have died.
func (w *writer) sweep(ctx context.Context, before int64) error {
	e := &eraser{writer: w}
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		var id int64
		err := e.db.QueryRowContext(ctx, "SELECT id FROM loose WHERE since < ? LIMIT 1", before).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return databaseError(e.folder, "sweep", err)
		}
		began := time.Now()
		if err := e.sweepSome(id, before); err != nil {
			e.disconnect()
			return databaseError(e.folder, "sweep", err)
		}
		letOthers(ctx, began)
		if err := w.vacuum(ctx); err != nil {
			return err
		}
	}
}

// sweepPieces is how many pieces one transaction deletes.
const sweepPieces = 8

func (e *eraser) sweepSome(id, before int64) error {
	return e.transactErasing(func() error {
		var since int64
		err := e.db.QueryRow("SELECT since FROM loose WHERE id = ?", id).Scan(&since)
		if errors.Is(err, sql.ErrNoRows) || (err == nil && since >= before) {
			return nil // somebody else was here
		}
		if err != nil {
			return err
		}
		result, err := e.db.Exec(`DELETE FROM pieces WHERE key IN (
			SELECT key FROM pieces WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT ?)`,
			id<<pieceShift, (id+1)<<pieceShift, sweepPieces)
		if err != nil {
			return err
		}
		if deleted, err := result.RowsAffected(); err != nil || deleted == sweepPieces {
			return err
		}
		_, err = e.db.Exec("DELETE FROM loose WHERE id = ?", id)
		return err
	})
}

// transactErasing is a small transaction that deletes for good.
func (e *eraser) transactErasing(change func() error) error {
	return e.transact("NORMAL", func() error {
		if err := e.exec("PRAGMA secure_delete = ON"); err != nil {
			return err
		}
		return change()
	})
}

// vacuumPages is how many free pages one transaction gives back.
const vacuumPages = 1_000

// vacuum gives all free pages back to the file system, some at a time. It is
// called after every step: SQLite looks for each page in the whole list of
// free ones, which therefore must stay short.
func (w *writer) vacuum(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("give space back: %w", err)
		}
		const free = "PRAGMA freelist_count"
		var before, after int64
		if w.db != nil { // without the lock, for most of the time there are none
			if err := w.db.QueryRow(free).Scan(&before); err == nil && before == 0 {
				return nil
			}
		}
		began := time.Now()
		err := w.transact("NORMAL", func() error {
			if err := w.db.QueryRow(free).Scan(&before); err != nil || before == 0 {
				return err
			}
			rows, err := w.db.Query(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumPages))
			if err != nil {
				return err
			}
			for rows.Next() { // a page each
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
			return w.db.QueryRow(free).Scan(&after)
		})
		if err != nil {
			w.disconnect()
			return databaseError(w.folder, "give space back", err)
		}
		if after == 0 || after >= before {
			return nil
		}
		letOthers(ctx, began)
	}
}

const (
	truncatePause = 20 * time.Millisecond
	truncateFor   = 3 * time.Second
)

// truncate empties the database's side file, in which old pages are. Somebody
// who reads can keep it from that; then it is said in the result.
func (e *eraser) truncate(ctx context.Context) error {
	deadline := time.Now().Add(truncateFor)
	for {
		busy, err := e.tryTruncate()
		if err != nil {
			e.disconnect()
			return databaseError(e.folder, "empty the side file", err)
		}
		if !busy {
			return nil
		}
		if time.Now().After(deadline) {
			e.result.Lingering = true
			return nil
		}
		timer := time.NewTimer(truncatePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			e.result.Lingering = true
			return nil
		}
	}
}

func (e *eraser) tryTruncate() (busy bool, err error) {
	if err := e.lock.acquire(); err != nil {
		return false, err
	}
	defer e.lock.release()
	if err := e.connectToErase(); err != nil {
		return false, err
	}
	// Not long: recorders wait for the lock meanwhile.
	if err := e.exec("PRAGMA busy_timeout = 50"); err != nil {
		return false, err
	}
	var log, moved int64
	if err := e.db.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &moved); err != nil {
		return false, err
	}
	return busy, e.exec("PRAGMA busy_timeout = 5000")
}
