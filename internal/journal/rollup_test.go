package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// deriveAll makes all roll-ups of a journal anew from its entries.
func deriveAll(db *sql.DB) error {
	ctx := context.Background()
	rows, err := db.Query(`SELECT n, session, seq, kind, at, side, bytes, call, took, outcome, method, tool, error FROM entries ORDER BY n`)
	if err != nil {
		return err
	}
	all := rollup.NewTally()
	for rows.Next() {
		var n, session int64
		var c entry.Columns
		if err := rows.Scan(&n, &session, &c.Seq, &c.Kind, &c.At, &c.Side, &c.Bytes, &c.Call, &c.Took, &c.Outcome, &c.Method, &c.Tool, &c.Error); err != nil {
			return err
		}
		if err := all.Add(n, session, &c); err != nil {
			return err
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, table := range []string{"rollups", "failures", "unanswered"} {
		if _, err := db.Exec(fmt.Sprintf("DELETE FROM %s", table)); err != nil {
			return err
		}
	}
	saver, err := newRollupSaver(ctx, db)
	if err != nil {
		return err
	}
	defer saver.close()
	for key, row := range all.Rows {
		if err := saver.save(ctx, key, row); err != nil {
			return err
		}
	}
	if _, err := db.Exec(`DELETE FROM usage; INSERT INTO usage
		SELECT e.session, e.n / 4096, count(*), sum(length(e.leaf)), count(d.n), coalesce(sum(length(d.salt) + length(d.data)), 0),
			count(b.n), coalesce(sum(b.kept), 0), coalesce(sum(b.stored), 0), max(e.at)
		FROM entries e LEFT JOIN details d ON d.n = e.n LEFT JOIN bodies b ON b.n = e.n GROUP BY 1, 2`); err != nil {
		return err
	}
	for place, n := range all.Asked {
		if _, err := db.Exec("INSERT INTO unanswered VALUES (?, ?)", n, place.Session); err != nil {
			return err
		}
	}
	return nil
}
