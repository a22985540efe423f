package observer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// notebook is a journal in memory. Its hook, if set, runs before an entry is
// kept, and may panic, wait or fail.
type notebook struct {
	mu      sync.Mutex
	entries []entry.Entry
	details []entry.Detail
	bodies  [][]byte

	definitions map[entry.Hash]string
	syncs       int
	hook        func(ctx context.Context, e *entry.Entry) error
}

func (n *notebook) Append(ctx context.Context, e *entry.Entry, d *entry.Detail) error {
	if n.hook != nil {
		if err := n.hook(ctx, e); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.entries = append(n.entries, *e)
	n.details = append(n.details, *d)
	return nil
}

func (n *notebook) AppendBody(ctx context.Context, e *entry.Entry, d *entry.Detail, b *journal.Body) error {
	if err := n.Append(ctx, e, d); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var kept []byte
	if b != nil {
		kept = bytes.Clone(b.Bytes)
	}
	n.bodies = append(n.bodies, kept)
	return nil
}

func (n *notebook) NewSpill() (*journal.Spill, error) {
	return nil, errors.New("no spill in a notebook")
}

func (n *notebook) Define(_ context.Context, sum entry.Hash, canonical []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.definitions == nil {
		n.definitions = map[entry.Hash]string{}
	}
	n.definitions[sum] = string(canonical)
	return nil
}

func (n *notebook) Sync(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.syncs++
	return nil
}

// lines writes what was recorded, one entry a line, in the words of a test.
func (n *notebook) lines() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out strings.Builder
	for i, e := range n.entries {
		out.WriteString(string(e.Kind))
		for _, word := range []string{e.From, shown(n.details[i].Method), shown(n.details[i].Tool), shown(n.details[i].ID), string(e.Outcome), e.Reason} {
			if word != "" {
				out.WriteString(" " + word)
			}
		}
		if e.Call >= 0 {
			out.WriteString(" of " + shown(n.details[e.Call].ID))
		}
		if len(e.Flags) > 0 {
			out.WriteString(" [" + strings.Join(e.Flags, " ") + "]")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// say is bytes that one side sends; a stage is written as one chunk each.
type say struct {
	from wire.Direction
	data string
}

const (
	client = wire.FromClient
	server = wire.FromServer
)

// record observes a conversation from beginning to end.
func record(t *testing.T, n *notebook, o Options, talk ...say) *Observer {
	t.Helper()
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{Label: "test", Transport: "stdio"}, o)
	for _, s := range talk {
		buf.Settle(buf.Offer(s.from, []byte(s.data)), len(s.data))
	}
	buf.Close(client, 0)
	buf.Close(server, 0)
	buf.Shut()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	obs.Run(ctx, n)
	if err := obs.Finish(ctx, End{Reason: "client_closed", ExitCode: 0}); err != nil {
		t.Fatalf("finish: %v", err)
	}
	return obs
}

func TestAConversationBecomesEntriesThatPointAtEachOther(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	record(t, n, Options{},
		say{client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}}` + "\n"},
		say{server, "hello, this is a banner\n" + `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"},
		say{client, `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"refund","arguments":{}}}` + "\n"},
		say{server, `{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage"}` + "\n"},
		say{server, `{"jsonrpc":"2.0","id":"a","result":{"isError":true}}` + "\n"},
		say{client, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no"}}` + "\n"},
		say{client, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}` + "\n"},
		say{client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}` + "\n"},
		say{server, `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n"},
		say{server, `{"jsonrpc":"2.0","id":99,"result":{}}`},
	)
	want := `session
request client initialize 0
noise server [not_json]
response server initialize 0 ok of 0
notification client notifications/initialized
request client tools/call refund "a"
request server sampling/createMessage "a"
response server tools/call refund "a" tool_error of "a"
response client sampling/createMessage "a" error of "a"
request client tools/call slow 7
notification client notifications/cancelled of 7
response server tools/call slow 7 ok of 7 [late]
response server 99 ok [unasked unterminated]
end client_closed
`
	if got := n.lines(); got != want {
		t.Errorf("recorded:\n%s\nwant:\n%s", got, want)
	}
	if call := n.entries[7].Call; call != 5 {
		t.Errorf("the tool's answer belongs to entry %d, want the client's request 5", call)
	}
	if call := n.entries[8].Call; call != 6 {
		t.Errorf("the client's answer belongs to entry %d, want the server's request 6", call)
	}
	for i, e := range n.entries {
		if e.Seq != int64(i) {
			t.Errorf("entry %d has sequence %d", i, e.Seq)
		}
	}
}

func TestEveryByteIsInAnEntry(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	talk := []say{
		{client, "\n  \r\nnoise\n[{\"id\":1,\"method\":\"a\"} , {\"id\":2,\"method\":\"b\"}]\n"},
		{server, "{\"id\":1,\"result\":{}}\r\n\x00\xff\n[]\n{\"id\":2,"},
		{server, "\"error\":{}}\nend"},
	}
	record(t, n, Options{}, talk...)
	var want, got [2]int64
	for _, s := range talk {
		want[s.from] += int64(len(s.data))
	}
	for _, e := range n.entries {
		switch e.From {
		case "client":
			got[client] += e.Bytes + e.Framing
		case "server":
			got[server] += e.Bytes + e.Framing
		}
	}
	end := n.entries[len(n.entries)-1]
	if got != want || end.ClientBytes != want[client] || end.ServerBytes != want[server] {
		t.Errorf("entries hold %v bytes, the end says %d and %d, sent were %v", got, end.ClientBytes, end.ServerBytes, want)
	}
}

func TestAPanicCostsItsMessageAndIsRecordedAsAGap(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	n.hook = func(_ context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindRequest && e.Bytes == 666 {
			panic("out of cheese")
		}
		return nil
	}
	bad := `{"id":2,"method":"` + strings.Repeat("x", 666-21) + "\"}\n"
	var warned []string
	record(t, n, Options{Warn: func(line string) { warned = append(warned, line) }},
		say{client, `{"id":1,"method":"before"}` + "\n"},
		say{client, bad},
		say{client, `{"id":3,"method":"after"}` + "\n"},
		say{client, `{"id":4,"method":"later"}` + "\n"},
	)
	got := n.lines()
	for _, part := range []string{"client before 1", "gap client observer_failed", "client after 3", "client later 4"} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not recorded in:\n%s", part, got)
		}
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "out of cheese") {
		t.Errorf("a person was told %q, want one line with the cause", warned)
	}
	if sum, end := bytesOf(n, "client"), n.entries[len(n.entries)-1]; sum != end.ClientBytes {
		t.Errorf("entries and gaps hold %d bytes of %d", sum, end.ClientBytes)
	}
}

func TestAnObserverThatKeepsFailingOnlyCounts(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	n.hook = func(_ context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindRequest {
			panic("again")
		}
		return nil
	}
	line := `{"id":1,"method":"x"}` + "\n"
	var talk []say
	for range 50 {
		talk = append(talk, say{client, line})
	}
	var warned int
	record(t, n, Options{Warn: func(string) { warned++ }}, talk...)
	if warned > maxPanics {
		t.Errorf("a person was told %d times", warned)
	}
	if sum := bytesOf(n, "client"); sum != int64(50*len(line)) {
		t.Errorf("entries and gaps hold %d bytes of %d:\n%s", sum, 50*len(line), n.lines())
	}
}

func TestAJournalThatPanicsOnEverythingHarmsNobody(t *testing.T) {
	t.Parallel()
	n := &notebook{hook: func(context.Context, *entry.Entry) error { panic("no") }}
	record(t, n, Options{}, say{client, `{"id":1,"method":"x"}` + "\n"}, say{server, `{"id":1,"result":1}` + "\n"})
	if len(n.entries) != 0 {
		t.Errorf("entries: %v", n.entries)
	}
}

func TestEntriesThatCouldNotBeKeptAreReportedAtTheEnd(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	n := &notebook{hook: func(context.Context, *entry.Entry) error { return full }}
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	buf.Shut()
	obs.Run(t.Context(), n)
	if err := obs.Finish(t.Context(), End{}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("finish says %v, want %v", err, ErrIncomplete)
	}
}

func TestQuietComesWhenTheClientHasGoneAndIsOwedNothing(t *testing.T) {
	t.Parallel()
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	go obs.Run(t.Context(), &notebook{})
	put := func(from wire.Direction, data string) {
		buf.Settle(buf.Offer(from, []byte(data)), len(data))
	}
	put(client, `{"id":1,"method":"x"}`+"\n"+`{"id":2,"method":"y"}`+"\n")
	put(server, `{"id":1,"result":{}}`+"\n")
	buf.Close(client, 0)
	if err := obs.AwaitDurable(t.Context(), 3); err != nil { // all three events were seen
		t.Fatal(err)
	}
	select {
	case <-obs.Quiet():
		t.Fatal("quiet while call 2 has no answer")
	default:
	}
	put(server, `{"id":2,"result":{}}`+"\n")
	select {
	case <-obs.Quiet():
	case <-time.After(2 * time.Minute):
		t.Fatal("not quiet after the last answer")
	}
	buf.Shut()
}

func TestWithoutAJournalQuietStillComesAndNothingIsDurable(t *testing.T) {
	t.Parallel()
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	go obs.Run(t.Context(), nil)
	p := buf.Offer(client, []byte("x\n"))
	buf.Settle(p, 2)
	if err := obs.AwaitDurable(t.Context(), p); !errors.Is(err, ErrNotRecording) {
		t.Errorf("durable without a journal: %v", err)
	}
	buf.Close(client, 0)
	select {
	case <-obs.Quiet():
	case <-time.After(2 * time.Minute):
		t.Fatal("not quiet")
	}
	buf.Shut()
}

func TestAwaitDurableReturnsOnlyAfterTheEntryWasAppended(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	hold := make(chan struct{})
	n.hook = func(ctx context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindRequest {
			<-hold
		}
		return nil
	}
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	go obs.Run(t.Context(), n)
	line := []byte(`{"id":1,"method":"x"}` + "\n")
	p := buf.Offer(client, line)
	buf.Settle(p, len(line))
	done := make(chan error, 1)
	go func() { done <- obs.AwaitDurable(t.Context(), p) }()
	select {
	case <-done:
		t.Fatal("returned while the entry was not kept")
	case <-time.After(50 * time.Millisecond): // proves nothing when it passes, fails when it must not
	}
	close(hold)
	if err := <-done; err != nil || n.syncs != 1 || !strings.Contains(n.lines(), "request client x 1") {
		t.Errorf("%v, %d syncs, recorded:\n%s", err, n.syncs, n.lines())
	}
	buf.Shut()
}

func TestNoValueOfAnArgumentOrResultIsInAnEntryOrDetail(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-correct-horse"
	n := &notebook{}
	record(t, n, Options{},
		say{client, `{"id":1,"method":"tools/call","params":{"name":"t","arguments":{"password":"` + secret + `","n":[1,2,"` + secret + `"]}}}` + "\n"},
		say{server, `{"id":1,"result":{"content":[{"type":"text","text":"` + secret + `"}]}}` + "\n" + `{"id":2,"error":{"code":-1,"message":"` + secret + `"}}` + "\n" + secret + "\n"},
	)
	for i := range n.entries {
		e, d := n.entries[i], n.details[i]
		leaf, err := entry.EncodeLeaf(&e, entry.Hash{1})
		if err != nil {
			t.Fatal(err)
		}
		detail, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(leaf, []byte(secret)) || bytes.Contains(detail, []byte(secret)) {
			t.Errorf("the secret is in %s %s", leaf, detail)
		}
	}
	if !strings.Contains(n.lines(), "request client tools/call t 1") {
		t.Errorf("recorded:\n%s", n.lines())
	}
	if fields := n.details[1].Shape; len(fields) == 0 || fields[0].Name != "password" || fields[0].Type != "string" || fields[0].Bytes != int64(len(secret)+2) {
		t.Errorf("shape is %+v", fields)
	}
}

func bytesOf(n *notebook, from string) (sum int64) {
	for _, e := range n.entries {
		if e.From == from && e.Kind != entry.KindStderr {
			sum += e.Bytes + e.Framing
		}
	}
	return sum
}

func TestWhatAJournalDidNotTakeBecomesAGap(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	n.hook = func(_ context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindRequest && e.Bytes > 30 {
			return errors.New("no space left on device")
		}
		return nil
	}
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	lines := []string{`{"id":1,"method":"a"}` + "\n", `{"id":2,"method":"much longer than the others"}` + "\n", `{"id":3,"method":"b"}` + "\n"}
	var sent int64
	for _, line := range lines {
		buf.Settle(buf.Offer(client, []byte(line)), len(line))
		sent += int64(len(line))
	}
	buf.Shut()
	obs.Run(t.Context(), n)
	if err := obs.Finish(t.Context(), End{Reason: "client_closed"}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("finish says %v", err)
	}
	if !strings.Contains(n.lines(), "gap client journal_failed") {
		t.Errorf("no gap is recorded:\n%s", n.lines())
	}
	end := n.entries[len(n.entries)-1]
	if got := bytesOf(n, "client"); got != sent || end.ClientBytes != sent {
		t.Errorf("entries and gaps hold %d bytes, the end says %d, sent were %d", got, end.ClientBytes, sent)
	}
	for i, e := range n.entries {
		if e.Seq != int64(i) {
			t.Errorf("entry %d has sequence %d", i, e.Seq)
		}
	}
}
