package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/wire"
)

const (
	ping   = `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n"
	order  = `{"order":"o1","amount":180.0}`
	refund = `refund`
)

func TestAMappedCallIsOnRecordAndDeclaredBeforeItGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	sent := []string{ping, callOf("7", refund, order), callOf("8", "list", order), ping}
	atServer, atClient := b.through(sent...)
	if atServer != strings.Join(sent, "") || atClient != "" {
		t.Errorf("the server got %q, the client %q", atServer, atClient)
	}
	b.mustNote("begin mcp:refund:s:7", "sync", "declare mcp:refund:s:7", "settle 1 declared")
	b.mustTell(0, "")
	if n := b.notes.hurried.Load(); n != 1 {
		t.Errorf("the record was hurried %d times, want once, for the mapped call", n)
	}
}

func TestACallThatCouldNotBeDeclaredGoesOnAndWaitsInTheOutbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, failing("HTTP 503 unavailable", false))
	sent := callOf("7", refund, order)
	if atServer, atClient := b.through(sent); atServer != sent || atClient != "" {
		t.Errorf("the server got %q, the client %q", atServer, atClient)
	}
	b.mustNote("begin mcp:refund:s:7", "sync", "declare mcp:refund:s:7", "settle 1 failed")
	b.mustTell(1, "mcp:refund:s:7 failed: HTTP 503 unavailable; the call was forwarded, and the declaration waits in the outbox")
	if b.kicks != 1 {
		t.Errorf("the outbox was woken %d times, want once", b.kicks)
	}
}

func TestACallThatTheServerWillNeverTakeGoesOnAndIsUndeliverable(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, failing("HTTP 400 invalid_request", true))
	sent := callOf("7", refund, order)
	if atServer, _ := b.through(sent); atServer != sent {
		t.Errorf("the server got %q", atServer)
	}
	b.mustNote("begin mcp:refund:s:7", "sync", "declare mcp:refund:s:7", "settle 1 undeliverable")
	b.mustTell(1, "kept as undeliverable")
}

func TestARequiredCallThatCouldNotBeDeclaredIsRefusedUnderItsOwnID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"7", `"7"`, "7.0", `"a\u0062\/"`, "12345678901234567890123", `"` + strings.Repeat("x", 3000) + `"`} {
		b := newBench(t, func(o *Options) { o.Required = true }, failing("unreachable", false))
		atServer, atClient := b.through(ping, callOf(id, "charge", order), ping)
		if atServer != ping+ping {
			t.Fatalf("the server got %.200q", atServer)
		}
		want := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"Deed recording failed: unreachable"}}` + "\n"
		if atClient != want {
			t.Errorf("the client got %.200q, want %.200q", atClient, want)
		}
		notes := b.notes.all()
		if got := notes[len(notes)-2:]; got[0] != "settle 1 refused" || got[1] != "refuse "+id+" -32000" {
			t.Errorf("the record ends with %.200q", got)
		}
	}
}

func TestABatchIsDeclaredWholeAndGoesOnWhole(t *testing.T) {
	t.Parallel()
	batch := "[" + strings.TrimSpace(callOf("1", refund, `{"order":"a"}`)) + ", " + strings.TrimSpace(callOf("2", "list", order)) + "," +
		strings.TrimSpace(callOf(`"3"`, "charge", `{"order":"b"}`)) + `,{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":9,"result":{}}]` + "\n"
	b := newBench(t, nil, nil)
	if atServer, _ := b.through(batch); atServer != batch {
		t.Errorf("the server got %q", atServer)
	}
	if got := strings.Join(b.notes.all(), ","); !strings.HasPrefix(got, "begin mcp:refund:s:1,begin charge:b,sync,declare ") || !strings.HasSuffix(got, ",settle 1 declared,settle 2 declared") {
		t.Errorf("the record has %s", got)
	}

	required := newBench(t, func(o *Options) { o.Required = true }, func(_ context.Context, body string) outbox.Result {
		return outbox.Result{Declared: action(body) != "charge:b", Why: "HTTP 500"}
	})
	atServer, atClient := required.through(batch, ping)
	if atServer != ping {
		t.Errorf("the server got %q", atServer)
	}
	one := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"Deed recording failed: HTTP 500"}}`
	}
	// The answer to a question of the server's own is none of the requests.
	if want := "[" + one("1") + "," + one("2") + "," + one(`"3"`) + "]\n"; atClient != want {
		t.Errorf("the client got %q, want %q", atClient, want)
	}
}

func TestWhatCannotBeDeclaredGoesOnAndIsOnRecord(t *testing.T) {
	t.Parallel()
	twice := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list","name":"refund","arguments":{"order":"o"}}}` + "\n"
	for _, test := range []struct{ name, line, why string }{
		{"without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"refund","arguments":{"order":"o"}}}` + "\n", "no_request_id"},
		{"with null as its id", callOf("null", refund, order), "no_request_id"},
		{"without a subject", callOf("7", refund, `{"amount":1}`), "subject_absent"},
		{"with an object as its subject", callOf("7", refund, `{"order":{}}`), "not_scalar"},
		{"with the subject twice", callOf("7", refund, `{"order":"a","order":"b"}`), "key_twice"},
		{"with two names", twice, "key_twice"},
		{"with two methods", `{"id":7,"method":"tools/call","method":"ping","params":{"name":"refund","arguments":{}}}` + "\n", "key_twice"},
		{"with two params", `{"id":7,"method":"tools/call","params":{"name":"refund","arguments":{"order":"a"}},"params":{"name":"list"}}` + "\n", "key_twice"},
		{"behind another message on its line", strings.TrimSpace(ping) + " " + callOf("7", refund, order), "key_twice"},
		{"with an escaped method", strings.Replace(callOf("7", refund, `{}`), "tools/call", `tools\/call`, 1), "subject_absent"},
		{"with a spelled out method", strings.Replace(callOf("7", refund, `{}`), "tools/call", `\u0074ools/call`, 1), "subject_absent"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(o *Options) { o.Required = true }, nil)
			if atServer, atClient := b.through(test.line); atServer != test.line || atClient != "" {
				t.Errorf("the server got %q, the client %q", atServer, atClient)
			}
			b.mustNote("undeclarable refund " + test.why)
			b.mustTell(1, "refund cannot be declared")

			strict := newBench(t, func(o *Options) { o.Strict = true }, nil)
			atServer, atClient := strict.through(test.line)
			if atServer != "" {
				t.Errorf("under --strict the server got %q", atServer)
			}
			if hasID := !strings.Contains(test.why, "no_request_id"); hasID != strings.Contains(atClient, `"code":-32000`) {
				t.Errorf("under --strict the client got %q", atClient)
			}
			if notes := strict.notes.all(); notes[0] != "undeclarable refund "+test.why+" refused" {
				t.Errorf("under --strict the record has %q", notes)
			}
		})
	}
}

func TestWhatIsNoCallOfAMappedToolPassesUntouched(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"\n", "\r\n", "tools/call\n", "{\n", `{"method":"tools/call"` + "\n", `"tools/call"` + "\n",
		"\xef\xbb\xbf" + ping, ping, callOf("1", "Refund", order), callOf("1", "refund ", order),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"refund"}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["refund"]}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"name":"refund"}}}` + "\n",
		`{"jsonrpc":"2.0","id":1,"result":{"method":"tools/call","params":{"name":"refund"}}}` + "\n",
		"[]\n", "[1]\n", strings.Repeat("[", 5000) + "\n", `{"a":"tools/call \u0000"}` + "\n",
	} {
		b := newBench(t, func(o *Options) { o.Required, o.Strict = true, true }, nil)
		if atServer, atClient := b.through(line); atServer != line || atClient != "" {
			t.Errorf("of %q the server got %q, the client %q", line, atServer, atClient)
		}
		b.mustNote()
		b.mustTell(0, "")
	}
}

func TestALongCallIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	long := callOf("7", refund, `{"note":"`+strings.Repeat("tools/call ", 300_000)+`","order":"o1"}`)
	other := callOf("8", "list", `{"note":"`+strings.Repeat("refund ", 300_000)+`"}`)
	b := newBench(t, nil, nil)
	if atServer, _ := b.through(long, other, ping); atServer != long+other+ping {
		t.Errorf("the server got %d bytes", len(atServer))
	}
	b.mustNote("begin mcp:refund:s:7", "sync", "declare mcp:refund:s:7", "settle 1 declared")
}

func TestAFurtherRoundOfACallIsNotDeclaredAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.Required = true }, nil)
	b.notes.continues = []string{"8"}
	sent := []string{callOf("7", refund, order), callOf("8", refund, order)}
	if atServer, _ := b.through(sent...); atServer != sent[0]+sent[1] {
		t.Errorf("the server got %q", atServer)
	}
	for _, line := range b.notes.all() {
		if strings.Contains(line, "s:8") {
			t.Errorf("the further round was declared: %s", line)
		}
	}
}

func TestOrderIsKeptWhileSeveralCallsDeclareAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const calls = 10
		var mu sync.Mutex
		most, now := 0, 0
		b := newBench(t, nil, func(_ context.Context, body string) outbox.Result {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			// The first takes longest, so that each is done before the one ahead of it.
			var n int
			fmt.Sscanf(action(body), "mcp:refund:s:%d", &n)
			time.Sleep(time.Duration(calls-n) * 100 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return outbox.Result{Declared: true}
		})
		var sent []string
		for n := range calls {
			sent = append(sent, callOf(fmt.Sprint(n), refund, order), ping)
		}
		began := time.Now()
		atServer, _ := b.through(sent...)
		if atServer != strings.Join(sent, "") {
			t.Errorf("the server got %q", atServer)
		}
		if took := time.Since(began); most != calls || took != time.Second {
			t.Errorf("%d declared at once in %v, want %d in a second", most, took, calls)
		}
	})
}

func TestACallWaitsNoLongerThanItWasTold(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ string) outbox.Result {
		<-ctx.Done()
		return outbox.Result{Class: "no answer in time", Why: "no answer within 5s"}
	}
	for _, test := range []struct {
		name   string
		change func(*Options)
		calls  int
		stuck  int
		want   time.Duration
	}{
		{"a server that hangs", nil, 1, 0, 5 * time.Second},
		{"more calls than are sent at once", nil, 3 * slots, 0, 5 * time.Second},
		{"a record that hangs", nil, 1, 100, 5 * time.Second},
		{"another time", func(o *Options) { o.Timeout = 200 * time.Millisecond }, 1, 0, 200 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, test.change, hang)
				b.notes.stuck = test.stuck
				var sent []string
				for n := range test.calls {
					sent = append(sent, callOf(fmt.Sprint(n), refund, order))
				}
				if atServer, _ := b.through(sent...); atServer != strings.Join(sent, "") {
					t.Errorf("the server got %q", atServer)
				}
				if b.took != test.want {
					t.Errorf("it took %v, want %v", b.took, test.want)
				}
			})
		})
	}
}

// Once a record was late a call does not wait for it each time, but for one that
// does not go on without.
func TestARecordThatWasLateIsWaitedForWhereItIsRequired(t *testing.T) {
	t.Parallel()
	for required, want := range map[bool]time.Duration{false: 2500*time.Millisecond + lateTime, true: 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Required = required }, nil)
			b.notes.stuck = 100
			b.through(callOf("7", refund, order))
			first := b.took
			b.through(callOf("8", refund, order))
			if took := first + b.took; took != want {
				t.Errorf("required %t: two calls took %v, want %v", required, took, want)
			}
		})
	}
}

// What is not in the record when a call has to go on is written behind it, so
// that it is sent later all the same.
func TestARecordThatWasLateHasTheIntentAfterTheCallWentOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil, failing("unreachable", false))
		b.notes.stuck = 3
		sent := callOf("7", refund, order)
		if atServer, _ := b.through(sent); atServer != sent || b.took != 2500*time.Millisecond {
			t.Errorf("the server got %q after %v", atServer, b.took)
		}
		b.mustNote("declare mcp:refund:s:7", "settle 0 failed", "begin mcp:refund:s:7", "settle 1 failed")
		b.mustTell(1, "the declaration waits in the outbox")
	})
}

func TestWithoutARecordACallIsDeclaredAllTheSameUnlessItIsRequired(t *testing.T) {
	t.Parallel()
	sent := callOf("7", refund, order)
	b := newBench(t, nil, nil)
	b.notes.broken = errors.New("nothing is recorded")
	for range 2 {
		if atServer, _ := b.through(sent); atServer != sent {
			t.Errorf("the server got %q", atServer)
		}
	}
	b.mustNote("declare mcp:refund:s:7", "settle 0 declared", "declare mcp:refund:s:7", "settle 0 declared")
	b.mustTell(1, "an intent is not in the journal") // once

	required := newBench(t, func(o *Options) { o.Required = true }, nil)
	required.notes.broken = b.notes.broken
	atServer, atClient := required.through(sent)
	if atServer != "" || !strings.Contains(atClient, "Deed recording failed: the journal did not keep the intent") {
		t.Errorf("the server got %q, the client %q", atServer, atClient)
	}
	required.mustNote("settle 0 refused", "refuse 7 -32000")
}

func TestAToolThatIsNotMappedIsToldOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) { o.WarnUnmapped = true }, nil)
	b.through(callOf("1", "list", order), callOf("2", "list", order), callOf("3", `li\u0007st`, order), callOf("4", refund, order))
	if want := []string{"tool list is called and not mapped", "tool li st is called and not mapped"}; fmt.Sprint(b.told) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", b.told, want)
	}
}

func TestAFaultOfTheGateDoesNotCutTheWire(t *testing.T) {
	t.Parallel()
	for _, required := range []bool{false, true} {
		b := newBench(t, func(o *Options) { o.Required = required }, func(context.Context, string) outbox.Result { panic("a fault") })
		sent := callOf("7", refund, order)
		atServer, atClient := b.through(sent, ping)
		want := sent + ping
		if required {
			want = ping
		}
		if atServer != want || required != strings.Contains(atClient, `"id":7,"error"`) {
			t.Errorf("required %t: the server got %q, the client %q", required, atServer, atClient)
		}
		b.mustTell(1, "please report")
	}
}

// What a session leaves behind when it ends amid a declaration: what is
// required was never forwarded, the rest is in the outbox.
func TestClosingTheGateGivesUpWhatIsBeingDecided(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		required bool
		want     []string
	}{
		{false, []string{"begin mcp:refund:s:7", "sync", "declare mcp:refund:s:7"}},
		{true, []string{"begin mcp:refund:s:7 required", "sync", "declare mcp:refund:s:7", "settle 1 refused", "refuse 7 -32000"}},
	} {
		asked := make(chan struct{})
		b := newBench(t, func(o *Options) { o.Required = test.required }, func(ctx context.Context, _ string) outbox.Result {
			close(asked)
			<-ctx.Done()
			return outbox.Result{Class: "unreachable", Why: "unreachable"}
		})
		answer := b.gate.decide(b.gate.reader.read([]byte(callOf("7", refund, order))), 1)
		<-asked
		b.gate.Close()
		if decision := <-answer; decision.Refuse != test.required {
			t.Errorf("decided %+v", decision)
		}
		b.mustNote(test.want...)
		b.mustTell(0, "")
	}
}

// The session may end because of a call that went on, before anything else is done.
func TestWhatWentOnUndeclaredIsToldThoughTheSessionEndsAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil, failing("unreachable", false))
			found, answer := b.gate.reader.read([]byte(callOf("7", refund, order))), make(chan wire.Decision)
			b.gate.start(func() { b.gate.run(found, 1, time.Now(), answer) })
			synctest.Wait() // until it is decided
			<-answer
			b.gate.Close()
			b.mustTell(1, "recording mcp:refund:s:7 failed: unreachable")
		})
	}
}

func TestALineTooLongToBeHeldIsOnRecordAsUndeclarable(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil, nil)
	b.gate.tooLong(wire.Place(1))
	b.mustNote("undeclarable refund line_too_long")
	b.mustTell(1, "longer than 64 MiB")
}
