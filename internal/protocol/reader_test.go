package protocol

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/wire"
)

func TestAReaderTellsWhatALineIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"a call is a request, and its arguments are the subject": {
			`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{"a":1}}}`,
			`request id=7 method="tools/call" name="refund" subject={"a":1}`,
		},
		"members come in any order": {
			`{"params":{"arguments":{"a":1},"name":"refund"},"method":"tools/call","id":"7","jsonrpc":"2.0"}`,
			`request id="7" method="tools/call" name="refund" subject={"a":1}`,
		},
		"without arguments the params are the subject": {
			`{"id":7,"method":"resources/read","params":{"uri":"file:///a"}}`,
			`request id=7 method="resources/read" uri="file:///a" subject={"uri":"file:///a"}`,
		},
		"a method without an id is a notification": {
			`{"method":"notifications/cancelled","params":{"requestId":7}}`,
			`notification method="notifications/cancelled" requestId=7 subject={"requestId":7}`,
		},
		"an id that is null is an id":              {`{"id":null,"method":"ping"}`, `request id=null method="ping"`},
		"a result with an id is a response":        {`{"id":7,"result":{"x":[]}}`, `response id=7 subject={"x":[]}`},
		"a result may be null":                     {`{"id":7,"result":null}`, `response id=7 subject=null`},
		"a result may carry an error":              {`{"id":7,"result":{"isError":true}}`, `response id=7 isError subject={"isError":true}`},
		"an error flag in words is none":           {`{"id":7,"result":{"isError":"true"}}`, `response id=7 subject={"isError":"true"}`},
		"an error has a code":                      {`{"id":7,"error":{"code":-32000.0}}`, `response id=7 code=-32000.0 subject={"code":-32000.0}`},
		"an error of null is none":                 {`{"id":7,"result":1,"error":null}`, `response id=7 subject=1`},
		"a method of null is none":                 {`{"id":7,"method":null,"result":1}`, `response id=7 method=null subject=1`},
		"an error need not have an id":             {`{"jsonrpc":"2.0","error":{"code":1}}`, `response code=1 subject={"code":1}`},
		"but then it must say that it is JSON-RPC": {`{"level":"x","error":{"code":1}}`, `noise code=1`},
		"initialize names the client": {
			`{"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"}}}`,
			`request id=0 method="initialize" version="2025-06-18" peer="c" peerVersion="1" ` +
				`subject={"protocolVersion":"2025-06-18","clientInfo":{"name":"c","version":"1"}}`,
		},
		"its answer names the server": {
			`{"id":0,"result":{"serverInfo":{"version":"1","name":"s"},"protocolVersion":"x"}}`,
			`response id=0 version="x" peer="s" peerVersion="1" subject={"serverInfo":{"version":"1","name":"s"},"protocolVersion":"x"}`,
		},
		"since 2026-07-28 _meta names them": {
			`{"id":0,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}}`,
			`response id=0 peer="s" type="complete" subject={"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}`,
		},
		"a call may ask for progress": {
			`{"id":1,"method":"m","params":{"_meta":{"progressToken":"p"},"arguments":[]}}`,
			`request id=1 method="m" meta="p" subject=[]`,
		},
		"progress names its token": {
			`{"method":"notifications/progress","params":{"progressToken":5,"progress":1}}`,
			`notification method="notifications/progress" progressToken=5 subject={"progressToken":5,"progress":1}`,
		},
		"deeper members of the same name are not read": {
			`{"id":1,"method":"m","params":{"x":{"name":"no","id":2},"arguments":{"name":"no","_meta":{"progressToken":1}}}}`,
			`request id=1 method="m" subject={"name":"no","_meta":{"progressToken":1}}`,
		},
		"names are compared with their case": {`{"ID":1,"id":2,"Method":"x","method":"m"}`, `request id=2 method="m"`},
		"names are compared as what their escapes mean": {
			`{"\u0069d":1,"\u006D\u0065thod":"m","params":{"n\u0061me":"x"}}`,
			`request id=1 method="m" name="x" subject={"n\u0061me":"x"}`,
		},
		"of two members the last is in force": {
			`{"id":1,"id":2,"method":"a","method":"b"}`, `request id=2 method="b" DuplicateKeys`,
		},
		"an escape hides no duplicate": {`{"id":1,"\u0069d":2,"method":"a"}`, `request id=2 method="a" DuplicateKeys`},
		"of two params the first is out of force with all that is in it": {
			`{"id":1,"method":"m","params":{"name":"a","arguments":{"x":1},"_meta":{"progressToken":1}},"params":{"uri":"u"}}`,
			`request id=1 method="m" uri="u" subject={"uri":"u"} DuplicateKeys`,
		},
		"and so it is where the second is no object": {
			`{"id":1,"method":"m","params":{"name":"a"},"params":null}`,
			`request id=1 method="m" subject=null DuplicateKeys`,
		},
		"two names in two objects are no duplicates": {
			`{"id":1,"method":"m","params":{"clientInfo":{"name":"a"},"name":"b"}}`,
			`request id=1 method="m" name="b" peer="a" subject={"clientInfo":{"name":"a"},"name":"b"}`,
		},
		"the same peer may be named in two places": {
			`{"id":1,"method":"m","params":{"clientInfo":{"name":"a"},"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"b"}}}}`,
			`request id=1 method="m" peer="b" ` +
				`subject={"clientInfo":{"name":"a"},"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"b"}}}`,
		},
		"duplicates are told however deep they are read": {
			`{"id":1,"method":"m","params":{"_meta":{"progressToken":1,"progressToken":2}}}`,
			`request id=1 method="m" meta=2 subject={"_meta":{"progressToken":1,"progressToken":2}} DuplicateKeys`,
		},
		"duplicates that are not read are not told": {`{"id":1,"method":"m","x":1,"x":2}`, `request id=1 method="m"`},
		"a tool's name may be an object": {
			`{"id":1,"method":"tools/call","params":{"name":{"a":["}"]}}}`,
			`request id=1 method="tools/call" name={"a":["}"]} subject={"name":{"a":["}"]}}`,
		},
		"params may be a list":             {`{"id":1,"method":"m","params":[{"name":"x"}]}`, `request id=1 method="m" subject=[{"name":"x"}]`},
		"a number is never read as one":    {`{"id":1e400,"method":"m","params":NaN}`, `request id=1e400 method="m" subject=NaN`},
		"a comma too many is let pass":     {`{"id":1,"method":"m","params":{"name":"x",},}`, `request id=1 method="m" name="x" subject={"name":"x",}`},
		"white space may be anywhere":      {" \t{ \"id\" : 1 , \"method\"\t: \"m\" } \t", `request id=1 method="m"`},
		"a carriage return is white space": {`{"id":1,"method":"m"}` + "\r", `request id=1 method="m"`},
		"a byte order mark is told":        {"\xEF\xBB\xBF" + `{"id":1,"method":"m"}`, `request id=1 method="m" BOM`},
		"half of one is no JSON":           {"\xEF\xBB" + `{"id":1,"method":"m"}`, `noise NotJSON InvalidUTF8`},
		"U+2028 ends no line":              {"{\"id\":\"\u2028\u2029\u0085\",\"method\":\"m\"}", "request id=\"\u2028\u2029\u0085\" method=\"m\""},
		"NUL ends no line":                 {"{\"id\":\"\x00\",\"method\":\"m\"}", "request id=\"\x00\" method=\"m\""},
		"bytes that are not UTF-8 are told": {
			"{\"id\":1,\"method\":\"m\",\"params\":\"\xff\"}", "request id=1 method=\"m\" subject=\"\xff\" InvalidUTF8",
		},
		"half a character at the end is not UTF-8": {"hm \xE2\x82", "noise NotJSON InvalidUTF8"},
		"half a surrogate pair stays as it is": {
			`{"id":"\ud800","method":"m","params":{"name":"\udfff"}}`,
			`request id="\ud800" method="m" name="\udfff" subject={"name":"\udfff"}`,
		},
		"escaped quotes end no string": {`{"id":"\\\"","method":"\\","params":"\\\\\\\""}`, `request id="\\\"" method="\\" subject="\\\\\\\""`},
		"a blank line is noise":        {"", `noise Blank`},
		"so is one of white space":     {" \t\r", `noise Blank`},
		"so is a banner":               {"Server ready on stdio", `noise NotJSON`},
		"so is one in brackets":        {`[INFO] "ready": {"id":1,"method":"m"}, {"id":2,"method":"m"}`, `noise NotJSON`},
		"so is a bare value":           {`"text"`, `noise NotJSON`},
		"so is an object of another kind": {
			`{"level":"info","message":"ready"}`, `noise`,
		},
		"so is a method that is no text":        {`{"id":1,"method":5}`, `noise id=1 method=5`},
		"so is an answer that has none":         {`{"id":1,"jsonrpc":"2.0"}`, `noise id=1`},
		"what breaks off is malformed":          {`{"id":1,"method":"m"`, `noise id=1 method="m" Malformed`},
		"a string without an end breaks off":    {`{"id":1,"method":"m`, `noise id=1 Malformed`},
		"a value that is missing is malformed":  {`{"id":1,"method":,"params":{}}`, `noise id=1 Malformed`},
		"a name without quotes is malformed":    {`{"id":1,method:"m"}`, `noise id=1 Malformed`},
		"a colon that is missing is malformed":  {`{"id":1,"method" "m"}`, `noise id=1 Malformed`},
		"brackets that cross are malformed":     {`{"id":1,"method":"m","params":{"x":[}]}`, `noise id=1 method="m" Malformed`},
		"an object closed by a bracket is, too": {`{"id":1,"method":"m","params":{"name":"x"]}`, `noise id=1 method="m" name="x" Malformed`},
		"what follows a message is told":        {`{"id":1,"method":"m"} {"id":2,"method":"m"}`, `request id=1 method="m" Trailing`},
		"an empty batch is noise":               {`[]`, `noise NotJSON`},
		"so is a bracket alone":                 {`[`, `noise NotJSON`},
		"so is a batch without objects":         {`[1,"{",[{"id":1,"method":"m"}],null]`, `noise NotJSON`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := c.line + "\n"
			for _, size := range []int{len(stream), 1, 2, 3, 7} {
				got := read(stream, size)
				if diff := cmp.Diff([]string{c.want}, sketches(got)); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
				}
				checkCoverage(t, stream, got)
			}
		})
	}
}

// checkCoverage checks that the messages account for every byte of the
// stream, and that each hash covers exactly the bytes of its message.
func checkCoverage(t interface {
	Helper()
	Errorf(string, ...any)
}, stream string, messages []*Message,
) {
	t.Helper()
	at := 0
	for i, m := range messages {
		found := false
		for skip := 0; skip <= int(m.Framing) && !found; skip++ {
			from, to := at+skip, at+skip+int(m.Bytes)
			if to > len(stream) {
				break
			}
			sum := sha256.Sum256(append(m.Salt[:], stream[from:to]...))
			found = sum == m.Wire && stream[from:from+len(m.Head)] == string(m.Head)
		}
		if !found {
			t.Errorf("message %d of %q: no piece of the stream where it should be has its hash and head", i, stream)
		}
		at += int(m.Bytes + m.Framing)
	}
	if at != len(stream) {
		t.Errorf("%d bytes of %d are accounted for in %q", at, len(stream), stream)
	}
}

func TestAStreamThatEndsEarlyIsToldAtItsLastLine(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string][]string{
		"":                              nil,
		"{\"id\":1,\"method\":\"m\"}\n": {`request id=1 method="m"`},
		"{\"id\":1,\"method\":\"m\"}":   {`request id=1 method="m" Unterminated`},
		"x\n{\"id\":1":                  {`noise NotJSON`, `noise Malformed Unterminated`},
		"[{\"id\":1,\"method\":\"m\"}]": {`request id=1 method="m" Unterminated InBatch`},
		"[{\"id\":1,\"method\":\"m\"}":  {`request id=1 method="m" Malformed Unterminated InBatch`},
		" ":                             {`noise Blank Unterminated`},
		"\xEF\xBB":                      {`noise NotJSON InvalidUTF8 Unterminated`},
	} {
		got := read(stream, 3)
		if diff := cmp.Diff(want, sketches(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", stream, diff)
		}
		checkCoverage(t, stream, got)
	}
}

func TestAGapCutsTheLineBeforeItAndTheOneBehindIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"a request that was known by then is one": {
			`{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a`, "bc\"}}}\n" + `{"id":2,"method":"m"}` + "\n",
			[]string{`request id=1 method="tools/call" name="x" Cut`, `noise Cut`, `request id=2 method="m"`},
		},
		"so is an answer": {
			`{"id":1,"result":{"content":[`, "\n",
			[]string{`response id=1 Cut`, `noise Cut`},
		},
		"a method alone may be either and is noise": {
			`{"method":"m","params":{`, "\n", []string{`noise method="m" Cut`, `noise Cut`},
		},
		"a token that is cut through is none": {`{"id":12`, "3}\n", []string{`noise Cut`, `noise Cut`}},
		"between two lines only the one behind is cut": {
			"{\"id\":1,\"method\":\"m\"}\n", `{"id":2,"method":"m"}` + "\n",
			[]string{`request id=1 method="m"`, `noise Cut`},
		},
		"an element that was complete is not cut": {
			`[{"id":1,"method":"m"},`, `{"id":2,"method":"m"}]` + "\n",
			[]string{`request id=1 method="m" InBatch`, `noise Cut`},
		},
		"a batch that has only begun is": {`[`, "\n", []string{`noise Cut`, `noise Cut`}},
		"with nothing behind it nothing is told": {
			`{"id":1,"method":"m"}`, "", []string{`request id=1 method="m" Cut`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []*Message
			r := NewReader(wire.FromServer, func(m *Message) { got = append(got, m.Clone()) })
			r.Feed([]byte(c.before), 1)
			r.Gap(100, 2, 2)
			r.Gap(0, 0, 2)
			r.Feed([]byte(c.after), 3)
			r.Close(4)
			if diff := cmp.Diff(c.want, sketches(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkCoverage(t, c.before+c.after, got)
			for _, m := range got {
				if m.At != 1 && m.At != 3 {
					t.Errorf("a message ended at %d, when no byte of it crossed", m.At)
				}
			}
		})
	}
}

func TestAMessageHasTheTimesOfItsFirstAndItsLastByte(t *testing.T) {
	t.Parallel()
	var got [][2]int64
	r := NewReader(wire.FromClient, func(m *Message) { got = append(got, [2]int64{m.Began, m.At}) })
	r.Feed([]byte("{\"id\""), 10)
	r.Feed([]byte(":1}"), 20)
	r.Feed([]byte("\n[{}"), 30)
	r.Feed([]byte(",{"), 40)
	r.Feed([]byte("}"), 50)
	r.Feed([]byte("]\n"), 60)
	if diff := cmp.Diff([][2]int64{{10, 30}, {30, 30}, {40, 50}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALongTokenIsKeptByItsHeadItsSizeAndItsSum(t *testing.T) {
	t.Parallel()
	for _, size := range []int{TokenLimit - 1, TokenLimit, TokenLimit + 1, 70_000} {
		id := `"` + strings.Repeat("x", size-2) + `"`
		for _, piece := range []int{1 << 20, 1000, 1} {
			m := read(`{"method":"m","id":`+id+"}\n", piece)[0]
			if m.ID.Size != int64(size) || string(m.ID.Raw) != id[:min(size, TokenLimit)] {
				t.Errorf("of %d bytes in pieces of %d: size %d, %d kept", size, piece, m.ID.Size, len(m.ID.Raw))
			}
			want := [32]byte{}
			if size > TokenLimit {
				want = sha256.Sum256([]byte(id))
			}
			if m.ID.Sum != want {
				t.Errorf("of %d bytes in pieces of %d: the wrong sum", size, piece)
			}
		}
	}
}

func TestNestingIsNoMatterHowDeep(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{3, 63, 64, 65, 3000, 1_000_000} {
		deep := strings.Repeat(`[{"a":`, depth) + "1" + strings.Repeat("}]", depth)
		stream := `{"params":{"arguments":` + deep + `,"name":"x"},"id":1,"method":"m"}` + "\n"
		m := read(stream, 1<<16)[0]
		if m.Kind != Request || string(m.Name.Raw) != `"x"` || m.Flags != 0 {
			t.Errorf("%d deep: %s", depth, sketch(m))
		}
		if m.Subject.End-m.Subject.Start != int64(len(deep)) {
			t.Errorf("%d deep: the subject has %d bytes of %d", depth, m.Subject.End-m.Subject.Start, len(deep))
		}
		Shape(m)
	}
}

func TestNoTwoMessagesShareASalt(t *testing.T) {
	t.Parallel()
	seen := map[[32]byte]bool{{}: true}
	for _, m := range read(strings.Repeat("{}\n", 1000), 100) {
		if seen[m.Salt] {
			t.Fatal("a salt came twice, or was empty")
		}
		seen[m.Salt] = true
	}
}

func TestWithoutHashingAMessageIsTheSameButForItsHash(t *testing.T) {
	t.Parallel()
	const line = `{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,2]}}}` + "\n"
	var got *Message
	r := NewReader(wire.FromClient, func(m *Message) { got = m.Clone() })
	r.SkipHash()
	r.Feed([]byte(line), 1)
	want := read(line, len(line))[0]
	if want.Wire == [32]byte{} {
		t.Fatal("with hashing there is no hash")
	}
	want.Salt, want.Wire = [32]byte{}, [32]byte{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without hashing the message differs:\n%s", diff)
	}
}
