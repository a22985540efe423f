package gate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/wire"
)

// Record is where intents are kept. [observer.Observer] is one. All of it gives
// up when ctx ends.
type Record interface {
	// Hurry says that Begin will be asked about the line that is crossing now.
	// It returns at once; the record comes to that line while its intents are made.
	Hurry()
	// Begin writes intents about calls in the line that ends at place.
	Begin(ctx context.Context, place wire.Place, intents []observer.Intent) ([]observer.Begun, error)
	// Sync makes durable what was written.
	Sync(ctx context.Context) error
	// Settle writes how intents went.
	Settle(ctx context.Context, list []observer.Settled) error
	// Refuse writes that requests were kept from the server.
	Refuse(ctx context.Context, place wire.Place, ids [][]byte, code, said string) error
	// Long is the last call whose line was too long to be held.
	Long(ctx context.Context, place wire.Place) (tool string, seq int64, err error)
}

// Options say what a gate does.
type Options struct {
	Mapping *intent.Mapping
	Session string // its id
	To      outbox.Declarer
	Timeout time.Duration // from the call being seen to it going on

	Required     bool // a call that could not be declared is refused
	Strict       bool // one that cannot be declared at all is refused, too
	WarnUnmapped bool // tell each tool that is called and not mapped, once

	// Warn is given a line for a person, and Failed is told that something was
	// put into the outbox. Neither may block; Failed may be nil.
	Warn   func(string)
	Failed func()
}

const (
	// slots is how many declarations are on their way at a time.
	slots = 16
	// recordTime is what writing an outcome may take.
	recordTime = time.Second
	// lateTime is how long the record is waited for that was late before.
	lateTime = 50 * time.Millisecond
	// catchUpTime and catchUpTries are how long the record is waited for when
	// the call has gone on.
	catchUpTime  = 5 * time.Second
	catchUpTries = 6
	// namesMost bounds how many unmapped tools are told.
	namesMost = 1000
)

// Gate implements [wire.Gate].
type Gate struct {
	Options
	record Record
	now    func() time.Time

	// Pass alone uses these.
	reader *lineReader
	told   map[string]bool

	ctx    context.Context
	cancel context.CancelFunc
	jobs   sync.WaitGroup
	slots  chan struct{}
	big    sync.Mutex // one line that is in a file at a time: each is read into memory

	mu        sync.Mutex
	late      bool // the record was not durable in time
	toldLate  bool
	toldLong  bool
	toldPanic bool
}

// New returns a gate. Close it when the session is over.
func New(record Record, o Options) *Gate {
	ctx, cancel := context.WithCancel(context.Background())
	g := &Gate{
		Options: o, record: record, now: time.Now,
		told: make(map[string]bool), ctx: ctx, cancel: cancel, slots: make(chan struct{}, slots),
	}
	g.reader = newLineReader(g.mapped)
	return g
}

// Close gives up what is being decided and waits until nothing of it touches
// the record any more. The wire must have stopped: what was held does not go on.
func (g *Gate) Close() {
	g.cancel()
	g.jobs.Wait()
}

func (g *Gate) mapped(tool string) bool {
	_, is := g.Mapping.Tool(tool)
	return is
}

// Pass implements [wire.Gate].
func (g *Gate) Pass(line *wire.Line) (decision <-chan wire.Decision) {
	defer func() {
		if r := recover(); r != nil {
			g.panicked(r)
			decision = nil
		}
	}()
	if !line.Held() {
		g.start(func() { g.tooLong(line.Place()) })
		return nil
	}
	text := line.Bytes()
	if text == nil {
		return g.passFile(line)
	}
	if !concerns(text) {
		return nil
	}
	f := g.reader.read(text)
	g.warnUnmapped(g.reader.names)
	if len(f.calls) == 0 {
		return nil
	}
	return g.decide(f, line.Place())
}

// passFile is Pass for a line that is too long for memory.
func (g *Gate) passFile(line *wire.Line) <-chan wire.Decision {
	answer := make(chan wire.Decision, 1)
	place, at := line.Place(), g.now()
	g.start(func() {
		g.big.Lock()
		defer g.big.Unlock()
		reader := newLineReader(g.mapped)
		f, err := reader.readFrom(line.Reader())
		switch {
		case err != nil:
			g.Warn("a long line was forwarded without looking for calls in it: " + err.Error())
			answer <- wire.Decision{}
		case len(f.calls) == 0:
			answer <- wire.Decision{}
		default:
			g.run(f, place, at, answer)
		}
	})
	return answer
}

func (g *Gate) decide(f found, place wire.Place) <-chan wire.Decision {
	answer := make(chan wire.Decision, 1)
	at := g.now()
	g.record.Hurry()
	g.start(func() { g.run(f, place, at, answer) })
	return answer
}

func (g *Gate) start(job func()) {
	g.jobs.Go(job)
}

// run decides about a line with mapped calls. It answers whatever happens.
func (g *Gate) run(f found, place wire.Place, at time.Time, answer chan<- wire.Decision) {
	defer func() {
		if r := recover(); r != nil {
			g.panicked(r)
			if g.Required || g.Strict {
				answer <- refusal(f, refusalText("the recorder failed"))
				return
			}
			answer <- wire.Decision{}
		}
	}()
	ctx, cancel := context.WithDeadline(g.ctx, at.Add(g.Timeout))
	defer cancel()
	j := &job{Gate: g, found: f, place: place, answer: answer}
	for _, c := range f.calls {
		j.add(c, value.FromTime(at))
	}
	j.run(ctx)
}

func (g *Gate) panicked(r any) {
	g.mu.Lock()
	first := !g.toldPanic
	g.toldPanic = true
	g.mu.Unlock()
	if first {
		g.Warn(fmt.Sprintf("the gate failed on a line (please report: %v)", r))
	}
}

func (g *Gate) warnUnmapped(names []string) {
	if !g.WarnUnmapped {
		return
	}
	for _, name := range names {
		if g.told[name] || len(g.told) >= namesMost {
			continue
		}
		g.told[name] = true
		g.Warn("tool " + oneLine(name) + " is called and not mapped")
	}
}

// tooLong records a mapped call whose line could not be held. Most of it had
// gone on before anybody could know what it is.
func (g *Gate) tooLong(place wire.Place) {
	ctx, cancel := context.WithTimeout(g.ctx, g.Timeout)
	defer cancel()
	tool, seq, err := g.record.Long(ctx, place)
	if err != nil || tool == "" || !g.mapped(tool) {
		return
	}
	g.undeclarable(ctx, place, []observer.Intent{{Call: seq, Tool: tool, Said: undeclarable("line_too_long", "")}})
	g.Warn("a call of " + oneLine(tool) + " was forwarded without being declared: its line is longer than 64 MiB")
}
