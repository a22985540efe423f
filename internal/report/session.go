package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// ErrNothingRecorded says that the journal holds no session.
var ErrNothingRecorded = errors.New("nothing recorded yet")

// NothingRecorded is [ErrNothingRecorded] with how to record something.
func NothingRecorded() error {
	return terminal.WithHint(ErrNothingRecorded,
		"see it work: deed demo\nrecord a server of yours: deed run -- npx -y @modelcontextprotocol/server-everything")
}

// NoSessionError says that no session's id begins with a prefix.
type NoSessionError struct{ Prefix string }

func (e *NoSessionError) Error() string {
	return fmt.Sprintf("no session begins with %q", e.Prefix)
}

// AmbiguousError says that several sessions' ids begin with a prefix.
type AmbiguousError struct {
	Prefix string
	Runs   []journal.Run // the newest of them
	More   bool          // there are others
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("several sessions begin with %q", e.Prefix)
}

// CallIDError says that something is no call id.
type CallIDError struct{ Given string }

func (e *CallIDError) Error() string { return fmt.Sprintf("%q is no call id", e.Given) }

// NoCallError says that a session has no request at a position.
type NoCallError struct{ ID string }

func (e *NoCallError) Error() string { return "no call " + e.ID }

const (
	sessionDigits = 32 // of a whole session id
	shortDigits   = 8  // of the shortest prefix that is shown
	ambiguousMost = 5  // runs that an AmbiguousError lists
)

// findRun returns the one session whose id begins with prefix.
func findRun(ctx context.Context, history journal.History, clock terminal.Clock, prefix string) (journal.Run, error) {
	prefix = strings.ToLower(strings.TrimSpace(prefix))
	if !isHex(prefix) || len(prefix) > sessionDigits {
		return journal.Run{}, terminal.WithHint(&NoSessionError{prefix}, "session ids are hex digits, as in: deed last --runs")
	}
	runs, err := history.Runs(ctx, journal.RunFilter{Prefix: prefix, Limit: ambiguousMost + 1})
	switch {
	case err != nil:
		return journal.Run{}, fmt.Errorf("find session %s: %w", prefix, err)
	case len(runs) == 0:
		return journal.Run{}, terminal.WithHint(&NoSessionError{prefix}, "list the sessions: deed last --runs")
	case len(runs) == 1:
		return runs[0], nil
	}
	more := len(runs) > ambiguousMost
	runs = runs[:min(len(runs), ambiguousMost)]
	lines := []string{"give more of one of these ids:"}
	for _, run := range runs {
		lines = append(lines, fmt.Sprintf("%s  %s  %s", run.ID, clock.Dated(terminal.Micros(run.Started)), nameOf(run)))
	}
	if more {
		lines = append(lines, "and others: deed last --runs")
	}
	return journal.Run{}, terminal.WithHint(&AmbiguousError{prefix, runs, more}, strings.Join(lines, "\n"))
}

func isHex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789abcdef") == ""
}

// shortener abbreviates session ids so that each still names one session of
// the journal.
type shortener struct {
	history journal.History
	known   map[string]string
}

func newShortener(history journal.History) *shortener {
	return &shortener{history: history, known: map[string]string{}}
}

// shortOf is the same for a session that was read: it knows what it shares
// with others, so that a long list needs no question for each.
func shortOf(run journal.Run) string {
	return run.ID[:min(len(run.ID), max(shortDigits, run.Shared+1))]
}

// short returns the beginning of a session's id, of eight digits or as many
// more as tell it from every other session.
func (s *shortener) short(ctx context.Context, id string) (string, error) {
	if short, ok := s.known[id]; ok {
		return short, nil
	}
	digits := min(shortDigits, len(id))
	for ; digits < len(id); digits++ {
		runs, err := s.history.Runs(ctx, journal.RunFilter{Prefix: id[:digits], Limit: 2})
		if err != nil {
			return "", fmt.Errorf("abbreviate session %s: %w", id, err)
		}
		if len(runs) < 2 {
			break
		}
	}
	s.known[id] = id[:digits]
	return id[:digits], nil
}

// callID names one call: enough of its session, and its place in there.
func (s *shortener) callID(ctx context.Context, call journal.Call) (string, error) {
	return s.place(ctx, call.Session, call.Seq)
}

// place names the request at a place of a session.
func (s *shortener) place(ctx context.Context, session string, seq int64) (string, error) {
	short, err := s.short(ctx, session)
	return short + "." + strconv.FormatInt(seq, 10), err
}

// parseCallID takes a call id apart: 6d4e47f7.12.
func parseCallID(text string) (prefix string, seq int64, err error) {
	prefix, number, found := strings.Cut(strings.ToLower(strings.TrimSpace(text)), ".")
	seq, err = strconv.ParseInt(number, 10, 64)
	if !found || err != nil || seq < 0 || !isHex(prefix) {
		return "", 0, terminal.WithHint(&CallIDError{text}, "call ids look like 6d4e47f7.12; deed tail prints them")
	}
	return prefix, seq, nil
}

// nameOf is what a session is called: its label, else its program.
func nameOf(run journal.Run) string {
	switch {
	case run.Label != "":
		return run.Label
	case run.Program != "":
		return run.Program
	case run.Erased:
		return "(erased)"
	}
	return "(no label)"
}

// idleAfter is the silence after which a session without an end is no longer
// called running. It is never called ended: nobody saw that.
const idleAfter = time.Hour

// State says whether a session goes on.
type State string

// The states of a session.
const (
	StateRunning State = "running" // no end, and something happened within the hour
	StateOpen    State = "open"    // no end, and silent for an hour or longer
	StateEnded   State = "ended"
)

func stateOf(run journal.Run, clock terminal.Clock) State {
	switch {
	case run.End != nil:
		return StateEnded
	case idle(run, clock) < idleAfter:
		return StateRunning
	}
	return StateOpen
}

func idle(run journal.Run, clock terminal.Clock) time.Duration {
	return max(0, clock.Now().Sub(terminal.Micros(run.Last)))
}

// stateText is a session's state in words.
func stateText(run journal.Run, view View) string {
	switch stateOf(run, view.Clock) {
	case StateRunning:
		return view.Style.Good("still running")
	case StateOpen:
		return view.Style.Warn("open, idle " + terminal.Age(idle(run, view.Clock)))
	}
	return endText(*run.End, view.Style)
}

// endText says how a session ended. That a server exits with a code after its
// client has left, or at a signal, is no failure of the server.
func endText(end entry.Entry, style terminal.Style) string {
	exited := "exited " + strconv.FormatInt(end.ExitCode, 10)
	switch {
	case end.Reason == "start_failed":
		return style.Bad("could not start")
	case end.ExitCode == 0:
		return style.Good("clean")
	case end.ExitCode < 0:
		return style.Warn("ended, exit code unknown")
	case end.Reason == "client_closed":
		return style.Warn("client closed, then " + exited)
	case end.Reason == "signal":
		return style.Warn("stopped by a signal, " + exited)
	}
	return style.Bad(exited)
}

// lastMoment is when a session ended, or when it was last heard of.
func lastMoment(run journal.Run) int64 {
	if run.End != nil {
		return run.End.At
	}
	return run.Last
}
