package gate

import (
	"bytes"
	"encoding/json"

	"github.com/deed-dev/deed/internal/wire"
)

// refusalCode is what a call is answered with that was kept from the server.
const refusalCode = "-32000"

// refusalText is what the client is told.
func refusalText(why string) string { return "Deed recording failed: " + why }

// refusal keeps a line from the server and answers all requests in it: of a
// batch by a list, as its client expects one.
func refusal(f found, said string) wire.Decision {
	if len(f.requests) == 0 {
		return wire.Decision{Refuse: true} // nobody waits for an answer
	}
	message, err := json.Marshal(said)
	if err != nil {
		message = []byte(`"Deed recording failed"`) // no string makes it fail
	}
	var answer bytes.Buffer
	if f.batch {
		answer.WriteByte('[')
	}
	for i, id := range f.requests {
		if i > 0 {
			answer.WriteByte(',')
		}
		answer.WriteString(`{"jsonrpc":"2.0","id":`)
		answer.Write(id)
		answer.WriteString(`,"error":{"code":` + refusalCode + `,"message":`)
		answer.Write(message)
		answer.WriteString(`}}`)
	}
	if f.batch {
		answer.WriteByte(']')
	}
	answer.WriteByte('\n')
	return wire.Decision{Refuse: true, Answer: answer.Bytes()}
}
