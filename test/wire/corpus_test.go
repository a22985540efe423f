//go:build unix

package wiretest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// hostile is what has broken programs like this one. Every entry crosses in
// both directions.
var hostile = []struct {
	name string
	data string
}{
	{"a line that ends in CRLF", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n"},
	{"a lone carriage return inside a line", "{\"a\":1}\r{\"b\":2}\n"},
	{"a byte order mark before the first line", "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"},
	{"NUL bytes", "{\"a\":\"\x00\x00\"}\n\x00\n"},
	{"invalid UTF-8", "{\"a\":\"\xff\xfe\xc0\x80\xed\xa0\x80\"}\n"},
	{"every byte there is", everyByte()},
	{"blank lines", "\n\n{\"a\":1}\n\n\n"},
	{"blank lines that end in CRLF", "\r\n\r\n{\"a\":1}\r\n\r\n"},
	{"leading and trailing spaces", "   \t{\"a\":1}  \t\n  \n"},
	{"line separators that end no line", "{\"a\":\"\u2028\u2029\u0085\v\f\"}\n"},
	{"a last line without a newline", "{\"a\":1}\n{\"b\":2}"},
	{"a last line that ends in a carriage return", "{\"a\":1}\r"},
	{"no newline at all", "{\"a\":"},
	{"one byte", "{"},
	{"a newline alone", "\n"},
	{"lone surrogate escapes", `{"jsonrpc":"2.0","id":1,"method":"x\ud800","params":{"name":"\udc00\ud800"}}` + "\n"},
	{"nesting three thousand deep", callWith(strings.Repeat(`{"a":[`, 1500) + strings.Repeat(`]}`, 1500))},
	{"duplicate keys", `{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b","result":1}` + "\n"},
	{"integers above 2^53", callWith("12345678901234567890123456789") + callWith("9007199254740993")},
	{"numbers in odd forms", callWith("180.0") + callWith("1E400") + callWith("-0") + callWith("1e-7")},
	{"a banner before the protocol", "Server v1.2 listening on stdio\n> ready\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"},
	{"a banner that looks like JSON", "{not json}\n[1,2\n\"text\"\n42\nnull\n"},
	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":1,"result":{}}]` + "\n"},
	{"an empty batch", "[]\n"},
	{"a batch with noise in it", `[1,null,[],{"jsonrpc":"2.0","id":"1","method":"ping"}]` + "\n"},
	{"a batch with white space around it", "\xef\xbb\xbf \t[ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} ,\t{\"jsonrpc\":\"2.0\",\"method\":\"n\"},\r] \r\n"},
	{"a batch that breaks off", `[{"jsonrpc":"2.0","id":1,"method":"ping"} , {"jsonrpc":"2.0","id":2,"me`},
	{"ids of every type", `{"jsonrpc":"2.0","id":0,"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":"0","method":"a"}` + "\n" +
		`{"jsonrpc":"2.0","id":0.0,"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":-1,"method":"a"}` + "\n" +
		`{"jsonrpc":"2.0","id":null,"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"a"}` + "\n" +
		`{"jsonrpc":"2.0","id":{"a":1},"method":"a"}` + "\n" + `{"jsonrpc":"2.0","id":" 7 ","method":"a"}` + "\n"},
	{"one id asked twice", string(callTo("a", "5")) + string(callTo("b", "5"))},
	{"params of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["a"]}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":{"a":1}}}` + "\n" + `{"jsonrpc":"2.0","id":3,"method":7}` + "\n"},
	{"two values on one line", `{"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"}` + "\n"},
	{"a message over several lines", "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1\n}\n"},
	{"terminal escapes", "\x1b[31mred\x1b]0;title\a\n"},
	{"unknown members and _meta", callWith(`1,"_meta":{"io.x/y":{"z":[null,true]}},"structuredContent":{"n":9007199254740993}`)},
	{"a cancellation for nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}` + "\n"},
	{"progress for nothing", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}` + "\n"},
	{"UTF-16", "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00\n\x00"},
	{"ten thousand tiny lines", strings.Repeat("{}\n", 10000)},
	{"sixty-four thousand blank lines", strings.Repeat("\n", 64<<10)},
}

func everyByte() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all) + "\n" + string(all)
}

// callWith is a call whose one argument is this raw value.
func callWith(value string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"v":` + value + "}}}\n"
}

func TestHostileBytesReachBothSidesAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			tr := sameAsDirect(t, throughDeed(home), scene{
				toServer: []byte(c.data),
				toClient: []byte(c.data),
				stderr:   []byte(strings.ReplaceAll(c.data, "deed: ", "")),
				mayTell:  true,
			})
			if len(tr.own) > 1 {
				t.Errorf("noise is told once, not %d times: %q", len(tr.own), tr.own)
			}
			mustVerify(t, home)
		})
	}
}

// A client's call and the server's own requests use the same ids in both
// directions at once: nothing is taken for anything else.
func TestRequestsOfBothSidesWithTheSameIDsCross(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	for id := range 20 {
		id := fmt.Sprint(id)
		call, ask := callTo("ask", id), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"sampling/createMessage","params":{}}`+"\n", id)
		s.client.write(call)
		s.server.mustRead(call)
		s.server.write(ask)
		s.client.mustRead(ask)
		s.client.write(answerFor(id))
		s.server.mustRead(answerFor(id))
		s.server.write(answerFor(id))
		s.client.mustRead(answerFor(id))
	}
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	calls := callsIn(t, home)
	if got := count(calls, func(c call) bool { return c.From == "client" && c.Tool == "ask" && c.answered() }); got != 20 {
		t.Errorf("%d calls of the client are recorded with their answer, want 20", got)
	}
	if got := count(calls, func(c call) bool { return c.From == "server" && c.answered() }); got != 20 {
		t.Errorf("%d requests of the server are recorded with their answer, want 20", got)
	}
	mustVerify(t, home)
}

// A partial line waits for minutes in real life; here it waits until the other
// side has said that it is there.
func TestHalfALineArrivesBeforeItsEnd(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	for _, piece := range []string{"{", "\"jsonrpc\":", "\"2.0\",\"id\":1,", "\xf0\x9f", "\x98\x80", "\"method\":\"ping\"", "}", "\r", "\n"} {
		s.client.write([]byte(piece))
		s.server.mustRead([]byte(piece))
		s.server.write([]byte(piece))
		s.client.mustRead([]byte(piece))
	}
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
}

// A client asks before the server is up: what was written first arrives first.
func TestBytesWrittenBeforeTheServerReadsAreNotLost(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	data := bytes.Repeat([]byte("0123456789abcde\n"), 1<<12)
	s.client.write(data[:1<<15])
	s.client.closeInput()
	s.server.mustRead(data[:1<<15])
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustExit(0, patience)
}

func TestRandomBytesInRandomPiecesCrossUnchanged(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	pieces := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 3000), 1, 12)
	fromClient := rapid.Bool()
	rapid.Check(t, func(r *rapid.T) {
		s := open(r, throughDeed(home), setup{})
		for _, piece := range pieces.Draw(r, "pieces") {
			if fromClient.Draw(r, "fromClient") {
				s.client.write(piece)
				s.server.mustRead(piece)
				continue
			}
			s.server.write(piece)
			s.client.mustRead(piece)
		}
		s.client.closeInput()
		s.server.mustSeeEnd()
		s.server.exit(3)
		s.client.mustSeeEnd()
		s.client.mustExit(3, patience)
	})
	mustVerify(t, home)
}
