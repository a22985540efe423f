//go:build unix

package wiretest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// said is what one side wrote at a time.
type said struct{ from, line string }

func c(line string) said { return said{"client", line + "\n"} }
func s(line string) said { return said{"server", line + "\n"} }

// poison is what has made recorders lose a message, take it for another, or
// fall over. Each talk is a session of its own, and its record is written down
// as it has to be: an entry a line, with its place, the request that it belongs
// to, and what is odd about it.
var poison = []struct {
	name string
	talk []said
	want []string
}{
	{
		"lone surrogates",
		[]said{
			c(`{"jsonrpc":"2.0","id":"\ud800","method":"tools/call","params":{"name":"a\udc00","arguments":{"\ud83d":"\ude00"}}}`),
			s(`{"jsonrpc":"2.0","id":"\ud800","result":{"content":[{"type":"text","text":"\ud83d"}]}}`),
		},
		[]string{
			`1 request client id="\ud800" tools/call a\udc00`,
			`2 response server id="\ud800" tools/call a\udc00 ok of 1`,
		},
	},
	{
		"nesting three thousand deep",
		[]said{
			c(string(callWith(deep))[:len(callWith(deep))-1]),
			s(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":` + deep + `}}`),
		},
		[]string{"1 request client id=1 tools/call t", "2 response server id=1 tools/call t ok of 1"},
	},
	{
		"a tool's name that is an object, params that are a list, and neither",
		[]said{
			c(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"a":[1]},"arguments":{}}}`),
			c(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":["a",{"name":"b"}]}`),
			c(`{"jsonrpc":"2.0","id":3,"method":"tools/call"}`),
			c(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":null}}`),
			s(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`),
			s(`{"jsonrpc":"2.0","id":2,"result":[]}`),
			s(`{"jsonrpc":"2.0","id":4,"result":null}`),
		},
		[]string{
			`1 request client id=1 tools/call {"a":[1]}`, "2 request client id=2 tools/call", "3 request client id=3 tools/call",
			"4 request client id=4 tools/call null",
			"5 response server id=3 tools/call error of 3", `6 response server id=1 tools/call {"a":[1]} tool_error of 1`,
			"7 response server id=2 tools/call ok of 2", "8 response server id=4 tools/call null ok of 4",
		},
	},
	{
		"duplicate keys, of which the last is in force",
		[]said{
			c(`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"tools/call","params":{"name":"a","name":"b"}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{"isError":true},"id":2,"result":{}}`),
		},
		[]string{
			"1 request client id=2 tools/call b duplicate_keys",
			"2 response server id=2 tools/call b ok of 1 duplicate_keys",
		},
	},
	{
		"1, \"1\" and 1.0 are open at once",
		[]said{
			c(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"number"}}`),
			c(`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"string"}}`),
			c(`{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"fraction"}}`),
			s(`{"jsonrpc":"2.0","id":"\u0031","result":{}}`),
			s(`{"jsonrpc":"2.0","id":1.0,"result":{}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{}}`),
		},
		[]string{
			"1 request client id=1 tools/call number", `2 request client id="1" tools/call string`, "3 request client id=1.0 tools/call fraction",
			`4 response server id="\u0031" tools/call string ok of 2`, "5 response server id=1.0 tools/call fraction ok of 3", "6 response server id=1 tools/call number ok of 1",
		},
	},
	{
		"the server asks under the id of a call that is open",
		[]said{
			c(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask"}}`),
			s(`{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{"message":"?"}}`),
			c(`{"jsonrpc":"2.0","id":5,"result":{"action":"accept"}}`),
			s(`{"jsonrpc":"2.0","id":5,"result":{}}`),
		},
		[]string{
			"1 request client id=5 tools/call ask", "2 request server id=5 elicitation/create",
			"3 response client id=5 elicitation/create ok of 2", "4 response server id=5 tools/call ask ok of 1",
		},
	},
	{
		"numbers that no machine can hold",
		[]said{
			c(callNamed(`1e400`, "a", `1e400`)),
			c(callNamed(`9007199254740993`, "b", `123456789012345678901234567890`)),
			c(callNamed(`9007199254740992`, "c", `-0.0`)),
			s(`{"jsonrpc":"2.0","id":9007199254740992,"result":{"structuredContent":-1E999}}`),
			s(`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`),
			s(`{"jsonrpc":"2.0","id":1e400,"result":{}}`),
		},
		[]string{
			"1 request client id=1e400 tools/call a", "2 request client id=9007199254740993 tools/call b", "3 request client id=9007199254740992 tools/call c",
			"4 response server id=9007199254740992 tools/call c ok of 3", "5 response server id=9007199254740993 tools/call b ok of 2", "6 response server id=1e400 tools/call a ok of 1",
		},
	},
	{
		"a byte order mark, NUL and what is not UTF-8",
		[]said{
			c("\xef\xbb\xbf" + callNamed("1", "mark", `""`)),
			s("\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":1,"result":{}}`),
			c(callNamed("2", "nul", "\"\x00\"")),
			s("\x00"),
			s("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"t\":\"\x00\"}}"),
			c(callNamed("3", "bytes", "\"\xff\xfe\xc0\x80\"")),
			s("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"t\":\"\xed\xa0\x80\"}}"),
		},
		[]string{
			"1 request client id=1 tools/call mark bom", "2 response server id=1 tools/call mark ok of 1 bom",
			"3 request client id=2 tools/call nul", "4 noise server not_json", "5 response server id=2 tools/call nul ok of 3",
			"6 request client id=3 tools/call bytes invalid_utf8", "7 response server id=3 tools/call bytes ok of 6 invalid_utf8",
		},
	},
	{
		"ids that are none",
		[]said{
			c(callNamed(`{"a":1}`, "object", "1")), c(callNamed(`[1]`, "list", "1")), c(callNamed(`null`, "null", "1")),
			c(callNamed(`0.5`, "half", "1")), c(callNamed(`true`, "true", "1")), c(callNamed(`""`, "empty", "1")),
			s(`{"jsonrpc":"2.0","id":true,"result":{}}`), s(`{"jsonrpc":"2.0","id":0.5,"result":{}}`), s(`{"jsonrpc":"2.0","id":null,"result":{}}`),
			s(`{"jsonrpc":"2.0","id":[1],"result":{}}`), s(`{"jsonrpc":"2.0","id":{"a":1},"result":{}}`), s(`{"jsonrpc":"2.0","id":"","result":{}}`),
		},
		[]string{
			`1 request client id={"a":1} tools/call object`, `2 request client id=[1] tools/call list`, `3 request client id=null tools/call null`,
			`4 request client id=0.5 tools/call half`, `5 request client id=true tools/call true`, `6 request client id="" tools/call empty`,
			`7 response server id=true tools/call true ok of 5`, `8 response server id=0.5 tools/call half ok of 4`,
			// JSON-RPC answers null to what it could not read: that is nobody's answer.
			`9 response server id=null ok unasked`,
			`10 response server id=[1] tools/call list ok of 2`, `11 response server id={"a":1} tools/call object ok of 1`, `12 response server id="" tools/call empty ok of 6`,
		},
	},
	{
		"answers that nobody asked for, and one that comes twice",
		[]said{
			s(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			c(callNamed("1", "late", "1")),
			s(`{"jsonrpc":"2.0","id":1,"result":{"first":1}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{"second":1}}`),
			c(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			s(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}`),
		},
		[]string{
			"1 response server id=1 ok unasked", "2 request client id=1 tools/call late",
			"3 response server id=1 tools/call late ok of 2", "4 response server id=1 ok unasked",
			"5 response client id=1 ok unasked", "6 response server error unasked",
		},
	},
	{
		"one id is asked under twice",
		[]said{
			c(callNamed("1", "a", "1")), c(callNamed("1", "b", "1")),
			s(`{"jsonrpc":"2.0","id":1,"result":{}}`), s(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			c(callNamed("1", "c", "1")), s(`{"jsonrpc":"2.0","id":1,"result":{}}`),
		},
		[]string{
			"1 request client id=1 tools/call a", "2 request client id=1 tools/call b ambiguous",
			"3 response server id=1 ok ambiguous", "4 response server id=1 ok ambiguous",
			"5 request client id=1 tools/call c", "6 response server id=1 tools/call c ok of 5",
		},
	},
	{
		"batches, empty and with garbage",
		[]said{
			c(`[]`),
			c(`{"jsonrpc":"2.0","method":"n"}`),
			c(`[1,null,[{}],` + callNamed("1", "a", "1") + `,"}",` + callNamed("2", "b", "1") + `]`),
			s(`[{"jsonrpc":"2.0","id":2,"result":{}}, {"jsonrpc":"2.0","method":"notifications/message","params":{}} ,{"jsonrpc":"2.0","id":1,"result":{}}]`),
			s(`[ ]`),
		},
		[]string{
			"1 noise client not_json", "2 notification client n", "3 noise client batch not_json", "4 request client id=1 tools/call a batch",
			"5 noise client batch not_json", "6 request client id=2 tools/call b batch",
			"7 response server id=2 tools/call b ok of 6 batch", "8 notification server notifications/message batch",
			"9 response server id=1 tools/call a ok of 4 batch", "10 noise server not_json",
		},
	},
	{
		"cancelled, and answered all the same",
		[]said{
			c(callNamed("1", "slow", "1")), c(callNamed("2", "other", "1")),
			c(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
			c(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"2"}}`),
			s(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{}}`), s(`{"jsonrpc":"2.0","id":2,"result":{}}`),
		},
		[]string{
			"1 request client id=1 tools/call slow", "2 request client id=2 tools/call other",
			"3 notification client notifications/cancelled about 1 of 1",
			`4 notification client notifications/cancelled about "2" unasked`, "5 notification server notifications/cancelled about 2 unasked",
			"6 response server id=1 tools/call slow ok of 1 late", "7 response server id=2 tools/call other ok of 2",
		},
	},
	{
		"progress for a token that is known, and for one that is not",
		[]said{
			c(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}`),
			s(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`),
			s(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`),
			c(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`),
			s(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`),
			s(`{"jsonrpc":"2.0","id":1,"result":{}}`),
			s(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":2}}`),
		},
		[]string{
			"1 request client id=1 tools/call a", `2 notification server notifications/progress about "t" of 1`,
			"3 notification server notifications/progress about 7 unasked", `4 notification client notifications/progress about "t" unasked`,
			"5 notification server notifications/progress unasked", "6 response server id=1 tools/call a ok of 1",
			`7 notification server notifications/progress about "t" unasked`,
		},
	},
	{
		"what is nearly a message",
		[]said{
			// Lines that are none may be recorded together, so that something is between them.
			c(`{"jsonrpc":"2.0","id":1,"method":7}`), between,
			c(`{"jsonrpc":"2.0","id":1}`), between,
			c(`{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}`),
			c(`{"jsonrpc":"2.0","id":3,"method":"tools\/call","params":{"name":"\u0061"}}`),
			c(`{"jsonrpc":"2.0","id":4,"method":"a"`), between, c(``), between, c(" \t\r"), between, c(`null`), between,
			s(`{"jsonrpc":"2.0","id":3,"result":{},"error":null}`),
		},
		[]string{
			"1 noise client", "2 notification client n", "3 noise client", "4 notification client n", "5 request client id=1 a trailing",
			"6 request client id=3 tools/call a", "7 noise client malformed", "8 notification client n", "9 noise client blank", "10 notification client n",
			"11 noise client blank", "12 notification client n", "13 noise client not_json", "14 notification client n",
			"15 response server id=3 tools/call a ok of 6",
		},
	},
}

var between = c(`{"jsonrpc":"2.0","method":"n"}`)

var deep = strings.Repeat(`{"a":[`, 1500) + strings.Repeat(`]}`, 1500)

// callNamed is a call without its line end. Id and argument are raw tokens.
func callNamed(id, tool, argument string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"v":%s}}}`, id, tool, argument)
}

func TestPoisonIsRecordedAsWhatItIs(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	t.Run("talks", func(t *testing.T) {
		for _, talk := range poison {
			t.Run(talk.name, func(t *testing.T) {
				t.Parallel()
				st := open(t, throughDeed(home, "--label", talk.name), setup{})
				for _, one := range talk.talk {
					if one.from == "client" {
						st.client.write([]byte(one.line))
						st.server.mustRead([]byte(one.line))
						continue
					}
					st.server.write([]byte(one.line))
					st.client.mustRead([]byte(one.line))
				}
				st.client.closeInput()
				st.server.mustSeeEnd()
				st.server.exit(0)
				st.client.mustSeeEnd()
				st.client.mustExit(0, patience)
			})
		}
	})
	mustVerify(t, home)
	sessions := exportOf(t, home)
	calls := callsIn(t, home)
	for _, talk := range poison {
		t.Run(talk.name, func(t *testing.T) {
			t.Parallel()
			got := sessions[talk.name]
			if got == nil {
				t.Fatal("not recorded")
			}
			var lines []string
			for _, e := range got.entries {
				if e.Kind != "session" && e.Kind != "end" && e.Kind != "tools" {
					lines = append(lines, e.sketch())
				}
			}
			if !slices.Equal(lines, talk.want) {
				t.Errorf("recorded as\n\t%s\nwant\n\t%s", strings.Join(lines, "\n\t"), strings.Join(talk.want, "\n\t"))
			}
			mustTellTheSame(t, home, got, calls)
		})
	}
}

// sketch is one entry in a line.
func (e *exportedEntry) sketch() string {
	words := []string{fmt.Sprint(e.Seq), e.Kind, e.From}
	add := func(format string, word text) {
		if word != "" {
			words = append(words, fmt.Sprintf(format, word))
		}
	}
	add("id=%s", e.Detail.ID)
	add("%s", e.Detail.Method)
	add("%s", e.Detail.Tool)
	add("about %s", e.Detail.Target)
	if e.Outcome != nil {
		words = append(words, *e.Outcome)
	}
	if e.call != nil {
		words = append(words, fmt.Sprint("of ", *e.call))
	}
	return strings.Join(append(words, e.Flags...), " ")
}

// mustTellTheSame asks deed tail and deed show about every request of a
// session: both must find the answer that the log says it has, and no other.
func mustTellTheSame(t *testing.T, home string, s *exported, calls []call) {
	t.Helper()
	for _, e := range s.entries {
		if e.Kind != "request" || e.call != nil {
			continue
		}
		belongs := []int64{e.Seq}
		answered := false
		for _, other := range s.entries {
			if other.call != nil && *other.call == e.Seq {
				belongs = append(belongs, other.Seq)
				answered = answered || other.Kind == "response"
			}
		}
		listed := slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.Session != s.session || c.Seq != e.Seq })
		if len(listed) != 1 || listed[0].answered() != answered || listed[0].From != e.From || listed[0].SentBytes != e.Bytes {
			t.Errorf("deed tail lists request %d as %+v, answered: %v", e.Seq, listed, answered)
		}
		var story struct {
			Records []struct{ Seq int64 }
		}
		got := deed(t, home, "show", fmt.Sprintf("%s.%d", s.session, e.Seq), "--json")
		if err := json.Unmarshal([]byte(got.stdout), &story); err != nil {
			t.Fatalf("deed show printed %q, %q: %v", got.stdout, got.stderr, err)
		}
		var shown []int64
		for _, record := range story.Records {
			shown = append(shown, record.Seq)
		}
		if !slices.Equal(shown, belongs) {
			t.Errorf("deed show has the entries %v for request %d, want %v", shown, e.Seq, belongs)
		}
	}
}
