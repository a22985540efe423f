package journal

import "cmp"

// hourUS is the length of a roll-up's hour, in µs.
const hourUS = 3_600_000_000

// extremesKept is how many of the biggest and of the slowest calls a roll-up
// remembers by their entry number.
const extremesKept = 10

// rollupKey says which calls a roll-up adds up: those that one side of one
// session asked for in one hour, by method and tool. What is not known is
// empty, as are names that were erased. Each call is added up twice, for its
// session and for all of them: there may be thousands of sessions, and a
// question about everything should not read all their roll-ups.
type rollupKey struct {
	session            int64 // row of sessions; everySession for all together
	side, method, tool string
	hour               int64 // of the request, in whole hours since 1970
}

// rollup adds up calls. Only the first answer to a request counts. All of it
// is the same in whatever order the calls are added, so that verify can derive
// it from the entries alone.
type rollup struct {
	calls      int64 // requests
	sent       int64 // wire bytes of them
	answered   int64
	ok         int64 // answers by outcome
	errors     int64
	toolErrors int64
	returned   int64 // wire bytes of all answers
	returnedOK int64 // and of those with outcome ok
	took       int64 // µs, where known
	longest    int64 // µs
	first      int64 // lowest entry number of a request
	last       int64 // highest entry number of a request

	biggest, slowest       ranking // among answers with outcome ok
	biggestBad, slowestBad ranking // among all others
	sizes, times           histogram

	failures map[failureKey]*failureCount
	changed  bool // since it was saved
}

// failureKey tells failed calls of one roll-up apart.
type failureKey struct {
	outcome Outcome
	code    string // the raw error code
}

type failureCount struct {
	failureSum
	saved failureSum // as the database has it
}

type failureSum struct {
	count int64
	last  int64 // highest entry number of a request
}

// everySession is no row of sessions with calls.
const everySession = 0

// shared is the key of the same calls in all sessions.
func (k rollupKey) shared() rollupKey {
	k.session = everySession
	return k
}

// openCall is a request without an answer.
type openCall struct {
	n   int64
	key rollupKey
}

// answer is what a roll-up needs to know of a first answer.
type answer struct {
	bytes   int64
	took    int64 // µs; -1 where unknown
	outcome Outcome
	code    string
}

func (r *rollup) ask(n, bytes int64) {
	if r.calls == 0 {
		r.first, r.last = n, n
	}
	r.first, r.last = min(r.first, n), max(r.last, n)
	r.calls++
	r.sent += bytes
}

// answer adds the first answer to request n.
func (r *rollup) answer(n int64, a answer) {
	r.answered++
	r.returned += a.bytes
	r.sizes.add(a.bytes, 1)
	biggest, slowest := &r.biggestBad, &r.slowestBad
	switch a.outcome {
	case OutcomeOK:
		r.ok++
		r.returnedOK += a.bytes
		biggest, slowest = &r.biggest, &r.slowest
	case OutcomeError:
		r.errors++
		r.fail(failureKey{a.outcome, a.code}, 1, n)
	case OutcomeToolError:
		r.toolErrors++
		r.fail(failureKey{a.outcome, a.code}, 1, n)
	}
	biggest.add(ranked{n, a.bytes})
	if a.took >= 0 {
		r.took += a.took
		r.longest = max(r.longest, a.took)
		r.times.add(a.took, 1)
		slowest.add(ranked{n, a.took})
	}
}

func (r *rollup) fail(key failureKey, count, last int64) {
	f := r.failures[key]
	if f == nil {
		if r.failures == nil {
			r.failures = make(map[failureKey]*failureCount)
		}
		f = &failureCount{failureSum: failureSum{last: last}}
		r.failures[key] = f
	}
	f.count += count
	f.last = max(f.last, last)
}

// merge adds what another roll-up has added up.
func (r *rollup) merge(o *rollup) {
	switch {
	case o.calls == 0:
	case r.calls == 0:
		r.first, r.last = o.first, o.last
	default:
		r.first, r.last = min(r.first, o.first), max(r.last, o.last)
	}
	r.calls += o.calls
	r.sent += o.sent
	r.answered += o.answered
	r.ok += o.ok
	r.errors += o.errors
	r.toolErrors += o.toolErrors
	r.returned += o.returned
	r.returnedOK += o.returnedOK
	r.took += o.took
	r.longest = max(r.longest, o.longest)
	r.biggest.merge(o.biggest)
	r.slowest.merge(o.slowest)
	r.biggestBad.merge(o.biggestBad)
	r.slowestBad.merge(o.slowestBad)
	r.sizes.merge(o.sizes)
	r.times.merge(o.times)
	for key, f := range o.failures {
		r.fail(key, f.count, f.last)
	}
}

// ranked is a call and what it is ranked by.
type ranked struct{ n, value int64 }

// before puts the highest value first, and of equal ones the oldest call.
func (a ranked) before(b ranked) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.n, b.n))
}

// ranking is the first few calls by some value, the highest first.
type ranking []ranked

func (r *ranking) add(one ranked) {
	at := len(*r)
	for at > 0 && one.before((*r)[at-1]) < 0 {
		at--
	}
	if at == extremesKept {
		return
	}
	if len(*r) < extremesKept {
		*r = append(*r, ranked{})
	}
	copy((*r)[at+1:], (*r)[at:])
	(*r)[at] = one
}

// first is the highest of a ranking, of no call and -1 where there is none.
func (r ranking) first() ranked {
	if len(r) == 0 {
		return ranked{n: -1, value: -1}
	}
	return r[0]
}

func (r *ranking) merge(o ranking) {
	for _, one := range o {
		r.add(one)
	}
}

// callKey is the place of a request.
type callKey struct{ session, seq int64 }

// tally makes roll-ups of entries that it is given in the order of the log.
// What it does not know, because it was told of it before it was emptied, it
// asks find and load for. Without these it must be told everything.
type tally struct {
	rows map[rollupKey]*rollup
	open map[callKey]openCall

	find func(callKey) (openCall, bool, error)
	load func(rollupKey) (*rollup, error)

	// What is to be written: roll-ups that changed, requests that are open,
	// and the entry numbers of requests that were written as open and are not.
	changed         []rollupKey
	asked, answered map[callKey]int64
}

func newTally() *tally {
	return &tally{rows: make(map[rollupKey]*rollup), open: make(map[callKey]openCall), asked: make(map[callKey]int64), answered: make(map[callKey]int64)}
}

// add is told of entry n in a row of sessions. Only requests and their first
// answers count; a request that names a call continues that call and is none
// of its own.
func (t *tally) add(n, session int64, c *columns) error {
	switch {
	case c.kind == string(KindRequest) && c.call == nil:
		open := openCall{n: n, key: c.rollupKey(session)}
		if err := t.change(open.key, func(r *rollup) { r.ask(n, *c.bytes) }); err != nil {
			return err
		}
		place := callKey{session, c.seq}
		t.open[place], t.asked[place] = open, n
	case c.kind == string(KindResponse) && c.call != nil:
		return t.answer(callKey{session, *c.call}, c.answer())
	}
	return nil
}

func (t *tally) answer(place callKey, a answer) error {
	if _, before := t.answered[place]; before {
		return nil // which the tables do not say yet
	}
	open, found := t.open[place]
	if !found && t.find != nil {
		var err error
		if open, found, err = t.find(place); err != nil {
			return err
		}
	}
	if !found {
		return nil // answered before
	}
	if err := t.change(open.key, func(r *rollup) { r.answer(open.n, a) }); err != nil {
		return err
	}
	delete(t.open, place)
	if _, fresh := t.asked[place]; fresh {
		delete(t.asked, place)
	} else {
		t.answered[place] = open.n
	}
	return nil
}

// change changes both roll-ups of a call.
func (t *tally) change(key rollupKey, change func(*rollup)) error {
	for _, key := range [...]rollupKey{key, key.shared()} {
		row, err := t.row(key)
		if err != nil {
			return err
		}
		change(row)
	}
	return nil
}

// row returns a roll-up that is about to change.
func (t *tally) row(key rollupKey) (*rollup, error) {
	row := t.rows[key]
	if row == nil {
		row = &rollup{}
		if t.load != nil {
			var err error
			if row, err = t.load(key); err != nil {
				return nil, err
			}
		}
		t.rows[key] = row
	}
	if !row.changed {
		row.changed = true
		t.changed = append(t.changed, key)
	}
	return row, nil
}

// written forgets what was to be written.
func (t *tally) written() {
	clear(t.asked)
	clear(t.answered)
	t.changed = t.changed[:0]
}

// emptyShared forgets what other writers change as well.
func (t *tally) emptyShared() {
	for key := range t.rows {
		if key.session == everySession {
			delete(t.rows, key)
		}
	}
}

// empty forgets everything.
func (t *tally) empty() {
	clear(t.rows)
	clear(t.open)
	t.written()
}

// rollupKey is where a request is counted.
func (c *columns) rollupKey(session int64) rollupKey {
	return rollupKey{session: session, side: orEmpty(c.side), method: orEmpty(c.method), tool: orEmpty(c.tool), hour: c.at / hourUS}
}

func (c *columns) answer() answer {
	a := answer{bytes: *c.bytes, took: -1, outcome: Outcome(orEmpty(c.outcome)), code: orEmpty(c.err)}
	if c.took != nil {
		a.took = *c.took
	}
	return a
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
