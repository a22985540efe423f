package report

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// The documents are what --json prints. Their field names are a promise:
// they may gain fields and never lose or rename one. Times are RFC 3339 in
// UTC with microseconds, spans are microseconds (_us), sizes are bytes on the
// wire (_bytes), and what is unknown is null.

// CallDocument is one call.
type CallDocument struct {
	Kind          string   `json:"kind"`    // "call", where lines of several kinds stand together
	Call          string   `json:"call"`    // what deed show takes
	Session       string   `json:"session"` // 32 hex digits
	Seq           int64    `json:"seq"`     // of the request in its session
	Label         string   `json:"label"`
	From          string   `json:"from"` // who asked: client or server
	At            string   `json:"at"`   // of the request
	Method        string   `json:"method"`
	Tool          string   `json:"tool"`
	Outcome       string   `json:"outcome"`        // ok, error, tool_error, open or unanswered
	ErrorCode     *string  `json:"error_code"`     // the raw JSON-RPC code
	AnsweredAt    *string  `json:"answered_at"`    // null while there is no answer
	TookUS        *int64   `json:"took_us"`        // from the request to its answer
	SentBytes     int64    `json:"sent_bytes"`     // of the request
	ReturnedBytes *int64   `json:"returned_bytes"` // of the answer
	Flags         []string `json:"flags"`
	Erased        bool     `json:"erased"` // its names were erased
}

func callDocument(call journal.Call, id string) CallDocument {
	d := CallDocument{
		Kind: "call", Call: id, Session: call.Session, Seq: call.Seq, Label: call.Label,
		From: call.From, At: stamp(call.At), Method: call.Method, Tool: call.Tool,
		Outcome: outcomeWord(call), TookUS: knownOrNil(call.Took), SentBytes: call.Sent,
		Flags: orEmpty(call.Flags), Erased: call.Erased,
	}
	if call.Error != "" {
		d.ErrorCode = &call.Error
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
	Session   string  `json:"session"`
	Label     string  `json:"label"`
	Program   string  `json:"program"`
	Transport string  `json:"transport"`
	Capture   string  `json:"capture"`
	Recorder  string  `json:"recorder_version"`
	StartedAt string  `json:"started_at"`
	LastAt    string  `json:"last_at"`    // of its last entry
	EndedAt   *string `json:"ended_at"`   // null while no end is recorded
	State     State   `json:"state"`      // running, open or ended
	IdleUS    *int64  `json:"idle_us"`    // since its last entry, of one without an end
	ExitCode  *int64  `json:"exit_code"`  // of its server
	EndReason *string `json:"end_reason"` // why it ended
	Erased    bool    `json:"erased"`
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
	Kind    string `json:"kind"` // "gap"
	Session string `json:"session"`
	At      string `json:"at"`
	From    string `json:"from"`
	Reason  string `json:"reason"`
	Bytes   int64  `json:"unseen_bytes"`
	Lines   int64  `json:"unseen_lines"`
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
	id string
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
		listed[i] = listedCall{call, id}
	}
	return listed, nil
}

func callDocuments(calls []listedCall) []CallDocument {
	documents := make([]CallDocument, len(calls))
	for i, call := range calls {
		documents[i] = callDocument(call.Call, call.id)
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
