package recorder

import (
	"bytes"
	"encoding/json"

	"github.com/deed-dev/deed/internal/intent"
)

// refusal is the JSON-RPC error that a client gets for an id, spelled as the
// client spelled it.
func refusal(id []byte, err error) []byte {
	message, _ := json.Marshal("Deed recording failed: " + err.Error()) // a text always can
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(id)
	b.WriteString(`,"error":{"code":-32000,"message":`)
	b.Write(message)
	b.WriteString(`}}`)
	return b.Bytes()
}

// refusals answer each request of a batch. Notifications have no answer.
func refusals(elements [][]byte, err error) []byte {
	var all [][]byte
	for _, element := range elements {
		if m, wrong := intent.ReadMessage(element); wrong == nil && m.Method != "" && len(m.ID) > 0 {
			all = append(all, refusal(m.ID, err))
		}
	}
	return append(append([]byte{'['}, bytes.Join(all, []byte{','})...), ']')
}
