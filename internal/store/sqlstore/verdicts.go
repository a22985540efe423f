package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var (
	currentVerdicts = tenant("current_verdicts", `
		SELECT v.ref, v.form FROM {keys text} {join verdicts v: v.workspace_id = $1 AND v.ref = k.k1}`)
	settledVerdicts = tenant("settled_verdicts", `
		SELECT form, case_form FROM settled WHERE workspace_id = $1 AND ref = $2 ORDER BY revision`)

	keepVerdict = tenant("keep_verdict", `
		INSERT INTO verdicts (workspace_id, ref, form, covered) {rows text bytea bytea}
		ON CONFLICT (workspace_id, ref) DO UPDATE SET form = excluded.form, covered = excluded.covered`)
	addSettled = tenant("add_settled", `
		INSERT INTO settled (workspace_id, ref, revision, form, case_form) {rows text bigint bytea bytea}`)
	// A standing that did not change is not written, so that the indexes of lists
	// are only touched when a list changes.
	keepStanding = tenant("keep_standing", `
		INSERT INTO standings (workspace_id, ref, contract_id, start_at, badge, outcome, conformance, status, settles_at)
		SELECT $1, k.k1, a.contract_id, a.start_at, k.k2, k.k3, k.k4, k.k5, k.k6
		FROM {keys text text text text text bigint} {join actions a: a.workspace_id = $1 AND a.ref = k.k1}
		WHERE true
		ON CONFLICT (workspace_id, ref) DO UPDATE SET badge = excluded.badge, outcome = excluded.outcome,
			conformance = excluded.conformance, status = excluded.status, settles_at = excluded.settles_at
		WHERE (standings.badge <> excluded.badge OR standings.outcome <> excluded.outcome OR standings.conformance <> excluded.conformance
			OR standings.status <> excluded.status OR standings.settles_at <> excluded.settles_at)`)

	// Of an action that is new there is nothing to be replaced: PostgreSQL inserts such a
	// row in one step, where one that may be there already takes two.
	addVerdict = tenant("add_verdict", `
		INSERT INTO verdicts (workspace_id, ref, form, covered) {rows text bytea bytea}`)
	addStanding = tenant("add_standing", `
		INSERT INTO standings (workspace_id, ref, contract_id, start_at, badge, outcome, conformance, status, settles_at)
		{rows text text bigint text text text text bigint}`)
	addFirstWait = tenant("add_first_wait", `
		INSERT INTO waits (workspace_id, ref, source, fact_type, until_at) {rows text text text bigint}`)

	dropWaits = tenant("drop_waits", `
		DELETE FROM waits WHERE workspace_id = $1 AND ref {in $2 text}
		AND NOT (ref || ' ' || source || ' ' || fact_type || ' ' || until_at) {in $3 text}`)
	addWait = tenant("add_wait", `
		INSERT INTO waits (workspace_id, ref, source, fact_type, until_at) {rows text text text bigint} ON CONFLICT DO NOTHING`)
)

// late is what a unit writes once, however often it is said: the last verdict of
// an action, and sums.
type late struct {
	added    map[store.Ref]listing // actions that are new
	verdicts map[store.Ref]*latest
	sums     map[sumKey]*sum
	tallies  map[string]*tally
	kinds    map[factKind]bool
	wakes    map[wakeGroup][]string // external ids
}

// listing is what lists find an action by.
type listing struct {
	contractID string
	start      value.Instant
}

// latest is the latest verdict of an action.
type latest struct {
	form, sources []byte
	standing      []any
	waits         []verdict.Wait
}

// add notes that an action is new, and has nothing yet that would be replaced.
func (l *late) add(ref store.Ref, at listing) {
	if l.added == nil {
		l.added = map[store.Ref]listing{}
	}
	l.added[ref] = at
}

// write queues what is late.
func (l *late) write(u *unit) {
	l.writeVerdicts(u)
	l.writeSums(u)
	l.writeTallies(u)
	l.writeKinds(u)
	l.writeWakes(u)
}

// Current implements [store.Verdicts].
func (u *unit) Current(refs []store.Ref) (map[store.Ref]*verdict.Verdict, error) {
	found := map[store.Ref]*verdict.Verdict{}
	q := &query{statement: currentVerdicts, row: func(r Row) (err error) {
		ref := store.Ref(r.Text())
		found[ref], err = readVerdict(r.Bytes())
		return err
	}}
	for _, ref := range refs {
		q.keys = append(q.keys, []any{ref})
	}
	if err := u.ask(q); err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	return found, nil
}

// Settled implements [store.Verdicts].
func (u *unit) Settled(ref store.Ref) ([]store.Settled, error) {
	var all []store.Settled
	err := u.ask(&query{statement: settledVerdicts, args: []any{ref}, row: func(r Row) error {
		v, err := readVerdict(r.Bytes())
		all = append(all, store.Settled{Ref: ref, Verdict: *v, Case: r.Bytes()})
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read the settled verdicts of the action %s: %w", ref, err)
	}
	return all, nil
}

// KeepVerdict implements [store.Verdicts].
func (u *unit) KeepVerdict(ref store.Ref, v *verdict.Verdict, c *verdict.Case, waits []verdict.Wait) {
	before := 0
	if c.Previous != nil {
		before = c.Previous.Revision
	}
	if v.Revision > 0 && v.Revision == before {
		// It confirms the settled one, which stays in its place; what the action waits
		// for may be less.
		u.KeepWaits(ref, waits)
		return
	}
	sources, err := form(docket.Covered(c))
	if err != nil {
		u.fail(fmt.Errorf("write the sources of the verdict on %s: %w", ref, err))
		return
	}
	text := v.AppendJSON(nil)
	if v.Revision > 0 {
		u.queueRows(addSettled, []any{ref, v.Revision, text, c.AppendJSON(nil)})
	}
	if u.late.verdicts == nil {
		u.late.verdicts = map[store.Ref]*latest{}
	}
	u.late.verdicts[ref] = &latest{
		form: text, sources: sources, waits: waits,
		standing: []any{ref, v.Badge, v.Outcome.Result, v.Conformance.Result, v.Status, v.SettlesAt},
	}
}

// KeepWaits implements [store.Verdicts].
func (u *unit) KeepWaits(ref store.Ref, waits []verdict.Wait) {
	if u.late.verdicts == nil {
		u.late.verdicts = map[store.Ref]*latest{}
	}
	if u.late.verdicts[ref] == nil {
		u.late.verdicts[ref] = &latest{}
	}
	u.late.verdicts[ref].waits = waits
}

// writeVerdicts queues the latest verdicts, in the order in which two units would
// not wait for each other.
func (l *late) writeVerdicts(u *unit) {
	var refs, kept []string
	for _, ref := range slices.Sorted(maps.Keys(l.verdicts)) {
		v := l.verdicts[ref]
		if at, isNew := l.added[ref]; isNew && v.form != nil {
			u.queueRows(addVerdict, []any{ref, v.form, v.sources})
			u.queueRows(addStanding, slices.Insert(slices.Clone(v.standing), 1, any(at.contractID), any(at.start)))
			u.addFirstWaits(ref, v.waits)
			delete(l.verdicts, ref)
			continue
		}
		if v.form != nil {
			u.queueRows(keepVerdict, []any{ref, v.form, v.sources})
			u.queueRows(keepStanding, v.standing)
		}
		refs = append(refs, string(ref))
		for _, w := range v.waits {
			source, factType := key(w.Source), key(w.Type)
			kept = append(kept, string(ref)+" "+source+" "+factType+" "+strconv.FormatInt(int64(w.Until), 10))
		}
	}
	if len(refs) > 0 {
		u.queue(dropWaits, refs, append([]string{}, kept...))
	}
	for _, ref := range slices.Sorted(maps.Keys(l.verdicts)) {
		for _, w := range l.verdicts[ref].waits {
			u.queueRows(addWait, []any{ref, key(w.Source), key(w.Type), w.Until})
		}
	}
	l.verdicts, l.added = nil, nil
}

// addFirstWaits queues what a new action waits for, each once.
func (u *unit) addFirstWaits(ref store.Ref, waits []verdict.Wait) {
	type wait struct {
		source, factType string
		until            value.Instant
	}
	queued := make(map[wait]bool, len(waits))
	for _, w := range waits {
		one := wait{key(w.Source), key(w.Type), w.Until}
		if !queued[one] {
			queued[one] = true
			u.queueRows(addFirstWait, []any{ref, one.source, one.factType, one.until})
		}
	}
}
