package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// followErasure makes the derived tables follow what was erased, when all of
// it is. It goes one hour of one session at a time, so that recorders can go on.
func (e *eraser) followErasure(ctx context.Context) error {
	var ahead *staleHour
	steps := []func() (bool, error){
		func() (bool, error) { return deriveStale(ctx, e.db, ahead) },
		func() (bool, error) { return mergeTexts(ctx, e.db) },
	}
	for i, step := range steps {
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("follow erasure: %w", err)
			}
			if i == 0 {
				var err error
				if ahead, err = e.deriveAhead(ctx); err != nil {
					return databaseError(e.folder, "follow erasure", err)
				}
			}
			began := time.Now()
			err := e.transactErasing(func() (err error) {
				more, err = step()
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

// staleHour is an hour of a session with the roll-ups that it should have, and
// what tells whether that is still so.
type staleHour struct {
	session, hour int64
	first, last   sql.NullInt64 // where in the log it lies, as the old roll-ups know
	state         hourState
	rollups       map[rollup.Key]*rollup.Rollup
}

// hourState changes with every call that comes, is answered or is erased.
type hourState struct{ calls, answered, erasures int64 }

// readStale finds a stale hour, nil when there is none.
func readStale(ctx context.Context, db database) (*staleHour, error) {
	var h staleHour
	err := db.QueryRowContext(ctx, "SELECT session, hour FROM stale LIMIT 1").Scan(&h.session, &h.hour)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = db.QueryRowContext(ctx, `
		SELECT min(first), max(last), coalesce(sum(calls), 0), coalesce(sum(answered), 0), (SELECT count(*) FROM erasures)
		FROM rollups WHERE session = ? AND hour = ?`, h.session, h.hour).
		Scan(&h.first, &h.last, &h.state.calls, &h.state.answered, &h.state.erasures)
	return &h, err
}

// derive makes the hour's roll-ups from its entries.
func (h *staleHour) derive(ctx context.Context, db database) (err error) {
	h.rollups, err = tallyCalls(ctx, db, callRows+" NOT INDEXED"+answerJoin+`
		WHERE q.n BETWEEN ? AND ? AND q.session = ? AND q.at >= ? AND q.at < ? AND `+isCall,
		h.first.Int64, h.last.Int64, h.session, h.hour*rollup.HourUS, (h.hour+1)*rollup.HourUS)
	return err
}

// deriveAhead derives a stale hour without the lock. A long one takes seconds,
// in which recorders must not wait.
func (e *eraser) deriveAhead(ctx context.Context) (*staleHour, error) {
	if e.db == nil {
		return nil, nil // it is derived under the lock then
	}
	tx, err := e.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	ahead, err := readStale(ctx, tx)
	if err != nil || ahead == nil {
		return nil, err
	}
	return ahead, ahead.derive(ctx, tx)
}

// forgetErased takes what was derived from erased entries out of the derived
// tables, in the transaction that erases them. Roll-ups only remember that
// they are stale, because deriving an hour anew for each of many steps would
// take for ever; deriveStale does it once.
func forgetErased(ctx context.Context, db database, erased entry.List) error {
	for _, query := range []string{
		"DELETE FROM destinations WHERE n = ?",
		// Before the text itself: that its words must be merged away.
		"INSERT INTO meta (key, value) SELECT '" + metaUnmerged + "', '1' FROM texts_docsize WHERE id = ? ON CONFLICT DO NOTHING",
		"DELETE FROM texts WHERE rowid = ?",
		`INSERT INTO stale (session, hour)
			SELECT q.session, q.at / ` + strconv.Itoa(rollup.HourUS) + ` FROM entries e JOIN entries q ON q.session = e.session
				AND q.seq = CASE e.kind WHEN 'response' THEN e.call ELSE e.seq END
			WHERE e.n = ? AND e.kind IN ('request', 'response') AND q.kind = 'request' AND q.call IS NULL ON CONFLICT DO NOTHING`,
	} {
		statement, err := db.PrepareContext(ctx, query)
		if err != nil {
			return err
		}
		err = erased.Each(func(n int64) error {
			_, err := statement.ExecContext(ctx, n)
			return err
		})
		if err := errors.Join(err, statement.Close()); err != nil {
			return err
		}
	}
	return nil
}

// deriveStale derives the roll-ups of one stale hour of one session anew, or
// takes them as they were derived ahead, when nothing has changed since. It
// returns false when no hour is stale. It needs a transaction around it.
func deriveStale(ctx context.Context, db database, ahead *staleHour) (bool, error) {
	h, err := readStale(ctx, db)
	if err != nil || h == nil {
		return false, err
	}
	if ahead != nil && ahead.session == h.session && ahead.hour == h.hour && ahead.state == h.state {
		h.rollups = ahead.rollups
	} else if err := h.derive(ctx, db); err != nil {
		return false, err
	}
	if _, err := db.ExecContext(ctx, "DELETE FROM stale WHERE session = ? AND hour = ?", h.session, h.hour); err != nil {
		return false, err
	}
	if err := replaceRollups(ctx, db, h.session, h.hour, h.rollups); err != nil {
		return false, err
	}
	all, err := hourOfAll(ctx, db, h.hour)
	if err != nil {
		return false, err
	}
	if err := replaceRollups(ctx, db, rollup.EverySession, h.hour, all); err != nil {
		return false, err
	}
	generation, err := readMetaInteger(ctx, db, metaGeneration)
	if err != nil {
		return false, err
	}
	return true, writeMeta(ctx, db, metaGeneration, strconv.FormatInt(generation+1, 10))
}

// hourOfAll makes the roll-ups of one hour of all sessions from theirs.
func hourOfAll(ctx context.Context, db database, hour int64) (map[rollup.Key]*rollup.Rollup, error) {
	rows, err := db.QueryContext(ctx, "SELECT session, side, method, tool FROM rollups WHERE hour = ? AND session > ?", hour, rollup.EverySession)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []rollup.Key
	for rows.Next() {
		key := rollup.Key{Hour: hour}
		if err := rows.Scan(&key.Session, &key.Side, &key.Method, &key.Tool); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	rollups := make(map[rollup.Key]*rollup.Rollup)
	for _, key := range keys {
		row, err := findRollup(ctx, db, key)
		if err != nil {
			return nil, err
		}
		if rollups[key.Shared()] == nil {
			rollups[key.Shared()] = &rollup.Rollup{}
		}
		rollups[key.Shared()].Merge(row)
	}
	return rollups, nil
}

func replaceRollups(ctx context.Context, db database, session, hour int64, rollups map[rollup.Key]*rollup.Rollup) error {
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
