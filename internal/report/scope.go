package report

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/terminal"
)

// Scope narrows an answer to one session, to a time, or to both.
type Scope struct {
	Session string // prefix of a session id; empty is every session
	Since   int64  // µs since 1970; 0 is ever
}

// scoped is a scope whose session was found.
type scoped struct {
	id    string // whole; empty is every session
	short string
	label string
	since int64
}

// resolve finds the session of a scope. Errors: [ErrNothingRecorded],
// [NoSessionError], [AmbiguousError].
func (s Scope) resolve(ctx context.Context, history journal.History, clock terminal.Clock) (scoped, error) {
	found := scoped{since: s.Since}
	if s.Session == "" {
		runs, err := history.Runs(ctx, journal.RunFilter{Limit: 1})
		if err != nil {
			return found, fmt.Errorf("look for a session: %w", err)
		}
		if len(runs) == 0 {
			return found, NothingRecorded()
		}
		return found, nil
	}
	run, err := findRun(ctx, history, clock, s.Session)
	if err != nil {
		return found, err
	}
	found.id, found.label = run.ID, nameOf(run)
	found.short, err = newShortener(history).short(ctx, run.ID)
	return found, err
}

// gaps are the holes in the record within the scope.
func (s scoped) gaps(ctx context.Context, history journal.History) ([]journal.Gap, error) {
	gaps, err := history.Gaps(ctx, s.id, s.since)
	if err != nil {
		return nil, fmt.Errorf("look for gaps: %w", err)
	}
	return gaps, nil
}

// text says what the scope is, to follow a noun; it is empty where the scope
// is everything.
func (s scoped) text(view View) string {
	text := ""
	if s.id != "" {
		text = " in session " + s.short
	}
	if s.since != 0 {
		text += " since " + view.moment(s.since)
	}
	return text
}

// ScopeDocument says what an answer is about.
type ScopeDocument struct {
	Session *string `json:"session"` // null where it is about every session
	Since   *string `json:"since"`   // null where it is about all time
}

func (s scoped) document() ScopeDocument {
	d := ScopeDocument{Since: stampOrNil(s.since)}
	if s.id != "" {
		d.Session = &s.id
	}
	return d
}

// rowsListed is how many rows of a long table are printed unless all are
// asked for.
const rowsListed = 15

// listed is how many of so many rows are printed.
func listed(rows int, all bool) int {
	if all {
		return rows
	}
	return min(rows, rowsListed)
}

// moreText tells what a table left out, and how to see it.
func moreText(rows, shown int, noun, command string) string {
	if rows <= shown {
		return ""
	}
	return fmt.Sprintf("… and %s: %s\n", terminal.Plural(int64(rows-shown), "more "+noun), command)
}
