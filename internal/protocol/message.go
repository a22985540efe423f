package protocol

import (
	"bytes"

	"github.com/deed-dev/deed/internal/wire"
)

// Kind says what a message is.
type Kind uint8

// The kinds of message. Every byte of a stream belongs to exactly one
// message, or to a gap.
const (
	Noise        Kind = iota // no JSON-RPC message, or a broken one; what could be read of it is there all the same
	Request                  // has a method and an id, which may be null
	Notification             // has a method and no id
	Response                 // has a result or an error and no method; only an error may lack the id
)

// Message is one JSON-RPC message, or one line that is none. It holds the
// envelope only; a message of a gigabyte takes no more memory than a small one.
// One that a [Reader] emits is valid until emit returns.
type Message struct {
	From  wire.Direction
	Kind  Kind
	Began int64 // when its first byte crossed, µs since 1970
	At    int64 // when its last byte crossed, µs since 1970

	Bytes   int64    // wire bytes, with the line end
	Framing int64    // wire bytes of the line around it (a batch's brackets, commas and line end)
	Salt    [32]byte // random
	Wire    [32]byte // SHA-256 over Salt and then the exact bytes

	ID     Token // id, as it was written
	Method Token
	// Members of params.
	Name          Token // params.name, whatever its type
	URI           Token // params.uri
	RequestID     Token // params.requestId (a cancellation names its call)
	ProgressToken Token // params.progressToken (of a progress notification)
	MetaProgress  Token // params._meta.progressToken (a request asks for progress)
	Level         Token // params.level of a log message or of a request for them

	// Who speaks, and in which version. A client names itself in params, in
	// params.clientInfo or in _meta; a server in result, likewise.
	ProtocolVersion   Token // params. or result.protocolVersion, or named in _meta
	SupportedVersions Token // result.supportedVersions, the whole list
	PeerName          Token // clientInfo. or serverInfo.name
	PeerVersion       Token // likewise
	PeerInMeta        bool  // and both stood in _meta, where they cannot be a value of somebody's

	// What it belongs to besides its id.
	RequestState   Token // params. or result.requestState
	TaskID         Token // of the task that it is about: params.taskId, result.taskId or result.task.taskId
	TaskStatus     Token // of that task
	RelatedTask    Token // named in _meta
	SubscriptionID Token // named in _meta: the id of the request that opened the subscription

	ResultType   Token // result.resultType
	ErrorCode    Token // error.code
	ErrorMessage Token // error.message

	HasResult   bool // result is there, if only as null
	HasError    bool // error is there and not null
	IsError     bool // result.isError is the literal true
	HasInput    bool // params.inputResponses is there and not null
	MakesTask   bool // the result is the handle of a new task
	TaskIsError bool // isError of the result that the state of a task holds is the literal true

	// Digests tell whether two messages that this process read say the same.
	// They have a random key and mean nothing to others. They are zero when
	// the member was absent.
	ArgumentsDigest uint64 // params.arguments, as it was written
	StateDigest     uint64 // RequestState, however it was escaped

	Subject Span // the member whose shape is worth keeping: params.arguments, else params; of a response result, else error
	Spans   Spans
	Head    []byte // the first bytes of the message, at most HeadLimit
	Flags   Flags
	Batch   int // place in a batch, from 1; 0 when it is in none
}

// HeadLimit is how much of a message is kept for its shape.
const HeadLimit = 64 << 10

// Token is one JSON value as it was written, cut at TokenLimit.
type Token struct {
	Raw  []byte   // at most TokenLimit bytes of it; nil when it was absent
	Size int64    // bytes on the wire
	Sum  [32]byte // SHA-256 of all its bytes, set when Size is above TokenLimit
}

// TokenLimit is how many bytes of a token are kept.
const TokenLimit = 1 << 10

// Span is a piece of a message, in bytes from its beginning. The zero Span is
// nowhere.
type Span struct{ Start, End int64 }

// Spans say where in a message the values of some members are, for a recorder
// that cuts them out of a body that it kept. The ones that were absent, or not
// read to their end, are zero.
type Spans struct {
	Params, Arguments, InputResponses Span // params, and what is in it
	Result, Content, Structured       Span // result, result.content, result.structuredContent
	InputRequests                     Span // result.inputRequests
	Error, ErrorMessage               Span // error, error.message
}

// Flags say what was odd about a message. They never keep it from being
// recorded.
type Flags uint32

// What can be odd.
const (
	Blank         Flags = 1 << iota // white space only
	NotJSON                         // does not begin like a JSON-RPC message
	Malformed                       // begins like one and breaks off or goes wrong
	InvalidUTF8                     // has bytes that are not UTF-8
	BOM                             // begins with a byte order mark
	Unterminated                    // the stream ended before its line did
	DuplicateKeys                   // a member that was read stands there twice
	Trailing                        // something follows the value on its line
	InBatch                         // is an element of a batch
	Cut                             // part of it fell into a gap
)

// Clone returns a copy of m that shares no memory with it.
func (m *Message) Clone() *Message {
	c := *m
	c.Head = bytes.Clone(m.Head)
	for _, t := range c.tokens() {
		*t = t.Clone()
	}
	return &c
}

// tokens returns all tokens of m.
func (m *Message) tokens() []*Token {
	return []*Token{
		&m.ID, &m.Method, &m.Name, &m.URI, &m.RequestID, &m.ProgressToken, &m.MetaProgress, &m.Level,
		&m.ProtocolVersion, &m.SupportedVersions, &m.PeerName, &m.PeerVersion,
		&m.RequestState, &m.TaskID, &m.TaskStatus, &m.RelatedTask, &m.SubscriptionID,
		&m.ResultType, &m.ErrorCode, &m.ErrorMessage,
	}
}

// Clone returns a copy of t that shares no memory with it.
func (t Token) Clone() Token {
	t.Raw = bytes.Clone(t.Raw)
	return t
}
