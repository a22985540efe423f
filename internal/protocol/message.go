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
	Name            Token // params.name, whatever its type
	URI             Token // params.uri
	RequestID       Token // params.requestId (a cancellation names its call)
	ProgressToken   Token // params.progressToken (of a progress notification)
	MetaProgress    Token // params._meta.progressToken (a request asks for progress)
	ProtocolVersion Token // params. or result.protocolVersion, or named in params._meta
	PeerName        Token // params.clientInfo. or result.serverInfo.name, or of the same in _meta
	PeerVersion     Token // likewise
	ResultType      Token // result.resultType
	ErrorCode       Token // error.code

	HasResult bool // result is there, if only as null
	HasError  bool // error is there and not null
	IsError   bool // result.isError is the literal true

	Subject Span   // the member whose shape is worth keeping: params.arguments, else params; of a response result, else error
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

// Span is a piece of a message, in bytes from its beginning.
type Span struct{ Start, End int64 }

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
	for _, t := range []*Token{
		&c.ID, &c.Method, &c.Name, &c.URI, &c.RequestID, &c.ProgressToken, &c.MetaProgress,
		&c.ProtocolVersion, &c.PeerName, &c.PeerVersion, &c.ResultType, &c.ErrorCode,
	} {
		*t = t.Clone()
	}
	return &c
}

// Clone returns a copy of t that shares no memory with it.
func (t Token) Clone() Token {
	t.Raw = bytes.Clone(t.Raw)
	return t
}
