package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/wire"
)

// jsonValue draws a JSON value as text, with odd numbers, escapes, white
// space and duplicate names.
func jsonValue(t *rapid.T, depth int, str func(*rapid.T) string) string {
	if str == nil {
		str = jsonString
	}
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	blank := rapid.SampledFrom([]string{"", "", "", " ", "\t", "\r "})
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return str(t)
	case 1:
		return rapid.SampledFrom([]string{"0", "-1", "1.0", "1e400", "12345678901234567890", "-0.0E+7"}).Draw(t, "number")
	case 2:
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case 3:
		b := &strings.Builder{}
		for i := range rapid.IntRange(0, 4).Draw(t, "members") {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(blank.Draw(t, "blank") + jsonName(t) + blank.Draw(t, "blank") + ":" + blank.Draw(t, "blank"))
			b.WriteString(jsonValue(t, depth-1, str) + blank.Draw(t, "blank"))
		}
		return "{" + b.String() + "}"
	default:
		b := &strings.Builder{}
		for i := range rapid.IntRange(0, 4).Draw(t, "elements") {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(blank.Draw(t, "blank") + jsonValue(t, depth-1, str) + blank.Draw(t, "blank"))
		}
		return "[" + b.String() + "]"
	}
}

func jsonString(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "refund", "é", "😀", "\u2028", `\"`, `\\`, `\/`, `\n`, `\u0041`, `\ud83d\ude00`, "{", "}", "[", "]", ",", ":", " ",
	}), 0, 12).Draw(t, "string")
	return `"` + strings.Join(pieces, "") + `"`
}

func jsonName(t *rapid.T) string {
	if rapid.Bool().Draw(t, "known name") {
		return `"` + rapid.SampledFrom([]string{
			"id", "method", "params", "result", "error", "name", "uri", "requestId", "progressToken", "_meta", "arguments",
			"protocolVersion", "clientInfo", "serverInfo", "version", "isError", "resultType", "code", "jsonrpc", `\u0069d`, "ID",
			"message", "requestState", "inputResponses", "inputRequests", "taskId", "task", "status", "level", "content",
			"structuredContent", "supportedVersions", metaVersion, metaClientInfo, metaServerInfo, metaRelatedTask, metaSubscription,
		}).Draw(t, "name") + `"`
	}
	return jsonString(t)
}

// streamLine draws a line: a message, a batch, or something broken.
func streamLine(t *rapid.T) string {
	end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", " \n"}).Draw(t, "end")
	switch rapid.IntRange(0, 7).Draw(t, "line") {
	case 0:
		return rapid.StringOf(rapid.RuneFrom([]rune("ab[]{},:\"\\ \té\xff"))).Draw(t, "noise") + end
	case 1:
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + end
	case 2:
		whole := jsonValue(t, 4, nil)
		return whole[:rapid.IntRange(0, len(whole)).Draw(t, "cut")] + end
	case 3, 4:
		var elements []string
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			elements = append(elements, jsonValue(t, 3, nil))
		}
		return "[" + strings.Join(elements, rapid.SampledFrom([]string{",", " , "}).Draw(t, "comma")) + "]" + end
	default:
		return jsonValue(t, 5, nil) + end
	}
}

func stream(t *rapid.T) string {
	b := &strings.Builder{}
	for range rapid.IntRange(0, 5).Draw(t, "lines") {
		b.WriteString(streamLine(t))
	}
	s := b.String()
	if rapid.Bool().Draw(t, "ends early") {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

// alike leaves out what differs from one reading to the next.
func alike(messages []*Message) []Message {
	var all []Message
	for _, m := range messages {
		c := *m
		c.Salt, c.Wire, c.Began, c.At = [32]byte{}, [32]byte{}, 0, 0
		all = append(all, c)
	}
	return all
}

func TestHowBytesAreCutIntoPiecesMakesNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := stream(t)
		want := read(s, len(s)+1)
		checkCoverage(t, s, want)
		var got []*Message
		r := NewReader(wire.FromClient, func(m *Message) { got = append(got, m.Clone()) })
		for rest := s; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 20)).Draw(t, "piece")
			piece := []byte(rest[:n])
			r.Feed(piece, 1)
			clear(piece) // the reader must not have kept it
			rest = rest[n:]
		}
		r.Close(1)
		checkCoverage(t, s, got)
		if diff := cmp.Diff(alike(want), alike(got)); diff != "" {
			t.Fatalf("%q (-whole +pieces):\n%s", s, diff)
		}
	})
}

func TestEveryByteIsInAMessageOrInAGap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := stream(t)
		fed, accounted := int64(0), int64(0)
		r := NewReader(wire.FromClient, func(m *Message) {
			accounted += m.Bytes + m.Framing
			if m.Bytes == 0 {
				t.Fatal("a message without bytes")
			}
		})
		for len(s) > 0 {
			n := rapid.IntRange(1, len(s)).Draw(t, "piece")
			if rapid.IntRange(0, 3).Draw(t, "gap") == 0 {
				r.Gap(int64(n), int64(strings.Count(s[:n], "\n")), 1)
			} else {
				r.Feed([]byte(s[:n]), 1)
				fed += int64(n)
			}
			s = s[n:]
		}
		r.Close(1)
		if fed != accounted {
			t.Fatalf("%d bytes were fed and %d are accounted for", fed, accounted)
		}
	})
}

func TestAnyValueSurvivesAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, name, arguments := jsonValue(t, 3, nil), jsonValue(t, 3, nil), jsonValue(t, 5, nil)
		parts := rapid.Permutation([]string{
			`"id": ` + id, `"method":"m"`, `"params" :{"name":` + name + `,"arguments":` + arguments + `}`,
		}).Draw(t, "order")
		m := read("{"+strings.Join(parts, ",")+"}\n", rapid.IntRange(1, 50).Draw(t, "piece"))[0]
		if m.Kind != Request || m.Flags != 0 {
			t.Fatalf("it was read as %s", sketch(m))
		}
		checkToken(t, "id", id, m.ID)
		checkToken(t, "name", name, m.Name)
		if m.Subject.End <= HeadLimit && string(m.Head[m.Subject.Start:m.Subject.End]) != arguments {
			t.Fatalf("the arguments %s are %s", arguments, m.Head[m.Subject.Start:m.Subject.End])
		}
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func checkToken(t failer, name, want string, got Token) {
	t.Helper()
	if got.Size != int64(len(want)) || string(got.Raw) != want[:min(len(want), TokenLimit)] {
		t.Fatalf("%s is %q of %d bytes, want %q", name, got.Raw, got.Size, want)
	}
	if len(want) > TokenLimit && got.Sum != sha256.Sum256([]byte(want)) {
		t.Fatalf("%s has the wrong sum", name)
	}
}

// checkAgainstParser compares what was read of a line that is valid JSON with
// what a parser finds in it.
func checkAgainstParser(t failer, value []byte, m *Message) {
	t.Helper()
	var top, params, meta map[string]json.RawMessage
	if json.Unmarshal(value, &top) != nil {
		t.Fatalf("%q was read as a message: %s", value, sketch(m))
	}
	if m.Flags&(NotJSON|Malformed|Blank|Trailing) != 0 {
		t.Fatalf("%q is JSON and was read as %s", value, sketch(m))
	}
	check := func(name string, want json.RawMessage, got Token) {
		if (want == nil) != (got.Raw == nil) {
			t.Fatalf("%s of %q: %q, want %q", name, value, got.Raw, want)
		}
		checkToken(t, name, string(want), got)
	}
	check("id", top["id"], m.ID)
	check("method", top["method"], m.Method)
	if json.Unmarshal(top["params"], &params) != nil {
		params = nil
	}
	for name, got := range map[string]Token{
		"name": m.Name, "uri": m.URI, "requestId": m.RequestID, "progressToken": m.ProgressToken, "level": m.Level,
	} {
		check(name, params[name], got)
	}
	checkSpans(t, top, params, m)
	if json.Unmarshal(params["_meta"], &meta) != nil {
		meta = nil
	}
	if top["result"] == nil { // it has these too
		check("params._meta.progressToken", meta["progressToken"], m.MetaProgress)
		check("params.requestState", params["requestState"], m.RequestState)
		check("params.taskId", params["taskId"], m.TaskID)
		check("params.status", params["status"], m.TaskStatus)
		check("params._meta.subscriptionId", meta[metaSubscription], m.SubscriptionID)
		check("params._meta.related-task.taskId", parsed(meta[metaRelatedTask])["taskId"], m.RelatedTask)
	}
	if result := parsed(top["result"]); top["params"] == nil {
		check("result.requestState", result["requestState"], m.RequestState)
		check("result.resultType", result["resultType"], m.ResultType)
		check("result.supportedVersions", result["supportedVersions"], m.SupportedVersions)
		check("result._meta.subscriptionId", parsed(result["_meta"])[metaSubscription], m.SubscriptionID)
		if m.IsError != (string(result["isError"]) == "true") {
			t.Fatalf("isError of %q: %v", value, m.IsError)
		}
	}
	check("error.code", parsed(top["error"])["code"], m.ErrorCode)
	check("error.message", parsed(top["error"])["message"], m.ErrorMessage)
	if _, there := top["result"]; there != m.HasResult {
		t.Fatalf("%q: a result is there: %v", value, m.HasResult)
	}
	asks := len(top["method"]) > 0 && top["method"][0] == '"'
	if want := asks && top["id"] != nil; (m.Kind == Request) != want {
		t.Fatalf("%q was read as %s", value, sketch(m))
	}
	if want := asks && top["id"] == nil; (m.Kind == Notification) != want {
		t.Fatalf("%q was read as %s", value, sketch(m))
	}
}

// parsed returns the members of an object, and none of anything else.
func parsed(value json.RawMessage) (all map[string]json.RawMessage) {
	if json.Unmarshal(value, &all) != nil {
		return nil
	}
	return all
}

// checkSpans compares where members are with what a parser says that they are.
func checkSpans(t failer, top, params map[string]json.RawMessage, m *Message) {
	t.Helper()
	result, failure := parsed(top["result"]), parsed(top["error"])
	for name, c := range map[string]struct {
		want json.RawMessage
		got  Span
	}{
		"params": {top["params"], m.Spans.Params}, "arguments": {params["arguments"], m.Spans.Arguments},
		"inputResponses": {params["inputResponses"], m.Spans.InputResponses},
		"result":         {top["result"], m.Spans.Result}, "content": {result["content"], m.Spans.Content},
		"structuredContent": {result["structuredContent"], m.Spans.Structured},
		"inputRequests":     {result["inputRequests"], m.Spans.InputRequests},
		"error":             {top["error"], m.Spans.Error}, "error.message": {failure["message"], m.Spans.ErrorMessage},
	} {
		if c.got.End-c.got.Start != int64(len(c.want)) {
			t.Fatalf("the span of %s has %d bytes, want %q", name, c.got.End-c.got.Start, c.want)
		}
		if c.got.End <= int64(len(m.Head)) && !bytes.Equal(m.Head[c.got.Start:c.got.End], c.want) {
			t.Fatalf("the span of %s is %q, want %q", name, m.Head[c.got.Start:c.got.End], c.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":"\""}]},"_meta":{"progressToken":1}}}` + "\n",
		`{"id":"7","result":{"content":[{"type":"text","text":"\\\""}],"isError":true}}` + "\r\n",
		`{"id":1.0,"error":{"code":-32000,"message":"x"}}` + "\n",
		`[{"id":1,"method":"a"},2,{"id":null,"result":null} ]` + "\n\n",
		"\xEF\xBB\xBF{\"\\u0069d\":1,\"id\":2,\"method\":\"m\"}\nready\n[INFO] x\n",
		`{"id":1,"params":{"name":{"x":1}},"method":"m","params":[1]}` + "\n", `{"id":1e400,"method":"\ud800"`, "[", "[]\n", "{\"a\":[}\n", "\xff\n \n",
	} {
		f.Add([]byte(seed), uint64(0x9E3779B97F4A7C15))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		s := string(data)
		whole := read(s, len(s)+1)
		checkCoverage(t, s, whole)
		var got []*Message
		r := NewReader(wire.FromClient, func(m *Message) { got = append(got, m.Clone()) })
		for rest := data; len(rest) > 0; {
			seed = seed*6364136223846793005 + 1442695040888963407
			n := min(len(rest), 1+int(seed>>59))
			r.Feed(rest[:n], 1)
			rest = rest[n:]
		}
		r.Close(1)
		checkCoverage(t, s, got)
		if !reflect.DeepEqual(alike(whole), alike(got)) {
			t.Fatalf("%q (-whole +pieces):\n%s", s, cmp.Diff(alike(whole), alike(got)))
		}
		next := whole
		for line := range bytes.Lines(data) {
			mine, rest := ofLine(next, len(line))
			next = rest
			if !utf8Valid(line) || !json.Valid(line) {
				continue
			}
			switch line = bytes.TrimSpace(line); line[0] {
			case '{':
				if len(mine) != 1 {
					t.Fatalf("%q is %d messages", line, len(mine))
				}
				checkAgainstParser(t, line, mine[0])
			case '[':
				checkBatchAgainstParser(t, line, mine)
			}
		}
	})
}

// ofLine takes the messages of a line of so many bytes from a list.
func ofLine(messages []*Message, size int) (mine, rest []*Message) {
	for i, m := range messages {
		if size -= int(m.Bytes + m.Framing); size == 0 {
			return messages[:i+1], messages[i+1:]
		}
	}
	return nil, nil
}

func checkBatchAgainstParser(t failer, line []byte, got []*Message) {
	t.Helper()
	var elements []json.RawMessage
	if err := json.Unmarshal(line, &elements); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	var objects []json.RawMessage
	for _, e := range elements {
		if e[0] == '{' {
			objects = append(objects, e)
		}
	}
	for _, m := range got {
		if m.Flags&NotJSON != 0 {
			continue
		}
		if len(objects) == 0 {
			t.Fatalf("%q has fewer objects than were read", line)
		}
		if m.Bytes != int64(len(objects[0])) {
			t.Fatalf("an element of %q has %d bytes, want %d", line, m.Bytes, len(objects[0]))
		}
		checkAgainstParser(t, objects[0], m)
		objects = objects[1:]
	}
	if len(objects) > 0 {
		t.Fatalf("%q: %d objects were not read", line, len(objects))
	}
}

// utf8Valid is here because a parser takes invalid bytes for U+FFFD.
func utf8Valid(b []byte) bool { return bytes.Equal(b, bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
