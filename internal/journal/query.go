package journal

import (
	"context"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Run is one session as the answers show it.
type Run struct {
	ID        string // 32 hex digits
	Label     string
	Program   string
	Transport string
	Version   string // of the deed that recorded it
	Capture   string
	Started   int64        // µs since 1970
	Last      int64        // time of its last entry, µs since 1970
	End       *entry.Entry // nil while no end is recorded
	Erased    bool         // its session detail was erased
	Shared    int          // how many first digits of ID another session's begins with too
}

// RunFilter narrows a list of runs. Zero fields narrow nothing.
type RunFilter struct {
	Prefix string // of the session id
	Since  int64  // only runs with an entry at or after this time, µs since 1970
	Limit  int
}

// Call is a request with its answer, if it has one.
type Call struct {
	Session  string
	Label    string
	Seq      int64 // of the request
	From     string
	At       int64 // of the request, µs since 1970
	Method   string
	Tool     string
	Sent     int64 // wire bytes of the request
	Answered bool
	AnswerAt int64
	Took     int64 // µs; -1 where unknown
	Returned int64 // wire bytes of the response
	Outcome  entry.Outcome
	Error    string // the raw error code, if any
	Flags    []string
	Ended    bool // the session has ended, so that an open call stays unanswered
	// Cancelled says that whoever asked took the request back, and that there
	// is no answer. It is not known once the cancellation was erased.
	Cancelled bool
	Erased    bool // its names were erased
}

// Order says which calls come first.
type Order int

// The orders.
const (
	Oldest Order = iota
	Newest
	Biggest // by Returned
	Slowest // by Took
)

// CallFilter narrows a list of calls. Zero fields narrow nothing.
type CallFilter struct {
	Session   string // a whole id
	Since     int64  // µs since 1970
	ToolsOnly bool   // only the client's tools/call
	Failed    bool   // only those that failed or, in an ended session, were never answered
	Succeeded bool   // only those with outcome ok
	// Unanswered asks for those without an answer, in ended sessions or not;
	// together with Failed, for both.
	Unanswered bool
	Order      Order
	Limit      int
}

// Totals are the figures of one run, or of everything since a time.
type Totals struct {
	Calls      int64 // the client's tools/call requests
	Failed     int64 // answered with an error or a tool error
	Unanswered int64 // never answered, in an ended session
	Open       int64 // not answered yet
	Returned   int64 // wire bytes of the answers to tool calls
	Took       int64 // µs in tools
	Others     []MethodCount
	Noise      int64 // lines that were no message
	Gaps       []Gap
	Stderr     int64 // bytes
	Intents    IntentTotals
}

// IntentTotals count the actions of one run, or of everything since a time.
type IntentTotals struct {
	Begun         int64 // calls whose action was to be declared
	Declared      int64 // the server had it before the call went on
	Failed        int64 // the call went on and the server had not taken it
	Refused       int64 // the call was kept from the server
	Undeclarable  int64 // mapped calls that cannot be declared
	Waiting       int64 // still in the outbox
	Undeliverable int64 // in the outbox, and not sent any more
}

// Undeclared is mapped calls of one tool that cannot be declared, for one
// reason.
type Undeclared struct {
	Tool, Why, Path string
	Refused         bool // and they were kept from the server
	Count           int64
	Last            int64  // Seq of the newest one's request; -1 where it is not known
	Session         string // in which that is
}

// MethodCount counts requests of one method, both directions, tool calls left out.
type MethodCount struct {
	From, Method string
	Count        int64
}

// Gap is a stretch of the wire that was not seen.
type Gap struct {
	Session  string
	At       int64
	From     string
	Reason   string
	Bytes    int64
	Messages int64
}

// Record is one entry with its detail, as `show` and `export` print it.
type Record struct {
	N      int64 // position in the log
	Entry  entry.Entry
	Detail *entry.Detail // nil when it was erased or there is none
	Erased bool
	Leaf   []byte // the exact leaf
}

// History answers questions about a journal. Reader implements it.
type History interface {
	// Runs lists sessions, newest first.
	Runs(ctx context.Context, f RunFilter) ([]Run, error)
	// Calls lists calls in the order asked for.
	Calls(ctx context.Context, f CallFilter) ([]Call, error)
	// Totals adds up one session, or everything since a time (session empty).
	Totals(ctx context.Context, session string, since int64) (Totals, error)
	// Gaps lists what was not seen, of one session or of everything since a
	// time (session empty), oldest first.
	Gaps(ctx context.Context, session string, since int64) ([]Gap, error)
	// Call returns every record that belongs to one request: itself, its
	// progress, cancellation and answers, in order. ErrNotFound if there is none.
	Call(ctx context.Context, session string, seq int64) ([]Record, error)
}
