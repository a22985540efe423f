package observer

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/protocol"
	"github.com/deed-dev/deed/internal/wire"
)

// Intent is a call that a gate holds, as the record should have it.
type Intent struct {
	ID   []byte // of the request, as it was written; nil where it has none
	Call int64  // Seq of the request where that is known already; else 0
	Tool string

	// Body is the declaration, byte for byte as it is sent. A call without one
	// cannot be declared, and Said tells why.
	Body []byte
	Said entry.Declaration

	Required bool // the call does not go on without having been declared
	Refused  bool // it is kept from the server
}

// Begun is where an intent stands in the record.
type Begun struct {
	Seq  int64 // of its entry; 0 when none was written
	Call int64 // Seq of the request; -1 where it is not known
	// Continues says that the request is a further round of a call whose
	// action has its intent already, so that none was written.
	Continues bool
}

// Settled says how an intent went.
type Settled struct {
	Begun  Begun
	Reason string // a word of the journal's, such as journal.IntentDeclared
	Said   entry.Declaration
}

// intentOf is what is known of a call that an intent was written for.
type intentOf struct {
	action   string
	declared bool
}

// longCall is a call whose line was too long for a gate to hold.
type longCall struct {
	seq  int64
	tool string
}

// gateHolds is how long a line may be that a gate holds whole, in bytes.
const gateHolds = 64 << 20

// Begin writes intents of one line of the client, when everything up to place
// is in the record. Sync makes them durable. It fails when ctx ends first,
// nothing is recorded, or the session is over; what it says of the calls is
// valid as far as it goes.
func (o *Observer) Begin(ctx context.Context, place wire.Place, intents []Intent) ([]Begun, error) {
	begun := make([]Begun, len(intents))
	for i := range begun {
		begun[i].Call = -1
	}
	if err := o.reach(ctx, place); err != nil {
		return begun, err
	}
	err := o.inTurn(ctx, func() error {
		var failed error
		for i := range intents {
			if err := o.begin1(&intents[i], &begun[i]); err != nil && failed == nil {
				failed = err
			}
		}
		return failed
	})
	return begun, err
}

// Hurry has the observer look at once at what crosses now, and returns without
// waiting for that.
func (o *Observer) Hurry() { o.buf.Kick() }

// reach waits until the observer has come to a place.
func (o *Observer) reach(ctx context.Context, place wire.Place) error {
	seen := o.ahead.add(place)
	o.buf.Kick()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-seen:
		return nil
	}
}

// inTurn does something as the one who may touch the record. What it appends
// waits for ctx and no longer.
func (o *Observer) inTurn(ctx context.Context, do func() error) (err error) {
	select {
	case o.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	before := o.ctx
	o.ctx = ctx
	defer func() {
		o.ctx = before
		if r := recover(); r != nil {
			err = fmt.Errorf("the recorder failed: %s", oneLine(fmt.Sprint(r)))
		}
		<-o.turn
	}()
	if o.over {
		return ErrNotRecording
	}
	return do()
}

func (o *Observer) begin1(x *Intent, at *Begun) error {
	if x.Call > 0 {
		at.Call = x.Call
	} else if call := o.newest(x.ID); call != nil {
		at.Call = call.Seq
		if call.First != call {
			if _, known := o.intents[call.First.Seq]; known {
				at.Call, at.Continues = call.First.Seq, true
				return nil
			}
		}
	}
	if o.journal == nil {
		return ErrNotRecording
	}
	o.endRun()
	e := &entry.Entry{Kind: entry.KindIntent, At: nowMicro(), Call: at.Call, Took: -1, Reason: entry.IntentUndeclarable}
	d := &entry.Detail{Tool: &entry.Text{Whole: clean(x.Tool)}, Declaration: &x.Said}
	var body *journal.Body
	if x.Body != nil {
		e.Reason = entry.IntentDeclaring
		if x.Required {
			e.Reason = entry.IntentRequired
		}
		body = &journal.Body{Bytes: x.Body}
	}
	if x.Refused {
		flag(e, "refused")
	}
	seq, lost := o.seq, o.lost
	o.append(e, d, body)
	if o.lost != lost {
		return errNotKept
	}
	at.Seq = seq
	if at.Call > 0 {
		o.intents[at.Call] = &intentOf{action: x.Said.Action}
	}
	return nil
}

// errNotKept says that the journal did not take an entry.
var errNotKept = errors.New("the journal did not keep it")

func (o *Observer) newest(id []byte) *protocol.Call {
	if id == nil {
		return nil
	}
	return o.calls.Newest(connection, wire.FromClient, id)
}

// Sync returns when everything that was appended survives a loss of power.
func (o *Observer) Sync(ctx context.Context) error {
	var j Journal
	if err := o.inTurn(ctx, func() error { j = o.journal; return nil }); err != nil {
		return err
	}
	if j == nil {
		return ErrNotRecording
	}
	return j.Sync(ctx)
}

// Settle writes how intents went, before their calls go on. It does not wait
// for the disk: an outcome that is lost is found out again by sending once
// more.
func (o *Observer) Settle(ctx context.Context, list []Settled) error {
	return o.inTurn(ctx, func() error {
		var failed error
		for i := range list {
			if err := o.settle1(&list[i]); err != nil && failed == nil {
				failed = err
			}
		}
		return failed
	})
}

func (o *Observer) settle1(x *Settled) error {
	if known := o.intents[x.Begun.Call]; known != nil && x.Reason == entry.IntentDeclared {
		known.declared = true
	}
	if x.Begun.Seq == 0 {
		return nil
	}
	o.endRun()
	lost := o.lost
	o.append(&entry.Entry{
		Kind: entry.KindIntent, At: nowMicro(), Call: x.Begun.Call, Took: -1, Reason: x.Reason, Intent: x.Begun.Seq,
	}, &entry.Detail{Declaration: &x.Said}, nil)
	if o.lost != lost {
		return errNotKept
	}
	return nil
}

// Refuse records that requests of a line, by their ids as they were written,
// were kept from the server, and what the client was told in its place. They
// are not waited for any more.
func (o *Observer) Refuse(ctx context.Context, place wire.Place, ids [][]byte, code, said string) error {
	if err := o.reach(ctx, place); err != nil {
		return err
	}
	return o.inTurn(ctx, func() error {
		for _, id := range ids {
			o.refuse1(id, code, said)
		}
		o.settle()
		return nil
	})
}

func (o *Observer) refuse1(id []byte, code, said string) {
	o.endRun()
	m := &protocol.Message{
		From: wire.FromServer, Kind: protocol.Response, At: nowMicro(), HasError: true,
		ID: protocol.Token{Raw: id, Size: int64(len(id))},
	}
	e := &entry.Entry{
		Kind: entry.KindResponse, At: m.At, From: m.From.String(),
		Outcome: entry.OutcomeError, Call: -1, Took: -1,
	}
	d := &entry.Detail{ID: raw(m.ID), Error: &entry.Text{Whole: code}, ErrorText: &entry.Text{Whole: said}}
	match := o.calls.Answer(connection, m)
	if call := match.Call; call != nil {
		e.Call, e.Took = call.First.Seq, max(0, match.Total)
		d.Method, d.Tool = text(call.Method), toolOf(call.Method, call.Name)
		delete(o.intents, call.First.Seq)
	}
	mark(e, match)
	flag(e, "refused")
	o.append(e, d, nil)
	if o.opts.Echo != nil {
		o.opts.Echo(Sighting{Answer: true, Method: shown(d.Method), Tool: shown(d.Tool), Outcome: e.Outcome, Took: e.Took})
	}
}

// Long is the last call up to place whose line was too long for a gate to
// hold: its tool, and the Seq of its request. It is told once.
func (o *Observer) Long(ctx context.Context, place wire.Place) (tool string, seq int64, err error) {
	if err := o.reach(ctx, place); err != nil {
		return "", 0, err
	}
	err = o.inTurn(ctx, func() error {
		tool, seq = o.long.tool, o.long.seq
		o.long = longCall{}
		return nil
	})
	return tool, seq, err
}

func (o *Observer) noteLong(m *protocol.Message, d *entry.Detail) {
	if m.From == wire.FromClient && m.Bytes > o.held && d.Tool != nil && !d.Tool.Cut {
		o.long = longCall{o.seq, d.Tool.Whole}
	}
}

// answered tells of the answer to a call that was declared. An interim one is
// none.
func (o *Observer) answered(match protocol.Match, e *entry.Entry, d *entry.Detail) {
	if match.Call == nil || match.Interim || e.From != wire.FromServer.String() {
		return
	}
	known := o.intents[match.Call.First.Seq]
	if known == nil {
		return
	}
	delete(o.intents, match.Call.First.Seq)
	if known.declared && o.opts.Recorded != nil {
		o.opts.Recorded(known.action, e.Outcome, shown(d.Error))
	}
}
