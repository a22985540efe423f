package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// TailQuery says which calls [TailCalls] lists.
type TailQuery struct {
	Limit   int    // at most this many, the newest
	Session string // prefix of a session id; empty is every session
	Since   int64  // µs since 1970; 0 is ever
	Errors  bool   // only those that failed or were never answered
	All     bool   // every request, not only tool calls
}

// Tail is a list of calls, oldest first.
type Tail struct {
	query TailQuery
	calls []listedCall
	gaps  []journal.Gap // in the same session and time
}

// TailCalls lists the newest calls that a query asks for. Errors:
// [ErrNothingRecorded], [NoSessionError], [AmbiguousError].
func TailCalls(ctx context.Context, history journal.History, clock terminal.Clock, query TailQuery) (*Tail, error) {
	session := ""
	if query.Session != "" {
		run, err := findRun(ctx, history, clock, query.Session)
		if err != nil {
			return nil, err
		}
		session = run.ID
	}
	calls, err := listCalls(ctx, history, newShortener(history), journal.CallFilter{
		Session: session, Since: query.Since, ToolsOnly: !query.All, Failed: query.Errors,
		Order: journal.Newest, Limit: query.Limit,
	})
	if err != nil {
		return nil, fmt.Errorf("list the calls: %w", err)
	}
	if err := explain(ctx, history, calls); err != nil {
		return nil, err
	}
	slices.Reverse(calls)
	t := &Tail{query: query, calls: calls}
	if len(calls) == 0 {
		return t, t.checkRecorded(ctx, history, session)
	}
	// Gaps matter for the time that the list covers: from its first call,
	// or from where the reader asked when the list was not cut.
	since := calls[0].At
	if len(calls) < query.Limit {
		since = query.Since
	}
	if t.gaps, err = history.Gaps(ctx, session, since); err != nil {
		return nil, fmt.Errorf("look for gaps: %w", err)
	}
	return t, nil
}

// checkRecorded tells an empty list from an empty journal.
func (t *Tail) checkRecorded(ctx context.Context, history journal.History, session string) error {
	runs, err := history.Runs(ctx, journal.RunFilter{Limit: 1})
	if err != nil {
		return fmt.Errorf("look for a session: %w", err)
	}
	if len(runs) == 0 {
		return NothingRecorded()
	}
	if t.gaps, err = history.Gaps(ctx, session, t.query.Since); err != nil {
		return fmt.Errorf("look for gaps: %w", err)
	}
	return nil
}

// Text is one line a call.
func (t *Tail) Text(view View) string {
	if len(t.calls) == 0 {
		return t.emptyText(view) + gapsText(t.gaps, view)
	}
	first := t.calls[0]
	several := slices.ContainsFunc(t.calls, func(c listedCall) bool { return c.Label != first.Label })
	dated := slices.ContainsFunc(t.calls, func(c listedCall) bool { return !view.Clock.IsToday(terminal.Micros(c.At)) })
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "time"},
		{},
		{Title: "server", Max: nameWidth / 2},
		{Title: "tool", Max: nameWidth},
		{Title: "in", Right: true},
		{Title: "out", Right: true},
		{Title: "took", Right: true},
		{Title: "call"},
		{Title: "why", Max: whyWidth},
	}}
	if t.query.All {
		table.Columns[3].Title = "tool or method"
	}
	for _, call := range t.calls {
		when := view.moment(call.At)
		if dated {
			when = view.Clock.Dated(terminal.Micros(call.At))
		}
		table.Add(
			terminal.Text(when), view.markCell(call.Call), terminal.Text(call.Label), terminal.Text(callName(call.Call)),
			terminal.Text(terminal.Size(call.Sent)), terminal.Text(returned(call.Call)), terminal.Text(took(call.Call)),
			terminal.Text(call.id), terminal.Cell{Text: reasonWith(call.Call, call.why), Paint: view.Style.Bad},
		)
	}
	if !several {
		table.Drop(2)
	}
	return table.String() + gapsText(t.gaps, view)
}

func (t *Tail) emptyText(view View) string {
	what := "calls"
	if t.query.All {
		what = "requests"
	}
	if t.query.Errors {
		what = "failed " + what
	}
	text := "no " + what
	if t.query.Session != "" {
		text += " in session " + terminal.Clean(strings.TrimSpace(t.query.Session))
	}
	if t.query.Since != 0 {
		text += " since " + view.moment(t.query.Since)
	}
	return text + "\n"
}

// Documents is the answer for programs: one document a line, the calls
// oldest first, then the gaps.
func (t *Tail) Documents() []any {
	var documents []any
	for _, document := range callDocuments(t.calls) {
		documents = append(documents, document)
	}
	for _, document := range gapDocuments(t.gaps) {
		documents = append(documents, document)
	}
	return documents
}
