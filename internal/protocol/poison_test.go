package protocol

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/wire"
)

// Each of these made a recorder of the field lose the message, the call or
// itself. Here each is a request whose answer finds it.
func TestNoRequestMakesItselfInvisible(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, c := range map[string]struct{ id, params string }{
		"half a surrogate pair in the arguments": {`1`, `{"name":"x","arguments":{"a":"\ud800"}}`},
		"half a surrogate pair as the tool":      {`1`, `{"name":"\udc00"}`},
		"arguments nested 3,000 deep":            {`1`, `{"name":"x","arguments":` + deep(3000) + `}`},
		"arguments nested 1,000,000 deep":        {`1`, `{"name":"x","arguments":` + deep(1_000_000) + `}`},
		"an id nested 1,000,000 deep":            {deep(1_000_000), `{}`},
		"a tool that is an object":               {`1`, `{"name":{"name":"x"}}`},
		"params that are a list":                 {`1`, `["x",{"a":1}]`},
		"params that are a text":                 {`1`, `"x"`},
		"params that stand there twice":          {`1`, `{"name":"x"},"params":{"name":"y"}`},
		"an id that is a text":                   {`"1"`, `{}`},
		"an id with a point":                     {`1.0`, `{}`},
		"an id of zero":                          {`0`, `{}`},
		"an id below zero":                       {`-1`, `{}`},
		"an id beyond 64 bits":                   {`123456789012345678901234567890`, `{}`},
		"an id beyond all floats":                {`1e400`, `{}`},
		"an id that is no number":                {`NaN`, `{}`},
		"an id of a million bytes":               {`"` + strings.Repeat("x", 1_000_000) + `"`, `{}`},
		"an id that is an object":                {`{"id":[1]}`, `{}`},
		"bytes that are not UTF-8":               {"\"\xff\"", "{\"name\":\"\xc0\x80\"}"},
		"NUL in the arguments":                   {`1`, "{\"name\":\"x\",\"arguments\":\"\x00\"}"},
		"other ends of line":                     {`1`, "{\"name\":\"\u2028\r\v\f\u0085\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := NewCalls()
			client := NewReader(wire.FromClient, func(m *Message) {
				if m.Kind != Request {
					t.Fatalf("it was read as kind %d with flags %b", m.Kind, m.Flags)
				}
				calls.Open("", m, 7)
				Shape(m)
				Text(m.Name)
			})
			feed := func(r *Reader, s string) {
				for piece := range bytes.Lines([]byte(s)) {
					for len(piece) > 0 {
						n := min(len(piece), 4<<10)
						r.Feed(piece[:n], 1)
						piece = piece[n:]
					}
				}
			}
			feed(client, `{"jsonrpc":"2.0","id":`+c.id+`,"method":"tools/call","params":`+c.params+"}\n")
			if calls.Len() != 1 {
				t.Fatal("the call was not opened")
			}
			feed(NewReader(wire.FromServer, func(m *Message) {
				// The server asks something under the same id first.
				if m.Kind == Request {
					calls.Open("", m, 8)
					return
				}
				if match := calls.Answer("", m); match.Call == nil || match.Call.Seq != 7 {
					t.Errorf("the answer belongs to %+v", match)
				}
			}), `{"id":`+c.id+`,"method":"sampling/createMessage"}`+"\n"+`{"result":{},"id":`+c.id+"}\n")
			if calls.Owed(wire.FromClient) != 0 || calls.Owed(wire.FromServer) != 1 {
				t.Errorf("%d are owed to the client, %d to the server", calls.Owed(wire.FromClient), calls.Owed(wire.FromServer))
			}
		})
	}
}

// Not parallel, so that no other test's memory is counted.
func TestALineOfAGigabyteTakesNoMoreMemoryThanAShortOne(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte takes seconds")
	}
	for name, c := range map[string]struct {
		size                 int64
		before, piece, after string
	}{
		"a text":         {1 << 30, `{"jsonrpc":"2.0","result":{"content":"`, strings.Repeat("refund issued ", 4096), `"},"id":7}`},
		"nested objects": {1 << 28, `{"jsonrpc":"2.0","result":`, strings.Repeat(`{"a":[`, 8192), ``},
		"an id":          {1 << 28, `{"jsonrpc":"2.0","result":1,"id":"`, strings.Repeat("x", 1<<16), `"}`},
		"a name":         {1 << 28, `{"jsonrpc":"2.0","id":7,"result":1,"`, strings.Repeat("x", 1<<16), `":1}`},
		"noise":          {1 << 28, `ready `, strings.Repeat("x", 1<<16), ``},
	} {
		t.Run(name, func(t *testing.T) {
			var got *Message
			r := NewReader(wire.FromServer, func(m *Message) { got = m.Clone() })
			piece := []byte(c.piece)
			fed := int64(0)
			feed := func(b []byte) {
				r.Feed(b, 1)
				fed += int64(len(b))
			}
			feed([]byte(c.before))
			for fed < c.size {
				feed(piece)
			}
			feed([]byte(c.after + "\n"))
			var mem runtime.MemStats
			runtime.ReadMemStats(&mem)
			if mem.Sys > 100<<20 {
				t.Errorf("the process has taken %d MiB", mem.Sys>>20)
			}
			if got.Bytes != fed || len(got.Head) != HeadLimit {
				t.Errorf("of %d bytes %d were counted, and the head has %d", fed, got.Bytes, len(got.Head))
			}
			if want := c.after != ""; (got.Kind == Response) != want {
				t.Errorf("it is of kind %d with flags %b", got.Kind, got.Flags)
			}
		})
	}
}

func TestACopyOfAMessageSharesNoMemoryWithIt(t *testing.T) {
	t.Parallel()
	var kept []*Message
	var ids []string
	r := NewReader(wire.FromClient, func(m *Message) {
		kept = append(kept, m.Clone())
		ids = append(ids, string(m.ID.Raw)+string(m.Method.Raw)+string(m.Name.Raw)+string(m.Head))
	})
	for _, id := range []string{"1", "2", "3"} {
		r.Feed([]byte(`{"id":`+id+`,"method":"m`+id+`","params":{"name":"n`+id+`"}}`+"\n"), 1)
	}
	for i, m := range kept {
		if got := string(m.ID.Raw) + string(m.Method.Raw) + string(m.Name.Raw) + string(m.Head); got != ids[i] {
			t.Errorf("message %d has become %q, it was %q", i, got, ids[i])
		}
	}
}

func TestAMessageThatIsReadAllocatesNothing(t *testing.T) {
	for name, line := range map[string]string{
		"a call": `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{"a":1}}}`,
		"a further round": `{"id":7,"method":"tools/call","params":{"name":"refund","arguments":{"a":1},"inputResponses":{"a":{}},` +
			`"requestState":"` + strings.Repeat(`s\/`, 1000) + `","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c"}}}}`,
		"an answer":           `{"id":7,"result":{"resultType":"complete","content":[],"structuredContent":{},"isError":false}}`,
		"the state of a task": `{"id":7,"result":{"resultType":"task","taskId":"t","status":"working","task":{"taskId":"t"}}}`,
		"an error":            `{"id":7,"error":{"code":-32000,"message":"no"}}`,
	} {
		r := NewReader(wire.FromClient, func(*Message) {})
		feed := []byte(line + "\n")
		r.Feed(feed, 1)
		if n := testing.AllocsPerRun(100, func() { r.Feed(feed, 1) }); n > 0 {
			t.Errorf("%s: it allocates %v times", name, n)
		}
	}
}
