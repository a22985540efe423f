package gate

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/outbox"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/wire"
)

// job is a line with mapped calls that is being decided.
type job struct {
	*Gate
	found  found
	place  wire.Place
	answer chan<- wire.Decision

	intents []observer.Intent // those that can be declared
	cannot  []observer.Intent
	why     string // the first of those cannot be declared
}

// add makes the intent of a call, or finds out why it has none.
func (j *job) add(c call, at value.Instant) {
	made, err := j.make(c, at)
	x := observer.Intent{ID: c.id, Tool: c.tool, Required: j.Required}
	if err == nil {
		x.Body = made.Body
		x.Said = entry.Declaration{
			Action: made.ActionID, Contract: made.ContractID, Subject: made.SubjectID,
			API: j.To.API(), Key: j.To.Fingerprint(),
		}
		j.intents = append(j.intents, x)
		return
	}
	x.Said = undeclarable("unreadable", "")
	var not *intent.NotDeclarable
	if errors.As(err, &not) {
		x.Said = undeclarable(string(not.Reason), not.Path)
	}
	x.Refused = j.Strict
	if j.why == "" {
		j.why = "the call of " + oneLine(c.tool) + " cannot be declared: " + err.Error()
	}
	j.cannot = append(j.cannot, x)
}

func undeclarable(why, path string) entry.Declaration {
	return entry.Declaration{Why: why, Path: path}
}

func (j *job) make(c call, at value.Instant) (intent.Intent, error) {
	if c.twice {
		return intent.Intent{}, &intent.NotDeclarable{Reason: intent.Twice, Path: "a member of the request"}
	}
	return j.Mapping.Intent(intent.Call{Tool: c.tool, Params: c.params, RequestID: c.id, Session: j.Session, At: at})
}

// run declares what can be declared and decides.
func (j *job) run(ctx context.Context) {
	switch {
	case len(j.cannot) > 0 && j.Strict:
		j.undeclarable(ctx, j.place, j.cannot)
		j.refuse(j.why)
		return
	case len(j.intents) == 0:
		j.answer <- wire.Decision{}
	}
	if len(j.cannot) > 0 {
		j.Warn("forwarded without being declared: " + j.why)
		defer j.undeclarable(ctx, j.place, j.cannot)
	}
	if len(j.intents) == 0 {
		return
	}
	begun, err := j.begin(ctx)
	if err != nil && j.Required {
		j.settle(begun, nil, err)
		j.refuse("the journal did not keep the intent: " + oneLine(err.Error()))
		return
	}
	results := j.declare(ctx, begun)
	kept := j.settle(begun, results, nil)
	if why := firstFailure(begun, results); why != "" && j.Required {
		j.refuse(why)
		return
	}
	// Asked before the answer is out: the session may end because of it, and whoever
	// looks for why must find it.
	decided := j.ctx.Err() == nil
	j.answer <- wire.Decision{}
	if err != nil {
		kept = j.catchUp(begun, results, err)
	}
	if decided {
		j.tell(begun, results, kept)
	}
}

// catchUp writes the intents that were not in the record in time, now that
// their calls have gone on: what was not declared would be lost else. It says
// whether the record has them.
func (j *job) catchUp(begun []observer.Begun, results []outbox.Result, err error) bool {
	for try := 0; errors.Is(err, context.DeadlineExceeded) && try < catchUpTries; try++ {
		// Not under the gate's own context: it may be the last that the
		// session does.
		ctx, cancel := context.WithTimeout(context.Background(), catchUpTime)
		err = j.beginRest(ctx, begun)
		cancel()
		if j.ctx.Err() != nil {
			break
		}
	}
	j.mu.Lock()
	j.late = err != nil
	first := err != nil && !j.toldLate && j.ctx.Err() == nil
	j.toldLate = j.toldLate || first
	j.mu.Unlock()
	if first {
		j.Warn("an intent is not in the journal, so that it is not declared later if that failed: " + oneLine(err.Error()))
	}
	return err == nil && j.settle(begun, results, nil)
}

// beginRest writes the intents that have no entry.
func (j *job) beginRest(ctx context.Context, begun []observer.Begun) error {
	for i := range begun {
		if begun[i].Seq > 0 || begun[i].Continues {
			continue
		}
		one, err := j.record.Begin(ctx, j.place, j.intents[i:i+1])
		if err != nil {
			return err
		}
		begun[i] = one[0]
	}
	return nil
}

// begin writes the intents and makes them durable. A record that was late once
// is not waited for each time, unless the call does not go on without it.
func (j *job) begin(ctx context.Context) ([]observer.Begun, error) {
	j.mu.Lock()
	limit := j.Timeout / 2
	if j.late && !j.Required {
		limit = min(limit, lateTime)
	}
	j.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begun, err := j.record.Begin(ctx, j.place, j.intents)
	if err == nil && !allContinue(begun) {
		err = j.record.Sync(ctx)
	}
	j.mu.Lock()
	j.late = err != nil
	j.mu.Unlock()
	return begun, err
}

func allContinue(begun []observer.Begun) bool {
	for _, b := range begun {
		if !b.Continues {
			return false
		}
	}
	return true
}

// declare sends what is to be sent, all at once.
func (j *job) declare(ctx context.Context, begun []observer.Begun) []outbox.Result {
	results := make([]outbox.Result, len(j.intents))
	send := func(i int) {
		select {
		case j.slots <- struct{}{}:
			defer func() { <-j.slots }()
			results[i] = j.To.Declare(ctx, j.intents[i].Body)
		case <-ctx.Done():
			const why = "no answer in time, because too many wait for one"
			results[i] = outbox.Result{Class: "no answer in time", Why: why}
		}
	}
	if len(j.intents) == 1 { // nearly always
		if !begun[0].Continues {
			send(0)
		}
		return results
	}
	var all sync.WaitGroup
	for i := range j.intents {
		if !begun[i].Continues {
			all.Go(func() { send(i) })
		}
	}
	all.Wait()
	return results
}

// settle writes how the intents went, before the call goes on, and says
// whether the record took that. Without results they were given up.
func (j *job) settle(begun []observer.Begun, results []outbox.Result, givenUp error) bool {
	list := make([]observer.Settled, 0, len(begun))
	for i, b := range begun {
		if b.Continues {
			continue
		}
		if givenUp == nil && !results[i].Declared && !j.Required && j.ctx.Err() != nil {
			continue // the session is over, and the try was broken off; the outbox has it
		}
		s := observer.Settled{Begun: b, Reason: entry.IntentRefused, Said: entry.Declaration{Why: "the journal was late"}}
		if givenUp == nil {
			s.Reason, s.Said = j.outcome(results[i])
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return true
	}
	// Not under the context of the call: its time may be up, and this is the
	// moment when that has to be written.
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	return j.record.Settle(ctx, list) == nil
}

func (j *job) outcome(r outbox.Result) (reason string, said entry.Declaration) {
	said = r.Said()
	switch {
	case r.Declared:
		return entry.IntentDeclared, said
	case j.Required:
		return entry.IntentRefused, said
	case r.Final:
		said.Why = r.Why
		return entry.IntentUndeliverable, said
	}
	said.Why = r.Why
	said.Again = j.now().Add(outbox.Backoff(1, r.After)).UnixMicro()
	return entry.IntentFailed, said
}

// firstFailure is why the first action of those that were sent was not declared.
func firstFailure(begun []observer.Begun, results []outbox.Result) string {
	for i, r := range results {
		if !begun[i].Continues && !r.Declared {
			return r.Why
		}
	}
	return ""
}

// refuse keeps the line from the server.
func (j *job) refuse(why string) {
	said := refusalText(why)
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	_ = j.record.Refuse(ctx, j.place, j.found.requests, refusalCode, said) // the record says itself what it lacks
	// Asked before the answer is out: the session may end because of it, and whoever
	// looks for why must find it.
	decided := j.ctx.Err() == nil
	j.answer <- refusal(j.found, said)
	if decided {
		j.Warn("refused " + j.tools() + ": " + why)
	}
}

func (j *job) tools() string {
	names := make([]string, 0, len(j.found.calls))
	for _, c := range j.found.calls {
		names = append(names, oneLine(c.tool))
	}
	return strings.Join(names, ", ")
}

// tell tells a person what was forwarded without having been declared.
func (j *job) tell(begun []observer.Begun, results []outbox.Result, inOutbox bool) {
	waits := false
	for i, r := range results {
		if begun[i].Continues || r.Declared {
			continue
		}
		then := "the declaration waits in the outbox"
		switch {
		case begun[i].Seq == 0 || !inOutbox:
			then = "the journal may not have the declaration"
		case r.Final:
			then = "the declaration is kept as undeliverable"
		default:
			waits = true
		}
		j.Warn("recording " + oneLine(j.intents[i].Said.Action) + " failed: " + r.Why + "; the call was forwarded, and " + then)
	}
	if waits && j.Failed != nil {
		j.Failed()
	}
}

// undeclarable records calls that cannot be declared.
func (g *Gate) undeclarable(ctx context.Context, place wire.Place, list []observer.Intent) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), max(recordTime, time.Until(deadline(ctx))))
	defer cancel()
	if _, err := g.record.Begin(ctx, place, list); err != nil && g.ctx.Err() == nil {
		g.mu.Lock()
		first := !g.toldLong
		g.toldLong = true
		g.mu.Unlock()
		if first {
			g.Warn("the journal does not know of a call that could not be declared: " + oneLine(err.Error()))
		}
	}
}

func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}

// oneLine makes a text from the wire fit to be printed in a line.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(s, "?"))
	const most = 300
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
