package sqlstore

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var (
	addWake = tenant("add_wake", `
		INSERT INTO wakes (workspace_id, kind, due_at, ref, fact_source, family, external_id, source, fact_type, watermark, holds)
		{rows bigint bigint text text text text text text bigint bigint}`)
	// Materialized: where PostgreSQL looks again for each row that it deletes, it
	// takes more than it was asked for. A row may be about several facts: those are taken
	// before which there are fewer than asked for.
	claimWakes = tenant("claim_wakes", `
		WITH due AS MATERIALIZED (
			SELECT w.due_at, w.id, w.holds FROM wakes w WHERE w.workspace_id = $1 AND w.due_at <= $2 ORDER BY w.due_at, w.id LIMIT $3 {skip locked}),
		summed AS (SELECT due.due_at, due.id, SUM(due.holds) OVER (ORDER BY due.due_at, due.id) - due.holds AS before FROM due)
		DELETE FROM wakes WHERE wakes.workspace_id = $1
			AND (wakes.due_at, wakes.id) IN (SELECT summed.due_at, summed.id FROM summed WHERE summed.before < $3)
		RETURNING id, kind, due_at, ref, fact_source, family, external_id, source, fact_type, watermark, holds`)
	// The kinds are those of wakes that have an action evaluated, whatever else.
	pendingWakes = tenant("pending_wakes", `
		SELECT w.ref, w.kind, w.watermark, w.due_at, w.id FROM wakes w {by wakes_by_ref}
		WHERE w.workspace_id = $1 AND w.ref {in $2 text} AND w.kind <= 2 AND w.due_at <= $3 {skip locked}`)
	// A lock is gone with the unit that has it. Another one that began before that could
	// claim the wake afterwards, and do what it says by an older snapshot. A row that was
	// written anew turns it away, so that it runs again.
	renewWake = tenant("renew_wake", `
		UPDATE wakes AS w SET holds = w.holds FROM {keys bigint bigint} WHERE w.workspace_id = $1 AND w.due_at = k.k1 AND w.id = k.k2`)
	nextDue = tenant("next_due", `
		SELECT due_at FROM wakes WHERE workspace_id = $1 ORDER BY due_at, id LIMIT 1`)
	lockVerdicts = tenant("lock_verdicts", `
		SELECT ref FROM verdicts WHERE workspace_id = $1 AND ref {in $2 text} ORDER BY ref {for update}`)
	// Those that wait are found by their time first: most of them wait for a time
	// that is far away.
	waitingFor = tenant("waiting_for", `
		WITH free AS MATERIALIZED (
			SELECT DISTINCT w.ref FROM waits w
			WHERE w.workspace_id = $1 AND w.source = $2 AND w.fact_type = $3 AND w.until_at <= $4)
		SELECT free.ref FROM free WHERE free.ref > $5 ORDER BY free.ref LIMIT $6`)
)

// Wake implements [store.Queue].
func (u *unit) Wake(wakes ...store.Wake) {
	now := u.Now()
	for _, w := range wakes {
		due := w.Due
		if due == 0 {
			due = now
		}
		u.due = u.due || due <= now
		if w.Kind == store.WakeFact {
			u.late.wake(due, w.Fact)
			continue
		}
		u.queueRows(addWake, []any{
			w.Kind, due, w.Ref, "", "", "", w.Source, w.FactType, w.Watermark, 1,
		})
	}
}

// Turn implements [store.Queue].
func (u *unit) Turn(t store.Turn) {
	switch {
	case u.readOnly:
		u.fail(errors.New("a view takes a turn, in which nothing would be brought"))
	case u.begun:
		u.fail(errors.New("a unit takes its turn after it has begun, and would not see what it waited for"))
	default:
		u.turn = t
		if !u.store.driver.Serial() {
			u.session.Turn(t)
		}
	}
}

// Recheck implements [store.Queue].
func (u *unit) Recheck(ref store.Ref) {
	if !u.store.driver.Serial() {
		u.Wake(store.Wake{Kind: store.WakeSpread, Ref: ref})
	}
}

// Claim implements [store.Queue].
func (u *unit) Claim(n int) ([]store.Wake, error) {
	type claimed struct {
		id    int64
		wake  store.Wake
		facts int64
	}
	var all []claimed
	err := u.ask(&query{statement: claimWakes, args: []any{u.Now(), n}, row: func(r Row) error {
		c := claimed{id: r.Int()}
		w := &c.wake
		w.Kind, w.Due, w.Ref = store.WakeKind(r.Int()), value.Instant(r.Int()), store.Ref(r.Text())
		w.Fact.Source, w.Fact.Family, w.Fact.ExternalID = r.Text(), r.Text(), r.Text()
		w.Source, w.FactType, w.Watermark = r.Text(), r.Text(), value.Instant(r.Int())
		c.facts = r.Int()
		all = append(all, c)
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("claim wakes: %w", err)
	}
	slices.SortFunc(all, func(a, b claimed) int { return cmp.Or(cmp.Compare(a.wake.Due, b.wake.Due), cmp.Compare(a.id, b.id)) })
	var wakes []store.Wake
	for i := range all {
		each, err := apart(all[i].wake, all[i].facts)
		if err != nil {
			return nil, fmt.Errorf("claim wakes: %w", err)
		}
		wakes = append(wakes, each...)
	}
	if len(wakes) > n { // some facts of the last row
		u.Wake(wakes[n:]...)
		wakes = wakes[:n]
	}
	return wakes, nil
}

// Pending implements [store.Queue].
func (u *unit) Pending(refs []store.Ref) (map[store.Ref]bool, error) {
	pending := map[store.Ref]bool{}
	if len(refs) == 0 {
		return pending, nil
	}
	var found [][]any // when they are due, and their ids
	err := u.ask(&query{statement: pendingWakes, args: []any{refs, u.Now()}, row: func(r Row) error {
		ref, kind, from := store.Ref(r.Text()), store.WakeKind(r.Int()), r.Int()
		pending[ref] = pending[ref] || kind == store.WakeSpread && from == 0
		found = append(found, []any{r.Int(), r.Int()})
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("look for wakes that are due: %w", err)
	}
	if !u.store.driver.Serial() {
		u.queueRows(renewWake, found...)
	}
	return pending, nil
}

// NextDue implements [store.Queue].
func (u *unit) NextDue() (value.Instant, error) {
	var due value.Instant
	err := u.ask(&query{statement: nextDue, row: func(r Row) error {
		due = value.Instant(r.Int())
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("find the next wake: %w", err)
	}
	return due, nil
}

// Lock implements [store.Queue]: the rows of the verdicts, in the order of refs.
func (u *unit) Lock(refs []store.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	if err := u.ask(&query{statement: lockVerdicts, args: []any{refs}, row: func(Row) error { return nil }}); err != nil {
		return fmt.Errorf("lock actions: %w", err)
	}
	return nil
}

// Waiting implements [store.Queue].
func (u *unit) Waiting(source, factType string, watermark value.Instant, after store.Ref, n int) ([]store.Ref, error) {
	var refs []store.Ref
	args := []any{key(source), key(factType), watermark, after, n}
	err := u.ask(&query{statement: waitingFor, args: args, row: func(r Row) error {
		refs = append(refs, store.Ref(r.Text()))
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("find what waits for %s of %s: %w", factType, source, err)
	}
	return refs, nil
}
