package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// View is how a reader wants to see an answer.
type View struct {
	Clock terminal.Clock
	Style terminal.Style

	day int64 // a moment of the day that the answer is about, if it named one
}

// nameWidth is how many columns a tool's name may take in a table.
const nameWidth = 40

// moment writes a journal's time, without its date on the day that the answer
// is about.
func (v View) moment(us int64) string {
	if v.day != 0 {
		return v.Clock.MomentOn(terminal.Micros(v.day), terminal.Micros(us))
	}
	return v.Clock.Moment(terminal.Micros(us))
}

// micros turns a journal's time span into one of Go's.
func micros(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// callName is what a call is named in a table: the tool of a tool call, else
// the method, with who asked when that was the server.
func callName(call journal.Call) string {
	switch {
	case call.Erased:
		return "(erased)"
	case call.From == "server":
		return "server: " + orNone(call.Method)
	case call.Tool != "" || call.Method == "tools/call":
		return orNone(call.Tool)
	}
	return orNone(call.Method)
}

func orNone(name string) string {
	if name == "" {
		return "(no name)"
	}
	return name
}

// took is how long a call took, or nothing where that is unknown.
func took(call journal.Call) string {
	if call.Took < 0 {
		return ""
	}
	return terminal.Duration(micros(call.Took))
}

// returned is how much a call gave back, or nothing where it did not.
func returned(call journal.Call) string {
	if !call.Answered {
		return ""
	}
	return terminal.Size(call.Returned)
}

// mark is a call's outcome in one word.
func mark(call journal.Call) string {
	switch {
	case call.Outcome == entry.OutcomeOK:
		return "ok"
	case call.Answered:
		return "ERR"
	case call.Ended, call.Cancelled:
		return "none"
	}
	return "…"
}

// markCell colours a mark.
func (v View) markCell(call journal.Call) terminal.Cell {
	cell := terminal.Text(mark(call))
	switch cell.Text {
	case "ERR":
		cell.Paint = v.Style.Bad
	case "none", "…":
		cell.Paint = v.Style.Warn
	}
	return cell
}

// reason says why a call counts as failed.
func reason(call journal.Call) string {
	switch {
	case call.Outcome == entry.OutcomeToolError:
		return "tool error"
	case call.Outcome == entry.OutcomeError && call.Error != "":
		return "error " + call.Error
	case call.Outcome == entry.OutcomeError:
		return "error"
	case call.Cancelled:
		return "cancelled"
	case !call.Answered && call.Ended:
		return "no answer"
	case !call.Answered:
		return "no answer yet"
	}
	return ""
}

// whyWidth is how much of an error's text stands in a table.
const whyWidth = 58

// reasonWith says why a call counts as failed, with what the error said.
func reasonWith(call journal.Call, why string) string {
	if why == "" {
		return reason(call)
	}
	return reason(call) + ": " + why
}

// gapsText tells what of the wire was not seen. It comes early and is never
// left out: a record with a hole must not look whole.
func gapsText(gaps []journal.Gap, view View) string {
	if len(gaps) == 0 {
		return ""
	}
	var size, messages int64
	for _, gap := range gaps {
		size += gap.Bytes
		messages += gap.Messages
	}
	var b strings.Builder
	head := fmt.Sprintf("NOT SEEN: %s with %s and %s of traffic; what was in there is not in this record",
		terminal.Plural(int64(len(gaps)), "gap"), terminal.Plural(messages, "line"), terminal.Size(size))
	b.WriteString(view.Style.Bad(head) + "\n")
	for i, gap := range gaps {
		if i == gapsListed {
			fmt.Fprintf(&b, "  and %s\n", terminal.Plural(int64(len(gaps)-i), "more gap"))
			break
		}
		fmt.Fprintf(&b, "  %s  from the %s  %s, %s  %s\n", view.moment(gap.At), terminal.Clean(gap.From),
			terminal.Size(gap.Bytes), terminal.Plural(gap.Messages, "line"), terminal.Clean(gapReason(gap.Reason)))
	}
	return b.String()
}

const gapsListed = 5

// WriteJSON writes one document, indented, and a newline.
func WriteJSON(w io.Writer, document any) error {
	return writeJSON(w, document, "  ")
}

// WriteJSONLines writes each document on a line of its own.
func WriteJSONLines(w io.Writer, documents []any) error {
	for _, document := range documents {
		if err := writeJSON(w, document, ""); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, document any, indent string) error {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(document); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err := w.Write(escapeInvisible(buffer.Bytes()))
	return err
}

// escapeInvisible spells characters that a terminal would act on, or not
// show, as \uXXXX. They can only stand inside strings, where the spelling
// means the same to every JSON reader.
func escapeInvisible(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		plain := 0 // most of it is ASCII that shows itself
		for plain < len(text) && (text[plain] >= ' ' && text[plain] <= '~' || text[plain] == '\n') {
			plain++
		}
		out, text = append(out, text[:plain]...), text[plain:]
		if len(text) == 0 {
			break
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		switch {
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// stamp is a journal's time as JSON has it: RFC 3339, UTC, to the microsecond.
func stamp(us int64) string {
	return terminal.Micros(us).UTC().Format("2006-01-02T15:04:05.000000Z")
}

// stampOrNil is null where there is no time.
func stampOrNil(us int64) *string {
	if us == 0 {
		return nil
	}
	s := stamp(us)
	return &s
}

// knownOrNil is null for the journal's -1, which stands for unknown.
func knownOrNil(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}
