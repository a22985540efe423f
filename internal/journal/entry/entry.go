package entry

// Kind says what an entry records.
type Kind string

// The kinds of entry that this version writes. Epoch is a reserved word of the
// format.
const (
	KindSession      Kind = "session"      // a recording begins
	KindRequest      Kind = "request"      // either side asked something
	KindRound        Kind = "round"        // an interim round of one call
	KindResponse     Kind = "response"     // either side answered
	KindNotification Kind = "notification" // either side told something
	KindTools        Kind = "tools"        // a server's tool list
	KindNoise        Kind = "noise"        // a line that is no message
	KindStderr       Kind = "stderr"       // what the server wrote to stderr
	KindGap          Kind = "gap"          // bytes that crossed the wire unseen
	KindIntent       Kind = "intent"       // an action is to be declared, or how that went
	KindErasure      Kind = "erasure"      // details or bodies were erased
	KindEpoch        Kind = "epoch"        // a new origin begins
	KindEnd          Kind = "end"          // a recording ends
)

// Entry is one leaf of the journal's log. It holds nothing personal: kinds,
// sequence, sizes, times, counts and hashes. What was read from the wire is
// in its [Detail]. Times are µs since 1970 UTC, sizes are wire bytes.
type Entry struct {
	Kind    Kind
	Session string // 32 hex digits
	Seq     int64  // position in the session, from 0, without holes
	At      int64  // when the last byte was seen
	Began   int64  // when the first byte was seen; 0 when that was At

	From    string // "client" or "server": who sent it; empty where nobody did
	Bytes   int64  // wire bytes of the message, with its line end
	Framing int64  // wire bytes around it that belong to no message (a batch's brackets)
	Wire    Hash   // SHA-256 over a salt and the exact bytes; zero where there are none

	Call    int64    // Seq of the request that this one belongs to; -1 for none
	Took    int64    // µs from the request to its response; -1 where unknown
	Outcome Outcome  // of a response
	Flags   []string // what was odd, sorted, from the fixed list in the format

	Capture  string // of a session: the capture level
	Reason   string // of a gap, an intent or an end: a word from the fixed list
	Messages int64  // of a gap: line ends among the unseen bytes; of stderr: lines; of noise: lines, when more than one
	ExitCode int64  // of an end: the server's exit code; -1 where there is none
	Open     int64  // of an end: calls that never got an answer
	// Of an end: all bytes that crossed, so that coverage can be checked.
	ClientBytes, ServerBytes, Undelivered int64

	// Of an intent that says how another one went: the Seq of that in the same
	// session, or its number in the log where this one is in [OwnSession].
	Intent int64

	Definitions Hash // of a tool list: SHA-256 over the hashes of its definitions, in their order

	Body    Hash  // SHA-256 over a salt and the bytes that were kept of the message; zero without a body
	Kept    int64 // how many bytes that are
	Omitted int64 // bytes that were left out between head and tail
	Head    int64 // how many kept bytes come before those left out; 0 where none were

	// Of an erasure: how far it went, what it took, and a hash over the sorted
	// list of the entries that it took something from.
	Scope, What        string
	Count, First, Last int64
	Erased             Hash
}

// The scopes of an erasure, and what it took.
const (
	ScopeCall      = "call"      // all entries of one call
	ScopeSession   = "session"   // all entries of one session
	ScopeBefore    = "before"    // all entries before a time
	ScopeAll       = "all"       // all entries
	ScopeRetention = "retention" // bodies that were too old, or too many

	ErasedBodies = "bodies"
	ErasedAll    = "all" // details and bodies
)

// OwnSession is the session of what the journal records of itself: erasures,
// and what became of intents later. It has no beginning and no end.
const OwnSession = "00000000000000000000000000000000"

// Outcome says how a call ended.
type Outcome string

// The outcomes of a response.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeError     Outcome = "error"      // a JSON-RPC error
	OutcomeToolError Outcome = "tool_error" // a result with isError
)

// Detail is what was read from the wire. It is stored beside the log, bound
// to its entry by a salted hash, and can be erased. A nil field was absent.
type Detail struct {
	ID     *Text   `json:"id,omitempty"`     // the raw token: 7, "7" and 7.0 differ
	Method *Text   `json:"method,omitempty"` // of the request, on a response too
	Tool   *Text   `json:"tool,omitempty"`   // params.name of the request, on a response too
	Error  *Text   `json:"error,omitempty"`  // error.code, raw
	Target *Text   `json:"target,omitempty"` // params.uri, params.requestId or params.progressToken
	Peer   *Peer   `json:"peer,omitempty"`   // who said so, from initialize
	Shape  []Field `json:"shape,omitempty"`  // of arguments, params or result

	// What was said, with its secrets taken out before it came here.
	Args         *Text            `json:"args,omitempty"`         // arguments or params as they were written, up to 8 KiB
	Preview      *Text            `json:"preview,omitempty"`      // beginning of a result
	ErrorText    *Text            `json:"error_text,omitempty"`   // why a call failed, up to 1 KiB
	Destinations *Destinations    `json:"destinations,omitempty"` // where the arguments send data
	Redacted     map[string]int64 `json:"redacted,omitempty"`     // placeholders in all of this and in the body, by reason
	Command      []string         `json:"command,omitempty"`      // of a session: what was started
	Tools        []ToolRef        `json:"tools,omitempty"`        // of a tool list, in its order

	Label     string `json:"label,omitempty"`     // of a session
	Program   string `json:"program,omitempty"`   // of a session: base name of what was started
	Transport string `json:"transport,omitempty"` // of a session: "stdio"
	Version   string `json:"version,omitempty"`   // of a session: which deed wrote it
	Signal    string `json:"signal,omitempty"`    // of an end
	Note      string `json:"note,omitempty"`      // of a gap: what failed

	Declaration *Declaration `json:"declaration,omitempty"` // of an intent
}

// Peer is how one side names itself.
type Peer struct {
	Name     *Text `json:"name,omitempty"`
	Version  *Text `json:"version,omitempty"`
	Protocol *Text `json:"protocol,omitempty"`
}

// Field is the shape of one member: its name, its type and its size on the
// wire, without its value.
type Field struct {
	Name  string `json:"name"`            // dotted path; [] stands for an array's elements
	Type  string `json:"type"`            // string, number, boolean, null, object, array
	Bytes int64  `json:"bytes"`           // of the raw token
	Count int64  `json:"count,omitempty"` // elements of an array, members of an object
}

// Destinations are where the arguments of a call send data. Each list is
// sorted and has each value once.
type Destinations struct {
	Hosts   []string         `json:"hosts,omitempty"`
	Emails  []string         `json:"emails,omitempty"`
	IPs     []string         `json:"ips,omitempty"`
	Content map[string]int64 `json:"content,omitempty"` // different values of each kind that stand elsewhere in the arguments
	Cut     bool             `json:"cut,omitempty"`     // there was more
}

// ToolRef is one tool of a tool list.
type ToolRef struct {
	Name   *Text `json:"name,omitempty"`
	SHA256 Hash  `json:"sha256"`         // of its canonical definition, without a salt
	Bytes  int64 `json:"bytes"`          // as it was written
	Kept   bool  `json:"kept,omitempty"` // the definition itself was kept too
}

// Text is something a peer wrote. As JSON it is a string when it is whole,
// and {"bytes","head","sha256"} when it was longer than 8 KiB or not UTF-8.
type Text struct {
	Whole  string // the text, when it is whole
	Cut    bool   // it was not kept whole
	Bytes  int64  // size on the wire, when cut
	Head   string // its beginning, with invalid bytes escaped, when cut
	SHA256 Hash   // of the raw bytes, when cut
}

// Hash is a SHA-256 value.
type Hash [32]byte
