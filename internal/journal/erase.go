package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// EraseRequest says what is to be erased: a whole Session, one call of it
// (Session and Seq), everything Before a time, or All.
type EraseRequest struct {
	Session string // a whole id
	Seq     int64  // of any request of a call; no request is entry 0
	Before  int64  // µs since 1970; entries from before it
	All     bool

	BodiesOnly bool // details stay
	DryRun     bool // only count
}

// EraseRequestError says that a request does not say clearly what to erase.
type EraseRequestError struct{ Reason string }

func (e *EraseRequestError) Error() string {
	return "nothing was erased: " + e.Reason + "; give a call, a session, a time or all"
}

// Erasure says what was erased, or would be.
type Erasure struct {
	Scope, What string
	Entries     int64 // that lost a detail, a body or both; 0 when nothing was left to erase
	Details     int64
	Bodies      int64
	Bytes       int64 // that the details and bodies took in the database

	// First and Last are the outermost of the entries, -1 without any.
	First, Last int64

	// Records are the erasure entries that say so in the log. A big erasure
	// goes in steps, so that recorders can go on, and has one for each.
	Records []int64

	// Lingering says that traces may be left in the files, because some program
	// was reading all the time, or the database is bigger than 128 GiB. Erase
	// again later.
	Lingering bool
}

// Erase deletes details, bodies and their salts for good, and appends entries
// that say so. Recorders go on meanwhile. What was erased before is not
// erased again: Entries then is 0, and nothing is appended. Errors:
// *EraseRequestError, ErrNotFound, ErrNoJournal, and those of Open. When it
// breaks off, what it did until then is complete; the result says what that is.
func Erase(ctx context.Context, home string, request EraseRequest) (Erasure, error) {
	return erase(ctx, home, request, nil)
}

func erase(ctx context.Context, home string, request EraseRequest, faults *faults) (Erasure, error) {
	scope, err := request.scope()
	if err != nil {
		return Erasure{}, err
	}
	e, err := openEraser(home, faults)
	if err != nil {
		return Erasure{}, err
	}
	defer e.close()
	what := entry.ErasedAll
	if request.BodiesOnly {
		what = entry.ErasedBodies
	}
	e.begin(scope, what)
	pages, err := e.find(ctx, request)
	if err != nil {
		return e.result, err
	}
	if err := e.eraseAll(ctx, pages, request.DryRun); err != nil {
		return e.result, err
	}
	if request.DryRun {
		return e.result, nil
	}
	return e.result, e.finish(ctx, true)
}

func (r *EraseRequest) scope() (string, error) {
	given := 0
	for _, one := range []bool{r.Session != "", r.Before != 0, r.All} {
		if one {
			given++
		}
	}
	switch {
	case given == 0:
		return "", &EraseRequestError{Reason: "it was not said what"}
	case given > 1:
		return "", &EraseRequestError{Reason: "more than one thing was said"}
	case r.Seq != 0 && r.Session == "":
		return "", &EraseRequestError{Reason: "a call needs its session"}
	case r.Seq < 0:
		return "", &EraseRequestError{Reason: fmt.Sprintf("no call has the number %d", r.Seq)}
	case r.Seq != 0:
		return entry.ScopeCall, nil
	case r.Session != "":
		return entry.ScopeSession, nil
	case r.Before != 0:
		return entry.ScopeBefore, nil
	}
	return entry.ScopeAll, nil
}

// eraser is a writer without a queue.
type eraser struct {
	*writer
	result Erasure
}

// openEraser opens a journal that is there; it makes none.
func openEraser(home string, faults *faults) (*eraser, error) {
	f, err := findFolder(home, false)
	if err != nil {
		return nil, err
	}
	if !isWritten(f.database()) {
		return nil, fmt.Errorf("home %s: %w", f.path, ErrNoJournal)
	}
	w, err := openFiles(f)
	if err != nil {
		return nil, err
	}
	w.faults = faults
	return &eraser{writer: w}, nil
}

func (e *eraser) close() {
	e.disconnect()
	e.lock.close()
}

func (e *eraser) begin(scope, what string) {
	e.result = Erasure{Scope: scope, What: what, First: -1, Last: -1}
}

// page is a way to the next entries to be looked at: it returns candidates in
// order, and false when there are no more. It asks without the lock; what is
// erased is decided again under it.
type page func(ctx context.Context) (candidates []int64, more bool, err error)

// Entries looked at and erased in one step.
const (
	stepScan    = 20_000
	stepEntries = 1_000
	stepBytes   = 4 << 20
)

// somethingLeft is true of entries e that have something to erase.
func somethingLeft(bodiesOnly bool) string {
	body := "EXISTS (SELECT 1 FROM bodies WHERE n = e.n)"
	if bodiesOnly {
		return body
	}
	return "(EXISTS (SELECT 1 FROM details WHERE n = e.n) OR " + body + ")"
}

func (e *eraser) find(ctx context.Context, r EraseRequest) (page, error) {
	left := somethingLeft(r.BodiesOnly)
	if r.Session == "" {
		before := r.Before
		if r.All {
			before = entry.MaxInteger + 1
		}
		return e.findBefore(ctx, before, left)
	}
	var session int64
	err := e.db.QueryRowContext(ctx, "SELECT id FROM sessions WHERE uid = ?", r.Session).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("erase session %s: %w", r.Session, ErrNotFound)
	}
	if err != nil {
		return nil, databaseError(e.folder, "erase session", err)
	}
	if r.Seq != 0 {
		return e.findCall(ctx, session, r, left)
	}
	seq := int64(-1)
	return func(ctx context.Context) ([]int64, bool, error) {
		// Only as far as it goes in one step, and on from there next time.
		list, last, err := e.ask(ctx, `
			SELECT e.n, e.seq, `+left+` FROM entries e
			WHERE e.session = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, session, seq, stepScan)
		more := last > seq
		seq = max(seq, last)
		return list, more, err
	}, nil
}

// findBefore walks over the log as it is now; what is appended meanwhile is
// not erased, or a running recorder could keep it going for ever.
func (e *eraser) findBefore(ctx context.Context, before int64, left string) (page, error) {
	h, err := readHead(ctx, e.db)
	if err != nil {
		return nil, databaseError(e.folder, "read head of the log", err)
	}
	first := int64(0)
	return func(ctx context.Context) ([]int64, bool, error) {
		end := min(first+stepScan, h.size)
		list, _, err := e.ask(ctx, `
			SELECT e.n, e.n, 1 FROM entries e
			WHERE e.n >= ? AND e.n < ? AND e.at < ? AND `+left+` ORDER BY e.n`, first, end, before)
		first = end
		return list, end < h.size, err
	}, nil
}

// findCall collects a call whole: from any of its requests to the first one,
// and from there all that belongs to one of them.
func (e *eraser) findCall(ctx context.Context, session int64, r EraseRequest, left string) (page, error) {
	const request = "SELECT coalesce(call, 0) FROM entries WHERE session = ? AND seq = ? AND kind = 'request'"
	root := r.Seq
	for {
		var before int64
		err := e.db.QueryRowContext(ctx, request, session, root).Scan(&before)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("erase call %d of session %s: %w", r.Seq, r.Session, ErrNotFound)
		}
		if err != nil {
			return nil, databaseError(e.folder, "erase call", err)
		}
		if before <= 0 || before >= root {
			break
		}
		root = before
	}
	list, _, err := e.ask(ctx, `
		WITH RECURSIVE calls (seq) AS (
			SELECT ?2
			UNION
			SELECT e.seq FROM entries e JOIN calls c ON e.session = ?1 AND e.call = c.seq WHERE e.kind = 'request'
		)
		SELECT e.n, e.n, `+left+` FROM entries e WHERE e.n IN (
			SELECT n FROM entries JOIN calls c ON entries.session = ?1 AND entries.seq = c.seq
			UNION
			SELECT n FROM entries JOIN calls c ON entries.session = ?1 AND entries.call = c.seq
		) ORDER BY e.n`, session, root)
	if err != nil {
		return nil, err
	}
	return func(context.Context) ([]int64, bool, error) { return list, false, nil }, nil
}

// ask runs a question for entry, cursor and whether it is a candidate.
func (e *eraser) ask(ctx context.Context, query string, args ...any) (list []int64, last int64, err error) {
	last = -1
	rows, err := e.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, last, databaseError(e.folder, "look for what to erase", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var candidate bool
		if err := rows.Scan(&n, &last, &candidate); err != nil {
			return nil, last, databaseError(e.folder, "look for what to erase", err)
		}
		if candidate {
			list = append(list, n)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, last, databaseError(e.folder, "look for what to erase", err)
	}
	return list, last, nil
}

// eraseAll works through all pages, step by step.
func (e *eraser) eraseAll(ctx context.Context, next page, dryRun bool) error {
	for more := true; more; {
		var list []int64
		var err error
		if list, more, err = next(ctx); err != nil {
			return err
		}
		for len(list) > 0 {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("erase: %w", err)
			}
			if dryRun {
				if err := e.count(ctx, list); err != nil {
					return err
				}
				break
			}
			began := time.Now()
			if list, err = e.step(list); err != nil {
				return err
			}
			letOthers(ctx, began)
			if err := e.vacuum(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// count adds up what step would erase.
func (e *eraser) count(ctx context.Context, list []int64) error {
	for _, n := range list {
		var detail, body sql.NullInt64
		err := e.db.QueryRowContext(ctx, `
			SELECT (SELECT length(salt) + length(data) FROM details WHERE n = ?1), (SELECT stored + length(salt) FROM bodies WHERE n = ?1)`, n).
			Scan(&detail, &body)
		if err != nil {
			return databaseError(e.folder, "count what to erase", err)
		}
		if e.result.What == entry.ErasedBodies {
			detail = sql.NullInt64{}
		}
		e.result.add(n, detail, body)
	}
	return nil
}

func (r *Erasure) add(n int64, detail, body sql.NullInt64) {
	if !detail.Valid && !body.Valid {
		return
	}
	r.Entries++
	if r.First < 0 || n < r.First {
		r.First = n
	}
	r.Last = max(r.Last, n)
	if detail.Valid {
		r.Details++
		r.Bytes += detail.Int64
	}
	if body.Valid {
		r.Bodies++
		r.Bytes += body.Int64
	}
}

// finish gives the space back. With thorough set, it also sees that nothing
// stays behind in the database's side file.
func (e *eraser) finish(ctx context.Context, thorough bool) error {
	if err := e.sweep(ctx, time.Now().Add(-looseFor).UnixMicro()); err != nil {
		return err
	}
	if thorough {
		if err := e.followErasure(ctx); err != nil {
			return err
		}
	}
	if err := e.vacuum(ctx); err != nil {
		return err
	}
	if !thorough {
		return nil
	}
	if err := e.scrub(ctx); err != nil {
		return err
	}
	return e.truncate(ctx)
}
