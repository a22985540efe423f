package report

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// The documents are what --json prints. Their field names are a promise:
// they may gain fields and never lose or rename one. Times are RFC 3339 in
// UTC with microseconds, spans are microseconds (_us), sizes are bytes on the
// wire (_bytes), and what is unknown is null.

// CallDocument is one call.
type CallDocument struct {
	Kind          string   `json:"kind"`           // "call", where lines of several kinds stand together
	Call          string   `json:"call"`           // what deed show takes
	Session       string   `json:"session"`        // 32 hex digits
	Seq           int64    `json:"seq"`            // of the request in its session
	Label         string   `json:"label"`          // of its server
	From          string   `json:"from"`           // who asked: client or server
	At            string   `json:"at"`             // of the request
	Method        string   `json:"method"`         // tools/call for a tool
	Tool          string   `json:"tool"`           // empty where it is no tool call
	Outcome       string   `json:"outcome"`        // ok, error, tool_error, open or unanswered
	ErrorCode     *string  `json:"error_code"`     // the raw JSON-RPC code
	ErrorText     *string  `json:"error_text"`     // what the error said, redacted; null where that was not kept
	AnsweredAt    *string  `json:"answered_at"`    // null while there is no answer
	TookUS        *int64   `json:"took_us"`        // from the request to its answer
	SentBytes     int64    `json:"sent_bytes"`     // of the request
	ReturnedBytes *int64   `json:"returned_bytes"` // of the answer
	Cancelled     bool     `json:"cancelled"`      // whoever asked took it back, and it has no answer
	Flags         []string `json:"flags"`          // what was odd; docs/journal-format.md has the words
	Erased        bool     `json:"erased"`         // its names were erased
}

func callDocument(call journal.Call, id, why string) CallDocument {
	d := CallDocument{
		Kind: "call", Call: id, Session: call.Session, Seq: call.Seq, Label: call.Label,
		From: call.From, At: stamp(call.At), Method: call.Method, Tool: call.Tool,
		Outcome: outcomeWord(call), TookUS: knownOrNil(call.Took), SentBytes: call.Sent,
		Cancelled: call.Cancelled, Flags: orEmpty(call.Flags), Erased: call.Erased,
	}
	if call.Error != "" {
		d.ErrorCode = &call.Error
	}
	if why != "" {
		d.ErrorText = &why
	}
	if call.Answered {
		d.AnsweredAt, d.ReturnedBytes = stampOrNil(call.AnswerAt), &call.Returned
	}
	return d
}

func outcomeWord(call journal.Call) string {
	switch {
	case call.Answered:
		return string(call.Outcome)
	case call.Ended:
		return "unanswered"
	}
	return "open"
}

// SessionDocument is one session.
type SessionDocument struct {
	Session   string  `json:"session"`          // 32 hex digits
	Label     string  `json:"label"`            // of its server
	Program   string  `json:"program"`          // base name of what was started
	Transport string  `json:"transport"`        // how client and server speak: stdio
	Capture   string  `json:"capture"`          // how much is kept: shape, redacted or raw
	Recorder  string  `json:"recorder_version"` // of the deed that recorded it
	StartedAt string  `json:"started_at"`       // of its first entry
	LastAt    string  `json:"last_at"`          // of its last entry
	EndedAt   *string `json:"ended_at"`         // null while no end is recorded
	State     State   `json:"state"`            // running, open or ended
	IdleUS    *int64  `json:"idle_us"`          // since its last entry, of one without an end
	ExitCode  *int64  `json:"exit_code"`        // of its server
	EndReason *string `json:"end_reason"`       // why it ended
	Erased    bool    `json:"erased"`           // its names were erased
}

func sessionDocument(run journal.Run, clock terminal.Clock) SessionDocument {
	d := SessionDocument{
		Session: run.ID, Label: run.Label, Program: run.Program, Transport: run.Transport,
		Capture: run.Capture, Recorder: run.Version, StartedAt: stamp(run.Started), LastAt: stamp(run.Last),
		State: stateOf(run, clock), Erased: run.Erased,
	}
	if run.End == nil {
		us := idle(run, clock).Microseconds()
		d.IdleUS = &us
		return d
	}
	d.EndedAt, d.ExitCode = stampOrNil(run.End.At), knownOrNil(run.End.ExitCode)
	if run.End.Reason != "" {
		d.EndReason = &run.End.Reason
	}
	return d
}

// GapDocument is a stretch of the wire that was not seen.
type GapDocument struct {
	Kind    string `json:"kind"`         // "gap"
	Session string `json:"session"`      // in which it is
	At      string `json:"at"`           // when it was noted
	From    string `json:"from"`         // whose bytes: client or server
	Reason  string `json:"reason"`       // observer_behind, observer_failed or journal_failed
	Bytes   int64  `json:"unseen_bytes"` // that crossed the wire all the same
	Lines   int64  `json:"unseen_lines"` // that ended among them
}

func gapDocuments(gaps []journal.Gap) []GapDocument {
	documents := make([]GapDocument, 0, len(gaps))
	for _, gap := range gaps {
		documents = append(documents, GapDocument{
			Kind: "gap", Session: gap.Session, At: stamp(gap.At), From: gap.From,
			Reason: gap.Reason, Bytes: gap.Bytes, Lines: gap.Messages,
		})
	}
	return documents
}

// listedCall is a call with the id that it is shown under.
type listedCall struct {
	journal.Call
	id  string
	why string // what its error said; empty where that was not kept
}

// listCalls asks for calls and gives each its id.
func listCalls(ctx context.Context, history journal.History, ids *shortener, filter journal.CallFilter) ([]listedCall, error) {
	calls, err := history.Calls(ctx, filter)
	if err != nil {
		return nil, err
	}
	listed := make([]listedCall, len(calls))
	for i, call := range calls {
		id, err := ids.callID(ctx, call)
		if err != nil {
			return nil, err
		}
		listed[i] = listedCall{Call: call, id: id}
	}
	return listed, nil
}

// explain reads what the errors of calls that are to be shown said.
func explain(ctx context.Context, history journal.History, calls []listedCall) error {
	for i, call := range calls {
		var err error
		if calls[i].why, err = errorText(ctx, history, call.Call); err != nil {
			return err
		}
	}
	return nil
}

func errorText(ctx context.Context, history journal.History, call journal.Call) (string, error) {
	if !call.Answered || call.Outcome == entry.OutcomeOK {
		return "", nil
	}
	records, err := history.Call(ctx, call.Session, call.Seq)
	if errors.Is(err, journal.ErrNotFound) { // what was found a moment ago; nothing is said of it
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the error of a call: %w", err)
	}
	for _, record := range records {
		if record.Entry.Kind == entry.KindResponse {
			return errorTextOf(record.Detail), nil
		}
	}
	return "", nil
}

// errorTextOf is what an answer says went wrong, as far as that was kept.
func errorTextOf(detail *entry.Detail) string {
	if detail == nil || detail.ErrorText == nil {
		return ""
	}
	return strings.TrimSpace(detail.ErrorText.String())
}

func callDocuments(calls []listedCall) []CallDocument {
	documents := make([]CallDocument, len(calls))
	for i, call := range calls {
		documents[i] = callDocument(call.Call, call.id, call.why)
	}
	return documents
}

// orEmpty keeps a list without elements from becoming null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
