package protocol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/wire"
)

func ask(id string) string    { return `{"id":` + id + `,"method":"tools/call","params":{"name":"x"}}` }
func answer(id string) string { return `{"id":` + id + `,"result":{}}` }
func cancel(id string) string {
	return `{"method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func progress(token string) string {
	return `{"method":"notifications/progress","params":{"progressToken":` + token + `}}`
}

func askWithToken(id, token string) string {
	return `{"id":` + id + `,"method":"tools/call","params":{"_meta":{"progressToken":` + token + `}}}`
}

func TestWhatBelongsTogether(t *testing.T) {
	t.Parallel()
	long, longer := `"`+strings.Repeat("x", 5000)+`"`, `"`+strings.Repeat("x", 4999)+`y"`
	for name, c := range map[string]struct {
		lines, want []string
		clientOwed  int // what the server owes the client
		serverOwed  int
		open        int
	}{
		"an answer belongs to the request with its id": {
			lines: []string{"> " + ask("1"), "> " + ask("2"), "< " + answer("2"), "< " + answer("1")},
			want:  []string{"-", "-", "1", "0"},
		},
		"1, \"1\" and 1.0 are three ids": {
			lines:      []string{"> " + ask("1"), "< " + answer(`"1"`), "< " + answer("1.0"), "< " + answer("1")},
			want:       []string{"-", "unasked", "unasked", "0"},
			clientOwed: 0,
		},
		"an id is compared as it was written": {
			lines: []string{
				"> " + ask(`"007"`), "> " + ask("12345678901234567890"), "> " + ask("-0"), "> " + ask("1e400"),
				"< " + answer("7"), "< " + answer("12345678901234567891"), "< " + answer("0"), "< " + answer("1e401"),
			},
			want:       []string{"-", "-", "-", "-", "unasked", "unasked", "unasked", "unasked"},
			clientOwed: 4, open: 4,
		},
		"a string is the same string however it is escaped": {
			lines: []string{"> " + ask(`"a/é"`), "< " + answer(`"a\/\u00e9"`)},
			want:  []string{"-", "0"},
		},
		"half a surrogate pair is what it is": {
			lines: []string{"> " + ask(`"\ud800"`), "< " + answer(`"\\ud800"`), "< " + answer(`"\ud800"`)},
			want:  []string{"-", "unasked", "0"},
		},
		"long ids are told apart by their end": {
			lines: []string{"> " + ask(long), "< " + answer(longer), "< " + answer(long)},
			want:  []string{"-", "unasked", "0"},
		},
		"a request of the server with a pending id is no answer": {
			lines:      []string{"> " + ask("1"), "< " + ask("1"), "< " + answer("1"), "> " + answer("1")},
			want:       []string{"-", "-", "0", "1"},
			clientOwed: 0,
		},
		"nobody answers its own request": {
			lines:      []string{"> " + ask("1"), "> " + answer("1")},
			want:       []string{"-", "unasked"},
			clientOwed: 1, open: 1,
		},
		"connections have nothing to do with each other": {
			lines:      []string{">a " + ask("1"), ">b " + ask("1"), "<b " + answer("1"), "<c " + answer("1")},
			want:       []string{"-", "-", "1", "unasked"},
			clientOwed: 1, open: 1,
		},
		"two in flight with one id are both ambiguous": {
			lines: []string{"> " + ask("1"), "> " + ask("1"), "< " + answer("1"), "< " + answer("1"), "< " + answer("1")},
			want:  []string{"-", "ambiguous", "ambiguous", "ambiguous", "unasked"},
		},
		"after one of two answers the other is still owed, and still ambiguous": {
			lines:      []string{"> " + ask("1"), "> " + ask("1"), "< " + answer("1")},
			want:       []string{"-", "ambiguous", "ambiguous"},
			clientOwed: 1, open: 1,
		},
		"an id may be used again once it was answered": {
			lines: []string{"> " + ask("1"), "< " + answer("1"), "> " + ask("1"), "< " + answer("1")},
			want:  []string{"-", "0", "-", "2"},
		},
		"a second answer was not asked for": {
			lines: []string{"> " + ask("1"), "< " + answer("1"), "< " + answer("1")},
			want:  []string{"-", "0", "unasked"},
		},
		"an id of null pairs with nothing": {
			lines: []string{"> " + ask("null"), "< " + answer("null")},
			want:  []string{"-", "unasked"},
		},
		"an error without an id belongs to nothing": {
			lines:      []string{"> " + ask("1"), `< {"jsonrpc":"2.0","error":{"code":-32700}}`},
			want:       []string{"-", "unasked"},
			clientOwed: 1, open: 1,
		},
		"an answer after a cancellation is late": {
			lines: []string{"> " + ask("1"), "> " + cancel("1"), "< " + answer("1")},
			want:  []string{"-", "0", "0 late"},
		},
		"what was cancelled is open and not owed": {
			lines: []string{"> " + ask("1"), "> " + cancel("1"), "> " + cancel("1")},
			want:  []string{"-", "0", "0"},
			open:  1,
		},
		"only who asked can cancel": {
			lines:      []string{"> " + ask("1"), "< " + cancel("1"), "< " + answer("1"), "> " + cancel("1")},
			want:       []string{"-", "unasked", "0", "unasked"},
			clientOwed: 0,
		},
		"a cancellation of one of two is ambiguous": {
			lines:      []string{"> " + ask("1"), "> " + ask("1"), "> " + cancel("1")},
			want:       []string{"-", "ambiguous", "ambiguous"},
			clientOwed: 1, open: 2,
		},
		"a cancellation may name nothing": {
			lines: []string{`> {"method":"notifications/cancelled"}`, `> {"method":"notifications/cancelled","params":{"requestId":null}}`},
			want:  []string{"unasked", "unasked"},
		},
		"progress belongs to the call that gave the token": {
			lines: []string{
				"> " + askWithToken("1", `"p"`), "> " + askWithToken("2", "1"), "< " + progress("1"), "< " + progress(`"p"`),
				"> " + progress(`"p"`), "< " + progress(`"1"`),
			},
			want:       []string{"-", "-", "1", "0", "unasked", "unasked"},
			clientOwed: 2, open: 2,
		},
		"progress ends with the call": {
			lines: []string{"> " + askWithToken("1", `"p"`), "< " + answer("1"), "< " + progress(`"p"`)},
			want:  []string{"-", "0", "unasked"},
		},
		"two calls with one token make its progress ambiguous, until both are answered": {
			lines: []string{
				"> " + askWithToken("1", "5"), "> " + askWithToken("2", "5"), "< " + progress("5"), "< " + answer("1"),
				"< " + progress("5"), "< " + answer("2"), "< " + progress("5"), "> " + askWithToken("3", "5"), "< " + progress("5"),
			},
			want:       []string{"-", "-", "ambiguous", "0", "ambiguous", "1", "unasked", "-", "7"},
			clientOwed: 1, open: 1,
		},
		"without a token the id stands for it": {
			lines:      []string{"> " + ask("1"), "< " + progress("1")},
			want:       []string{"-", "0"},
			clientOwed: 1, open: 1,
		},
		"with another token it does not": {
			lines:      []string{"> " + askWithToken("1", "2"), "< " + progress("1")},
			want:       []string{"-", "unasked"},
			clientOwed: 1, open: 1,
		},
		"the server's calls are paired alike": {
			lines: []string{"< " + askWithToken("1", "9"), "> " + progress("9"), "< " + cancel("1"), "< " + ask("2"), "> " + answer("1")},
			want:  []string{"-", "0", "0", "-", "0 late"},
			// The second one waits for the client.
			serverOwed: 1, open: 1,
		},
		"other notifications belong to nothing": {
			lines:      []string{"> " + ask("1"), `< {"method":"notifications/message","params":{"progressToken":1,"requestId":1}}`},
			want:       []string{"-", "-"},
			clientOwed: 1, open: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := NewCalls()
			if diff := cmp.Diff(c.want, converse(t, calls, c.lines...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if calls.Owed(wire.FromClient) != c.clientOwed || calls.Owed(wire.FromServer) != c.serverOwed || calls.Len() != c.open {
				t.Errorf("owed %d to the client, %d to the server, %d open, want %d, %d, %d", calls.Owed(wire.FromClient),
					calls.Owed(wire.FromServer), calls.Len(), c.clientOwed, c.serverOwed, c.open)
			}
		})
	}
}

func TestACallKeepsWhatItsAnswerIsRecordedWith(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	converse(t, calls, "> "+ask("1"), "< "+ask("5"))
	open, unanswered := calls.End("")
	if len(open) != 2 || unanswered != 2 {
		t.Fatalf("%d calls are open, %d without an answer", len(open), unanswered)
	}
	c := open[0]
	if string(c.Method.Raw) != `"tools/call"` || string(c.Name.Raw) != `"x"` || c.From != wire.FromClient {
		t.Errorf("the call is %q of %q by the %s", c.Method.Raw, c.Name.Raw, c.From)
	}
}

func TestTheEndOfAConnectionForgetsItsCallsAndNoOthers(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	converse(t, calls, ">a "+ask("1"), ">b "+askWithToken("1", "7"), ">a "+ask("2"), ">a "+ask("2"), "<a "+answer("2"), ">a "+cancel("1"))
	ended, unanswered := calls.End("a")
	if len(ended) != 3 || ended[0].Seq != 0 || ended[1].Seq != 2 || ended[2].Seq != 3 || unanswered != 2 {
		t.Errorf("%d calls ended, %d without an answer", len(ended), unanswered)
	}
	if calls.Len() != 1 || calls.Owed(wire.FromClient) != 1 {
		t.Errorf("%d are open, %d owed, where the other connection has one", calls.Len(), calls.Owed(wire.FromClient))
	}
	if got := converse(t, calls, "<b "+progress("7"), "<b "+answer("1")); got[0] != "1" || got[1] != "1" {
		t.Errorf("the other connection's call got %q", got)
	}
	if len(calls.byID) != 0 || len(calls.byProgress) != 0 {
		t.Error("something is remembered after the last answer")
	}
}

func TestOneIDForEverythingIsNotRememberedForEver(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	lines := []string{"> " + askWithToken("1", "1")}
	for range 3 * keptShared {
		lines = append(lines, "> "+askWithToken("1", "1"), "< "+answer("1"))
	}
	for i, got := range converse(t, calls, lines...)[1:] {
		if got != "ambiguous" {
			t.Fatalf("line %d, a request or an answer with the one id, was %q", i+1, got)
		}
	}
	ended, unanswered := calls.End("")
	if len(ended) > keptShared+2 || unanswered != 1 || calls.Len() != 0 || len(calls.byProgress) != 0 {
		t.Errorf("%d were remembered, %d of them without an answer", len(ended), unanswered)
	}
}

// A plain list of requests is the model: slower, and obviously right.
func TestPairingAgreesWithAListOfRequests(t *testing.T) {
	t.Parallel()
	type asked struct {
		from      wire.Direction
		id        string
		seq       int64
		cancelled bool
		shared    bool
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := NewCalls()
		var open []asked
		ids := rapid.SampledFrom([]string{"1", `"1"`, "1.0", "0", `"a"`})
		for seq := range int64(rapid.IntRange(1, 60).Draw(t, "messages")) {
			from := wire.Direction(rapid.IntRange(0, 1).Draw(t, "from"))
			id := ids.Draw(t, "id")
			what := rapid.SampledFrom([]string{"ask", "answer", "cancel"}).Draw(t, "what")
			text, asker := ask(id), from
			switch what {
			case "answer":
				text, asker = answer(id), other(from)
			case "cancel":
				text = cancel(id)
			}
			var same []int
			for i, a := range open {
				if a.from == asker && a.id == id {
					same = append(same, i)
				}
			}
			NewReader(from, func(m *Message) {
				switch what {
				case "ask":
					if calls.Open("", m, seq) != (len(same) > 0) {
						t.Fatalf("opening %s: ambiguity is wrong with %d open", id, len(same))
					}
					open = append(open, asked{from: from, id: id, seq: seq, shared: len(same) > 0})
					for _, i := range same {
						open[i].shared = true
					}
				default:
					match := calls.Answer("", m)
					if what == "cancel" {
						match = calls.Notify("", m)
					}
					switch {
					case len(same) == 0:
						if !match.Unasked {
							t.Fatalf("%s %s: nothing was open", what, id)
						}
						return
					case open[same[0]].shared:
						if !match.Ambiguous || match.Call != nil {
							t.Fatalf("%s %s: one of several was guessed", what, id)
						}
					case match.Call == nil || match.Call.Seq != open[same[0]].seq:
						t.Fatalf("%s %s: it belongs to %d", what, id, open[same[0]].seq)
					case what == "answer" && match.Late != open[same[0]].cancelled:
						t.Fatalf("%s %s: late is %v", what, id, match.Late)
					}
					if what == "answer" {
						open = append(open[:same[0]], open[same[0]+1:]...)
					} else {
						open[same[0]].cancelled = true
					}
				}
			}).Feed([]byte(text+"\n"), seq)
			if calls.Len() != len(open) {
				t.Fatalf("%d are open, not %d", calls.Len(), len(open))
			}
		}
	})
}

func TestAnOpenSubscriptionIsNotOwedAnAnswer(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	converse(t, calls,
		`> {"id":1,"method":"subscriptions/listen","params":{}}`,
		`> `+ask("2"),
	)
	if got := calls.Owed(wire.FromClient); got != 1 {
		t.Errorf("%d answers are owed, want that to the tool call only", got)
	}
	converse(t, calls, `< `+answer("2"), `< `+answer("1"))
	if got, open := calls.Owed(wire.FromClient), calls.Len(); got != 0 || open != 0 {
		t.Errorf("%d answers are owed and %d requests open after both were answered", got, open)
	}
}
