package intent

import (
	"bytes"
	"sync"

	"github.com/deed-dev/deed/internal/redact/lexer"
)

// Message is a JSON-RPC message, as far as declaring needs it. What is absent
// is empty.
type Message struct {
	ID     []byte // the token of the id
	Method string
	Tool   string // params.name, if that is a text
	Params []byte // of the request, if they are an object

	Answers   bool   // it has a result or an error
	IsError   bool   // result.isError is true
	ErrorCode []byte // the token of error.code
}

// envelope has the places of a message in the order of the constants.
var envelope = sync.OnceValue(func() *plan {
	return newPlan(
		named("id"), named("method"), named("params"), named("params", "name"),
		named("result"), named("result", "isError"), named("error"), named("error", "code"),
	)
})

const (
	placeID = iota
	placeMethod
	placeParams
	placeName
	placeResult
	placeIsError
	placeError
	placeErrorCode
)

func named(names ...string) Path {
	path := Path{Text: QuotePath(names...)}
	for _, name := range names {
		path.Segments = append(path.Segments, Segment{Name: name, Index: none})
	}
	return path
}

// IsCall says that the message asks for a call of a tool.
func (m Message) IsCall() bool { return m.Method == "tools/call" }

// ReadMessage reads one message that is no batch. An error is a
// [*NotDeclarable]: it is no JSON object, or one of these members is in it twice.
func ReadMessage(raw []byte) (Message, error) {
	found, err := envelope().find(raw)
	if err != nil {
		return Message{}, err
	}
	at := func(place int) []byte { return raw[found[place].start:found[place].end] }
	text := func(place int) string {
		if found[place].kind == lexer.String {
			return decode(at(place))
		}
		return ""
	}
	m := Message{
		ID: at(placeID), Method: text(placeMethod), Tool: text(placeName),
		Answers: found[placeResult].found() || found[placeError].found(),
		IsError: string(at(placeIsError)) == "true", ErrorCode: at(placeErrorCode),
	}
	if params := at(placeParams); len(params) > 0 && params[0] == '{' {
		m.Params = params
	}
	return m, nil
}

// Batch cuts a JSON array into its elements. It is not ok if the text is none.
func Batch(raw []byte) (elements [][]byte, ok bool) {
	if raw = bytes.TrimLeft(raw, " \t\r\n"); len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	var s search
	s.data = raw
	s.lexer.Reset(raw)
	s.lexer.Next()
	for {
		t := s.lexer.Next()
		if t.Kind == lexer.Close {
			return elements, s.lexer.Next().Kind == lexer.End
		}
		if !s.skip(t) {
			return nil, false
		}
		elements = append(elements, raw[t.Start:s.lexer.Pos()])
	}
}
