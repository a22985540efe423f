//go:build unix

package wiretest

import (
	"bytes"
	"fmt"
)

// callTo is a tools/call on one line. The id is a raw token.
func callTo(tool, id string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"n":1}}}`+"\n", id, tool)
}

// answerFor is the answer to the call with this id.
func answerFor(id string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"done"}]}}`+"\n", id)
}

// answerTo is the answer to a line, or nothing when it asks nothing.
func answerTo(line []byte) []byte {
	at := bytes.Index(line, []byte(`"id":`))
	if at < 0 || !bytes.Contains(line, []byte(`"method"`)) {
		return nil
	}
	id := line[at+len(`"id":`):]
	end := bytes.IndexAny(id, ",}")
	if end < 0 {
		return nil
	}
	return answerFor(string(id[:end]))
}
