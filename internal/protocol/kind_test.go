package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAReaderTellsTheKindsOfMessageOfBothEras(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"io.modelcontextprotocol/`
	for name, c := range map[string]struct{ line, want string }{
		"a request names the client and the version in its _meta": {
			`{"id":1,"method":"m","params":{` + meta + `protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}`,
			`request id=1 method="m" version="2026-07-28" peer="c" peerVersion="1"`,
		},
		"a discovery lists the versions and names the server": {
			`{"id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28", "2025-11-25"],` + meta + `serverInfo":{"name":"s","version":"2"}}}}`,
			`response id=1 peer="s" peerVersion="2" type="complete" versions=["2026-07-28", "2025-11-25"]`,
		},
		"who echoes the client's name is not the client": {
			`{"id":1,"result":{` + meta + `clientInfo":{"name":"c"}}}}`, `response id=1`,
		},
		"nor is who echoes the server's name the server": {
			`{"id":1,"method":"m","params":{` + meta + `serverInfo":{"name":"s"}}}}`, `request id=1 method="m"`,
		},
		"a name from one place and a version from another are not mixed": {
			`{"id":1,"method":"m","params":{"clientInfo":{"name":"a","version":"1"},` + meta + `clientInfo":{"name":"b"}}}}`,
			`request id=1 method="m" peer="b"`,
		},
		"an interim answer carries a state": {
			`{"id":1,"result":{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s"}}`,
			`response id=1 type="input_required" state="s"`,
		},
		"the next round brings it back, with input": {
			`{"id":2,"method":"tools/call","params":{"name":"x","inputResponses":{"a":{"action":"accept"}},"requestState":"s"}}`,
			`request id=2 method="tools/call" name="x" state="s" input`,
		},
		"input of null is none": {
			`{"id":2,"method":"tools/call","params":{"inputResponses":null,"requestState":null}}`,
			`request id=2 method="tools/call" state=null`,
		},
		"of two inputs the last is in force": {
			`{"id":2,"method":"m","params":{"inputResponses":null,"inputResponses":{}}}`, `request id=2 method="m" input DuplicateKeys`,
		},
		"so it is when the last is null": {
			`{"id":2,"method":"m","params":{"inputResponses":{},"inputResponses":null}}`, `request id=2 method="m" DuplicateKeys`,
		},
		"and when the params come twice": {
			`{"id":2,"method":"m","params":{"inputResponses":{},"requestState":"s","taskId":"t"},"params":{}}`, `request id=2 method="m" DuplicateKeys`,
		},
		"a subscription names itself by the id of its request": {
			`{"method":"notifications/resources/updated","params":{` + meta + `subscriptionId":1},"uri":"file:///a"}}`,
			`notification method="notifications/resources/updated" uri="file:///a" subscription=1`,
		},
		"the answer that ends a subscription names it too": {
			`{"id":1,"result":{` + meta + `subscriptionId":"a"}}}`, `response id=1 subscription="a"`,
		},
		"a task of 2025-11-25 is handed out within the result": {
			`{"id":1,"result":{"task":{"taskId":"t","status":"working"}}}`, `response id=1 task="t" status="working" makesTask`,
		},
		"a task of the extension is the result": {
			`{"id":1,"result":{"resultType":"task","taskId":"t","status":"working"}}`,
			`response id=1 type="task" task="t" status="working" makesTask`,
		},
		"the type may be written with escapes": {
			`{"id":1,"result":{"resultType":"t\u0061sk","taskId":"t"}}`, `response id=1 type="t\u0061sk" task="t" makesTask`,
		},
		"the state of a task makes none": {
			`{"id":1,"result":{"resultType":"complete","taskId":"t","status":"completed","result":{"isError":true}}}`,
			`response id=1 type="complete" task="t" status="completed" taskIsError`,
		},
		"a task without an id is none": {`{"id":1,"result":{"resultType":"task","task":{}}}`, `response id=1 type="task"`},
		"an error makes no task": {
			`{"id":1,"result":{"task":{"taskId":"t"}},"error":{"code":1,"message":"no"}}`, `response id=1 code=1 task="t" message="no"`,
		},
		"news of a task comes by either name": {
			`{"method":"notifications/tasks","params":{"taskId":"t","status":"failed","result":{"isError":false}}}`,
			`notification method="notifications/tasks" task="t" status="failed"`,
		},
		"a message may belong to a task": {
			`{"id":5,"method":"elicitation/create","params":{` + meta + `related-task":{"taskId":"t"}}}}`,
			`request id=5 method="elicitation/create" related="t"`,
		},
		"so may an answer": {`{"id":5,"result":{` + meta + `related-task":{"taskId":"t"}}}}`, `response id=5 related="t"`},
		"a task that is named by no object is not named": {
			`{"id":5,"result":{` + meta + `related-task":"t"}}}`, `response id=5`,
		},
		"a log message has a level": {
			`{"method":"notifications/message","params":{"level":"error","logger":"db","data":{"level":"no"}}}`,
			`notification method="notifications/message" level="error"`,
		},
		"an error has a message": {
			`{"id":1,"error":{"code":-32022,"message":"Unsupported","data":{"supported":["2026-07-28"]}}}`,
			`response id=1 code=-32022 message="Unsupported"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream := c.line + "\n"
			for _, size := range []int{len(stream), 1, 2, 3, 7} {
				messages := read(stream, size)
				for _, m := range messages {
					m.Subject = Span{} // told elsewhere
				}
				if diff := cmp.Diff([]string{c.want}, sketches(messages)); diff != "" {
					t.Errorf("in pieces of %d (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

func TestASpanIsWhereAMemberStandsHoweverFarIn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*HeadLimit)
	line := `{"id":1,"result":{"structuredContent": {"a":1} ,"content":["` + long + `"],"inputRequests":{}},` +
		`"error": {"message":"no","code":1}}` + "\n"
	for _, size := range []int{len(line), 1000} {
		s := read(line, size)[0].Spans
		for name, c := range map[string]struct {
			span Span
			want string
		}{
			"result":            {s.Result, `{"structuredContent": {"a":1} ,"content":["` + long + `"],"inputRequests":{}}`},
			"structuredContent": {s.Structured, `{"a":1}`},
			"content":           {s.Content, `["` + long + `"]`},
			"inputRequests":     {s.InputRequests, `{}`},
			"error":             {s.Error, `{"message":"no","code":1}`},
			"error.message":     {s.ErrorMessage, `"no"`},
			"params":            {s.Params, ``},
		} {
			if got := line[c.span.Start:c.span.End]; got != c.want {
				t.Errorf("%s has %d bytes, want %d", name, len(got), len(c.want))
			}
		}
	}
}

func TestAMemberThatBreaksOffIsNowhere(t *testing.T) {
	t.Parallel()
	m := read(`{"id":1,"method":"m","params":{"arguments":{"a":[1,2`+"\n", 100)[0]
	if m.Spans != (Spans{}) || m.ArgumentsDigest != 0 {
		t.Errorf("it is at %+v, with the digest %x", m.Spans, m.ArgumentsDigest)
	}
}

func TestDigestsAreEqualWhereTheValuesAre(t *testing.T) {
	t.Parallel()
	digests := func(arguments, state string) (a, s uint64) {
		m := read(`{"id":1,"method":"m","params":{"arguments":`+arguments+`,"requestState":`+state+`}}`+"\n", 5)[0]
		return m.ArgumentsDigest, m.StateDigest
	}
	long := strings.Repeat("state/", 10_000)
	a, s := digests(`{"a":1}`, `"`+long+`"`)
	for name, c := range map[string]struct {
		arguments, state         string
		sameArguments, sameState bool
	}{
		"the same":                     {`{"a":1}`, `"` + long + `"`, true, true},
		"a blank more":                 {`{"a": 1}`, `"` + long + ` "`, false, false},
		"another number":               {`{"a":1.0}`, `"` + long + `"`, false, true},
		"a state that is escaped":      {`{"a":1}`, `"` + strings.ReplaceAll(long, "/", `\/`) + `"`, true, true},
		"a state that is escaped more": {`{"a":1}`, `"` + strings.ReplaceAll(long, "e", `\u0065`) + `"`, true, true},
		"a state that differs at its end": {
			`{"a":1}`, `"` + long[:len(long)-1] + `"`, true, false,
		},
	} {
		gotA, gotS := digests(c.arguments, c.state)
		if (a == gotA) != c.sameArguments || (s == gotS) != c.sameState {
			t.Errorf("%s: the arguments are alike: %v, the states: %v", name, a == gotA, s == gotS)
		}
	}
	// Half a pair that stands alone does not hide that the next one is whole.
	_, escaped := digests(`1`, `"\ud83d\ud83d\ude00"`)
	if _, plain := digests(`1`, `"\ud83d😀"`); escaped != plain {
		t.Error("behind half a pair a whole one has another digest when it is escaped")
	}
	// Of two arguments the last is in force, and of two params.
	if m := read(`{"id":1,"method":"m","params":{"arguments":1,"requestState":"s"},"params":{}}`+"\n", 9)[0]; m.ArgumentsDigest != 0 || m.StateDigest != 0 {
		t.Error("digests of params that are out of force are kept")
	}
}

func TestATextHasOneDigestHoweverItIsEscapedAndCut(t *testing.T) {
	t.Parallel()
	digest := func(t *rapid.T, raw string) uint64 {
		var d textDigest
		d.hash.SetSeed(digestKey)
		for len(raw) > 0 {
			n := rapid.IntRange(1, len(raw)).Draw(t, "piece")
			d.write([]byte(raw[:n]))
			raw = raw[n:]
		}
		return d.sum()
	}
	// Each row is one character, written in different ways.
	characters := [][]string{
		{"a", `\u0061`},
		{"/", `\/`, `\u002f`, `\u002F`},
		{`\n`, `\u000a`},
		{`\\`, `\u005c`},
		{"é", `\u00e9`},
		{"😀", `\ud83d\ude00`, `\uD83D\uDE00`},
		{`\ud83d`},
		{`\ude00x`},
		{"u", `\u0075`},
		{"d", `\u0064`},
	}
	rapid.Check(t, func(t *rapid.T) {
		var one, two strings.Builder
		for _, at := range rapid.SliceOf(rapid.IntRange(0, len(characters)-1)).Draw(t, "characters") {
			one.WriteString(rapid.SampledFrom(characters[at]).Draw(t, "one way"))
			two.WriteString(rapid.SampledFrom(characters[at]).Draw(t, "another way"))
		}
		decodedOne, _ := appendDecoded(nil, []byte(one.String()))
		decodedTwo, _ := appendDecoded(nil, []byte(two.String()))
		if same := string(decodedOne) == string(decodedTwo); same != (digest(t, one.String()) == digest(t, two.String())) {
			t.Fatalf("%s and %s are alike: %v, their digests are not", one.String(), two.String(), same)
		}
	})
}

// Who answers is told apart from a value that looks the same.
func TestANameInMetaIsToldFromAValue(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}}`:                           true,
		`{"id":1,"result":{"serverInfo":{"name":"s"}}}`:                                                             false,
		`{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}},"serverInfo":{"name":"v"}}}`: false,
		`{"id":1,"result":{"serverInfo":{"name":"v"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}}`: true,
		`{"id":1,"method":"m","params":{"clientInfo":{"name":"c"}}}`:                                                false,
		`{"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"c"}}}}`:              true,
		`{"id":1,"result":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"an echo"}}}}`:                     false,
	} {
		if m := read(line+"\n", 7)[0]; m.PeerInMeta != want {
			t.Errorf("%s: it is in _meta: %v, want %v", line, m.PeerInMeta, want)
		}
	}
}
