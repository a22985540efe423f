package report

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/tlog"
)

// Archive is a journal as far as [Export] reads it. [journal.Reader] is one.
type Archive interface {
	journal.History
	// Checkpoint is the signed end of the log.
	Checkpoint(ctx context.Context) ([]byte, error)
	// Records yields every record of the log from a position on, in order.
	Records(ctx context.Context, from int64, yield func(journal.Record) error) error
	// Body reads what was kept of the message of the entry at a position:
	// ErrNoBody where nothing was, ErrErased where it was erased; at its end
	// ErrBodyAltered where it is not what was recorded.
	Body(ctx context.Context, n int64) (io.ReadCloser, journal.BodyInfo, error)
}

// ExportQuery says what [Export] writes.
type ExportQuery struct {
	Scope
	Bodies   bool                    // what was kept of each message, too
	Version  string                  // of the deed that writes
	Progress func(done, total int64) // called now and then; may be nil
}

// ExportFormat is the number of the format that [Export] writes. A change
// that a reader of an earlier one could not follow makes it larger.
const ExportFormat = 1

// The documents of an export, one a line, in this order: [ExportHead], a
// [SessionLine] for each session, a [GapDocument] for each gap, then the
// entries in the order of the log, each with its bodies behind it, and
// [ExportEnd], without which an export is not whole.

// ExportHead is the first line.
type ExportHead struct {
	Kind       string `json:"kind"`         // "export"
	Format     int    `json:"format"`       // of this export
	Deed       string `json:"deed_version"` // that wrote it
	ExportedAt string `json:"exported_at"`  // when it began
	ScopeDocument
	Entries    int64  `json:"log_entries"` // of the whole log, when the export began
	Checkpoint string `json:"checkpoint"`  // the journal's signed end at that moment
	Bodies     bool   `json:"bodies"`      // they were asked for
}

// SessionLine is a session.
type SessionLine struct {
	Kind string `json:"kind"` // "session"
	SessionDocument
}

// EntryLine is one entry of the log with what was read for it. Salts are left
// out: whoever gets the export could use them to guess what was erased.
type EntryLine struct {
	Kind    string         `json:"kind"`    // "entry"
	Session string         `json:"session"` // to which it belongs
	Entry   RecordDocument `json:"entry"`   // itself
}

// BodyLine is a piece of what was kept of a message. The pieces of one body
// follow its entry and each other.
type BodyLine struct {
	Kind         string  `json:"kind"`          // "body"
	LogPosition  int64   `json:"log_position"`  // of its entry
	Offset       int64   `json:"offset"`        // of this piece in what was kept
	KeptBytes    int64   `json:"kept_bytes"`    // of all pieces
	OmittedBytes int64   `json:"omitted_bytes"` // left out between head and tail
	HeadBytes    int64   `json:"head_bytes"`    // kept before what was left out
	Erased       bool    `json:"erased"`        // it is gone; then there is no data
	Altered      bool    `json:"altered"`       // it is not what was recorded; nothing of it may be believed
	Encoding     *string `json:"encoding"`      // "utf-8" or "base64", of data
	Data         *string `json:"data"`          // null where there is none
}

// ExportEnd is the last line.
type ExportEnd struct {
	Kind     string `json:"kind"`     // "end"
	Sessions int64  `json:"sessions"` // how many were written
	Gaps     int64  `json:"gaps"`     // how many were written
	Entries  int64  `json:"entries"`  // how many were written
	Bodies   int64  `json:"bodies"`   // how many were written
}

// Text says in words what was written.
func (e ExportEnd) Text() string {
	text := plural(e.Entries, "entry", "entries") + " of " + terminal.Plural(e.Sessions, "session")
	if e.Bodies > 0 {
		text += ", " + plural(e.Bodies, "body", "bodies")
	}
	if e.Gaps > 0 {
		text += ", " + terminal.Plural(e.Gaps, "gap")
	}
	return text
}

// Export writes everything within a scope as JSON, one document a line. It
// holds one entry and one piece of a body in memory. Errors:
// [ErrNothingRecorded], [NoSessionError], [AmbiguousError].
func Export(ctx context.Context, archive Archive, clock terminal.Clock, query ExportQuery, to io.Writer) (ExportEnd, error) {
	e := &exporter{archive: archive, clock: clock, query: query, to: to, done: ExportEnd{Kind: "export_end"}}
	var err error
	if e.within, err = query.resolve(ctx, archive, clock); err != nil {
		return e.done, err
	}
	for _, write := range []func(context.Context) error{e.head, e.sessions, e.gaps, e.entries} {
		if err := write(ctx); err != nil {
			return e.done, err
		}
	}
	return e.done, e.line(e.done)
}

type exporter struct {
	archive Archive
	clock   terminal.Clock
	query   ExportQuery
	within  scoped
	to      io.Writer
	size    int64  // of the log when the export began
	buffer  []byte // of a piece; most bodies are small, and each would need one of its own
	done    ExportEnd
}

func (e *exporter) line(document any) error {
	if err := writeJSON(e.to, document, ""); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}

func (e *exporter) head(ctx context.Context) error {
	note, err := e.archive.Checkpoint(ctx)
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	checkpoint, err := tlog.ParseSigned(note)
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	e.size = checkpoint.Size
	return e.line(ExportHead{
		Kind: "export", Format: ExportFormat, Deed: e.query.Version, ExportedAt: stamp(e.clock.Now().UnixMicro()),
		ScopeDocument: e.within.document(), Entries: e.size, Checkpoint: string(note), Bodies: e.query.Bodies,
	})
}

func (e *exporter) sessions(ctx context.Context) error {
	runs, err := e.archive.Runs(ctx, journal.RunFilter{Prefix: e.within.id, Since: e.within.since})
	if err != nil {
		return fmt.Errorf("list the sessions: %w", err)
	}
	for i := range runs { // the oldest first, as everything else here
		run := runs[len(runs)-1-i]
		if err := e.line(SessionLine{"session", sessionDocument(run, e.clock)}); err != nil {
			return err
		}
		e.done.Sessions++
	}
	return nil
}

func (e *exporter) gaps(ctx context.Context) error {
	gaps, err := e.within.gaps(ctx, e.archive)
	if err != nil {
		return err
	}
	for _, document := range gapDocuments(gaps) {
		if err := e.line(document); err != nil {
			return err
		}
		e.done.Gaps++
	}
	return nil
}

// errEnough ends the reading of a log that grows while it is read.
var errEnough = errors.New("read as far as the log went")

func (e *exporter) entries(ctx context.Context) error {
	err := e.archive.Records(ctx, 0, func(record journal.Record) error {
		if record.N >= e.size {
			return errEnough
		}
		if e.query.Progress != nil {
			e.query.Progress(record.N+1, e.size)
		}
		one := record.Entry
		if e.within.id != "" && one.Session != e.within.id || one.At < e.within.since {
			return nil
		}
		if err := e.line(EntryLine{"entry", one.Session, recordDocument(record)}); err != nil {
			return err
		}
		e.done.Entries++
		if !e.query.Bodies || one.Body == (entry.Hash{}) {
			return nil
		}
		return e.body(ctx, record)
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// pieceBytes is how much of a body stands on one line.
const pieceBytes = 1 << 20

func (e *exporter) body(ctx context.Context, record journal.Record) error {
	one := record.Entry
	piece := BodyLine{Kind: "body", LogPosition: record.N, KeptBytes: one.Kept, OmittedBytes: one.Omitted, HeadBytes: one.Head}
	body, _, err := e.archive.Body(ctx, record.N)
	if errors.Is(err, journal.ErrErased) {
		piece.Erased = true
		return e.line(piece)
	}
	if err != nil {
		return fmt.Errorf("read the body of entry %d: %w", record.N, err)
	}
	defer body.Close() // it was only read
	e.done.Bodies++
	if e.buffer == nil {
		e.buffer = make([]byte, 0, pieceBytes)
	}
	buffer := e.buffer
	for {
		n, err := io.ReadFull(body, buffer[len(buffer):cap(buffer)])
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case errors.Is(err, journal.ErrErased), errors.Is(err, journal.ErrBodyAltered):
			// What else there is must not be lost over it; whoever reads the
			// export is told, and deed verify says more.
			piece.Erased, piece.Altered = errors.Is(err, journal.ErrErased), errors.Is(err, journal.ErrBodyAltered)
			piece.Encoding, piece.Data = nil, nil
			return e.line(piece)
		case err != nil && !last:
			return fmt.Errorf("read the body of entry %d: %w", record.N, err)
		}
		buffer = buffer[:len(buffer)+n]
		whole := len(buffer)
		if !last {
			whole = wholeRunes(buffer)
		}
		if whole > 0 || one.Kept == 0 {
			encoding, data := readable(buffer[:whole])
			piece.Encoding, piece.Data = &encoding, &data
			if err := e.line(piece); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		piece.Offset += int64(whole)
		buffer = buffer[:copy(buffer, buffer[whole:])]
	}
}

// wholeRunes is how many bytes there are up to a letter that goes on behind
// the end, so that text which is UTF-8 stays so in pieces.
func wholeRunes(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		at := len(text) - back
		if utf8.RuneStart(text[at]) {
			if utf8.FullRune(text[at:]) {
				return len(text)
			}
			return at
		}
	}
	return len(text)
}

// readable writes bytes as text where they are, else as Base64.
func readable(raw []byte) (encoding, data string) {
	if utf8.Valid(raw) {
		return "utf-8", string(raw)
	}
	return "base64", base64.StdEncoding.EncodeToString(raw)
}
