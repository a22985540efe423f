package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/terminal"
)

// listedMost is how many calls of one heading are printed; the rest is
// counted.
const listedMost = 10

// topDestinations is how many destinations are printed.
const topDestinations = 5

// Text is the answer for people: what was missed, what failed, what was never
// answered, then what was enormous, what was slow, and where data went.
func (l *Last) Text(view View) string {
	var b strings.Builder
	b.WriteString(l.headText(view))
	// The head says which day it was; under it a time of that day is enough.
	view.day = l.run.Started
	b.WriteString(gapsText(l.totals.Gaps, view))
	b.WriteString(l.actionsText(view))
	b.WriteString(l.failuresText(view))
	b.WriteString(callsText("never answered", l.unanswered, l.totals.Unanswered, view))
	b.WriteString(callsText("still waiting for an answer", l.waiting, l.totals.Open, view))
	b.WriteString(callsText("biggest answers", l.biggest, 0, view))
	b.WriteString(callsText("slowest of the others", l.slowest, 0, view))
	b.WriteString(destinationsText(l.went, topDestinations, "deed stats --all --session "+l.short, view))
	b.WriteString(l.otherText())
	fmt.Fprintf(&b, "\nEvery call: deed tail --session %s\n", l.short)
	return b.String()
}

func (l *Last) headText(view View) string {
	start, end := view.moment(l.run.Started), lastMoment(l.run)
	span := terminal.Duration(micros(end - l.run.Started))
	view.day = l.run.Started
	if l.run.Started == 0 { // its first entry fell into a gap
		start, span = "?", "unknown time"
	}
	head := fmt.Sprintf("%s  %s -> %s (%s)  %s\n", view.Style.Strong(terminal.Cut(nameOf(l.run), nameWidth)),
		start, view.moment(end), span, stateText(l.run, view))
	if l.totals.Calls == 0 {
		return head + "no tool was called\n"
	}
	line := fmt.Sprintf("%s, %s failed, %s unanswered, %s returned, %s in tools",
		terminal.Plural(l.totals.Calls, "call"), terminal.Count(l.totals.Failed), terminal.Count(l.totals.Unanswered),
		terminal.Size(l.totals.Returned), terminal.Duration(micros(l.totals.Took)))
	if l.totals.Open > 0 {
		line += fmt.Sprintf(", %s still open", terminal.Count(l.totals.Open))
	}
	return head + line + "\n"
}

func (l *Last) failuresText(view View) string {
	if l.totals.Failed == 0 {
		if l.totals.Calls == 0 || l.totals.Unanswered > 0 {
			return ""
		}
		if len(l.totals.Gaps) > 0 {
			return view.Style.Warn("nothing failed in what was seen") + "\n"
		}
		return view.Style.Good("nothing failed") + "\n"
	}
	var b strings.Builder
	b.WriteString("\n" + view.Style.Bad("failed") + "\n")
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Right: true}, {Max: nameWidth}, {Max: whyWidth}, {}, {}}}
	for i, f := range l.failures {
		if i == listedMost {
			break
		}
		table.Add(
			terminal.Text(terminal.Count(f.Count)+"x"),
			terminal.Text(callName(f.last.Call)),
			terminal.Cell{Text: reasonWith(f.last.Call, f.last.why), Paint: view.Style.Bad},
			terminal.Text("last "+view.moment(f.last.At)),
			terminal.Cell{Text: f.last.id, Paint: view.Style.Faint},
		)
	}
	b.WriteString(table.String())
	if more := len(l.failures) - listedMost; more > 0 {
		fmt.Fprintf(&b, "  and %s: deed tail --errors --session %s\n", terminal.Plural(int64(more), "more kind"), l.short)
	}
	return b.String()
}

// callsText lists calls under a heading. Total is how many there are where
// that may be more than are given.
func callsText(heading string, calls []listedCall, total int64, view View) string {
	if len(calls) == 0 && total == 0 {
		return ""
	}
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{
		{Right: true}, {Right: true}, {Max: nameWidth}, {Max: nameWidth}, {}, {},
	}}
	shown := calls[:min(len(calls), listedMost)]
	for _, call := range shown {
		why := reasonWith(call.Call, call.why)
		if !call.Answered {
			why = "" // the heading says it
		}
		table.Add(
			terminal.Text(returned(call.Call)),
			terminal.Text(took(call.Call)),
			terminal.Text(callName(call.Call)),
			terminal.Cell{Text: why, Paint: view.Style.Bad},
			terminal.Text(view.moment(call.At)),
			terminal.Cell{Text: call.id, Paint: view.Style.Faint},
		)
	}
	text := "\n" + view.Style.Strong(heading) + "\n" + table.String()
	if more := max(total, int64(len(calls))) - int64(len(shown)); more > 0 {
		text += fmt.Sprintf("  and %s more\n", terminal.Count(more))
	}
	return text
}

// otherText has what else crossed the wire: requests that are no tool calls,
// lines that are no messages, and the server's stderr.
func (l *Last) otherText() string {
	var client, server []string
	for _, other := range l.totals.Others {
		item := fmt.Sprintf("%s %s", terminal.Count(other.Count), terminal.Cut(orNone(other.Method), nameWidth))
		if other.From == "server" {
			server = append(server, item)
		} else {
			client = append(client, item)
		}
	}
	text := ""
	if len(client) > 0 {
		text += "other requests: " + strings.Join(client, ", ")
	}
	if len(server) > 0 {
		if text != "" {
			text += "; "
		}
		text += "the server asked: " + strings.Join(server, ", ")
	}
	if text != "" {
		text += "\n"
	}
	var besides []string
	if l.totals.Noise > 0 {
		besides = append(besides, terminal.Plural(l.totals.Noise, "other line")+" on the wire")
	}
	if l.totals.Stderr > 0 {
		besides = append(besides, terminal.Size(l.totals.Stderr)+" on stderr")
	}
	if len(besides) > 0 {
		text += "besides messages: " + strings.Join(besides, ", ") + "\n"
	}
	if text != "" {
		return "\n" + text
	}
	return ""
}
