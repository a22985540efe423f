package report

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

const (
	// recordsListed is how many records of one call are printed whole; a
	// call may have a million progress notifications. Its answer always is.
	recordsListed = 20
	fieldsListed  = 60 // of one shape
	pathWidth     = 60 // of a member's name
	textWidth     = 200
	valueWidth    = 100 // of a line of arguments, result or error text
	valueLines    = 30
)

// Text is everything about the call, for people.
func (s *Story) Text(view View) string {
	var b strings.Builder
	request := s.records[0]
	head := terminal.Table{Columns: []terminal.Column{{}, {Max: textWidth}}}
	head.Add(terminal.Cell{Text: s.title(), Paint: view.Style.Strong}, terminal.Text(s.id))
	head.Add(terminal.Text("server"), terminal.Text(nameOf(s.run)))
	head.Add(terminal.Text("session"), terminal.Text(s.run.ID))
	text, paint := s.outcomeText(view)
	head.Add(terminal.Text("outcome"), terminal.Cell{Text: text, Paint: paint})
	b.WriteString(head.String())
	b.WriteString(gapsText(s.gaps, view))
	for i, record := range s.records {
		if i >= recordsListed && record.Entry.Kind != entry.KindResponse {
			continue
		}
		b.WriteString(recordText(record, request, view))
	}
	if more := len(s.records) - recordsListed; more > 0 {
		fmt.Fprintf(&b, "\n%s in all; every one of them: deed show --json %s\n", terminal.Plural(int64(len(s.records)), "record"), s.id)
	}
	return b.String()
}

// title is what was called.
func (s *Story) title() string {
	request := s.records[0]
	switch {
	case request.Erased || request.Detail == nil:
		return "(erased)"
	case request.Detail.Tool != nil:
		return terminal.Cut(kept(request.Detail.Tool), nameWidth)
	}
	return terminal.Cut(orNone(kept(request.Detail.Method)), nameWidth)
}

func (s *Story) outcomeText(view View) (string, func(string) string) {
	answer, answered := s.answer()
	if !answered {
		for _, record := range s.records {
			if isCancellation(record, s.records[0].Entry.From) {
				return "cancelled by the " + terminal.Clean(record.Entry.From) + " after " + terminal.Duration(micros(record.Entry.At-s.records[0].Entry.At)) + ", and not answered", view.Style.Warn
			}
		}
		if s.run.End != nil {
			return "never answered; the session ended " + view.moment(s.run.End.At), view.Style.Bad
		}
		return "not answered yet", view.Style.Warn
	}
	span := ""
	if answer.Entry.Took >= 0 {
		span = " after " + terminal.Duration(micros(answer.Entry.Took))
	}
	switch answer.Entry.Outcome {
	case entry.OutcomeOK:
		return "ok" + span, view.Style.Good
	case entry.OutcomeToolError:
		return "tool error" + span + ": the result says isError", view.Style.Bad
	}
	code := ""
	if answer.Detail != nil && answer.Detail.Error != nil {
		code = " " + kept(answer.Detail.Error)
	}
	return "error" + code + span, view.Style.Bad
}

// recordText is one entry of the log and what was read for it.
func recordText(record, request journal.Record, view View) string {
	e := record.Entry
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{}, {Max: textWidth}}}
	table.Add(terminal.Text("seen"), terminal.Text(seenText(e, request.Entry, view)))
	if e.Kind == entry.KindIntent {
		addIntent(&table, record, view)
	} else {
		table.Add(terminal.Text("size"), terminal.Text(wireSize(e)))
	}
	if detail := record.Detail; detail != nil {
		addText(&table, "id", detail.ID)
		addText(&table, "method", detail.Method)
		addText(&table, "tool", detail.Tool)
		addText(&table, "target", detail.Target)
		addText(&table, "error code", detail.Error)
		addLists(&table, detail)
		if peer := detail.Peer; peer != nil {
			addText(&table, "peer", peer.Name)
			addText(&table, "peer version", peer.Version)
			addText(&table, "protocol", peer.Protocol)
		}
	}
	if e.Body != (entry.Hash{}) && e.Kind != entry.KindIntent {
		table.Add(terminal.Text("body"), terminal.Text(bodyText(e)))
	}
	if record.Erased {
		table.Add(terminal.Text("erased"), terminal.Cell{Text: "what was read here was erased; the entry and its hashes stay", Paint: view.Style.Warn})
	}
	for _, flag := range e.Flags {
		table.Add(terminal.Text("note"), terminal.Cell{Text: flagMeaning(flag), Paint: view.Style.Warn})
	}
	if e.Wire != (entry.Hash{}) {
		table.Add(terminal.Text("wire hash"), terminal.Text(hex.EncodeToString(e.Wire[:])+"  sha256 of a salt and the exact bytes"))
	}
	table.Add(terminal.Text("in the log"), terminal.Text(fmt.Sprintf("position %d, leaf hash %s", record.N, leafHash(record.Leaf))))
	text := "\n" + view.Style.Strong(recordTitle(e)) + "\n" + table.String()
	if record.Detail != nil {
		text += valuesText(record.Detail, e.Kind, view)
		text += shapeText(record.Detail, e.Kind, view)
	}
	return text
}

// addLists adds what was found in a message: where it was going, what was
// replaced in it.
func addLists(table *terminal.Table, detail *entry.Detail) {
	if to := detail.Destinations; to != nil {
		if names := slices.Concat(to.Hosts, to.Emails, to.IPs); len(names) > 0 {
			table.Add(terminal.Text("going to"), terminal.Text(strings.Join(names, ", ")))
		}
		if named := contentText(to.Content); named != "" {
			table.Add(terminal.Text("in its text"), terminal.Text(named))
		}
	}
	if len(detail.Redacted) > 0 {
		table.Add(terminal.Text("redacted"), terminal.Text(redactedText(detail.Redacted)))
	}
}

// contentText counts addresses that stand in a message and are not where it
// goes. They are somebody's content, so that only their number is kept.
func contentText(counts map[string]int64) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if counts[kind] > 0 {
			parts = append(parts, terminal.Plural(counts[kind], contentNoun(kind)))
		}
	}
	return strings.Join(parts, ", ")
}

func contentNoun(kind string) string {
	switch kind {
	case "hosts", "host":
		return "host"
	case "emails", "email":
		return "email"
	case "ips", "ip":
		return "IP"
	}
	return kind
}

func bodyText(e entry.Entry) string {
	text := terminal.Size(e.Kept) + " kept"
	if e.Omitted > 0 {
		text += fmt.Sprintf(", %s left out after the first %s", terminal.Size(e.Omitted), terminal.Size(e.Head))
	}
	return text
}

// valuesText prints what was kept of arguments, result and error, redacted.
func valuesText(detail *entry.Detail, kind entry.Kind, view View) string {
	return valueText("arguments, redacted", detail.Args, view) +
		valueText("error text, redacted", detail.ErrorText, view) +
		valueText("begin of the "+shapeOf(kind)+", redacted", detail.Preview, view)
}

func valueText(heading string, value *entry.Text, view View) string {
	if value == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("  " + view.Style.Faint(heading) + "\n")
	lines := terminal.Wrap(kept(value), valueWidth)
	for i, line := range lines {
		if i == valueLines {
			fmt.Fprintf(&b, "    … and %s: add --json\n", terminal.Plural(int64(len(lines)-i), "more line"))
			break
		}
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}

// addText adds a row for something that was read, where it was there.
func addText(table *terminal.Table, name string, text *entry.Text) {
	if text != nil {
		table.Add(terminal.Text(name), terminal.Text(kept(text)))
	}
}

func recordTitle(e entry.Entry) string {
	kind := terminal.Clean(string(e.Kind))
	switch e.From {
	case "client":
		return kind + "  client -> server"
	case "server":
		return kind + "  server -> client"
	}
	return kind
}

func seenText(e, request entry.Entry, view View) string {
	text := view.Clock.Exact(terminal.Micros(e.At))
	if since := micros(e.At - request.At); since > 0 {
		text += ", " + terminal.Duration(since) + " after the request"
	}
	if e.Began != 0 && e.At-e.Began >= time.Millisecond.Microseconds() {
		text += ", its first byte " + terminal.Duration(micros(e.At-e.Began)) + " before its last"
	}
	return text
}

func wireSize(e entry.Entry) string {
	text := terminal.Size(e.Bytes) + " on the wire"
	if e.Bytes >= 1024 {
		text += fmt.Sprintf(" (%s bytes)", terminal.Count(e.Bytes))
	}
	if e.Framing > 0 {
		text += fmt.Sprintf(", and %s of batch around it", terminal.Size(e.Framing))
	}
	return text
}

func shapeOf(kind entry.Kind) string {
	switch kind {
	case entry.KindRequest:
		return "arguments"
	case entry.KindResponse:
		return "result"
	}
	return "params"
}

// shapeText lists the members of what was sent or returned: names, types and
// sizes.
func shapeText(detail *entry.Detail, kind entry.Kind, view View) string {
	shape := detail.Shape
	if len(shape) == 0 {
		return ""
	}
	of := shapeOf(kind)
	if detail.Args == nil && detail.Preview == nil && detail.ErrorText == nil {
		of += " (values are not recorded)"
	}
	table := terminal.Table{Indent: 4, Columns: []terminal.Column{{Max: pathWidth}, {Max: nameWidth}, {Right: true}, {}}}
	for i, field := range shape {
		if i == fieldsListed {
			break
		}
		count := ""
		switch {
		case field.Type == "array":
			count = terminal.Plural(field.Count, "element")
		case field.Type == "object":
			count = terminal.Plural(field.Count, "member")
		}
		name := field.Name
		if name == "" {
			name = "(itself)"
		}
		table.Add(terminal.Text(name), terminal.Text(field.Type), terminal.Text(terminal.Size(field.Bytes)), terminal.Text(count))
	}
	text := "  " + view.Style.Faint("shape of the "+of) + "\n" + table.String()
	if more := len(shape) - fieldsListed; more > 0 {
		text += fmt.Sprintf("    and %s more\n", terminal.Count(int64(more)))
	}
	return text
}

// kept is a text as far as it was kept.
func kept(text *entry.Text) string {
	switch {
	case text == nil:
		return ""
	case text.Cut:
		return fmt.Sprintf("%s… (%s)", text.Head, terminal.Size(text.Bytes))
	}
	return text.Whole
}
