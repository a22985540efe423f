package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/tlog"
)

// Feed is a journal that others write to meanwhile. [journal.Reader] is one.
type Feed interface {
	journal.History
	// Checkpoint is the signed end of the log.
	Checkpoint(ctx context.Context) ([]byte, error)
	// Records yields every record of the log from a position on, in order.
	Records(ctx context.Context, from int64, yield func(journal.Record) error) error
}

// WatchQuery says what [Watch] tells of.
type WatchQuery struct {
	Scope       // Since: also what happened since then; 0 is from now on
	Errors bool // only what failed, and what was not seen
	Limit  int  // stop after so many calls; 0 is never
	JSON   bool // documents instead of text
}

// Watch tells of each call as it ends, in one line, until the context ends or
// the limit is reached. It asks the journal again whenever wait returns nil.
// Errors: those of wait, [NoSessionError], [AmbiguousError].
func Watch(ctx context.Context, feed Feed, view View, query WatchQuery, to io.Writer, wait func(context.Context) error) error {
	w := &watcher{feed: feed, view: view, query: query, to: to, ids: newShortener(feed), open: map[place]asked{}, names: map[string]string{}}
	if query.Session != "" {
		run, err := findRun(ctx, feed, view.Clock, query.Session)
		if err != nil {
			return err
		}
		w.session = run.ID
	}
	var err error
	if w.next, err = w.begin(ctx); err != nil {
		return err
	}
	for {
		more, err := w.look(ctx)
		if err != nil || w.full() {
			return err
		}
		if more {
			continue
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

type place struct {
	session string
	seq     int64
}

// asked is a request whose answer is not there yet.
type asked struct {
	at        int64
	sent      int64
	from      string // who asked
	tool      bool   // the client's tools/call
	name      string
	cancelled bool // by whoever asked
}

type watcher struct {
	feed    Feed
	view    View
	query   WatchQuery
	to      io.Writer
	session string // whole id; empty is every session
	ids     *shortener
	next    int64 // position in the log
	open    map[place]asked
	names   map[string]string // of sessions
	told    int               // calls
}

const (
	// openMost bounds what is held of requests without an answer. Those
	// beyond are read again when their answer comes; if none comes, only the
	// number in the line of their session's end has them.
	openMost = 100_000
	// lookMost is how many records one look takes. Output may be slow, and a
	// question that is kept open holds up the journal's housekeeping.
	lookMost = 1_000
)

// begin is the position from which records are told of.
func (w *watcher) begin(ctx context.Context) (int64, error) {
	note, err := w.feed.Checkpoint(ctx)
	if err != nil {
		return 0, fmt.Errorf("find the end of the log: %w", err)
	}
	end, err := tlog.ParseSigned(note)
	if err != nil || w.query.Since == 0 {
		return end.Size, err
	}
	// Entries are nearly in the order of time, so that halving finds the
	// place in a few questions; what is earlier all the same is left out later.
	low, high := int64(0), end.Size
	for low < high {
		middle := low + (high-low)/2
		at := int64(0)
		err := w.feed.Records(ctx, middle, func(record journal.Record) error {
			at = record.Entry.At
			return errEnough
		})
		if err != nil && !errors.Is(err, errEnough) {
			return 0, fmt.Errorf("find the first entry since then: %w", err)
		}
		if at < w.query.Since {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}

// look takes what is new in the log and tells of it. It says whether there
// may be more.
func (w *watcher) look(ctx context.Context) (bool, error) {
	var records []journal.Record
	err := w.feed.Records(ctx, w.next, func(record journal.Record) error {
		records = append(records, record)
		if len(records) == lookMost {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return false, fmt.Errorf("read what is new: %w", err)
	}
	for _, record := range records {
		w.next = record.N + 1
		e := record.Entry
		if w.session != "" && e.Session != w.session || e.At < w.query.Since {
			continue
		}
		if err := w.tell(ctx, record); err != nil || w.full() {
			return false, err
		}
	}
	return len(records) == lookMost, nil
}

func (w *watcher) full() bool { return w.query.Limit > 0 && w.told >= w.query.Limit }

func (w *watcher) tell(ctx context.Context, record journal.Record) error {
	e := record.Entry
	switch e.Kind {
	case entry.KindSession:
		return w.sessionBegan(ctx, record)
	case entry.KindRequest:
		w.remember(record)
	case entry.KindNotification:
		w.cancelled(record)
	case entry.KindResponse:
		return w.answered(ctx, record)
	case entry.KindGap:
		return w.gap(ctx, e)
	case entry.KindEnd:
		return w.sessionEnded(ctx, e)
	}
	return nil
}

func (w *watcher) remember(record journal.Record) {
	if len(w.open) < openMost && record.Entry.Call < 0 {
		w.open[place{record.Entry.Session, record.Entry.Seq}] = askedBy(record)
	}
}

// cancelled remembers that a call was taken back by whoever asked.
func (w *watcher) cancelled(record journal.Record) {
	at := place{record.Entry.Session, record.Entry.Call}
	a, open := w.open[at]
	if open && isCancellation(record, a.from) {
		a.cancelled = true
		w.open[at] = a
	}
}

func askedBy(record journal.Record) asked {
	a := asked{at: record.Entry.At, from: record.Entry.From, sent: record.Entry.Bytes, name: "(erased)"}
	if detail := record.Detail; detail != nil {
		a.tool = record.Entry.From == "client" && detail.Method.String() == "tools/call"
		a.name = orNone(detail.Method.String())
		if a.tool {
			a.name = orNone(detail.Tool.String())
		}
	}
	return a
}

// question finds the request that a response answers.
func (w *watcher) question(ctx context.Context, at place) (asked, bool, error) {
	if a, known := w.open[at]; known {
		delete(w.open, at)
		return a, true, nil
	}
	records, err := w.feed.Call(ctx, at.session, at.seq)
	switch {
	case errors.Is(err, journal.ErrNotFound), err == nil && len(records) == 0:
		return asked{}, false, nil
	case err != nil:
		return asked{}, false, fmt.Errorf("read the request of an answer: %w", err)
	}
	return askedBy(records[0]), true, nil
}

func (w *watcher) answered(ctx context.Context, record journal.Record) error {
	e := record.Entry
	if e.Call < 0 {
		return nil
	}
	a, known, err := w.question(ctx, place{e.Session, e.Call})
	if err != nil || !known || !a.tool {
		return err
	}
	call := journal.Call{
		Session: e.Session, Seq: e.Call, From: "client", At: a.at, Method: "tools/call", Tool: a.name, Sent: a.sent,
		Answered: true, AnswerAt: e.At, Took: e.Took, Returned: e.Bytes, Outcome: e.Outcome, Flags: e.Flags,
	}
	if detail := record.Detail; detail != nil {
		call.Error = detail.Error.String()
	}
	return w.call(ctx, call, errorTextOf(record.Detail))
}

// call tells of one call that ended, well or not.
func (w *watcher) call(ctx context.Context, call journal.Call, why string) error {
	failed := call.Outcome != entry.OutcomeOK
	if w.query.Errors && !failed {
		return nil
	}
	id, err := w.ids.callID(ctx, call)
	if err != nil {
		return err
	}
	if call.Label, err = w.name(ctx, call.Session); err != nil {
		return err
	}
	w.told++
	if w.query.JSON {
		return w.document(callDocument(call, id, why))
	}
	at := call.AnswerAt
	if !call.Answered {
		at = call.At
	}
	cell := w.view.markCell(call)
	mark := terminal.Pad(cell.Text, 4, false)
	if cell.Paint != nil {
		mark = cell.Paint(mark)
	}
	text := fmt.Sprintf("%s  %s  %s  %s  %s  %s  %s  %s", w.view.moment(at), mark,
		terminal.Pad(call.Label, labelWidth, false), terminal.Pad(callName(call), toolWidth, false),
		terminal.Pad(terminal.Size(call.Sent), sizeWidth, true), terminal.Pad(returned(call), sizeWidth, true),
		terminal.Pad(took(call), spanWidth, true), w.view.Style.Faint(id))
	if failed {
		text += "  " + w.view.Style.Bad(terminal.Cut(reasonWith(call, why), whyWidth))
	}
	return w.text(text)
}

// The widths of what is printed before its neighbours are known.
const (
	labelWidth = 12
	toolWidth  = 28
	sizeWidth  = 9
	spanWidth  = 8
)

func (w *watcher) gap(ctx context.Context, e entry.Entry) error {
	gap := journal.Gap{Session: e.Session, At: e.At, From: e.From, Reason: e.Reason, Bytes: e.Bytes, Messages: e.Messages}
	if w.query.JSON {
		return w.document(gapDocuments([]journal.Gap{gap})[0])
	}
	label, err := w.name(ctx, e.Session)
	if err != nil {
		return err
	}
	return w.text(w.view.moment(e.At) + "  " + w.view.Style.Bad(fmt.Sprintf("NOT SEEN  %s: %s, %s from the %s %s",
		terminal.Cut(label, labelWidth), terminal.Size(gap.Bytes), terminal.Plural(gap.Messages, "line"), terminal.Clean(gap.From), terminal.Clean(gapReason(gap.Reason)))))
}

func (w *watcher) sessionBegan(ctx context.Context, record journal.Record) error {
	if w.query.Errors {
		return nil
	}
	if w.query.JSON {
		return w.sessionLine(ctx, record.Entry.Session)
	}
	label, err := w.name(ctx, record.Entry.Session)
	if err != nil {
		return err
	}
	return w.text(w.view.Style.Faint(w.view.moment(record.Entry.At) + "  " + terminal.Cut(label, nameWidth) + " began"))
}

// sessionEnded tells of the calls that now stay without an answer, and of the
// end.
func (w *watcher) sessionEnded(ctx context.Context, end entry.Entry) error {
	var left []place
	for at := range w.open {
		if at.session == end.Session {
			left = append(left, at)
		}
	}
	slices.SortFunc(left, func(a, b place) int { return cmp.Compare(a.seq, b.seq) })
	for _, at := range left {
		a := w.open[at]
		delete(w.open, at)
		if !a.tool {
			continue
		}
		call := journal.Call{Session: at.session, Seq: at.seq, From: "client", At: a.at, Method: "tools/call", Tool: a.name, Sent: a.sent, Took: -1, Ended: true, Cancelled: a.cancelled}
		if err := w.call(ctx, call, ""); err != nil || w.full() {
			return err
		}
	}
	if w.query.Errors && end.ExitCode == 0 && end.Open == 0 {
		return nil
	}
	if w.query.JSON {
		return w.sessionLine(ctx, end.Session)
	}
	label, err := w.name(ctx, end.Session)
	if err != nil {
		return err
	}
	delete(w.names, end.Session)
	unanswered := ""
	if end.Open > 0 {
		unanswered = ", " + plural(end.Open, "request was", "requests were") + " never answered"
	}
	return w.text(w.view.Style.Faint(w.view.moment(end.At)+"  "+terminal.Cut(label, nameWidth)+" ended: ") + endText(end, w.view.Style) + unanswered)
}

// name is what a session is called, asked for once.
func (w *watcher) name(ctx context.Context, session string) (string, error) {
	if name, known := w.names[session]; known {
		return name, nil
	}
	runs, err := w.feed.Runs(ctx, journal.RunFilter{Prefix: session, Limit: 1})
	if err != nil {
		return "", fmt.Errorf("read session %s: %w", session, err)
	}
	name := "?"
	if len(runs) > 0 {
		name = nameOf(runs[0])
	}
	w.names[session] = name
	return name, nil
}

func (w *watcher) sessionLine(ctx context.Context, session string) error {
	runs, err := w.feed.Runs(ctx, journal.RunFilter{Prefix: session, Limit: 1})
	if err != nil {
		return fmt.Errorf("read session %s: %w", session, err)
	}
	for _, run := range runs {
		return w.document(SessionLine{"session", sessionDocument(run, w.view.Clock)})
	}
	return nil
}

func (w *watcher) document(document any) error { return writeJSON(w.to, document, "") }

// text writes a line. Each is written at once and whole, so that a pipe's
// reader sees a call when it ends.
func (w *watcher) text(line string) error {
	_, err := io.WriteString(w.to, strings.TrimRight(line, " ")+"\n")
	return err
}
