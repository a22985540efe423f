package gate

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/wire"
)

const callMethod = "tools/call"

// concerns says whether a line may have a call of a tool in it. Nearly all
// lines that have none are told here, for the price of a search.
func concerns(line []byte) bool {
	if bytes.Contains(line, []byte(callMethod)) {
		return true
	}
	// There are peers that write "tools\/call", and JSON has more ways.
	return bytes.IndexByte(line, '\\') >= 0 && (bytes.Contains(line, []byte(`\/`)) || bytes.Contains(line, []byte(`\u`)))
}

// call is a call of a tool in a line.
type call struct {
	tool   string
	id     []byte // as it was written; nil where it has none that an answer could tell
	params []byte
	twice  bool // a member stands there twice, so that nobody knows what the server reads
}

// found is what a line has in it.
type found struct {
	calls    []call
	requests [][]byte // ids of all requests, as they were written
	batch    bool
}

// lineReader finds the calls in a line. It is the sink of its own reader.
type lineReader struct {
	mapped func(tool string) bool
	reader *protocol.Reader
	text   []byte // of the message that is being read
	found  found
	names  []string // tools that are called and not mapped
}

func newLineReader(mapped func(tool string) bool) *lineReader {
	r := &lineReader{mapped: mapped}
	r.reader = protocol.NewReader(wire.FromClient, r.message)
	r.reader.SkipHash()
	r.reader.SetSink(r)
	return r
}

// read finds the mapped calls in a line, its line end included.
func (r *lineReader) read(line []byte) found {
	r.found, r.names = found{}, r.names[:0]
	r.reader.Feed(line, 0)
	r.reader.Close(0) // a last line may lack its end
	return r.found
}

// readFrom is read of a line that is in a file.
func (r *lineReader) readFrom(line io.Reader) (found, error) {
	r.found, r.names = found{}, r.names[:0]
	piece := make([]byte, 256<<10)
	for {
		n, err := line.Read(piece)
		r.reader.Feed(piece[:n], 0)
		if err == io.EOF {
			break
		}
		if err != nil {
			return found{}, err
		}
	}
	r.reader.Close(0)
	return r.found, nil
}

// Begin implements [protocol.Sink].
func (r *lineReader) Begin(bool) { r.text = r.text[:0] }

// Take implements [protocol.Sink].
func (r *lineReader) Take(piece []byte) { r.text = append(r.text, piece...) }

// Frame implements [protocol.Sink].
func (r *lineReader) Frame([]byte) {}

func (r *lineReader) message(m *protocol.Message) {
	if m.Batch > 0 {
		r.found.batch = true
	}
	if m.Kind != protocol.Request && m.Kind != protocol.Notification {
		return
	}
	id := r.id(m)
	if id != nil {
		r.found.requests = append(r.found.requests, id)
	}
	if m.Flags&(protocol.DuplicateKeys|protocol.Trailing) != 0 {
		r.doubtful(id)
		return
	}
	if method, _ := protocol.Text(m.Method); method != callMethod {
		return
	}
	if m.Name.Raw == nil || m.Name.Raw[0] != '"' {
		return
	}
	tool, cut := protocol.Text(m.Name)
	if cut {
		return // longer than the name of any tool that is mapped
	}
	if !r.mapped(tool) {
		r.names = append(r.names, tool)
		return
	}
	span := m.Spans.Params
	r.found.calls = append(r.found.calls, call{tool: tool, id: id, params: bytes.Clone(r.text[span.Start:span.End])})
}

// id is the id of a request as it was written, nil where it has none that an
// answer could tell.
func (r *lineReader) id(m *protocol.Message) []byte {
	if m.Kind != protocol.Request || string(m.ID.Raw) == "null" {
		return nil
	}
	if m.ID.Size == int64(len(m.ID.Raw)) {
		return bytes.Clone(m.ID.Raw)
	}
	var whole struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(r.text, &whole) != nil {
		return nil
	}
	return whole.ID
}

// doubtful looks at a message that has a member twice, or something behind it on
// its line. Whatever way the server reads it, a call of a mapped tool is told as
// one.
func (r *lineReader) doubtful(id []byte) {
	decoder := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(r.text, []byte("\xEF\xBB\xBF"))))
	for {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return // the end, or what no reader of JSON can read on from
		}
		if tool := r.mappedCall(value); tool != "" {
			r.found.calls = append(r.found.calls, call{tool: tool, id: id, twice: true})
			return
		}
	}
}

// mappedCall is the mapped tool that a message calls by some way of reading it,
// empty if there is none.
func (r *lineReader) mappedCall(message json.RawMessage) string {
	isCall := false
	for _, method := range each(message, "method") {
		isCall = isCall || text(method) == callMethod
	}
	if !isCall {
		return ""
	}
	for _, params := range each(message, "params") {
		for _, name := range each(params, "name") {
			if tool := text(name); tool != "" && r.mapped(tool) {
				return tool
			}
		}
	}
	return ""
}

// each returns all values of a member of an object, in their order.
func each(object []byte, member string) (values []json.RawMessage) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return values
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return values
		}
		if key == member {
			values = append(values, value)
		}
	}
	return values
}

// text is what a JSON string says, empty for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
