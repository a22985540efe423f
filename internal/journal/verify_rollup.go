package journal

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// derivation makes the derived tables anew while verify goes along the log.
// It holds as much as those tables do, not more.
type derivation struct {
	tally *rollup.Tally
	usage usageTally
	rows  map[string]int64 // of sessions, by id
	// holes says that not every entry could be read, so that what is derived
	// would differ for that reason alone.
	holes bool

	// erased are the hours of calls from which a detail was erased, and,
	// under anyHour, the sessions in which one was whose call is not known.
	erased map[sessionHour]bool
}

func newDerivation(uids map[int64]string) *derivation {
	d := &derivation{tally: rollup.NewTally(), usage: make(usageTally), rows: make(map[string]int64, len(uids)), erased: make(map[sessionHour]bool)}
	for row, uid := range uids {
		d.rows[uid] = row
	}
	return d
}

// add is told of every entry that could be read, in order.
func (d *derivation) add(row *checkedRow) {
	session, listed := d.rows[row.entry.Session]
	if !listed {
		d.holes = true
		return
	}
	if row.erased {
		d.noteErased(session, &row.derived)
	}
	d.usage.add(stretchOf(session, row.n), &row.takes)
	_ = d.tally.Add(row.n, session, &row.derived) // fails only where tables are asked
}

// anyHour stands in erased for all hours of a session.
const anyHour = -1

// noteErased notes the hour whose sums change because a detail is gone: that
// of the call's request.
func (d *derivation) noteErased(session int64, c *entry.Columns) {
	at := sessionHour{session, anyHour}
	switch {
	case c.Kind == string(entry.KindRequest) && c.Call == nil:
		at.hour = c.At / rollup.HourUS
	case c.Kind == string(entry.KindResponse) && c.Call != nil:
		if open, found := d.tally.Open[rollup.Place{Session: session, Seq: *c.Call}]; found {
			at.hour = open.Key.Hour
		}
	default:
		return
	}
	d.erased[at] = true
}

// mayBeStale says whether an erasure can have left an hour to be derived anew.
func (d *derivation) mayBeStale(at sessionHour) bool {
	return d.erased[at] || d.erased[sessionHour{at.session, anyHour}]
}

// checkDerived compares the derived tables with what the entries give.
func (v *verification) checkDerived() error {
	if v.derivation.holes || v.broken {
		return nil // told as what it is; every sum would only say it again
	}
	if erasing, err := v.erasedMeanwhile(); err != nil || erasing {
		return err
	}
	stale, err := v.staleHours()
	if err != nil {
		return err
	}
	if err := v.checkRollups(stale); err != nil {
		return err
	}
	if err := v.checkFailures(stale); err != nil {
		return err
	}
	if err := v.checkUnanswered(); err != nil {
		return err
	}
	return v.checkUsage()
}

// erasedMeanwhile says whether something was erased since the verification
// began. Entries that were read since then have no names any more, and the
// roll-ups that they are compared with still do; the next one can compare.
func (v *verification) erasedMeanwhile() (bool, error) {
	var before, now int64
	const count = "SELECT count(*) FROM erasures"
	if err := v.tx.QueryRowContext(v.ctx, count).Scan(&before); err != nil {
		return false, err
	}
	err := v.db.QueryRowContext(v.ctx, count).Scan(&now)
	return before != now, err
}

// sessionHour is one hour of one session.
type sessionHour struct{ session, hour int64 }

func hourOf(k *rollup.Key) sessionHour { return sessionHour{k.Session, k.Hour} }

// staleHours are those that wait to be derived anew after an erasure. They
// may still be by names that were erased, and are looked at the next time.
func (v *verification) staleHours() (map[sessionHour]bool, error) {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT session, hour FROM stale")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	stale := make(map[sessionHour]bool)
	for rows.Next() {
		var one sessionHour
		if err := rows.Scan(&one.session, &one.hour); err != nil {
			return nil, err
		}
		v.report.StaleHours++
		if !v.derivation.mayBeStale(one) {
			v.report.find(-1, "hour %d of session %s is to be derived anew as after an erasure, and nothing of it was erased", one.hour, v.uids[one.session])
			continue // so that it hides nothing
		}
		stale[one] = true
		stale[sessionHour{rollup.EverySession, one.hour}] = true
	}
	return stale, rows.Err()
}

func (v *verification) checkRollups(stale map[sessionHour]bool) error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT session, side, method, tool, hour, "+rollupColumns+" FROM rollups")
	if err != nil {
		return err
	}
	defer rows.Close()
	missing := make(map[rollup.Key]bool)
	for key := range v.derivation.tally.Rows {
		missing[key] = !stale[hourOf(&key)]
	}
	var foreign, wrong, lacking tampered
	for rows.Next() {
		var key rollup.Key
		stored := make([]any, 18)
		targets := []any{&key.Session, &key.Side, &key.Method, &key.Tool, &key.Hour}
		for i := range stored {
			targets = append(targets, &stored[i])
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		missing[key] = false
		row := v.derivation.tally.Rows[key]
		switch {
		case stale[hourOf(&key)]:
		case row == nil:
			foreign.add(key)
		case !sameValues(stored, rollupValues(row)):
			wrong.add(key)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for key, there := range missing {
		if there {
			lacking.add(key)
		}
	}
	v.tell(wrong, "%d roll-ups are not what their entries add up to, one of them of %s")
	v.tell(foreign, "%d roll-ups add up calls that are in no entry, one of them of %s")
	v.tell(lacking, "%d roll-ups are missing, one of them of %s")
	return nil
}

// tampered counts derived rows of one kind that are not right. An edited
// entry can spoil hundreds, and each would say the same.
type tampered struct {
	count int64
	one   rollup.Key
}

func (t *tampered) add(key rollup.Key) {
	t.count++
	t.one = key
}

func (v *verification) tell(t tampered, format string) {
	if t.count == 0 {
		return
	}
	// Names of tools are not put into findings: they come from the wire.
	of := fmt.Sprintf("session %s in hour %d", v.uids[t.one.Session], t.one.Hour)
	if t.one.Session == rollup.EverySession {
		of = fmt.Sprintf("all sessions in hour %d", t.one.Hour)
	}
	v.report.find(-1, format, t.count, of)
}

func sameValues(stored, derived []any) bool {
	for i, value := range derived {
		if blob, ok := value.([]byte); ok {
			there, ok := stored[i].([]byte)
			if !ok || !bytes.Equal(there, blob) {
				return false
			}
			continue
		}
		if stored[i] != value {
			return false
		}
	}
	return true
}

func (v *verification) checkFailures(stale map[sessionHour]bool) error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT session, side, method, tool, hour, outcome, error, calls, last FROM failures")
	if err != nil {
		return err
	}
	defer rows.Close()
	missing := 0
	for key, row := range v.derivation.tally.Rows {
		if !stale[hourOf(&key)] {
			missing += len(row.Failures)
		}
	}
	var wrong tampered
	for rows.Next() {
		var key rollup.Key
		var failure rollup.FailureKey
		var sum rollup.FailureSum
		if err := rows.Scan(&key.Session, &key.Side, &key.Method, &key.Tool, &key.Hour, &failure.Outcome, &failure.Code, &sum.Count, &sum.Last); err != nil {
			return err
		}
		if stale[hourOf(&key)] {
			continue
		}
		row := v.derivation.tally.Rows[key]
		if row == nil || row.Failures[failure] == nil {
			wrong.add(key)
			continue
		}
		missing--
		if row.Failures[failure].FailureSum != sum {
			wrong.add(key)
		}
	}
	v.tell(wrong, "%d counts of failures are not those of the entries, one of them of %s")
	if missing > 0 {
		v.report.find(-1, "%d counts of failures are missing", missing)
	}
	return rows.Err()
}

func (v *verification) checkUnanswered() error {
	open := make(map[int64]int64, len(v.derivation.tally.Open))
	for place, call := range v.derivation.tally.Open {
		open[call.N] = place.Session
	}
	rows, err := v.tx.QueryContext(v.ctx, "SELECT n, session FROM unanswered")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n, session int64
		if err := rows.Scan(&n, &session); err != nil {
			return err
		}
		if there, ok := open[n]; !ok || there != session {
			v.report.find(n, "the entry is listed as a request without an answer, and is none")
			continue
		}
		delete(open, n)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(open)) {
		v.report.find(n, "the request has no answer, and is not listed as such")
	}
	return nil
}

// checkTools compares a tools entry with the list in its detail.
func (c *chunk) checkTools(n int64, e *entry.Entry, d *entry.Detail) {
	if e.Kind != entry.KindTools {
		return
	}
	if d == nil {
		c.hiddenLists = true
		return
	}
	c.lists = append(c.lists, listedTools{n, d.Tools})
	if e.Messages != int64(len(d.Tools)) || e.Definitions != DefinitionsHash(d.Tools) {
		c.find(n, "the list of tools is not the one that was recorded")
	}
}

// checkPlaces compares the destinations of a stretch of entries with what
// their details gave. Entries that could not be read give none.
func (c *chunk) checkPlaces(ctx context.Context, db *sql.DB, first, end int64) error {
	rows, err := db.QueryContext(ctx, "SELECT d.n, d.place || CASE WHEN d.session = e.session AND d.at = e.at THEN '' ELSE '?' END FROM destinations d JOIN entries e ON e.n = d.n WHERE d.n >= ? AND d.n < ? ORDER BY d.n, d.place", first, end)
	if err != nil {
		return err
	}
	defer rows.Close()
	stored := make(map[int64][]string)
	for rows.Next() {
		var n int64
		var place string
		if err := rows.Scan(&n, &place); err != nil {
			return err
		}
		stored[n] = append(stored[n], place)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for n, places := range c.places {
		if !slices.Equal(stored[n], places) {
			// Unless it was erased since the detail was read.
			var there bool
			if err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM details WHERE n = ?)", n).Scan(&there); err != nil {
				return err
			}
			if there {
				c.find(n, "the destinations of the call are not those of its detail")
			}
		}
		delete(stored, n)
	}
	for n := range stored {
		c.find(n, "destinations are listed that the detail does not name")
	}
	// Told in the order of the log, like everything that a chunk finds.
	slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Compare(a.N, b.N) })
	return nil
}
