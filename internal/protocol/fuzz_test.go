package protocol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/wire"
)

// FuzzCalls plays lines to a set of calls, each with the letter of its
// connection and who says it in front, and checks the accounts after each.
func FuzzCalls(f *testing.F) {
	for _, talk := range [][]string{
		{"a>" + ask("1"), "a<" + ask("1"), "a<" + answer("1"), "a>" + cancel("1"), "a>" + ask("1"), "a>" + ask("1"), "a<" + answer("1")},
		{"a>" + call("1", ""), "a<" + more("1", `"s"`), "a>" + call("2", input+stateS), "a<" + more("2", ""), "b>" + call("3", input)},
		{"a>" + askWithToken("1", "7"), "a<" + hands("1", `"t"`), "a<" + progress("7"), "a>" + about("2", "get", `"t"`), "a<" + stateOf("2", `"t"`, "completed")},
		{"a>" + ask("1"), "a<" + handsOld("1", `"t"`), `a<{"id":1,"method":"elicitation/create","params":` + related(`"t"`) + `}`, "a>" + handsOld("1", `"u"`)},
		{"a>" + listen("1"), "a<" + tell("subscriptions/acknowledged", "1"), "a<" + cancel("1"), "a>" + listen("1"), "a<" + answer("1")},
		{"a>" + subscribe("1", "u"), "a<" + updated("u"), `a<{"id":1,"error":{"code":1}}`, "a<" + updated("u")},
	} {
		f.Add([]byte(strings.Join(talk, "\n")))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		calls := NewCalls()
		open, seq := 0, int64(0)
		conn := ""
		listen := func(m *Message) {
			seq++
			switch m.Kind {
			case Request:
				o := calls.Begin(conn, m, seq)
				if o.Call != nil {
					open++
				}
				if (o.Continues == nil) != (o.Round < 2) || o.Continues != nil && (o.RoundAmbiguous || o.RoundUnasked || o.Continues.Seq >= seq) {
					t.Fatalf("%q: it is round %d of %+v", data, o.Round, o.Continues)
				}
				checkRoot(t, o.Task)
			case Response:
				match := calls.Answer(conn, m)
				if match.Call != nil || match.Ambiguous {
					open--
				}
				checkMatch(t, match)
			case Notification:
				checkMatch(t, calls.Notify(conn, m))
			}
			client, server := calls.Owed(wire.FromClient), calls.Owed(wire.FromServer)
			if calls.Len() != open || client < 0 || server < 0 || client+server > open || calls.Waiting() < 0 {
				t.Fatalf("%q: %d are open, want %d; %d and %d are owed, %d wait", data, calls.Len(), open, client, server, calls.Waiting())
			}
		}
		readers := [2]*Reader{NewReader(wire.FromClient, listen), NewReader(wire.FromServer, listen)}
		for line := range bytes.Lines(data) {
			if len(line) < 3 {
				continue
			}
			conn = string(line[:1])
			from := wire.FromClient
			if line[1] == '<' {
				from = wire.FromServer
			}
			readers[from].Feed(line[2:], seq)
			readers[from].Close(seq)
		}
		unanswered := 0
		for c := range 256 {
			_, n := calls.End(string([]byte{byte(c)}))
			unanswered += n
		}
		if unanswered != open || calls.Len() != 0 || calls.Waiting() != 0 || calls.Owed(wire.FromClient)+calls.Owed(wire.FromServer) != 0 {
			t.Fatalf("%q: at the end %d had no answer, want %d, and %d are open, %d wait", data, unanswered, open, calls.Len(), calls.Waiting())
		}
		left := len(calls.byID) + len(calls.byProgress) + len(calls.rounds.waiting.byKey) + calls.rounds.waiting.order.Len() +
			len(calls.tasks.byID.byKey) + len(calls.tasks.byProgress) + len(calls.watched.byKey)
		if left != 0 {
			t.Fatalf("%q: something is remembered after the end", data)
		}
	})
}

func checkMatch(t *testing.T, m Match) {
	t.Helper()
	if m.Call != nil && (m.Ambiguous || m.Unasked) || m.Handle && (m.Task == nil || m.Call == nil) || m.Total < 0 {
		t.Fatalf("a match contradicts itself: %+v", m)
	}
	checkRoot(t, m.Task)
}

// checkRoot checks that the call of a task leads to no other one.
func checkRoot(t *testing.T, call *Call) {
	t.Helper()
	if call != nil && (call.Task != nil || call.First != call) {
		t.Fatalf("the call of a task leads to another one: %+v", call)
	}
}
