package protocol

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/wire"
)

// call is a request whose params hold what is given, besides a name and
// arguments.
func call(id, more string) string {
	return `{"id":` + id + `,"method":"tools/call","params":{"name":"refund","arguments":{"a":1}` + more + `}}`
}

// more is an answer that asks for more and perhaps hands out a state.
func more(id, state string) string {
	if state != "" {
		state = `,"requestState":` + state
	}
	return `{"id":` + id + `,"result":{"resultType":"input_required","inputRequests":{}` + state + `}}`
}

const (
	input   = `,"inputResponses":{}`
	stateS  = `,"requestState":"s"`
	interim = " interim"
)

func TestACallGoesOnInFurtherRounds(t *testing.T) {
	t.Parallel()
	longState := `"` + strings.Repeat("ab/", 3000) + `"`
	for name, c := range map[string]struct {
		lines, want []string
		waiting     int
	}{
		"the next round is known by its state": {
			lines: []string{"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", input+stateS), "< " + answer("2")},
			want:  []string{"-", "0" + interim, "round 2 of 0", "2"},
		},
		"without a state it is known by what it asks for": {
			lines: []string{"> " + call("1", ""), "< " + more("1", ""), "> " + call("2", input), "< " + answer("2")},
			want:  []string{"-", "0" + interim, "round 2 of 0", "2"},
		},
		"a state alone is enough": {
			lines: []string{"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", stateS)},
			want:  []string{"-", "0" + interim, "round 2 of 0"},
		},
		"there may be many rounds": {
			lines: []string{
				"> " + call("1", ""), "< " + more("1", `"a"`), "> " + call("2", input+`,"requestState":"a"`), "< " + more("2", `"b"`),
				"> " + call("3", input+`,"requestState":"b"`), "< " + more("3", ""), "> " + call("4", input), "< " + answer("4"),
			},
			want: []string{"-", "0 interim", "round 2 of 0", "2 interim", "round 3 of 0", "4 interim", "round 4 of 0", "6"},
		},
		"until it comes the call waits": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", `"s"`)},
			want:    []string{"-", "0 interim"},
			waiting: 1,
		},
		"what adds nothing is a new call, however alike": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", ""), "> " + call("2", "")},
			want:    []string{"-", "0 interim", "-"},
			waiting: 1,
		},
		"other arguments are another call": {
			lines: []string{
				"> " + call("1", ""), "< " + more("1", `"s"`),
				`> {"id":2,"method":"tools/call","params":{"name":"refund","arguments":{"a": 1},"requestState":"s"}}`,
			},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"another name is another call": {
			lines: []string{
				"> " + call("1", ""), "< " + more("1", `"s"`),
				`> {"id":2,"method":"tools/call","params":{"name":"refunds","arguments":{"a":1},"requestState":"s"}}`,
			},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"another method is another call": {
			lines: []string{
				"> " + call("1", ""), "< " + more("1", `"s"`),
				`> {"id":2,"method":"prompts/get","params":{"name":"refund","arguments":{"a":1},"requestState":"s"}}`,
			},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"what stands in _meta does not matter, nor does the order": {
			lines: []string{
				"> " + call("1", `,"_meta":{"progressToken":1}`), "< " + more("1", `"s"`),
				`> {"params":{"requestState":"s","arguments":{"a":1},"_meta":{"progressToken":2},"name":"refund"},"method":"tools/call","id":2}`,
			},
			want: []string{"-", "0 interim", "round 2 of 0"},
		},
		"a resource is known by its address": {
			lines: []string{
				`> {"id":1,"method":"resources/read","params":{"uri":"file:///a"}}`, `> {"id":2,"method":"resources/read","params":{"uri":"file:///b"}}`,
				"< " + more("1", ""), "< " + more("2", ""),
				`> {"id":3,"method":"resources/read","params":{"uri":"file:///b","inputResponses":{}}}`,
				`> {"id":4,"method":"resources/read","params":{"uri":"file:///a","inputResponses":{}}}`,
			},
			want: []string{"-", "-", "0 interim", "1 interim", "round 2 of 1", "round 2 of 0"},
		},
		"a state that was not handed out continues nothing": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", input+`,"requestState":"t"`)},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"nor does one where none was": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", ""), "> " + call("2", input+stateS)},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"nor none where one was": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", input)},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"a state of null is none": {
			lines: []string{"> " + call("1", ""), "< " + more("1", "null"), "> " + call("2", input+`,"requestState":null`)},
			want:  []string{"-", "0 interim", "round 2 of 0"},
		},
		"a long state is known to its end, however it is escaped": {
			lines: []string{
				"> " + call("1", ""), "< " + more("1", longState), "> " + call("2", `,"requestState":`+longState[:len(longState)-1]+`x"`),
				"> " + call("3", `,"requestState":`+strings.ReplaceAll(longState, "/", `\/`)),
			},
			want: []string{"-", "0 interim", "a round of none", "round 2 of 0"},
		},
		"calls that are alike are told apart by their states": {
			lines: []string{
				"> " + call("1", ""), "> " + call("2", ""), "< " + more("2", `"two"`), "< " + more("1", `"one"`),
				"> " + call("3", input+`,"requestState":"one"`), "> " + call("4", input+`,"requestState":"two"`),
				"< " + answer("4"), "< " + answer("3"),
			},
			want: []string{"-", "-", "1 interim", "0 interim", "round 2 of 0", "round 2 of 1", "5", "4"},
		},
		"without states nobody knows which goes on, to the last": {
			lines: []string{
				"> " + call("1", ""), "> " + call("2", ""), "< " + more("1", ""), "< " + more("2", ""),
				"> " + call("3", input), "> " + call("4", input), "> " + call("5", input),
			},
			want: []string{"-", "-", "0 interim", "1 interim", "a round of several", "a round of several", "a round of none"},
		},
		"the same state twice is no better": {
			lines: []string{
				"> " + call("1", ""), "> " + call("2", ""), "< " + more("1", `"s"`), "< " + more("2", `"s"`), "> " + call("3", stateS),
			},
			want:    []string{"-", "-", "0 interim", "1 interim", "a round of several"},
			waiting: 1,
		},
		"one round is continued once": {
			lines: []string{"> " + call("1", ""), "< " + more("1", `"s"`), "> " + call("2", stateS), "> " + call("3", stateS)},
			want:  []string{"-", "0 interim", "round 2 of 0", "a round of none"},
		},
		"the other side does not continue it": {
			lines:   []string{"> " + call("1", ""), "< " + more("1", `"s"`), "< " + call("2", stateS)},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"nor does another connection": {
			lines:   []string{">a " + call("1", ""), "<a " + more("1", `"s"`), ">b " + call("1", stateS)},
			want:    []string{"-", "0 interim", "a round of none"},
			waiting: 1,
		},
		"what was cancelled is not waited for": {
			lines: []string{"> " + call("1", ""), "> " + cancel("1"), "< " + more("1", `"s"`)},
			want:  []string{"-", "0", "0 late interim"},
		},
		"an answer that may be of two calls is an interim one all the same": {
			lines: []string{"> " + call("1", ""), "> " + call("1", ""), "< " + more("1", `"s"`), "< " + more("9", `"s"`)},
			want:  []string{"-", "ambiguous", "ambiguous interim", "unasked interim"},
		},
		"an error ends the call": {
			lines: []string{
				"> " + call("1", ""), `< {"id":1,"result":{"resultType":"input_required"},"error":{"code":1}}`, "> " + call("2", input),
			},
			want: []string{"-", "0", "a round of none"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := NewCalls()
			if diff := cmp.Diff(c.want, converse(t, calls, c.lines...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if calls.Waiting() != c.waiting {
				t.Errorf("%d calls wait for another round, want %d", calls.Waiting(), c.waiting)
			}
		})
	}
}

func TestWhileACallWaitsForItsNextRoundNothingIsOwed(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	converse(t, calls, "> "+call("1", ""), "< "+more("1", `"s"`))
	if calls.Owed(wire.FromClient) != 0 || calls.Len() != 0 || calls.Waiting() != 1 {
		t.Errorf("%d are owed, %d open, %d wait", calls.Owed(wire.FromClient), calls.Len(), calls.Waiting())
	}
	ended, unanswered := calls.End("")
	if len(ended) != 1 || unanswered != 0 || !ended[0].Waiting || ended[0].Seq != 0 || calls.Waiting() != 0 {
		t.Errorf("%d calls were not over, %d without an answer, %d still wait", len(ended), unanswered, calls.Waiting())
	}
	if got := converse(t, calls, "> "+call("2", stateS)); got[0] != "a round of none" {
		t.Errorf("after the end of the connection the next round is %q", got[0])
	}
}

func TestTheTotalOfACallIsSinceItsFirstRequest(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	say := func(from wire.Direction, at int64, line string) (match Match) {
		NewReader(from, func(m *Message) {
			if m.Kind == Request {
				calls.Begin("", m, at)
			} else {
				match = calls.Answer("", m)
			}
		}).Feed([]byte(line+"\n"), at)
		return match
	}
	say(wire.FromClient, 100, call("1", ""))
	if match := say(wire.FromServer, 150, more("1", `"s"`)); match.Total != 50 {
		t.Errorf("the interim answer took %d µs", match.Total)
	}
	say(wire.FromClient, 1000, call("2", stateS))
	match := say(wire.FromServer, 1020, answer("2"))
	if match.Total != 920 || match.Call.At != 1000 || match.Call.First.At != 100 || match.Call.Round != 2 {
		t.Errorf("the call took %d µs in %d rounds, of which the last began at %d and the first at %d",
			match.Total, match.Call.Round, match.Call.At, match.Call.First.At)
	}
	say(wire.FromClient, 2000, call("3", ""))
	if match := say(wire.FromServer, 1999, answer("3")); match.Total != 0 {
		t.Errorf("an answer before its request took %d µs", match.Total)
	}
}

func TestRoundsThatNeverComeAreForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	var lines []string
	for i := range keptRounds + 5 {
		lines = append(lines, "> "+call("1", ""), "< "+more("1", fmt.Sprint(i)))
	}
	converse(t, calls, lines...)
	if calls.Waiting() != keptRounds || len(calls.rounds.waiting.byKey) != keptRounds {
		t.Errorf("%d wait, and %d are remembered", calls.Waiting(), len(calls.rounds.waiting.byKey))
	}
	got := converse(t, calls, "> "+call("1", `,"requestState":4`), "> "+call("2", `,"requestState":5`))
	if got[0] != "a round of none" || got[1] != "round 2 of 10" {
		t.Errorf("the last that was forgotten and the first that was kept are %q", got)
	}
}

func TestRoundsThatNobodyCanTellApartAreNotRememberedForEver(t *testing.T) {
	t.Parallel()
	calls := NewCalls()
	lines := []string{"> " + call("1", ""), "< " + more("1", "")}
	for range 3 * keptShared {
		lines = append(lines, "> "+call("1", ""), "< "+more("1", ""), "> "+call("2", input), "< "+answer("2"))
	}
	for i, got := range converse(t, calls, lines...) {
		if i > 2 && i%4 == 0 && got != "a round of several" {
			t.Fatalf("line %d, the next round of one of several calls, is %q", i, got)
		}
	}
	ended, unanswered := calls.End("")
	if len(ended) > keptShared+2 || unanswered != 0 || calls.Waiting() != 0 {
		t.Errorf("%d were remembered, %d unanswered, %d wait still", len(ended), unanswered, calls.Waiting())
	}
}

// A plain list of calls is the model: slower, and obviously right.
func TestRoundsAgreeWithAListOfCalls(t *testing.T) {
	t.Parallel()
	type asked struct {
		id, state string // state of its last answer
		arguments string
		first     int64
		round     int
		shared    bool // it looks like another one did while both waited
	}
	rapid.Check(t, func(t *rapid.T) {
		calls := NewCalls()
		var open, waiting []asked
		say := func(from wire.Direction, seq int64, line string) (o Opened, match Match) {
			NewReader(from, func(m *Message) {
				if m.Kind == Request {
					o = calls.Begin("", m, seq)
				} else {
					match = calls.Answer("", m)
				}
			}).Feed([]byte(line+"\n"), seq)
			return o, match
		}
		states := rapid.SampledFrom([]string{"", `"s"`, `"t"`, "5"})
		for seq := range int64(rapid.IntRange(1, 80).Draw(t, "messages")) {
			if rapid.Bool().Draw(t, "an answer") && len(open) > 0 {
				at := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				a := open[at]
				open = append(open[:at:at], open[at+1:]...)
				line := answer(a.id)
				asks := rapid.IntRange(0, 2).Draw(t, "asks for more") > 0
				if asks {
					a.state = states.Draw(t, "state")
					line = more(a.id, a.state)
				}
				_, match := say(wire.FromServer, seq, line)
				if match.Call == nil || match.Interim != asks || match.Call.First.Seq != a.first || match.Call.Round != a.round {
					t.Fatalf("answer %d: %+v, want round %d of %d", seq, match, a.round, a.first)
				}
				if match.Total != seq-a.first {
					t.Fatalf("answer %d: it took %d, want %d", seq, match.Total, seq-a.first)
				}
				if asks {
					for i := range waiting {
						if waiting[i].state == a.state && waiting[i].arguments == a.arguments {
							waiting[i].shared, a.shared = true, true
						}
					}
					waiting = append(waiting, a)
				}
				continue
			}
			a := asked{
				id: fmt.Sprint(seq), arguments: rapid.SampledFrom([]string{"{}", "[1]"}).Draw(t, "arguments"), first: seq, round: 1,
			}
			state, brings := states.Draw(t, "state"), rapid.Bool().Draw(t, "input")
			line := `{"id":` + a.id + `,"method":"tools/call","params":{"arguments":` + a.arguments
			if state != "" {
				line += `,"requestState":` + state
			}
			if brings {
				line += input
			}
			var same []int
			for i, w := range waiting {
				if (brings || state != "") && w.state == state && w.arguments == a.arguments {
					same = append(same, i)
				}
			}
			o, _ := say(wire.FromClient, seq, line+"}}")
			switch {
			case !brings && state == "":
				if o.Round != 1 || o.RoundUnasked || o.RoundAmbiguous {
					t.Fatalf("request %d is a new one: %+v", seq, o)
				}
			case len(same) == 0:
				if !o.RoundUnasked || o.Continues != nil {
					t.Fatalf("request %d continues nothing: %+v", seq, o)
				}
			case waiting[same[0]].shared:
				if !o.RoundAmbiguous || o.Continues != nil {
					t.Fatalf("request %d: one of several was guessed: %+v", seq, o)
				}
			default:
				w := waiting[same[0]]
				if o.Continues == nil || o.Continues.Seq != w.first || o.Round != w.round+1 {
					t.Fatalf("request %d is %+v, want round %d of %d", seq, o, w.round+1, w.first)
				}
				a.first, a.round = w.first, w.round+1
			}
			if len(same) > 0 {
				waiting = append(waiting[:same[0]:same[0]], waiting[same[0]+1:]...)
			}
			open = append(open, a)
			if calls.Len() != len(open) || calls.Owed(wire.FromClient) != len(open) || calls.Waiting() != len(waiting) {
				t.Fatalf("%d are open, %d owed, %d wait, want %d and %d", calls.Len(), calls.Owed(wire.FromClient), calls.Waiting(),
					len(open), len(waiting))
			}
		}
	})
}
