package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Last is what happened in one session.
type Last struct {
	run        journal.Run
	short      string // of its id
	totals     journal.Totals
	failures   []failure
	unanswered []listedCall
	waiting    []listedCall
	biggest    []listedCall
	slowest    []listedCall
	went       []journal.DestinationCount
	undeclared []journal.Undeclared
	clock      terminal.Clock
}

// Ledger is a history that knows why calls failed and where data was going.
// [journal.Reader] is one.
type Ledger interface {
	journal.History
	// Failures groups failed calls by tool and reason, the most frequent first.
	Failures(ctx context.Context, f journal.StatsFilter) ([]journal.Failure, error)
	// Destinations counts the calls that named each destination, the most
	// frequent first.
	Destinations(ctx context.Context, f journal.StatsFilter) ([]journal.DestinationCount, error)
	// Undeclared groups mapped calls that could not be declared, the most
	// frequent first; of one session, or of everything since a time.
	Undeclared(ctx context.Context, session string, since int64) ([]journal.Undeclared, error)
}

// failure is the failed calls of one tool that had one outcome and code, with
// the newest of them.
type failure struct {
	journal.Failure
	last listedCall
}

const (
	topCalls = 5
	// failuresExplained is how many kinds of failure are shown with a text.
	failuresExplained = 100
	// waitingRead bounds how many calls without an answer are listed, of a
	// session whose server never answers. They are counted in full.
	waitingRead = 5_000
)

// LastRun tells of the newest session that called a tool, or of the one whose
// id begins with prefix. Where no session called one, it tells of the newest.
// Errors: [ErrNothingRecorded], [NoSessionError], [AmbiguousError].
func LastRun(ctx context.Context, history Ledger, clock terminal.Clock, prefix string) (*Last, error) {
	run, err := chooseRun(ctx, history, clock, prefix)
	if err != nil {
		return nil, err
	}
	l := &Last{run: run, clock: clock}
	ids := newShortener(history)
	if l.short, err = ids.short(ctx, run.ID); err != nil {
		return nil, err
	}
	if l.totals, err = history.Totals(ctx, run.ID, 0); err != nil {
		return nil, fmt.Errorf("add up session %s: %w", l.short, err)
	}
	if err := l.findFailures(ctx, history, ids); err != nil {
		return nil, fmt.Errorf("list the failed calls of session %s: %w", l.short, err)
	}
	if err := l.findExtremes(ctx, history, ids); err != nil {
		return nil, fmt.Errorf("list the largest calls of session %s: %w", l.short, err)
	}
	if l.went, err = history.Destinations(ctx, journal.StatsFilter{Session: run.ID}); err != nil {
		return nil, fmt.Errorf("count the destinations of session %s: %w", l.short, err)
	}
	if l.totals.Intents.Undeclarable > 0 {
		if l.undeclared, err = history.Undeclared(ctx, run.ID, 0); err != nil {
			return nil, fmt.Errorf("list what session %s could not declare: %w", l.short, err)
		}
	}
	return l, nil
}

func chooseRun(ctx context.Context, history journal.History, clock terminal.Clock, prefix string) (journal.Run, error) {
	if prefix != "" {
		return findRun(ctx, history, clock, prefix)
	}
	newest, err := history.Calls(ctx, journal.CallFilter{ToolsOnly: true, Order: journal.Newest, Limit: 1})
	if err != nil {
		return journal.Run{}, fmt.Errorf("find the newest call: %w", err)
	}
	if len(newest) > 0 {
		return findRun(ctx, history, clock, newest[0].Session)
	}
	runs, err := history.Runs(ctx, journal.RunFilter{Limit: 1})
	if err != nil {
		return journal.Run{}, fmt.Errorf("find the newest session: %w", err)
	}
	if len(runs) == 0 {
		return journal.Run{}, NothingRecorded()
	}
	return runs[0], nil
}

// findFailures takes failed calls by tool and reason, the most frequent first,
// and those without an answer.
func (l *Last) findFailures(ctx context.Context, history Ledger, ids *shortener) error {
	failures, err := history.Failures(ctx, journal.StatsFilter{Session: l.run.ID})
	if err != nil {
		return err
	}
	for i, one := range failures {
		f := failure{Failure: one, last: listedCall{Call: one.Last}}
		if f.last.id, err = ids.callID(ctx, one.Last); err != nil {
			return err
		}
		// What the newest of a kind said stands for the others: servers put
		// ids and times into their texts, and no two would be alike.
		if i < failuresExplained {
			if f.last.why, err = errorText(ctx, history, one.Last); err != nil {
				return err
			}
		}
		l.failures = append(l.failures, f)
	}
	if l.totals.Open+l.totals.Unanswered == 0 {
		return nil
	}
	calls, err := listCalls(ctx, history, ids, journal.CallFilter{
		Session: l.run.ID, ToolsOnly: true, Unanswered: true, Order: journal.Newest, Limit: waitingRead,
	})
	for _, call := range calls {
		if call.Ended {
			l.unanswered = append(l.unanswered, call)
		} else {
			l.waiting = append(l.waiting, call)
		}
	}
	return err
}

// findExtremes takes the biggest answers, and the slowest of the others.
func (l *Last) findExtremes(ctx context.Context, history journal.History, ids *shortener) (err error) {
	filter := journal.CallFilter{Session: l.run.ID, ToolsOnly: true, Order: journal.Biggest, Limit: topCalls}
	if l.biggest, err = listCalls(ctx, history, ids, filter); err != nil {
		return err
	}
	l.biggest = slices.DeleteFunc(l.biggest, func(c listedCall) bool { return !c.Answered })
	filter.Order, filter.Limit = journal.Slowest, 2*topCalls
	if l.slowest, err = listCalls(ctx, history, ids, filter); err != nil {
		return err
	}
	l.slowest = slices.DeleteFunc(l.slowest, func(c listedCall) bool {
		listed := slices.ContainsFunc(l.biggest, func(big listedCall) bool { return big.Seq == c.Seq })
		return listed || c.Took < 0
	})
	l.slowest = l.slowest[:min(len(l.slowest), topCalls)]
	if err := explain(ctx, history, l.biggest); err != nil {
		return err
	}
	return explain(ctx, history, l.slowest)
}

// LastDocument is the JSON form of [Last].
type LastDocument struct {
	SessionDocument
	Calls           int64                 `json:"calls"`            // to tools
	Failed          int64                 `json:"failed"`           // answered with an error
	Unanswered      int64                 `json:"unanswered"`       // never answered; the session is over
	Open            int64                 `json:"open"`             // not answered yet
	ReturnedBytes   int64                 `json:"returned_bytes"`   // by tools, on the wire
	TookUS          int64                 `json:"took_us"`          // in tools
	Failures        []FailureDocument     `json:"failures"`         // most frequent first
	UnansweredCalls []CallDocument        `json:"unanswered_calls"` // newest first
	OpenCalls       []CallDocument        `json:"open_calls"`       // newest first
	Biggest         []CallDocument        `json:"biggest"`          // at most 5
	Slowest         []CallDocument        `json:"slowest"`          // at most 5, without the biggest
	Actions         *ActionsDocument      `json:"actions"`          // what became of declared actions; null where none was to be
	Destinations    []DestinationDocument `json:"destinations"`     // where data was going, most calls first
	OtherRequests   []MethodDocument      `json:"other_requests"`   // by method, tool calls left out
	NoiseLines      int64                 `json:"noise_lines"`      // lines that were no message
	StderrBytes     int64                 `json:"stderr_bytes"`     // what the server wrote there
	Gaps            []GapDocument         `json:"gaps"`             // what was not seen
}

// FailureDocument is the failed calls of one tool for one reason.
type FailureDocument struct {
	Tool      string  `json:"tool"`       // that failed
	Outcome   string  `json:"outcome"`    // error or tool_error
	ErrorCode *string `json:"error_code"` // the raw JSON-RPC code
	ErrorText *string `json:"error_text"` // what the newest of them said, redacted; null where that was not kept
	Count     int64   `json:"count"`      // how often
	LastAt    string  `json:"last_at"`    // the newest of them
	LastCall  string  `json:"last_call"`  // what deed show takes
}

// MethodDocument counts requests of one method, tool calls left out.
type MethodDocument struct {
	From   string `json:"from"`   // who asked: client or server
	Method string `json:"method"` // as it was written
	Count  int64  `json:"count"`  // how often
}

// Document is the answer for programs.
func (l *Last) Document() any {
	d := LastDocument{
		SessionDocument: sessionDocument(l.run, l.clock),
		Calls:           l.totals.Calls, Failed: l.totals.Failed, Unanswered: l.totals.Unanswered, Open: l.totals.Open,
		ReturnedBytes: l.totals.Returned, TookUS: l.totals.Took,
		Failures:        make([]FailureDocument, 0, len(l.failures)),
		UnansweredCalls: callDocuments(l.unanswered), OpenCalls: callDocuments(l.waiting),
		Biggest: callDocuments(l.biggest), Slowest: callDocuments(l.slowest),
		Actions:       l.actionsDocument(),
		Destinations:  destinationDocuments(l.went),
		OtherRequests: make([]MethodDocument, 0, len(l.totals.Others)),
		NoiseLines:    l.totals.Noise, StderrBytes: l.totals.Stderr,
		Gaps: gapDocuments(l.totals.Gaps),
	}
	for _, f := range l.failures {
		document := FailureDocument{
			Tool: f.Tool, Outcome: string(f.Outcome), Count: f.Count,
			LastAt: stamp(f.last.At), LastCall: f.last.id,
		}
		if f.Error != "" {
			document.ErrorCode = &f.Error
		}
		if f.last.why != "" {
			document.ErrorText = &f.last.why
		}
		d.Failures = append(d.Failures, document)
	}
	for _, other := range l.totals.Others {
		d.OtherRequests = append(d.OtherRequests, MethodDocument(other))
	}
	return d
}
