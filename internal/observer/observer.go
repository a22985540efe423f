// Package observer reads the tap and tells the journal what it saw.
//
// It is the one place where bytes become entries. It runs on a goroutine of
// its own behind a bounded buffer, so nothing that happens here can reach the
// wire: it may be slow, its disk may be full, it may even panic, and all that
// follows is a gap in the record that says so. It must not look at anything
// but the tap, and it must not print; what a person should hear goes through
// the functions in [Options].
//
// # Life of an entry
//
// Run takes the next event off the tap and feeds its bytes to the reader of
// that direction. When a message is complete the reader emits it, the pairing
// finds the call that it belongs to, and the message becomes an entry (sizes,
// times, hashes) with a detail (names and shapes). The journal appends both.
package observer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// Journal is where entries go.
type Journal interface {
	// Append keeps an entry behind all that were appended before it. It may
	// wait while the disk is behind, and fails only when ctx ends or the
	// journal was closed; the entry is not kept then.
	Append(ctx context.Context, e *entry.Entry, d *entry.Detail) error
	// AppendBody is Append with a body, which may be nil. Once it has
	// returned without an error a spill belongs to the journal. It keeps no
	// reference to the body's bytes.
	AppendBody(ctx context.Context, e *entry.Entry, d *entry.Detail, b *journal.Body) error
	// NewSpill makes a file for a body that is too large for memory.
	NewSpill() (*journal.Spill, error)
	// Define keeps a tool's definition under the hash of it. It may wait and
	// fail like Append.
	Define(ctx context.Context, sha256 entry.Hash, canonical []byte) error
	// Sync returns when everything that was appended before survives a loss
	// of power.
	Sync(ctx context.Context) error
}

// Session says what is recorded.
type Session struct {
	Label     string // how the answers call this server
	Program   string // base name of what was started
	Transport string
	Version   string // of the recorder
	Command   []string
	Capture   Capture // empty is [Shape]
}

// Options are what an observer tells while it runs. Nil functions are not
// called; none may block.
type Options struct {
	// Warn is given one line for a person, without a line end.
	Warn func(line string)
	// Echo is told of each call as it is seen.
	Echo func(Sighting)
	// Recorded is told of the answer to a call whose action was declared
	// before it went on. The code is that of a JSON-RPC error.
	Recorded func(action string, outcome entry.Outcome, code string)
}

// Sighting is a request of the client, or its answer.
type Sighting struct {
	Answer  bool
	Method  string
	Tool    string
	Bytes   int64
	Outcome entry.Outcome // of an answer
	Took    int64         // of an answer, µs; -1 where unknown
}

// maxPanics is after how many failures the observer only counts bytes: one
// bad message should not cost the record of the rest, a broken observer must
// not spend the time of everything that follows.
const maxPanics = 3

// Observer turns what the tap saw into entries. Make one with [New]; Run is
// called once, then Finish.
type Observer struct {
	buf     *tap.Buffer
	session Session
	opts    Options
	id      string

	journal Journal
	seq     int64
	lost    int64 // entries that the journal did not take
	missed  int64 // messages and other lines in those
	readers [2]*protocol.Reader
	keepers [2]*keeper
	calls   *protocol.Calls
	sides   [2]side
	panics  int
	noisy   bool // a person was told about noise
	lists   int  // tools/list requests whose answer is still to come
	run     run  // of noise

	bodyless bool  // a person was told that a body was lost
	stderrAt int64 // sequence of the entry about the server's stderr, once there is one

	turn    chan struct{}       // who has put a value in is the one who may touch the rest
	over    bool                // the end is written
	intents map[int64]*intentOf // of calls that are not over, by the Seq of their request
	held    int64               // how long a line may be that a gate holds
	long    longCall            // the last one that no gate can hold

	ctx     context.Context // of Run, for entries that are made in callbacks
	at      int64           // time of the event that is being looked at
	began   int64           // when the session began, µs since 1970
	quiet   chan struct{}
	isQuiet bool
	ahead   waiters
}

// side is the account of one direction: every byte that the tap gave must
// turn up in an entry.
type side struct {
	seen   int64 // bytes the tap gave, or said it had to let go
	kept   int64 // bytes that are in entries, gaps included
	closed bool
	inLine bool  // the last byte that was seen did not end a line
	blind  gap   // what passed after the observer gave up
	late   gap   // what there was no time to read at the end
	given  gap   // what the journal had to give up
	unread int64 // bytes of late, for the person who is told
}

type gap struct{ bytes, lines int64 }

// New returns an observer of buf for a new session.
func New(buf *tap.Buffer, s Session, opts Options) *Observer {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	o := &Observer{
		buf:     buf,
		session: s,
		opts:    opts,
		id:      hex.EncodeToString(id[:]),
		calls:   protocol.NewCalls(),
		began:   nowMicro(),
		quiet:   make(chan struct{}),
		turn:    make(chan struct{}, 1),
		intents: make(map[int64]*intentOf),
		held:    gateHolds,
	}
	if o.session.Capture == "" {
		o.session.Capture = Shape
	}
	for _, from := range []wire.Direction{wire.FromClient, wire.FromServer} {
		o.keepers[from] = &keeper{level: o.session.Capture, spill: o.newSpill}
		o.readers[from] = o.reader(from)
	}
	return o
}

func (o *Observer) newSpill() (*journal.Spill, error) {
	if o.journal == nil {
		return nil, ErrNotRecording
	}
	return o.journal.NewSpill()
}

// reader reads one direction. It does not hash what passes: the salt of such
// a hash would let anybody who holds the journal try out short secrets, so it
// is not kept, and without it nobody could check the hash.
func (o *Observer) reader(from wire.Direction) *protocol.Reader {
	r := protocol.NewReader(from, o.message)
	r.SkipHash()
	r.SetSink(o.keepers[from])
	return r
}

// ID is the session's id, 32 hex digits.
func (o *Observer) ID() string { return o.id }

// Quiet is closed when the client has closed its side and is owed no answer
// any more.
func (o *Observer) Quiet() <-chan struct{} { return o.quiet }

// Run reads the tap until it is shut. Without a journal (nil) it still keeps
// count of open calls, for Quiet. When ctx ends it stops waiting for a journal
// that takes nothing.
func (o *Observer) Run(ctx context.Context, j Journal) {
	o.turn <- struct{}{}
	o.ctx, o.journal = ctx, j
	o.guard(o.begin)
	<-o.turn
	for {
		ev, err := o.next(ctx)
		if errors.Is(err, tap.ErrShut) {
			break
		}
		o.turn <- struct{}{}
		if err != nil {
			o.abandon()
			<-o.turn
			break
		}
		o.guard(func() { o.event(ev) })
		o.reached(ev.Place)
		<-o.turn
	}
	o.turn <- struct{}{}
	o.guard(o.endRun)
	<-o.turn
	o.ahead.end()
}

// abandon counts what is left in a tap that nobody has the time to read.
func (o *Observer) abandon() {
	for {
		ev, err := o.buf.Next(context.Background())
		if err != nil {
			return
		}
		s := &o.sides[ev.From]
		s.seen += int64(len(ev.Data)) + ev.GapBytes
		s.late.bytes += int64(len(ev.Data)) + ev.GapBytes
		s.late.lines += countLines(ev.Data) + ev.GapLines
		s.unread += int64(len(ev.Data)) + ev.GapBytes
	}
}

// guard keeps a panic away from everything else in the process.
func (o *Observer) guard(step func()) {
	defer func() {
		if r := recover(); r != nil {
			o.failed(r)
		}
	}()
	step()
}

func (o *Observer) begin() {
	d := &entry.Detail{
		Label: clean(o.session.Label), Program: o.session.Program,
		Transport: o.session.Transport, Version: o.session.Version,
	}
	if o.session.Capture != Shape {
		command, found := redact.CommandLine(o.session.Command)
		d.Command, d.Redacted = command, counts(found)
	}
	o.append(&entry.Entry{Kind: entry.KindSession, At: o.began, Capture: string(o.session.Capture)}, d, nil)
}

// event looks at one event of the tap.
func (o *Observer) event(ev tap.Event) {
	s := &o.sides[ev.From]
	o.at = ev.At
	switch {
	case ev.Gap:
		s.seen += ev.GapBytes
		s.inLine = true // nobody knows
		if o.panics >= maxPanics {
			s.blind.bytes += ev.GapBytes
			s.blind.lines += ev.GapLines
			return
		}
		o.readers[ev.From].Gap(ev.GapBytes, ev.GapLines, ev.At)
		o.gap(ev.From, "observer_behind", ev.GapBytes, ev.GapLines, "")
	case ev.Closed:
		s.closed = true
		if o.panics < maxPanics {
			o.readers[ev.From].Close(ev.At)
		}
		o.settle()
	default:
		s.seen += int64(len(ev.Data))
		s.inLine = ev.Data[len(ev.Data)-1] != '\n'
		if o.panics >= maxPanics {
			s.blind.bytes += int64(len(ev.Data))
			s.blind.lines += countLines(ev.Data)
			return
		}
		o.readers[ev.From].Feed(ev.Data, ev.At)
	}
}

// failed records what a panic cost, and starts again behind it.
func (o *Observer) failed(cause any) {
	o.panics++
	o.warn("the recorder failed on a message and left it out; the traffic is not affected (please report: " + oneLine(fmt.Sprint(cause)) + ")")
	for from := range o.sides {
		s, from := &o.sides[from], wire.Direction(from)
		missing := s.seen - s.kept
		o.readers[from] = o.reader(from)
		if missing == 0 {
			continue
		}
		if o.panics >= maxPanics {
			s.blind.bytes += missing
			continue
		}
		o.guardGap(from, missing)
	}
	o.settle()
}

// guardGap writes the gap that a panic left. A journal that panics itself is
// not asked a second time.
func (o *Observer) guardGap(from wire.Direction, missing int64) {
	defer func() {
		if r := recover(); r != nil {
			o.panics = maxPanics
			o.sides[from].blind.bytes += o.sides[from].seen - o.sides[from].kept
		}
	}()
	if o.sides[from].inLine {
		o.readers[from].Gap(missing, 0, o.at)
	}
	o.gap(from, "observer_failed", missing, 0, "")
}

func (o *Observer) gap(from wire.Direction, reason string, bytes, lines int64, note string) {
	o.endRun()
	o.append(&entry.Entry{
		Kind: entry.KindGap, At: o.at, From: from.String(),
		Reason: reason, Bytes: bytes, Messages: lines,
	}, &entry.Detail{Note: note}, nil)
	o.sides[from].kept += bytes
}

// append gives the entry its place in the session and hands it on.
func (o *Observer) append(e *entry.Entry, d *entry.Detail, b *journal.Body) {
	e.Session, e.Seq = o.id, o.seq
	if !belongs[e.Kind] {
		e.Call, e.Took = -1, -1
	}
	if e.Kind != entry.KindEnd {
		e.ExitCode = -1
	}
	if o.journal == nil {
		o.seq++
		o.missed += onWire(e)
		return
	}
	if err := o.journal.AppendBody(o.ctx, e, d, b); err != nil {
		o.miss(e)
		return
	}
	o.seq++
}

// miss takes down what an entry held that the journal did not take, so that
// the gap at the end can say it.
func (o *Observer) miss(e *entry.Entry) {
	o.lost++ // told once, by Finish
	o.missed += onWire(e)
	if e.From == "" || e.Kind == entry.KindStderr {
		return
	}
	side := wire.FromClient
	if e.From == wire.FromServer.String() {
		side = wire.FromServer
	}
	given := &o.sides[side].given
	given.bytes += e.Bytes + e.Framing
	if e.Kind == entry.KindGap {
		given.lines += e.Messages
	} else if e.Bytes > 0 {
		given.lines += lines(e)
	}
}

// belongs are the kinds of entry that may be part of a call.
var belongs = map[entry.Kind]bool{
	entry.KindRequest: true, entry.KindRound: true, entry.KindResponse: true,
	entry.KindNotification: true, entry.KindTools: true, entry.KindIntent: true,
}

// settle closes Quiet as soon as nothing is owed to a client that has gone.
func (o *Observer) settle() {
	if o.isQuiet || !o.sides[wire.FromClient].closed || o.calls.Owed(wire.FromClient) > 0 {
		return
	}
	o.isQuiet = true
	close(o.quiet)
}

func (o *Observer) warn(line string) {
	if o.opts.Warn != nil {
		o.opts.Warn(line)
	}
}
