package observer

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/tap"
)

// capture observes a conversation at a level.
func capture(t *testing.T, n *notebook, level Capture, talk ...say) {
	t.Helper()
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{Label: "test", Capture: level, Command: []string{"server", "--api-key", "sesame-open-4711"}}, Options{})
	for _, s := range talk {
		buf.Settle(buf.Offer(s.from, []byte(s.data)), len(s.data))
	}
	buf.Close(client, 0)
	buf.Close(server, 0)
	buf.Shut()
	obs.Run(t.Context(), n)
	if err := obs.Finish(t.Context(), End{Reason: "client_closed"}); err != nil {
		t.Fatal(err)
	}
}

// everything is all that a notebook was given, as text.
func everything(t *testing.T, n *notebook) string {
	t.Helper()
	var out bytes.Buffer
	for i := range n.entries {
		detail, err := json.Marshal(n.details[i])
		if err != nil {
			t.Fatal(err)
		}
		out.Write(detail)
		out.Write(n.bodies[i])
	}
	return out.String()
}

// The key is put together here, so that nobody takes this file for a leak.
var apiKey = "sk-" + "ant-api03-" + strings.Repeat("Ab3dEf6hIj", 4)

func TestASecretIsReplacedWhereverItStands(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	capture(t, n, Redacted,
		say{client, `{"id":1,"method":"tools/call","params":{"name":"send","arguments":{"to":"ops@acme.example","url":"https://admin:hunter2x@hooks.example.net/in","token":"letmein","note":"use ` + apiKey + `"}}}` + "\n"},
		say{server, `{"id":1,"result":{"content":[{"type":"text","text":"sent with ` + apiKey + `"}]}}` + "\n"},
		say{client, `{"id":2,"method":"tools/call","params":{"name":"fail","arguments":{}}}` + "\n"},
		say{server, `{"id":2,"result":{"isError":true,"content":[{"type":"text","text":"the key ` + apiKey + ` is not valid"}]}}` + "\n"},
		say{client, `{"id":3,"method":"resources/read","params":{"uri":"https://x.example/?api_key=` + apiKey + `"}}` + "\n"},
		say{server, `{"id":3,"error":{"code":-32602,"message":"no such thing: ` + apiKey + `"}}` + "\n"},
		say{server, "key=" + apiKey + " in a banner\n"},
	)
	all := everything(t, n)
	for _, secret := range []string{apiKey, apiKey[10:], "letmein", "hunter2x", "sesame-open-4711"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is kept in:\n%s", secret, all)
		}
	}
	call, answer, failed, refused := n.details[1], n.details[2], n.details[4], n.details[6]
	want := &entry.Destinations{Hosts: []string{"hooks.example.net"}, Emails: []string{"ops@acme.example"}}
	if diff := cmp.Diff(want, call.Destinations); diff != "" {
		t.Errorf("destinations differ:\n%s", diff)
	}
	if got := call.Args.String(); !strings.Contains(got, `"to":"ops@acme.example"`) || !strings.Contains(got, `"token":"<redacted:key_name>"`) {
		t.Errorf("arguments are kept as %s", got)
	}
	if call.Redacted["key_name"] != 1 || len(call.Redacted) != 3 {
		t.Errorf("replaced by reason: %v", call.Redacted)
	}
	if got := answer.Preview.String(); !strings.HasPrefix(got, "sent with <redacted:") {
		t.Errorf("the answer is shown as %q", got)
	}
	if got := failed.ErrorText.String(); !strings.HasPrefix(got, "the key <redacted:") || !strings.HasSuffix(got, "is not valid") {
		t.Errorf("the failure is told as %q", got)
	}
	if got := refused.ErrorText.String(); !strings.HasPrefix(got, "no such thing: <redacted:") {
		t.Errorf("the error is told as %q", got)
	}
	if got := strings.Join(n.details[0].Command, " "); got != "server --api-key <redacted:key_name>" {
		t.Errorf("the command is kept as %q", got)
	}
}

func TestUnderRawABodyIsTheBytesThatCrossedTheWire(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	talk := []say{
		{client, "\xef\xbb\xbf{\"id\":1,\"method\":\"x\",\"params\":{\"password\":\"p\\ud800\"}}\r\n"},
		{server, " \t{\"id\":1,\"result\":1e400}\n\n\x00noise\xff\n"},
		{server, "\xef\xbb\xbf \t[ {\"id\":7,\"method\":\"a\"} ,\t{\"id\":8,\"method\":\"b\"},3,{\"method\":\"c\"},\r] x\r\n"},
		{client, `{"id":2,"method":"last","params":` + strings.Repeat("[", 3000)},
	}
	capture(t, n, Raw, talk...)
	var got [2]bytes.Buffer
	for i, e := range n.entries {
		if e.From == "client" {
			got[client].Write(n.bodies[i])
		} else if e.From == "server" {
			got[server].Write(n.bodies[i])
		}
	}
	if want := talk[0].data + talk[3].data; got[client].String() != want {
		t.Errorf("of the client %q is kept, sent was %q", got[client].String(), want)
	}
	if want := talk[1].data + talk[2].data; got[server].String() != want {
		t.Errorf("of the server %q is kept, sent was %q", got[server].String(), want)
	}
}

// What fell into a gap is not in the record, and everything else is, in its
// place and to the byte: also what is left of a line that a gap cut.
func TestUnderRawWhatNoGapCoversIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := &notebook{}
		buf := tap.New(4 << 10) // and nobody reads while it is filled
		obs := New(buf, Session{Label: "test", Capture: Raw}, Options{})
		chunks := rapid.SliceOfN(rapid.StringMatching(`(\[?\{"id":[0-9]{1,3},"method":"[a-z]{1,900}"\}[,\]]?|x{0,800})(\n|\r\n|)`), 1, 40).Draw(t, "chunks")
		crossed := strings.Join(chunks, "")
		for _, chunk := range chunks {
			if chunk != "" {
				buf.Settle(buf.Offer(client, []byte(chunk)), len(chunk))
			}
		}
		buf.Close(client, 0)
		buf.Shut()
		obs.Run(context.Background(), n)
		if err := obs.Finish(context.Background(), End{Reason: "client_closed"}); err != nil {
			t.Fatal(err)
		}
		at := int64(0)
		for i, e := range n.entries {
			if e.From != "client" {
				continue
			}
			end := at + e.Bytes + e.Framing
			if want := crossed[at:end]; e.Kind != entry.KindGap && string(n.bodies[i]) != want {
				t.Fatalf("entry %d has %q, at its place crossed %q", i, n.bodies[i], want)
			}
			at = end
		}
		if at != int64(len(crossed)) {
			t.Fatalf("%d bytes are recorded or counted, %d crossed", at, len(crossed))
		}
		if gap := strings.Contains(n.lines(), "gap client observer_behind"); gap && len(crossed) < 4<<10 || !gap && len(crossed) > 4<<10 {
			t.Fatalf("of %d bytes: %s", len(crossed), n.lines())
		}
	})
}

// The framing of a batch stands in the bodies of its elements, and nowhere
// else: not in what is shown of them, and in no body of another level.
func TestTheFramingOfABatchIsKeptUnderRawAlone(t *testing.T) {
	t.Parallel()
	const batch = ` [ {"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"one"}}} , {"id":2,"method":"m","params":{"b":2}} ] ` + "\n"
	for level, want := range map[Capture][]string{
		Raw: {
			` [ {"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"one"}}} , `,
			`{"id":2,"method":"m","params":{"b":2}} ] ` + "\n",
		},
		Redacted: {
			`{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"one"}}}`,
			`{"id":2,"method":"m","params":{"b":2}}`,
		},
	} {
		n := &notebook{}
		capture(t, n, level, say{client, batch})
		for i, want := range want {
			if got := string(n.bodies[1+i]); got != want {
				t.Errorf("under %s the body is %q, want %q", level, got, want)
			}
		}
		if a, b := n.details[1].Args.String(), n.details[2].Args.String(); a != `{"a":"one"}` || b != `{"b":2}` {
			t.Errorf("under %s the arguments are shown as %s and %s", level, a, b)
		}
		for _, e := range n.entries[1:3] {
			if kept := e.Bytes + e.Framing; level == Raw && kept != int64(len(want[e.Seq-1])) {
				t.Errorf("an element has %d bytes with its framing, its body %d", kept, len(want[e.Seq-1]))
			}
		}
	}
}

func TestOfALongMessageItsBeginningAndItsEndAreKept(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{
		"as long as is kept":        headLimit + tailLimit,
		"one byte longer":           headLimit + tailLimit + 1,
		"much longer":               3 << 20,
		"as long as the head":       headLimit,
		"a byte more than the head": headLimit + 1,
	} {
		for _, wide := range []bool{false, true} {
			message := make([]byte, size)
			for i := range message {
				message[i] = byte('a' + i/7%26)
			}
			k := &keeper{level: Redacted, wide: wide}
			k.Begin(false)
			for rest := message; len(rest) > 0; {
				n := min(len(rest), 50_001)
				k.Take(rest[:n])
				rest = rest[n:]
			}
			head, tail, omitted := k.parts()
			if omitted > 0 && (len(head) != headLimit || len(tail) != tailLimit) {
				t.Errorf("%s: %d and %d bytes are kept", name, len(head), len(tail))
			}
			if omitted != int64(max(0, size-headLimit-tailLimit)) {
				t.Errorf("%s: %d bytes are left out of %d", name, omitted, size)
			}
			if !bytes.HasPrefix(message, head) || !bytes.HasSuffix(message, tail) || int64(len(head)+len(tail))+omitted != int64(size) {
				t.Errorf("%s: what is kept is not its beginning and its end", name)
			}
		}
	}
}

func TestRoundsOfOneCallBelongToItsFirstRequest(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	capture(t, n, Shape,
		say{client, `{"id":1,"method":"tools/call","params":{"name":"book","arguments":{"seat":"4a"}}}` + "\n"},
		say{server, `{"id":1,"result":{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create"}}}}` + "\n"},
		say{client, `{"id":2,"method":"tools/call","params":{"name":"book","arguments":{"seat":"4a"},"requestState":"s1","inputResponses":{"q":{}}}}` + "\n"},
		say{server, `{"id":2,"result":{"resultType":"complete","content":[]}}` + "\n"},
	)
	want := "session\n" +
		"request client tools/call book 1\n" +
		"round server tools/call book 1 of 1\n" +
		"request client tools/call book 2 of 1\n" +
		"response server tools/call book 2 ok of 1\n" +
		"end client_closed\n"
	if got := n.lines(); got != want {
		t.Errorf("recorded:\n%s\nwant:\n%s", got, want)
	}
	if took := n.entries[4].Took; took < 0 {
		t.Errorf("the call took %d", took)
	}
}

func TestAToolListIsKeptByTheHashesOfItsDefinitions(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	long := strings.Repeat("long ", 200_000) // more than is kept of an ordinary message
	capture(t, n, Redacted,
		say{client, `{"id":1,"method":"tools/list"}` + "\n"},
		say{server, `{"id":1,"result":{"tools":[{"name":"a","description":"one"},{"description":"` + long + `","name":"b"}],"nextCursor":"c"}}` + "\n"},
		say{client, `{"id":2,"method":"tools/list","params":{"cursor":"c"}}` + "\n"},
		say{server, `{"id":2,"result":{"tools":[ { "description" : "one", "name":"a" } ]}}` + "\n"},
	)
	var lists []entry.Detail
	for i, e := range n.entries {
		if e.Kind == entry.KindTools {
			lists = append(lists, n.details[i])
			if e.Call < 1 || n.entries[e.Call].Kind != entry.KindRequest || e.Messages != int64(len(n.details[i].Tools)) {
				t.Errorf("the list is recorded as %+v", e)
			}
		}
	}
	if len(lists) != 2 || len(lists[0].Tools) != 2 || len(lists[1].Tools) != 1 {
		t.Fatalf("lists: %+v", lists)
	}
	if lists[0].Tools[0].SHA256 != lists[1].Tools[0].SHA256 {
		t.Error("the same definition, written in another order, has another hash")
	}
	canonical, err := protocol.Canonical([]byte(`{"name":"a","description":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.definitions[lists[0].Tools[0].SHA256]; got != string(canonical) {
		t.Errorf("the definition is kept as %q", got)
	}
	if len(n.definitions) != 2 {
		t.Errorf("%d definitions are kept, want 2", len(n.definitions))
	}
}

func TestARecorderThatIsBehindKeepsTheEntryAndLeavesOutTheContent(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	buf := tap.New(1 << 20)
	obs := New(buf, Session{Capture: Redacted}, Options{})
	line := `{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"text":"` + strings.Repeat("word ", 2000) + `"}}}` + "\n"
	const calls = 90 // most of what the buffer can hold
	for range calls {
		buf.Settle(buf.Offer(client, []byte(line)), len(line))
	}
	buf.Shut()
	obs.Run(t.Context(), n)
	var whole, skimmed int
	for i, e := range n.entries {
		if e.Kind != entry.KindRequest {
			continue
		}
		if slices.Contains(e.Flags, "skimmed") {
			skimmed++
			if n.bodies[i] != nil || n.details[i].Args != nil {
				t.Errorf("entry %d is flagged skimmed and has content", i)
			}
		} else {
			whole++
		}
		if n.details[i].Tool.String() != "t" {
			t.Errorf("entry %d has no tool", i)
		}
	}
	if whole+skimmed != calls || skimmed < calls/2 || whole < 10 {
		t.Errorf("%d entries are whole and %d skimmed, of %d", whole, skimmed, calls)
	}
}

func TestASecretInANameOrAnIDIsReplacedAtEveryLevel(t *testing.T) {
	t.Parallel()
	for _, level := range []Capture{Shape, Redacted, Raw} {
		n := &notebook{}
		capture(t, n, level,
			say{client, `{"id":"` + apiKey + `","method":"tools/call","params":{"name":"x-` + apiKey + `","_meta":{"progressToken":"` + apiKey + `"}}}` + "\n"},
			say{server, `{"method":"notifications/progress","params":{"progressToken":"` + apiKey + `"}}` + "\n"},
			say{server, `{"id":"` + apiKey + `","result":{"serverInfo":{"name":"a value of a result"}}}` + "\n"},
			say{client, `{"id":2,"method":"tools/list"}` + "\n"},
			say{server, `{"id":2,"result":{"tools":[{"name":"t","description":"call it with ` + apiKey + `"}]}}` + "\n"},
		)
		for i := range n.entries {
			detail, err := json.Marshal(n.details[i])
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(detail, []byte(apiKey[10:])) {
				t.Errorf("at level %s the secret is in %s", level, detail)
			}
		}
		if n.details[3].Peer != nil {
			t.Errorf("at level %s a value of a tool's result is kept as who the server is", level)
		}
		if len(n.definitions) != 0 {
			t.Errorf("at level %s a definition with a secret is kept: %v", level, n.definitions)
		}
		if !strings.Contains(n.lines(), " of ") {
			t.Errorf("at level %s the answer lost its request:\n%s", level, n.lines())
		}
	}
}

// A server of 2026-07-28 need not be asked who it is: each answer says it.
func TestTheServerIsKnownFromTheMetaOfAnyAnswer(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	capture(t, n, Shape,
		say{client, `{"id":1,"method":"tools/call","params":{"name":"t"}}` + "\n"},
		say{server, `{"id":1,"result":{"protocolVersion":"a value","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shop","version":"2"}}}}` + "\n"},
		say{server, `{"id":9,"method":"elicitation/create"}` + "\n"},
		say{client, `{"id":9,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"an echo","version":"2"}}}}` + "\n"},
	)
	want := &entry.Peer{Name: &entry.Text{Whole: "shop"}, Version: &entry.Text{Whole: "2"}}
	if diff := cmp.Diff(want, n.details[2].Peer); diff != "" {
		t.Errorf("who answered is recorded otherwise:\n%s", diff)
	}
	if got := n.details[4].Peer; got != nil {
		t.Errorf("what a client echoes is taken for who it is: %v", got)
	}
}
