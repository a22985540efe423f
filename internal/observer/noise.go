package observer

import (
	"context"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// A server that logs to its standard output writes thousands of lines that
// are no messages. Lines that follow each other become one entry, which keeps
// their bytes as before and says how many there were.
const (
	runTime  = time.Second // from the first line to the entry
	runBytes = 256 << 10   // of the lines in one entry
	runLine  = 64 << 10    // a longer line has an entry of its own
)

// run is a run of noise that has no entry yet.
type run struct {
	from   wire.Direction
	entry  *entry.Entry // nil while there is no run
	detail *entry.Detail
	body   *journal.Body
	ends   time.Time  // when it gets its entry at the latest
	place  wire.Place // that the observer came to meanwhile
}

// noiseLine records a line that is no message: by itself, or in a run.
func (o *Observer) noiseLine(m *protocol.Message, e *entry.Entry, d *entry.Detail) {
	e.Kind = entry.KindNoise
	o.noise(m)
	if m.Framing > 0 || m.Bytes > runLine || m.Flags&(protocol.InBatch|protocol.Cut) != 0 || o.ahead.isUsed() {
		o.endRun()
		body := o.content(m, e, d)
		o.append(e, d, body)
		return
	}
	body := o.content(m, e, d)
	if o.run.takes(m, body) {
		o.run.add(e, d, body)
		return
	}
	o.endRun()
	o.run = run{from: m.From, entry: e, detail: d, body: body, ends: time.Now().Add(runTime)}
	if body != nil {
		body.Bytes = append([]byte(nil), body.Bytes...) // the next line is read into the same memory
	}
}

// takes says whether a line may go into the run.
func (r *run) takes(m *protocol.Message, body *journal.Body) bool {
	return r.entry != nil && r.from == m.From && (r.body == nil) == (body == nil) &&
		r.entry.Bytes+m.Bytes <= runBytes && time.Now().Before(r.ends)
}

func (r *run) add(e *entry.Entry, d *entry.Detail, body *journal.Body) {
	into := r.entry
	if into.Began == 0 {
		into.Began = into.At
	}
	into.At = e.At
	into.Bytes += e.Bytes
	into.Messages = max(into.Messages, 1) + 1
	for _, word := range e.Flags {
		flag(into, word)
	}
	for reason, n := range d.Redacted {
		if r.detail.Redacted == nil {
			r.detail.Redacted = make(map[string]int64)
		}
		r.detail.Redacted[reason] += n
	}
	if body != nil {
		r.body.Bytes = append(r.body.Bytes, body.Bytes...)
	}
	r.detail.Preview = joinPreviews(r.detail.Preview, d.Preview, into.Bytes)
}

// joinPreviews shows the first lines of a run, as far as they are shown of
// one line.
func joinPreviews(first, next *entry.Text, size int64) *entry.Text {
	switch {
	case first == nil:
		return nil
	case first.Cut:
		return &entry.Text{Cut: true, Bytes: size, Head: first.Head}
	case next == nil || next.Cut || len(first.Whole)+len(next.Whole) > previewLimit:
		return &entry.Text{Cut: true, Bytes: size, Head: first.Whole}
	}
	return &entry.Text{Whole: first.Whole + next.Whole}
}

// endRun gives the run its entry. It comes before whatever else gets one.
func (o *Observer) endRun() {
	r := o.run
	if r.entry == nil {
		return
	}
	o.run = run{}
	kept := &o.sides[r.from].kept
	*kept -= r.entry.Bytes // until it is: a panic in between must cost a gap
	o.append(r.entry, r.detail, r.body)
	*kept += r.entry.Bytes
	if r.place > 0 {
		o.ahead.reached(r.place)
	}
}

// reached tells those who wait for a place that everything up to it has gone
// to the journal. While a run is open that is not so.
func (o *Observer) reached(place wire.Place) {
	if o.run.entry != nil && o.ahead.isUsed() {
		o.guard(o.endRun)
	}
	if o.run.entry != nil {
		o.run.place = place
		return
	}
	o.ahead.reached(place)
}

// next is the next event. A run does not wait for it longer than it may.
func (o *Observer) next(ctx context.Context) (tap.Event, error) {
	if o.run.entry != nil {
		until, cancel := context.WithDeadline(ctx, o.run.ends)
		ev, err := o.buf.Next(until)
		cancel()
		if err == nil || until.Err() == nil || ctx.Err() != nil {
			return ev, err
		}
		o.turn <- struct{}{}
		o.guard(o.endRun)
		<-o.turn
	}
	return o.buf.Next(ctx)
}

// lines is how many lines an entry of a message or of noise stands for.
func lines(e *entry.Entry) int64 {
	if e.Kind == entry.KindNoise {
		return max(e.Messages, 1)
	}
	return 1
}
