package rollup

import "github.com/deed-dev/deed/internal/journal/entry"

// HourUS is the length of a roll-up's hour, in µs.
const HourUS = 3_600_000_000

// ExtremesKept is how many of the biggest and of the slowest calls a roll-up
// remembers by their entry number.
const ExtremesKept = 10

// Key says which calls a roll-up adds up: those that one side of one
// session asked for in one hour, by method and tool. What is not known is
// empty, as are names that were erased. Each call is added up twice, for its
// session and for all of them: there may be thousands of sessions, and a
// question about everything should not read all their roll-ups.
type Key struct {
	Session            int64 // row of sessions; EverySession for all together
	Side, Method, Tool string
	Hour               int64 // of the request, in whole hours since 1970
}

// Rollup adds up calls. Only the first answer to a request counts. All of it
// is the same in whatever order the calls are added, so that verify can derive
// it from the entries alone.
type Rollup struct {
	Calls      int64 // requests
	Sent       int64 // wire bytes of them
	Answered   int64
	OK         int64 // answers by outcome
	Errors     int64
	ToolErrors int64
	Returned   int64 // wire bytes of all answers
	ReturnedOK int64 // and of those with outcome ok
	Took       int64 // µs, where known
	Longest    int64 // µs
	First      int64 // lowest entry number of a request
	Last       int64 // highest entry number of a request

	Biggest, Slowest       Ranking // among answers with outcome ok
	BiggestBad, SlowestBad Ranking // among all others
	Sizes, Times           Histogram

	Failures map[FailureKey]*FailureCount
	Changed  bool // since it was saved
}

// FailureKey tells failed calls of one roll-up apart.
type FailureKey struct {
	Outcome entry.Outcome
	Code    string // the raw error code
}

// FailureCount is how often calls failed in one way.
type FailureCount struct {
	FailureSum
	Saved FailureSum // as the database has it
}

// FailureSum is what is stored of that.
type FailureSum struct {
	Count int64
	Last  int64 // highest entry number of a request
}

// EverySession is no row of sessions with calls.
const EverySession = 0

// Shared is the key of the same calls in all sessions.
func (k Key) Shared() Key {
	k.Session = EverySession
	return k
}

// IsTool says whether the calls are the client's to tools.
func (k *Key) IsTool() bool { return k.Side == "client" && k.Method == "tools/call" }

// OpenCall is a request without an answer.
type OpenCall struct {
	N   int64
	Key Key
}

// Answer is what a roll-up needs to know of a first answer.
type Answer struct {
	Bytes   int64
	Took    int64 // µs; -1 where unknown
	Outcome entry.Outcome
	Code    string
}

// Ask adds request n.
func (r *Rollup) Ask(n, bytes int64) {
	if r.Calls == 0 {
		r.First, r.Last = n, n
	}
	r.First, r.Last = min(r.First, n), max(r.Last, n)
	r.Calls++
	r.Sent += bytes
}

// Answer adds the first answer to request n.
func (r *Rollup) Answer(n int64, a Answer) {
	r.Answered++
	r.Returned += a.Bytes
	r.Sizes.Add(a.Bytes, 1)
	biggest, slowest := &r.BiggestBad, &r.SlowestBad
	switch a.Outcome {
	case entry.OutcomeOK:
		r.OK++
		r.ReturnedOK += a.Bytes
		biggest, slowest = &r.Biggest, &r.Slowest
	case entry.OutcomeError:
		r.Errors++
		r.Fail(FailureKey{a.Outcome, a.Code}, 1, n)
	case entry.OutcomeToolError:
		r.ToolErrors++
		r.Fail(FailureKey{a.Outcome, a.Code}, 1, n)
	}
	biggest.Add(Ranked{n, a.Bytes})
	if a.Took >= 0 {
		r.Took += a.Took
		r.Longest = max(r.Longest, a.Took)
		r.Times.Add(a.Took, 1)
		slowest.Add(Ranked{n, a.Took})
	}
}

// Fail adds calls that failed, the newest of them with the request last.
func (r *Rollup) Fail(key FailureKey, count, last int64) {
	f := r.Failures[key]
	if f == nil {
		if r.Failures == nil {
			r.Failures = make(map[FailureKey]*FailureCount)
		}
		f = &FailureCount{FailureSum: FailureSum{Last: last}}
		r.Failures[key] = f
	}
	f.Count += count
	f.Last = max(f.Last, last)
}

// Merge adds what another roll-up has added up.
func (r *Rollup) Merge(o *Rollup) {
	switch {
	case o.Calls == 0:
	case r.Calls == 0:
		r.First, r.Last = o.First, o.Last
	default:
		r.First, r.Last = min(r.First, o.First), max(r.Last, o.Last)
	}
	r.Calls += o.Calls
	r.Sent += o.Sent
	r.Answered += o.Answered
	r.OK += o.OK
	r.Errors += o.Errors
	r.ToolErrors += o.ToolErrors
	r.Returned += o.Returned
	r.ReturnedOK += o.ReturnedOK
	r.Took += o.Took
	r.Longest = max(r.Longest, o.Longest)
	r.Biggest.Merge(o.Biggest)
	r.Slowest.Merge(o.Slowest)
	r.BiggestBad.Merge(o.BiggestBad)
	r.SlowestBad.Merge(o.SlowestBad)
	r.Sizes.Merge(o.Sizes)
	r.Times.Merge(o.Times)
	for key, f := range o.Failures {
		r.Fail(key, f.Count, f.Last)
	}
}
