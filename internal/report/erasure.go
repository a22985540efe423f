package report

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// EraseTarget is what somebody wants to have erased: exactly one of the three.
type EraseTarget struct {
	Call    string // an id, as the other answers print it
	Session string // prefix of a session id
	Before  int64  // µs since 1970
}

// Erasing is something to be erased, found in a journal.
type Erasing struct {
	Request journal.EraseRequest
	what    string // in words
}

// FindErasing finds what is to be erased. Errors: [CallIDError],
// [NoSessionError], [AmbiguousError], [NoCallError].
func FindErasing(ctx context.Context, history journal.History, clock terminal.Clock, target EraseTarget, bodiesOnly bool) (*Erasing, error) {
	e := &Erasing{Request: journal.EraseRequest{BodiesOnly: bodiesOnly}}
	switch {
	case target.Call != "":
		if target.Call == NewestCall {
			// The newest call is another one a moment later; what cannot be
			// undone is named.
			return nil, terminal.WithHint(&CallIDError{target.Call}, "name the call by its id, as in: deed erase --call 6d4e47f7.12")
		}
		story, err := ShowCall(ctx, history, clock, target.Call)
		if err != nil {
			return nil, err
		}
		e.Request.Session, e.Request.Seq = story.run.ID, story.records[0].Entry.Seq
		e.what = fmt.Sprintf("call %s (%s, %s)", story.id, story.title(), clock.Dated(terminal.Micros(story.records[0].Entry.At)))
	case target.Session != "":
		run, err := findRun(ctx, history, clock, target.Session)
		if err != nil {
			return nil, err
		}
		short, err := newShortener(history).short(ctx, run.ID)
		if err != nil {
			return nil, err
		}
		e.Request.Session = run.ID
		e.what = fmt.Sprintf("session %s (%s, %s)", short, terminal.Cut(nameOf(run), nameWidth), clock.Dated(terminal.Micros(run.Started)))
	case target.Before > 0:
		e.Request.Before = target.Before
		e.what = "everything before " + clock.Dated(terminal.Micros(target.Before))
	default:
		return nil, errors.New("it was not said what to erase")
	}
	return e, nil
}

// Plan is what would go, for the question whether it may.
func (e *Erasing) Plan(would journal.Erasure) string {
	return fmt.Sprintf("%s of %s would go for good, %s: %s\n", lost(would), e.what, terminal.Size(would.Bytes), staysText(would.What))
}

func lost(erasure journal.Erasure) string {
	text := terminal.Plural(erasure.Details, "detail")
	if erasure.Bodies > 0 {
		text += " and " + plural(erasure.Bodies, "body", "bodies")
	}
	return text
}

func staysText(what string) string {
	if what == entry.ErasedBodies {
		return "the messages themselves; names, arguments as they were read, and all entries and hashes stay"
	}
	return "names, arguments, results, errors and destinations; sizes, times and hashes stay, and deed verify still checks them"
}

// Erased is what an erasure took.
type Erased struct {
	Erasing *Erasing
	Erasure journal.Erasure
	DryRun  bool // nothing was taken yet
}

// Text says what went, and which entries of the log say so.
func (e *Erased) Text(view View) string {
	if e.Erasure.Entries == 0 {
		return "nothing to erase: " + e.Erasing.what + " holds nothing that can be erased, or not any more\n"
	}
	if e.DryRun {
		return e.Erasing.Plan(e.Erasure)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "erased %s of %s, %s\n", lost(e.Erasure), e.Erasing.what, terminal.Size(e.Erasure.Bytes))
	fmt.Fprintf(&b, "%s of the log %s; deed verify lists it\n", entriesText(e.Erasure.Records), says(len(e.Erasure.Records)))
	if e.Erasure.Lingering {
		b.WriteString(view.Style.Warn("another program was reading, so that old pages are still in the database's side file; run the same command again when it has ended") + "\n")
	}
	return b.String()
}

func says(entries int) string {
	if entries == 1 {
		return "says so"
	}
	return "say so"
}

// entriesText names entries of the log by their positions.
func entriesText(positions []int64) string {
	words := make([]string, len(positions))
	for i, n := range positions {
		words[i] = strconv.FormatInt(n, 10)
	}
	if len(words) == 1 {
		return "entry " + words[0]
	}
	const most = 5
	if len(words) > most {
		words = append(words[:most], fmt.Sprintf("and %d more", len(words)-most))
	}
	return "entries " + strings.Join(words, ", ")
}

// ErasedDocument is the JSON form of [Erased].
type ErasedDocument struct {
	Scope         string  `json:"scope"`          // call, session or before
	What          string  `json:"what"`           // all, or bodies where details stayed
	DryRun        bool    `json:"dry_run"`        // it only says what would go
	Entries       int64   `json:"entries"`        // that lost something
	Details       int64   `json:"details"`        // that went
	Bodies        int64   `json:"bodies"`         // that went
	Bytes         int64   `json:"bytes"`          // that they took in the database
	FirstPosition *int64  `json:"first_position"` // of the outermost entries that lost something
	LastPosition  *int64  `json:"last_position"`  // null where nothing went
	ErasedBy      []int64 `json:"erased_by"`      // positions of the entries that say so
	Lingering     bool    `json:"lingering"`      // old pages are still in the database's side file; erase again
}

// Document is the answer for programs.
func (e *Erased) Document() any {
	d := ErasedDocument{
		Scope: e.Erasure.Scope, What: e.Erasure.What, DryRun: e.DryRun,
		Entries: e.Erasure.Entries, Details: e.Erasure.Details, Bodies: e.Erasure.Bodies, Bytes: e.Erasure.Bytes,
		FirstPosition: knownOrNil(e.Erasure.First), LastPosition: knownOrNil(e.Erasure.Last),
		ErasedBy: e.Erasure.Records, Lingering: e.Erasure.Lingering,
	}
	if d.ErasedBy == nil {
		d.ErasedBy = []int64{}
	}
	return d
}

// erasuresText lists what was erased, and which entry of the log says so.
func erasuresText(report *journal.VerifyReport, view View) string {
	if report.ErasureEntries == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{}, {}, {}}}
	for i, one := range report.Erasures {
		if i == erasuresListed {
			break
		}
		table.Add(
			terminal.Text("entry "+terminal.Count(one.N)), terminal.Text(view.moment(one.At)),
			terminal.Text(fmt.Sprintf("%s of %s: %s", whatText(one.What), scopeText(one.Scope), countedRange(one))),
		)
	}
	text := "\n" + view.Style.Strong("erased, as the log says") + "\n" + table.String()
	if more := report.ErasureEntries - int64(min(len(report.Erasures), erasuresListed)); more > 0 {
		text += fmt.Sprintf("  … and %s: deed verify --json\n", terminal.Plural(more, "more erasure"))
	}
	return text
}

const erasuresListed = 15

func whatText(what string) string {
	switch what {
	case entry.ErasedBodies:
		return "bodies"
	case entry.ErasedAll:
		return "details and bodies"
	}
	return what
}

func scopeText(scope string) string {
	switch scope {
	case entry.ScopeCall:
		return "one call"
	case entry.ScopeSession:
		return "one session"
	case entry.ScopeBefore:
		return "what was older than a time"
	case entry.ScopeAll:
		return "everything"
	case entry.ScopeRetention:
		return "what was too old or too much to keep"
	}
	return scope
}

func countedRange(one journal.ErasureEntry) string {
	text := plural(one.Count, "entry", "entries")
	if one.First == one.Last {
		return fmt.Sprintf("%s (%s)", text, terminal.Count(one.First))
	}
	return fmt.Sprintf("%s (%s to %s)", text, terminal.Count(one.First), terminal.Count(one.Last))
}

// exactText says how much of the wire is kept as it crossed.
func exactText(report *journal.VerifyReport) string {
	if report.ExactBytes == 0 {
		return "none of it is kept byte for byte (only capture level raw does that)"
	}
	whole := report.SeenBytes + report.UnseenBytes
	return fmt.Sprintf("%s of it is kept byte for byte (%s)", share(report.ExactBytes, whole-report.ExactBytes), terminal.Size(report.ExactBytes))
}

func exactPercent(report *journal.VerifyReport) float64 {
	if report.ExactBytes == 0 {
		return 0
	}
	whole := report.SeenBytes + report.UnseenBytes
	return float64(hundredths(report.ExactBytes, whole-report.ExactBytes)) / 100
}

// ErasureDocument is one entry of the log that says what was erased.
type ErasureDocument struct {
	LogPosition   int64  `json:"log_position"`   // of the entry that says so
	At            string `json:"at"`             // when it was erased
	Scope         string `json:"scope"`          // call, session, before, all or retention
	What          string `json:"what"`           // bodies or all
	Entries       int64  `json:"entries"`        // that lost something
	FirstPosition int64  `json:"first_position"` // of the outermost of them
	LastPosition  int64  `json:"last_position"`  // of the outermost of them
}

func erasureDocuments(erasures []journal.ErasureEntry) []ErasureDocument {
	documents := make([]ErasureDocument, 0, len(erasures))
	for _, one := range erasures {
		documents = append(documents, ErasureDocument{
			LogPosition: one.N, At: stamp(one.At), Scope: one.Scope, What: one.What,
			Entries: one.Count, FirstPosition: one.First, LastPosition: one.Last,
		})
	}
	return documents
}
