package observer

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/wire"
)

// End says how a session ended.
type End struct {
	Reason      string // a word from the journal's list
	ExitCode    int    // -1 where there is none
	Signal      string
	StderrBytes int64
	StderrLines int64
}

// ErrIncomplete says that entries are missing at the end of a session.
var ErrIncomplete = errors.New("the record is incomplete")

// Finish writes what is left to say when Run has returned: gaps that were only
// counted, the server's stderr, and the end. It may be called again after
// [Observer.Resume].
func (o *Observer) Finish(ctx context.Context, end End) error {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	o.ctx, o.at, o.over = ctx, nowMicro(), true
	o.guard(func() { o.finish(end) })
	if left := o.sides[0].unread + o.sides[1].unread; o.lost > 0 || left > 0 {
		return fmt.Errorf("%w: %d entries were not kept and %d bytes were not read", ErrIncomplete, o.lost, left)
	}
	return nil
}

// Missed is how many messages and other lines were seen and are not in the
// journal, once Finish has returned. What was let go unread counts by its line
// ends.
func (o *Observer) Missed() int64 { return o.missed }

// onWire is how many lines that crossed the wire an entry stands for.
func onWire(e *entry.Entry) int64 {
	switch e.Kind {
	case entry.KindSession, entry.KindStderr, entry.KindEnd, entry.KindTools, entry.KindIntent:
		return 0
	case entry.KindGap:
		if e.Reason == "journal_failed" {
			return 0 // counted when they were given up
		}
		return e.Messages
	}
	return lines(e)
}

// Resume goes on where the journal gave up entries that it could not write in
// time. What was in them becomes a gap; Finish writes it.
func (o *Observer) Resume(d journal.Dropped) {
	if d.Entries == 0 {
		return
	}
	o.seq = d.First
	o.lost += d.Entries
	o.missed += d.Client.Messages + d.Server.Messages
	o.sides[wire.FromClient].given.add(d.Client)
	o.sides[wire.FromServer].given.add(d.Server)
	if o.stderrAt >= d.First {
		o.stderrAt = 0
	}
}

func (o *Observer) finish(end End) {
	for from := range o.sides {
		s, from := &o.sides[from], wire.Direction(from)
		if s.late.bytes > 0 {
			// A message that was being read when time ran out is part of it.
			o.readers[from].Close(o.at)
		}
		o.counted(from, "journal_failed", &s.given)
		o.counted(from, "observer_failed", &s.blind)
		o.counted(from, "observer_behind", &s.late)
	}
	if end.StderrBytes > 0 && o.stderrAt == 0 {
		o.stderrAt = o.seq
		o.append(&entry.Entry{
			Kind: entry.KindStderr, At: o.at, From: wire.FromServer.String(),
			Bytes: end.StderrBytes, Messages: end.StderrLines,
		}, &entry.Detail{}, nil)
	}
	o.append(&entry.Entry{
		Kind: entry.KindEnd, At: o.at,
		Reason: end.Reason, ExitCode: int64(end.ExitCode),
		Open:        int64(o.calls.Len()),
		ClientBytes: o.sides[wire.FromClient].seen,
		ServerBytes: o.sides[wire.FromServer].seen,
		Undelivered: o.buf.Undelivered(wire.FromClient) + o.buf.Undelivered(wire.FromServer),
	}, &entry.Detail{Signal: end.Signal}, nil)
}

func (g *gap) add(d journal.DroppedSide) {
	g.bytes += d.Bytes
	g.lines += d.Messages
}

// counted writes a gap whose bytes were only counted so far.
func (o *Observer) counted(from wire.Direction, reason string, g *gap) {
	if g.bytes == 0 {
		return
	}
	told := *g
	*g = gap{} // before it is written: where that fails it is counted again
	o.gap(from, reason, told.bytes, told.lines, "")
}
