package report

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Runs is a list of sessions, newest first.
type Runs struct {
	runs  []journal.Run
	short []string
	more  bool // there are older ones
	clock terminal.Clock
}

// ListRuns lists the newest sessions, at most limit of them; those only that
// did something at or after since where that is not 0. Errors:
// [ErrNothingRecorded].
func ListRuns(ctx context.Context, history journal.History, clock terminal.Clock, since int64, limit int) (*Runs, error) {
	runs, err := history.Runs(ctx, journal.RunFilter{Since: since, Limit: limit + 1})
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	if len(runs) == 0 && since == 0 {
		return nil, NothingRecorded()
	}
	list := &Runs{runs: runs[:min(len(runs), limit)], more: len(runs) > limit, clock: clock}
	for _, run := range list.runs {
		list.short = append(list.short, shortOf(run))
	}
	return list, nil
}

// Text is one line a session.
func (r *Runs) Text(view View) string {
	if len(r.runs) == 0 {
		return "no session did anything since then\n"
	}
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "session"}, {Title: "label", Max: nameWidth}, {Title: "started"}, {Title: "took", Right: true}, {Title: "state"},
	}}
	plain := View{Clock: view.Clock} // a cell is painted after it is measured
	for i, run := range r.runs {
		paint := view.Style.Warn
		switch {
		case stateOf(run, view.Clock) == StateRunning, run.End != nil && run.End.ExitCode == 0:
			paint = view.Style.Good
		case run.End != nil && run.End.ExitCode > 0:
			paint = view.Style.Bad
		}
		started, span := view.moment(run.Started), terminal.Duration(micros(lastMoment(run)-run.Started))
		if run.Started == 0 {
			started, span = "?", "" // its first entry fell into a gap
		}
		table.Add(
			terminal.Text(r.short[i]), terminal.Text(nameOf(run)), terminal.Text(started), terminal.Text(span),
			terminal.Cell{Text: stateText(run, plain), Paint: paint},
		)
	}
	text := table.String()
	if r.more {
		text += "older ones: deed last --runs -n 100\n"
	}
	return text + "\nOne of them: deed last --session " + r.short[0] + "\n"
}

// RunsDocument is the JSON form of [Runs].
type RunsDocument struct {
	Sessions []SessionDocument `json:"sessions"` // newest first
	More     bool              `json:"more"`     // there are older ones
}

// Document is the answer for programs.
func (r *Runs) Document() any {
	d := RunsDocument{Sessions: make([]SessionDocument, 0, len(r.runs)), More: r.more}
	for _, run := range r.runs {
		d.Sessions = append(d.Sessions, sessionDocument(run, r.clock))
	}
	return d
}
