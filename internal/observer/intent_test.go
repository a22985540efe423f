package observer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// live is an observer at work, whose conversation a test leads.
type live struct {
	*testing.T
	buf   *tap.Buffer
	obs   *Observer
	notes *notebook
	told  []string // of answers to declared calls
	done  chan struct{}
}

func observe(t *testing.T, n *notebook, j Journal) *live {
	t.Helper()
	l := &live{T: t, buf: tap.New(tap.DefaultLimit), notes: n, done: make(chan struct{})}
	l.obs = New(l.buf, Session{Label: "test", Transport: "stdio"}, Options{
		Recorded: func(action string, outcome entry.Outcome, code string) {
			l.told = append(l.told, strings.TrimSpace(action+" "+string(outcome)+" "+code))
		},
	})
	go func() { defer close(l.done); l.obs.Run(context.Background(), j) }()
	return l
}

// say puts a line on the wire and returns its place.
func (l *live) say(from wire.Direction, line string) wire.Place {
	place := l.buf.Offer(from, []byte(line+"\n"))
	l.buf.Settle(place, len(line)+1)
	return place
}

func (l *live) begin(place wire.Place, intents ...Intent) []Begun {
	l.Helper()
	begun, err := l.obs.Begin(l.Context(), place, intents)
	if err != nil {
		l.Fatalf("begin: %v", err)
	}
	return begun
}

func (l *live) settle(b Begun, reason string) {
	l.Helper()
	if err := l.obs.Settle(l.Context(), []Settled{{Begun: b, Reason: reason}}); err != nil {
		l.Fatalf("settle: %v", err)
	}
}

func (l *live) end() {
	l.Helper()
	l.buf.Close(client, 0)
	l.buf.Close(server, 0)
	l.buf.Shut()
	<-l.done
	if err := l.obs.Finish(l.Context(), End{Reason: "client_closed"}); err != nil {
		l.Errorf("finish: %v", err)
	}
}

func toolCall(id, more string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"refund","arguments":{"order":"o1"}` + more + `}}`
}

func refundIntent(id string) Intent {
	return Intent{ID: []byte(id), Tool: "refund", Body: []byte(`{}`), Said: entry.Declaration{Action: "refund:" + id}}
}

func TestAnIntentStandsBehindItsRequestAndItsOutcomeBehindThat(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	place := l.say(client, toolCall("7", ""))
	b := l.begin(place, refundIntent("7"))[0]
	if err := l.obs.Sync(t.Context()); err != nil || n.syncs != 1 {
		t.Errorf("sync: %v, %d syncs of the journal", err, n.syncs)
	}
	l.settle(b, entry.IntentDeclared)
	l.say(server, `{"jsonrpc":"2.0","id":7,"result":{"isError":true}}`)
	l.end()
	want := `session
request client tools/call refund 7
intent refund declaring of 7
intent declared of 7
response server tools/call refund 7 tool_error of 7
end client_closed
`
	if got := n.lines(); got != want {
		t.Errorf("recorded\n%swant\n%s", got, want)
	}
	if b.Seq != 2 || n.entries[3].Intent != 2 || string(n.bodies[2]) != "{}" || n.details[2].Declaration.Action != "refund:7" {
		t.Errorf("intent %+v, outcome %+v", b, n.entries[3])
	}
	if strings.Join(l.told, ",") != "refund:7 tool_error" {
		t.Errorf("told %q", l.told)
	}
}

func TestTheAnswerToACallThatWasNotDeclaredIsNotTold(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	b := l.begin(l.say(client, toolCall("7", "")), refundIntent("7"))[0]
	l.settle(b, entry.IntentFailed)
	l.say(server, `{"jsonrpc":"2.0","id":7,"result":{}}`)
	l.end()
	if len(l.told) != 0 {
		t.Errorf("told %q", l.told)
	}
}

// In the era of 2026-07-28 a server may ask for more; the call goes on under
// another id, and stays one action.
func TestAFurtherRoundOfACallHasNoIntentOfItsOwn(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	first := l.begin(l.say(client, toolCall("7", "")), refundIntent("7"))[0]
	l.settle(first, entry.IntentDeclared)
	l.say(server, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s1","inputRequests":{}}}`)
	second := l.begin(l.say(client, toolCall("8", `,"requestState":"s1","inputResponses":{}`)), refundIntent("8"))[0]
	if !second.Continues || second.Seq != 0 || second.Call != first.Call {
		t.Errorf("the second round is %+v, the first %+v", second, first)
	}
	l.say(server, `{"jsonrpc":"2.0","id":8,"result":{}}`)
	// The same asked once more, without the state, is a call of its own.
	third := l.begin(l.say(client, toolCall("9", "")), refundIntent("9"))[0]
	if third.Continues {
		t.Errorf("another call is taken for a further round: %+v", third)
	}
	l.end()
	if strings.Join(l.told, ",") != "refund:7 ok" {
		t.Errorf("told %q, want the end of the call, once", l.told)
	}
	if got := strings.Count(n.lines(), "intent refund declaring"); got != 2 {
		t.Errorf("%d intents, want one of each call:\n%s", got, n.lines())
	}
}

func TestARefusedRequestIsAnsweredInTheRecordAndOwedNoMore(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	place := l.say(client, toolCall(`"a"`, ""))
	x := refundIntent(`"a"`)
	x.Required = true
	b := l.begin(place, x)[0]
	l.settle(b, entry.IntentRefused)
	if err := l.obs.Refuse(t.Context(), place, [][]byte{[]byte(`"\u0061"`)}, "-32000", "Deed recording failed: no"); err != nil {
		t.Fatal(err)
	}
	l.buf.Close(client, 0)
	<-l.obs.Quiet() // nothing is owed to the client, which is not waited for
	l.end()
	want := `intent refund required of "a"
intent refused of "a"
response server tools/call refund "\u0061" error of "a" [refused]
end client_closed
`
	if got := n.lines(); !strings.HasSuffix(got, want) {
		t.Errorf("recorded\n%swant it to end with\n%s", got, want)
	}
	last := n.entries[len(n.entries)-1]
	if last.Open != 0 || last.ServerBytes != 0 || n.details[4].ErrorText.Whole != "Deed recording failed: no" {
		t.Errorf("end %+v, answer %+v", last, n.details[4])
	}
}

func TestWhatCannotBeDeclaredIsAnEntryOfItsOwn(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	place := l.say(client, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"refund"}}`)
	l.begin(place, Intent{Tool: "refund", Said: entry.Declaration{Why: "no_request_id"}, Refused: true})
	l.end()
	if got := n.lines(); !strings.Contains(got, "intent refund undeclarable [refused]\n") {
		t.Errorf("recorded\n%s", got)
	}
}

// A gate must not wait for a record longer than it was told, whatever the
// record waits for.
func TestAGateGivesUpARecordThatIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck, free := make(chan struct{}), make(chan struct{})
		n := &notebook{}
		n.hook = func(_ context.Context, e *entry.Entry) error {
			if e.Kind == entry.KindRequest {
				close(stuck)
				<-free
			}
			return nil
		}
		l := observe(t, n, n)
		place := l.say(client, toolCall("7", ""))
		l.buf.Kick()
		<-stuck
		for name, ask := range map[string]func(context.Context) error{
			"begin": func(ctx context.Context) error {
				_, err := l.obs.Begin(ctx, place, []Intent{refundIntent("7")})
				return err
			},
			"settle": func(ctx context.Context) error { return l.obs.Settle(ctx, []Settled{{}}) },
			"sync":   l.obs.Sync,
			"refuse": func(ctx context.Context) error { return l.obs.Refuse(ctx, place, nil, "", "") },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v, want it to give up after a second", name, err, time.Since(began))
			}
			cancel()
		}
		close(free)
		l.end()
	})
}

func TestAJournalThatPanicsCostsAGateNothingButItsIntent(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	n.hook = func(_ context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindIntent {
			panic("a fault")
		}
		return nil
	}
	l := observe(t, n, n)
	place := l.say(client, toolCall("7", ""))
	if _, err := l.obs.Begin(t.Context(), place, []Intent{refundIntent("7")}); err == nil {
		t.Error("a lost intent was not told")
	}
	l.say(server, `{"jsonrpc":"2.0","id":7,"result":{}}`)
	l.end()
	if got := n.lines(); !strings.Contains(got, "response server tools/call refund 7 ok of 7") {
		t.Errorf("recorded\n%s", got)
	}
}

func TestWithoutAJournalAGateIsToldSoAndNobodyWaits(t *testing.T) {
	t.Parallel()
	l := observe(t, &notebook{}, nil)
	place := l.say(client, toolCall("7", ""))
	if _, err := l.obs.Begin(t.Context(), place, []Intent{refundIntent("7")}); !errors.Is(err, ErrNotRecording) {
		t.Errorf("begin: %v", err)
	}
	if err := l.obs.Sync(t.Context()); !errors.Is(err, ErrNotRecording) {
		t.Errorf("sync: %v", err)
	}
	l.end()
	if err := l.obs.Settle(t.Context(), []Settled{{}}); !errors.Is(err, ErrNotRecording) {
		t.Errorf("after the end: %v", err)
	}
}

func TestACallWhoseLineNoGateCanHoldIsToldOnce(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	l := observe(t, n, n)
	const limit = 1 << 20
	l.obs.turn <- struct{}{}
	l.obs.held = limit
	<-l.obs.turn
	place := l.say(client, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{"note":"`+strings.Repeat("x", limit)+`"}}}`)
	if tool, seq, err := l.obs.Long(t.Context(), place); err != nil || tool != "refund" || seq != 1 {
		t.Errorf("tool %q, seq %d, error %v", tool, seq, err)
	}
	if tool, _, err := l.obs.Long(t.Context(), place); err != nil || tool != "" {
		t.Errorf("told twice: %q, %v", tool, err)
	}
	l.end()
}
