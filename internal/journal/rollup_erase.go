package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// followErasure makes the derived tables follow what was erased, when all of
// it is. It goes one hour of one session at a time, so that recorders can go on.
func (e *eraser) followErasure(ctx context.Context) error {
	for _, step := range []func(context.Context, database) (bool, error){deriveStale, mergeTexts} {
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("follow erasure: %w", err)
			}
			began := time.Now()
			err := e.transactErasing(func() (err error) {
				more, err = step(ctx, e.db)
				return err
			})
			if err != nil {
				e.disconnect()
				return databaseError(e.folder, "follow erasure", err)
			}
			letOthers(ctx, began)
		}
	}
	return nil
}

// each goes through the entries of a list.
func (l eraseList) each(yield func(n int64) error) error {
	for _, run := range l {
		for n := run.first; n <= run.last; n++ {
			if err := yield(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetErased takes what was derived from erased entries out of the derived
// tables, in the transaction that erases them. Roll-ups only remember that
// they are stale, because deriving an hour anew for each of many steps would
// take for ever; deriveStale does it once.
func forgetErased(ctx context.Context, db database, erased eraseList) error {
	for _, query := range []string{
		"DELETE FROM destinations WHERE n = ?",
		"DELETE FROM texts WHERE rowid = ?",
		`INSERT INTO stale (session, hour)
			SELECT q.session, q.at / ` + strconv.Itoa(hourUS) + ` FROM entries e JOIN entries q ON q.session = e.session
				AND q.seq = CASE e.kind WHEN 'response' THEN e.call ELSE e.seq END
			WHERE e.n = ? AND e.kind IN ('request', 'response') AND q.kind = 'request' AND q.call IS NULL ON CONFLICT DO NOTHING`,
	} {
		statement, err := db.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		err = erased.each(func(n int64) error {
			_, err := statement.ExecContext(ctx, n)
			return err
		})
		if err := errors.Join(err, statement.Close()); err != nil {
			return err
		}
	}
	return nil
}

// deriveStale derives the roll-ups of one stale hour of one session anew. It
// returns false when there is none. It needs a transaction around it.
func deriveStale(ctx context.Context, db database) (bool, error) {
	var session, hour int64
	err := db.QueryRowContext(ctx, "SELECT session, hour FROM stale LIMIT 1").Scan(&session, &hour)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rollups, err := hourOfSession(ctx, db, session, hour)
	if err != nil {
		return false, err
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM stale WHERE session = ? AND hour = ?", session, hour); err != nil {
		return false, err
	}
	if err := replaceRollups(ctx, db, session, hour, rollups); err != nil {
		return false, err
	}
	if rollups, err = hourOfAll(ctx, db, hour); err != nil {
		return false, err
	}
	if err := replaceRollups(ctx, db, everySession, hour, rollups); err != nil {
		return false, err
	}
	generation, err := readMetaInteger(ctx, db, metaGeneration)
	if err != nil {
		return false, err
	}
	return true, writeMeta(ctx, db, metaGeneration, strconv.FormatInt(generation+1, 10))
}

// hourOfSession makes roll-ups of one hour of one session from its entries.
func hourOfSession(ctx context.Context, db database, session, hour int64) (map[rollupKey]*rollup, error) {
	// Where in the log the hour lies, the old roll-ups know.
	var first, last sql.NullInt64
	err := db.QueryRowContext(ctx, "SELECT min(first), max(last) FROM rollups WHERE session = ? AND hour = ?", session, hour).Scan(&first, &last)
	if err != nil {
		return nil, err
	}
	return tallyCalls(ctx, db, callRows+" NOT INDEXED"+answerJoin+`
		WHERE q.n BETWEEN ? AND ? AND q.session = ? AND q.at >= ? AND q.at < ? AND `+isCall,
		first.Int64, last.Int64, session, hour*hourUS, (hour+1)*hourUS)
}

// hourOfAll makes the roll-ups of one hour of all sessions from theirs.
func hourOfAll(ctx context.Context, db database, hour int64) (map[rollupKey]*rollup, error) {
	rows, err := db.QueryContext(ctx, "SELECT session, side, method, tool FROM rollups WHERE hour = ? AND session > ?", hour, everySession)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []rollupKey
	for rows.Next() {
		key := rollupKey{hour: hour}
		if err := rows.Scan(&key.session, &key.side, &key.method, &key.tool); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	rollups := make(map[rollupKey]*rollup)
	for _, key := range keys {
		row, err := findRollup(ctx, db, key)
		if err != nil {
			return nil, err
		}
		if rollups[key.shared()] == nil {
			rollups[key.shared()] = &rollup{}
		}
		rollups[key.shared()].merge(row)
	}
	return rollups, nil
}

func replaceRollups(ctx context.Context, db database, session, hour int64, rollups map[rollupKey]*rollup) error {
	for _, table := range []string{"rollups", "failures"} {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+table+" WHERE session = ? AND hour = ?", session, hour); err != nil {
			return err
		}
	}
	saver, err := newRollupSaver(ctx, db)
	if err != nil {
		return err
	}
	defer saver.close()
	for key, row := range rollups {
		if err := saver.save(ctx, key, row); err != nil {
			return err
		}
	}
	return nil
}
