// Package stdio records one MCP server that speaks over standard input and
// output: it starts the server, joins it to the client by a wire, and has an
// observer read the tap.
//
// It decides when a session is over and what then happens to the processes.
// It must not look at the traffic, and nothing it records may hold up the
// wire: the journal is opened while the first bytes already flow, and when it
// cannot be opened or written the traffic goes on without it.
//
// # Life of a session
//
// Run starts the server and three copiers: client to server, server to
// client, and the server's stderr. The session goes on until the server ends.
// When the client closes its side the server's stdin is closed too; answers
// that are still owed are waited for, then the server's processes are asked to
// end, and then made to. When the server has ended, the last bytes that it
// wrote are delivered, the record is completed, and its exit code is ours.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/process"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// Journal keeps the record of a session.
type Journal interface {
	observer.Journal
	// Close writes what is queued and returns an error that says how much
	// was not written before ctx ended. It may be called again.
	Close(ctx context.Context) error
	// Progress is how far the writing has come since the journal was opened.
	Progress() journal.Progress
	// Abandon gives up what is queued, so that the record can say in its
	// place what is missing.
	Abandon() (journal.Dropped, error)
}

// Gate is asked about each line of the client.
type Gate interface {
	wire.Gate
	// Close gives up what is being decided. When it returns, the gate leaves
	// the record alone. It is called once the wire has stopped.
	Close()
}

// Options say what to run and how.
type Options struct {
	Command process.Command
	Label   string // empty: made from the command
	Version string // of deed
	// Linger is how long answers that are owed are waited for after the
	// client has closed its side.
	Linger time.Duration
	// Capture is how much of the messages is kept.
	Capture observer.Capture
	// WriteAhead keeps each line of the client durably before it goes on.
	WriteAhead bool
	// Gate makes a gate that declares what goes to the server, if set. It is
	// given the record, and a function that tells a person a line.
	Gate func(record *observer.Observer, warn func(string)) Gate
	// Echo is given a line for each call, if set.
	Echo func(observer.Sighting) string
	// Open opens the journal. It is called beside the running traffic, with
	// a function that may be told of trouble at any later time.
	Open func(trouble func(error)) (Journal, error)
	// Explain turns an error into one line for a person.
	Explain func(error) string

	Stdin   *os.File
	Stdout  *os.File
	Stderr  io.Writer
	Signals <-chan os.Signal
}

// How long things may take at the end of a session.
const (
	askAfter   = 2 * time.Second        // from the end of the traffic to TERM
	forceAfter = 3 * time.Second        // from TERM to KILL
	lookEvery  = 100 * time.Millisecond // between two looks whether a client that is owed answers still reads
	drainIdle  = 500 * time.Millisecond // silence after which a pipe that a grandchild holds is given up
	aheadTime  = 5 * time.Second        // for a line to become durable before it goes on all the same
	aheadRetry = 50 * time.Millisecond  // the same while the journal is known to be behind
)

// session is one running server with all that belongs to it.
type session struct {
	Options
	proc   *process.Process
	buf    *tap.Buffer
	obs    *observer.Observer
	stderr *relay
	gate   Gate // nil without one
	client *wire.Relay
	server *wire.Relay

	reason string // why the session ends
}

// Run runs the command as a recorded session and returns its exit code. An
// error means that it did not start; then nothing was forwarded.
func Run(o Options) (exitCode int, err error) {
	s := &session{Options: o, buf: tap.New(tap.DefaultLimit), reason: "server_exit"}
	s.stderr = newRelay(o.Stderr)
	s.obs = observer.New(s.buf, observer.Session{
		Label: o.Label, Program: filepath.Base(o.Command.Name),
		Transport: "stdio", Version: o.Version, Capture: o.Capture,
		Command: append([]string{o.Command.Name}, o.Command.Args...),
	}, s.tells())

	s.proc, err = process.Start(o.Command)
	if err != nil {
		s.recordFailedStart()
		return 0, err
	}
	record := s.startRecording()
	s.startStderr()
	exit := s.live(s.startWire())
	if s.gate != nil {
		s.gate.Close()
	}
	s.buf.Shut()
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		s.sweep()
		_ = s.proc.Close() // whatever it says, there is nothing left to do
	}()
	s.finish(record, exit)
	<-swept
	return exit.Code, nil
}

func (s *session) tells() observer.Options {
	o := observer.Options{Warn: s.warn, Recorded: s.tellRecorded}
	if s.Echo != nil {
		o.Echo = func(x observer.Sighting) { s.stderr.say(s.Echo(x)) }
	}
	return o
}

// warn tells a person one line. It never waits: whoever does not read stderr
// must not be able to stop the traffic through it.
func (s *session) warn(line string) { s.stderr.say("deed: " + line) }

// tellRecorded tells how the call of a declared action was answered. The answer
// is a claim: it is told, and goes nowhere.
func (s *session) tellRecorded(action string, outcome entry.Outcome, code string) {
	told := "error " + code
	if outcome != entry.OutcomeError {
		told = fmt.Sprintf("tool result isError=%t", outcome == entry.OutcomeToolError)
	}
	s.warn("recorded " + action + " → " + told)
}

// startWire sets both directions going and returns where their ends arrive.
func (s *session) startWire() (client, server <-chan wire.Result) {
	guarded := wire.Contain(s.buf, func(err error) { s.warn("recording stopped: " + err.Error()) })
	s.client = &wire.Relay{From: wire.FromClient, Src: s.Stdin, Dst: s.proc.Stdin, Tap: guarded}
	s.server = &wire.Relay{From: wire.FromServer, Src: s.proc.Stdout, Dst: s.Stdout, Tap: guarded}
	switch {
	case s.Gate != nil:
		s.gate = s.Gate(s.obs, s.warn)
		s.client.Answers = wire.NewInjector(s.Stdout)
		s.client.Gate, s.server.Dst = s.gate, s.client.Answers
		if s.WriteAhead {
			s.client.Gate = both{s.gate, newAhead(s.obs, s.warn)}
		}
	case s.WriteAhead:
		s.client.Gate = newAhead(s.obs, s.warn)
	}
	return run(s.client), run(s.server)
}

func run(r *wire.Relay) <-chan wire.Result {
	ended := make(chan wire.Result, 1)
	go func() { ended <- r.Run() }()
	return ended
}

func (s *session) startStderr() {
	go s.stderr.read(s.proc.Stderr)
	go s.stderr.write()
}

// recording is the observer at work.
type recording struct {
	done    chan struct{}
	cancel  context.CancelFunc
	journal Journal // nil when there is none; valid once done is closed
	failed  error   // why there is none, when it could not be had in time
	opened  atomic.Pointer[Journal]
	locked  atomic.Bool // somebody else keeps us from opening it
}

// progress is how far the writing has come.
func (r *recording) progress() journal.Progress {
	if j := r.opened.Load(); j != nil {
		return (*j).Progress()
	}
	return journal.Progress{Locked: r.locked.Load()}
}

// startRecording opens the journal and lets the observer read the tap, both
// away from the traffic.
func (s *session) startRecording() *recording {
	ctx, cancel := context.WithCancel(context.Background())
	r := &recording{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(r.done)
		j, err := s.open(ctx, r)
		if err != nil {
			var locked *journal.LockedError
			if errors.As(err, &locked) {
				r.failed = err
			} else {
				s.warn("not recording this run: " + s.Explain(err))
			}
			s.obs.Run(ctx, nil)
			return
		}
		r.journal = j
		r.opened.Store(&j)
		s.obs.Run(ctx, j)
	}()
	return r
}

// open opens the journal. While another program keeps us from making one it
// tries again, for as long as the session lives: what crosses meanwhile waits
// in the tap.
func (s *session) open(ctx context.Context, r *recording) (Journal, error) {
	began := time.Now()
	for {
		j, err := s.Open(func(err error) { s.warn(s.Explain(err)) })
		var locked *journal.LockedError
		if !errors.As(err, &locked) {
			r.locked.Store(false)
			return j, err
		}
		locked.Waited = time.Since(began)
		if ctx.Err() != nil {
			return nil, locked
		}
		if !r.locked.Swap(true) {
			s.warn("nothing is recorded yet, and it is tried again: " + s.Explain(locked))
		}
	}
}

// finish completes the record and gives the last of stderr to the client.
func (s *session) finish(r *recording, exit process.Exit) {
	s.awaitObserver(r)
	switch {
	case r.journal != nil:
		if err := s.completeRecord(r.journal, s.end(exit)); err != nil {
			s.warn(s.Explain(err))
		}
	case r.failed != nil:
		// Counts what the observer did not read; there is nothing to write.
		_ = s.obs.Finish(context.Background(), s.end(exit))
		s.warn(s.Explain(s.unkept(r.failed)))
	}
	s.stderr.end()
}

func (s *session) end(exit process.Exit) observer.End {
	count := s.stderr.count()
	end := observer.End{
		Reason: s.reason, ExitCode: exit.Code,
		StderrBytes: count.bytes, StderrLines: count.lines,
	}
	if exit.Signal != nil {
		end.Signal = exit.Signal.String()
	}
	return end
}

// awaitObserver lets the observer read the tap to its end, for as long as the
// journal takes what it reads.
func (s *session) awaitObserver(r *recording) {
	defer r.cancel()
	patience := newPatience(r.progress)
	for patience.more() {
		select {
		case <-r.done:
			return
		case <-time.After(patience.step):
		}
	}
	r.cancel()
	<-r.done
}

// completeRecord writes the end and closes the journal. It waits for as long
// as entries are written; when none are any more, what waits is given up and
// the record says so, if it still can.
func (s *session) completeRecord(j Journal, end observer.End) error {
	patience := newPatience(j.Progress)
	ctx, cancel := context.WithTimeout(context.Background(), patience.step)
	finished := s.obs.Finish(ctx, end)
	cancel()
	closed := closeJournal(j, patience)
	if closed == nil {
		return finished
	}
	dropped, err := j.Abandon()
	if err != nil || dropped.Entries == 0 {
		return s.incomplete(finished, closed)
	}
	s.obs.Resume(dropped)
	ctx, cancel = context.WithTimeout(context.Background(), patience.step)
	defer cancel()
	if err := s.obs.Finish(ctx, end); err != nil {
		finished = err
	}
	if j.Close(ctx) == nil {
		return finished // the gap says what is missing
	}
	return s.incomplete(finished, closed)
}

// incomplete says what is missing at the end, and why, in one line.
func (s *session) incomplete(finished, closed error) error {
	if s.obs.Missed() > 0 {
		return s.unkept(closed)
	}
	if finished == nil {
		return closed
	}
	return fmt.Errorf("%w: %w", finished, closed)
}

// unkept says how much of which session is nowhere.
func (s *session) unkept(why error) error {
	var unwritten *journal.UnwrittenError
	if errors.As(why, &unwritten) {
		why = unwritten.Err // its count is of entries, and this one says it
	}
	return &UnkeptError{Session: s.obs.ID(), Messages: s.obs.Missed(), Err: why}
}

// UnkeptError says how many messages of a session are not in the journal, nor
// any gap that would say so.
type UnkeptError struct {
	Session  string
	Messages int64 // and other lines on the wire
	Err      error
}

func (e *UnkeptError) Error() string {
	return fmt.Sprintf("%d messages of session %s were not kept: %v", e.Messages, e.Session, e.Err)
}
func (e *UnkeptError) Unwrap() error { return e.Err }

func closeJournal(j Journal, patience *patience) error {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), patience.step)
		err := j.Close(ctx)
		cancel()
		if err == nil || !patience.more() {
			return err
		}
	}
}

// recordFailedStart keeps a session that never was: an agent's server that
// does not start is worth finding in the record.
func (s *session) recordFailedStart() {
	s.buf.Shut()
	s.reason = "start_failed"
	r := s.startRecording()
	go s.stderr.write()
	s.finish(r, process.Exit{Code: -1})
}
