package journal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

const (
	// quiet is how long nothing must have come before a recorder brings the
	// text index on, and fewTexts bounds a step of it: what is recorded
	// meanwhile waits so long.
	quiet    = 250 * time.Millisecond
	fewTexts = 64
	// manyTexts is a step of somebody who does nothing else.
	manyTexts = 1_000

	// textBytes is how long the texts of one step are on average, at most.
	textBytes = 2 << 10
)

// textOf is what can be searched of a detail, empty for most.
func textOf(d *entry.Detail) string {
	var parts []string
	for _, text := range []*entry.Text{d.Args, d.Preview, d.ErrorText} {
		if text != nil {
			parts = append(parts, text.String())
		}
	}
	return strings.Join(parts, "\n")
}

// indexTexts brings the text index on by one step, in the transaction around
// it. It returns false when the index knows all that is in the log.
func indexTexts(ctx context.Context, db database, texts int) (bool, error) {
	from, err := readMetaInteger(ctx, db, metaSearched)
	if err != nil {
		return false, err
	}
	var size int64
	if err := db.QueryRowContext(ctx, "SELECT size FROM head").Scan(&size); err != nil {
		return false, err
	}
	if from >= size {
		return false, nil
	}
	end := min(from+int64(32*texts), size)
	end, err = eachText(ctx, db, from, end, texts, texts*textBytes, func(n int64, text string) error {
		_, err := db.ExecContext(ctx, "INSERT INTO texts (rowid, text) VALUES (?, ?)", n, text)
		return err
	})
	if err != nil {
		return false, err
	}
	return end < size, writeMeta(ctx, db, metaSearched, strconv.FormatInt(end, 10))
}

// eachText yields the texts of entries from one up to, not including, another,
// until there were so many or so long ones. It returns where it stopped.
func eachText(ctx context.Context, db database, from, end int64, docs, size int, yield func(n int64, text string) error) (int64, error) {
	rows, err := db.QueryContext(ctx, "SELECT n, data FROM details WHERE n >= ? AND n < ? ORDER BY n", from, end)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	type document struct {
		n    int64
		text string
	}
	var list []document
	for rows.Next() && docs > 0 && size > 0 {
		var n int64
		var data sql.RawBytes
		if err := rows.Scan(&n, &data); err != nil {
			return 0, err
		}
		if !mayHaveText(data) {
			continue
		}
		d, err := entry.OpenDetail(data)
		if err != nil {
			continue // verify tells of it; search can do without
		}
		if text := textOf(d); text != "" {
			list = append(list, document{n, text})
			docs--
			size -= len(text)
			if docs == 0 || size <= 0 {
				end = n + 1
			}
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, one := range list {
		if err := yield(one.n, one.text); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// mayHaveText looks for the names of the members, which is a hundred times
// faster than reading the detail. It may say yes for nothing.
func mayHaveText(data []byte) bool {
	return bytes.Contains(data, []byte(`"args":`)) || bytes.Contains(data, []byte(`"preview":`)) || bytes.Contains(data, []byte(`"error_text":`))
}

// mergePages is about how much of the text index one transaction rewrites.
const mergePages = 500

// mergeTexts rewrites part of the text index, so that words of texts that were
// deleted from it are gone from the file as well. It returns false when
// nothing is left to do. It needs a transaction around it.
func mergeTexts(ctx context.Context, db database) (bool, error) {
	if unmerged, err := readMeta(ctx, db, metaUnmerged); err != nil || unmerged == "" {
		return false, err
	}
	var before, after int64
	const changes = "SELECT total_changes()"
	if err := db.QueryRowContext(ctx, changes).Scan(&before); err != nil {
		return false, err
	}
	// A number below zero merges even where search would gain nothing by it.
	if _, err := db.ExecContext(ctx, "INSERT INTO texts (texts, rank) VALUES ('merge', ?)", -mergePages); err != nil {
		return false, err
	}
	if err := db.QueryRowContext(ctx, changes).Scan(&after); err != nil {
		return false, err
	}
	if after-before >= 2 { // one change is the command itself
		return true, nil
	}
	_, err := db.ExecContext(ctx, "DELETE FROM meta WHERE key = ?", metaUnmerged)
	return false, err
}

// catchUp does what waits to be derived, while nothing else is to be done.
func (w *writer) catchUp() {
	for w.db != nil && w.insert.derive.texts && w.queue.quietFor(quiet) {
		more := false
		err := w.transact("NORMAL", func() (err error) {
			if more, err = deriveStale(context.Background(), w.db, nil); err != nil || more {
				return err
			}
			more, err = indexTexts(context.Background(), w.db, fewTexts)
			return err
		})
		if err != nil {
			// The next entry, or the next search, finds out what is wrong; an
			// index that stays behind harms nobody.
			w.disconnect()
			return
		}
		w.insert.derive.texts = more
	}
}

// quietFor waits and says whether nothing came in that time.
func (q *queue) quietFor(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for q.isQuiet() {
		select {
		case <-q.wake: // it may be of an entry that was written before
		case <-timer.C:
			return q.isQuiet()
		}
	}
	return false
}

func (q *queue) isQuiet() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) == 0 && !q.closing
}

// IndexTexts brings the text index on until it knows all that is in the log,
// or ctx is done, and says how many entries it does not know then. Recorders
// go on meanwhile. Nothing needs it: it makes a search reach farther that
// would stop somewhere. Errors: ErrNoJournal, and those of Open.
func IndexTexts(ctx context.Context, home string) (unindexed int64, err error) {
	f, err := findFolder(home, false)
	if err != nil {
		return 0, err
	}
	if !isWritten(f.database()) {
		return 0, fmt.Errorf("home %s: %w", f.path, ErrNoJournal)
	}
	w, err := openFiles(f)
	if err != nil {
		return 0, err
	}
	defer w.lock.close()
	defer w.disconnect()
	for more := true; more && ctx.Err() == nil; {
		began := time.Now()
		err := w.transact("NORMAL", func() (err error) {
			more, err = indexTexts(context.WithoutCancel(ctx), w.db, manyTexts)
			return err
		})
		if err != nil {
			return 0, databaseError(f, "index texts", err)
		}
		letOthers(ctx, began)
	}
	var indexed, size int64
	if indexed, err = readMetaInteger(context.WithoutCancel(ctx), w.db, metaSearched); err == nil {
		err = w.db.QueryRow("SELECT size FROM head").Scan(&size)
	}
	if err != nil {
		return 0, databaseError(f, "index texts", err)
	}
	return max(0, size-indexed), nil
}
