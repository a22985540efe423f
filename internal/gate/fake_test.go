package gate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/wire"
)

// mapping names one tool of every kind that the tests need.
const mapping = `{"agent_id":"bot","tools":{
	"refund":{"contract_id":"c","subject":"arguments.order"},
	"charge":{"contract_id":"c","subject":"arguments.order","action_id":"charge:{arguments.order}"}}}`

func theMapping(t testing.TB) *intent.Mapping {
	t.Helper()
	m, err := intent.Parse("mapping.json", []byte(mapping))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// notes is a record in memory: a line for each thing that was written.
type notes struct {
	mu     sync.Mutex
	lines  []string
	next   int64
	broken error // of Begin and Sync
	// continues are ids that go on with a call whose action is declared.
	continues []string
	stuck     int // how often Begin waits until its time is up
	hurried   atomic.Int64
}

func (n *notes) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

func (n *notes) Hurry() { n.hurried.Add(1) }

func (n *notes) Begin(ctx context.Context, _ wire.Place, list []observer.Intent) ([]observer.Begun, error) {
	begun := make([]observer.Begun, len(list))
	n.mu.Lock()
	n.stuck--
	stuck := n.stuck >= 0
	n.mu.Unlock()
	if stuck {
		<-ctx.Done()
		return begun, ctx.Err()
	}
	if n.broken != nil {
		return begun, n.broken
	}
	for i, x := range list {
		switch {
		case slices.Contains(n.continues, string(x.ID)):
			begun[i].Continues = true
			continue
		case x.Body == nil:
			n.note("undeclarable %s %s%s", x.Tool, x.Said.Why, map[bool]string{true: " refused"}[x.Refused])
		default:
			n.note("begin %s%s", x.Said.Action, map[bool]string{true: " required"}[x.Required])
		}
		n.mu.Lock()
		n.next++
		begun[i].Seq = n.next
		n.mu.Unlock()
	}
	return begun, nil
}

func (n *notes) Sync(context.Context) error { n.note("sync"); return n.broken }

func (n *notes) Settle(_ context.Context, list []observer.Settled) error {
	for _, s := range list {
		n.note("settle %d %s", s.Begun.Seq, s.Reason)
	}
	return nil
}

func (n *notes) Refuse(_ context.Context, _ wire.Place, ids [][]byte, code, _ string) error {
	for _, id := range ids {
		n.note("refuse %s %s", id, code)
	}
	return nil
}

func (n *notes) Long(context.Context, wire.Place) (string, int64, error) { return "refund", 9, nil }

// server answers declarations as the test says.
type server struct {
	notes  *notes
	answer func(ctx context.Context, body string) outbox.Result
}

func (s *server) API() string         { return "https://deed.example.com" }
func (s *server) Fingerprint() string { return "f" }

func (s *server) Declare(ctx context.Context, body []byte) outbox.Result {
	s.notes.note("declare %s", action(string(body)))
	if s.answer == nil {
		return outbox.Result{Declared: true, Status: 201, Recorded: "new"}
	}
	return s.answer(ctx, string(body))
}

// action is the action id of a declaration.
func action(body string) string {
	_, rest, _ := strings.Cut(body, `"action_id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

func failing(why string, final bool) func(context.Context, string) outbox.Result {
	return func(context.Context, string) outbox.Result {
		return outbox.Result{Status: 503, Class: why, Why: why, Final: final}
	}
}

// bench is a gate with all that stands around it.
type bench struct {
	*testing.T
	gate  *Gate
	notes *notes
	mu    sync.Mutex
	told  []string
	kicks int
	took  time.Duration // for all lines of the last conversation to go on
}

func newBench(t *testing.T, change func(*Options), answer func(context.Context, string) outbox.Result) *bench {
	t.Helper()
	b := &bench{T: t, notes: &notes{}}
	o := Options{
		Mapping: theMapping(t), Session: "s", To: &server{notes: b.notes, answer: answer}, Timeout: 5 * time.Second,
		Warn:   func(line string) { b.mu.Lock(); defer b.mu.Unlock(); b.told = append(b.told, line) },
		Failed: func() { b.mu.Lock(); defer b.mu.Unlock(); b.kicks++ },
	}
	if change != nil {
		change(&o)
	}
	b.gate = New(b.notes, o)
	t.Cleanup(b.gate.Close)
	return b
}

// through sends lines of a client through a relay with the gate, and returns
// what the server got and what the client was answered.
func (b *bench) through(lines ...string) (atServer, atClient string) {
	b.Helper()
	var server, client strings.Builder
	injector := wire.NewInjector(&client)
	relay := &wire.Relay{Src: io.NopCloser(strings.NewReader(strings.Join(lines, ""))), Dst: &server, From: wire.FromClient, Gate: b.gate, Answers: injector}
	began := time.Now()
	relay.Run()
	b.took = time.Since(began)
	b.gate.jobs.Wait()
	return server.String(), client.String()
}

// mustNote fails the test unless exactly this was written, in this order.
func (b *bench) mustNote(want ...string) {
	b.Helper()
	if got := b.notes.all(); !slices.Equal(got, want) {
		b.Errorf("the record has\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// mustTell fails the test unless a person was told so many lines that all hold
// one of the words.
func (b *bench) mustTell(count int, word string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.told) != count {
		b.Errorf("told %q, want %d lines", b.told, count)
	}
	for _, line := range b.told {
		if !strings.Contains(line, word) || strings.Contains(line, "\n") {
			b.Errorf("told %q, want one line with %q in it", line, word)
		}
	}
}

func callOf(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + "}}\n"
}
