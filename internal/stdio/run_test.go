package stdio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/process"
)

// longEnough is how long a session may take to end before a test gives up: the machine
// may be busy with others.
const longEnough = 2 * time.Minute

// The test binary is also the servers that the tests start: the first
// argument after this word says which.
const asServer = "act-as-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asServer {
		servers[os.Args[2]]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var servers = map[string]func(){
	// echo answers each line with itself, as an answer.
	"echo": func() {
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadString('\n')
			fmt.Print(strings.Replace(line, `"method":"x"`, `"result":{}`, 1))
			if err != nil {
				return
			}
		}
	},
	// deaf ignores the end of its stdin.
	"deaf": func() { select {} },
	// seven ends with a code of its own and something on stderr.
	"seven": func() {
		fmt.Fprint(os.Stderr, "going down\nnow")
		os.Exit(7)
	},
	// owing answers only after its stdin has ended.
	"owing": func() {
		in, _ := io.ReadAll(os.Stdin)
		fmt.Print(strings.ReplaceAll(string(in), `"method":"x"`, `"result":{}`))
	},
	// flood writes much more to stderr than any pipe holds, then answers.
	"flood": func() {
		os.Stderr.Write(bytes.Repeat([]byte("warning\n"), 1<<17))
		io.Copy(os.Stdout, os.Stdin)
	},
}

// notebook is a journal in memory with a hook that may panic, wait or fail.
type notebook struct {
	mu      sync.Mutex
	entries []entry.Entry
	details []entry.Detail
	bodies  [][]byte

	definitions map[entry.Hash]string
	hook        func(ctx context.Context, e *entry.Entry) error
	closed      bool
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

func (n *notebook) Progress() journal.Progress {
	n.mu.Lock()
	defer n.mu.Unlock()
	return journal.Progress{Written: int64(len(n.entries))}
}

func (n *notebook) Abandon() (journal.Dropped, error) { return journal.Dropped{}, nil }

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

func (n *notebook) Sync(context.Context) error { return nil }

func (n *notebook) Close(context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return nil
}

func (n *notebook) kinds() []entry.Kind {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []entry.Kind
	for _, e := range n.entries {
		out = append(out, e.Kind)
	}
	return out
}

func (n *notebook) last() entry.Entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.entries[len(n.entries)-1]
}

// ran is a session under test, from the client's side.
type ran struct {
	in       *os.File // what the client writes
	out      *os.File // what the client reads
	stderr   *writer
	signals  chan os.Signal
	exitCode chan int
	err      error
}

// writer collects stderr; while it is blocked nobody reads it.
type writer struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	hold chan struct{}
}

func (w *writer) Write(p []byte) (int, error) {
	if w.hold != nil {
		<-w.hold
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *writer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

func start(t *testing.T, server string, change func(*Options), journals ...Journal) *ran {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdin, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &ran{in: in, out: out, stderr: &writer{}, signals: make(chan os.Signal, 1), exitCode: make(chan int, 1)}
	o := Options{
		Command: process.Command{Name: self, Args: []string{asServer, server}},
		Label:   "test",
		Linger:  10 * time.Second,
		Open: func(func(error)) (Journal, error) {
			if len(journals) == 0 {
				return nil, errors.New("no journal for this test")
			}
			return journals[0], nil
		},
		Explain: error.Error,
		Stdin:   stdin, Stdout: stdout, Stderr: r.stderr,
		Signals: r.signals,
	}
	if change != nil {
		change(&o)
	}
	go func() {
		code, err := Run(o)
		r.err = err
		r.exitCode <- code
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return r
}

func (r *ran) wait(t *testing.T, limit time.Duration) int {
	t.Helper()
	select {
	case code := <-r.exitCode:
		return code
	case <-time.After(limit):
		t.Fatalf("the session did not end within %v; stderr: %s", limit, r.stderr)
		return -1
	}
}

func (r *ran) send(t *testing.T, data string) {
	t.Helper()
	if _, err := io.WriteString(r.in, data); err != nil {
		t.Fatal(err)
	}
}

func (r *ran) all(t *testing.T) string {
	t.Helper()
	data, err := io.ReadAll(r.out)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const request = `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\n"

var answer = strings.Replace(request, `"method":"x"`, `"result":{}`, 1)

func TestASessionIsRecordedFromItsBeginningToItsEnd(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	r := start(t, "echo", nil, n)
	r.send(t, request)
	r.in.Close()
	if got := r.all(t); got != answer {
		t.Errorf("the client got %q, want %q", got, answer)
	}
	if code := r.wait(t, longEnough); code != 0 || r.err != nil {
		t.Errorf("exit code %d, %v", code, r.err)
	}
	want := []entry.Kind{entry.KindSession, entry.KindRequest, entry.KindResponse, entry.KindEnd}
	if got := n.kinds(); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	end := n.last()
	if end.ClientBytes != int64(len(request)) || end.ServerBytes != int64(len(answer)) || end.Open != 0 || end.Reason != "client_closed" {
		t.Errorf("the end is %+v", end)
	}
	if !n.closed {
		t.Error("the journal was not closed")
	}
}

func TestTheServersExitCodeAndItsLastWordsArrive(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	r := start(t, "seven", nil, n)
	if code := r.wait(t, longEnough); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
	if got := r.stderr.String(); got != "going down\nnow" {
		t.Errorf("stderr is %q", got)
	}
	end := n.last()
	if end.ExitCode != 7 || end.Reason != "server_exit" {
		t.Errorf("the end is %+v", end)
	}
	if kinds := n.kinds(); !slices.Contains(kinds, entry.KindStderr) {
		t.Errorf("recorded %v, want the stderr too", kinds)
	}
}

func TestAnswersThatAreOwedArriveAfterTheClientClosedItsSide(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	r := start(t, "owing", nil, n)
	r.send(t, request)
	r.in.Close()
	if got := r.all(t); got != answer {
		t.Errorf("the client got %q, want %q", got, answer)
	}
	if code := r.wait(t, longEnough); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestAServerThatIgnoresTheEndIsStoppedSoonWhenNothingIsOwed(t *testing.T) {
	t.Parallel()
	r := start(t, "deaf", func(o *Options) { o.Linger = time.Hour }, &notebook{})
	began := time.Now()
	r.in.Close()
	if code := r.wait(t, longEnough); code != 128+15 {
		t.Errorf("exit code %d, want %d", code, 128+15)
	}
	if took := time.Since(began); took < askAfter || took > time.Minute {
		t.Errorf("it took %v, want about %v", took, askAfter)
	}
}

func TestAServerThatOwesAnAnswerForEverIsStoppedAfterLinger(t *testing.T) {
	t.Parallel()
	const linger = 300 * time.Millisecond
	best := time.Duration(math.MaxInt64)
	for tries := 0; tries < 10 && best > askAfter; tries++ { // a busy machine only adds to it
		n := &notebook{}
		r := start(t, "deaf", func(o *Options) { o.Linger = linger }, n)
		r.send(t, request)
		began := time.Now()
		r.in.Close()
		if code := r.wait(t, longEnough); code != 128+15 {
			t.Errorf("exit code %d, want %d", code, 128+15)
		}
		took := time.Since(began)
		if best = min(best, took); took < linger {
			t.Errorf("it took %v, less than the linger time", took)
		}
		if end := n.last(); end.Open != 1 {
			t.Errorf("%d calls are recorded as unanswered, want 1", end.Open)
		}
	}
	if best > askAfter {
		t.Errorf("it took %v at best, want little more than the linger time", best)
	}
}

func TestAClientThatClosedBothSidesIsNotLingeredFor(t *testing.T) {
	t.Parallel()
	r := start(t, "deaf", func(o *Options) { o.Linger = time.Hour }, &notebook{})
	r.send(t, request)
	r.out.Close()
	began := time.Now()
	r.in.Close()
	r.wait(t, longEnough)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v, want about %v", took, askAfter)
	}
}

func TestASignalEndsTheSessionAndIsRecorded(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	r := start(t, "echo", nil, n)
	r.send(t, request)
	if _, err := io.ReadFull(r.out, make([]byte, len(answer))); err != nil {
		t.Fatal(err)
	}
	r.signals <- os.Interrupt
	if code := r.wait(t, longEnough); code != 128+2 && code != 0 {
		t.Errorf("exit code %d, want the server's", code)
	}
	if end := n.last(); end.Reason != "signal" {
		t.Errorf("the end is %+v", end)
	}
}

func TestAStderrThatNobodyReadsDoesNotStopTheServer(t *testing.T) {
	t.Parallel()
	r := start(t, "flood", nil, &notebook{})
	r.stderr.mu.Lock() // nobody reads until the answer is there
	r.send(t, request)
	got := make([]byte, len(request))
	_, err := io.ReadFull(r.out, got)
	r.stderr.mu.Unlock()
	if err != nil || string(got) != request {
		t.Fatalf("the answer is %q, %v", got, err)
	}
	r.in.Close()
	r.wait(t, longEnough)
	if size := len(r.stderr.String()); size != 8<<17 {
		t.Errorf("%d bytes of stderr arrived, want %d", size, 8<<17)
	}
}

// Whatever befalls the observer, the client sees the same bytes.
func TestAnObserverInTroubleDoesNotShowOnTheWire(t *testing.T) {
	t.Parallel()
	var wait sync.WaitGroup
	for name, j := range map[string]Journal{
		"no journal at all": nil,
		"a journal that panics": &notebook{hook: func(context.Context, *entry.Entry) error {
			panic("broken")
		}},
		"a journal that is stuck": &notebook{hook: func(ctx context.Context, _ *entry.Entry) error {
			<-ctx.Done()
			return ctx.Err()
		}},
		"a journal that takes half a second for each entry": &notebook{hook: func(ctx context.Context, _ *entry.Entry) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(500 * time.Millisecond):
				return nil
			}
		}},
		"a journal that fails": &notebook{hook: func(context.Context, *entry.Entry) error {
			return errors.New("no space left on device")
		}},
	} {
		wait.Go(func() {
			var journals []Journal
			if j != nil {
				journals = append(journals, j)
			}
			r := start(t, "echo", nil, journals...)
			const calls = 2000
			go func() {
				io.WriteString(r.in, strings.Repeat(request, calls))
				r.in.Close()
			}()
			began := time.Now()
			if got := r.all(t); got != strings.Repeat(answer, calls) {
				t.Errorf("with %s the client got %d bytes, or others", name, len(got))
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("with %s the traffic took %v", name, took)
			}
			if code := r.wait(t, longEnough); code != 0 {
				t.Errorf("with %s the exit code is %d", name, code)
			}
			if r.stderr.String() == "" {
				t.Errorf("with %s nobody was told", name)
			}
		})
	}
	wait.Wait()
}

func TestWriteAheadKeepsALineUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	n := &notebook{}
	n.hook = func(ctx context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindRequest {
			<-release
		}
		return nil
	}
	r := start(t, "echo", func(o *Options) { o.WriteAhead = true }, n)
	r.send(t, request)
	got := make(chan string, 1)
	go func() { got <- r.all(t) }()
	select {
	case early := <-got:
		t.Fatalf("the answer %q came before the request was recorded", early)
	case <-time.After(100 * time.Millisecond): // proves nothing when it passes, fails when it must not
	}
	close(release)
	r.in.Close()
	if all := <-got; all != answer {
		t.Errorf("the client got %q", all)
	}
	r.wait(t, longEnough)
}

func TestWriteAheadLetsALineGoWhenNothingIsRecorded(t *testing.T) {
	t.Parallel()
	r := start(t, "echo", func(o *Options) { o.WriteAhead = true })
	r.send(t, request)
	r.in.Close()
	if got := r.all(t); got != answer {
		t.Errorf("the client got %q", got)
	}
	r.wait(t, longEnough)
}

func TestAServerThatDoesNotStartIsRecordedAndReported(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	r := start(t, "echo", func(o *Options) { o.Command.Name = "no-such-program-anywhere" }, n)
	r.wait(t, longEnough)
	var missing *process.NotFoundError
	if !errors.As(r.err, &missing) {
		t.Errorf("error is %v", r.err)
	}
	if end := n.last(); end.Reason != "start_failed" || end.ExitCode != -1 {
		t.Errorf("the end is %+v", end)
	}
}
