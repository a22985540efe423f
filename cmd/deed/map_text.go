package main

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/intent/fit"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

// mapCheck is the answer of deed map check.
type mapCheck struct{ of *fit.MapCheckDocument }

// Document is the answer for programs.
func (c mapCheck) Document() any { return c.of }

// Text has a line for each mapped tool with what is odd about it below, then
// what is not mapped, and the judgement last.
func (c mapCheck) Text(view report.View) string {
	var b strings.Builder
	for _, mapped := range c.of.Mapped {
		b.WriteString(c.mapped(mapped, view))
	}
	for _, finding := range c.of.Findings {
		b.WriteString(c.finding(finding, "", view))
	}
	c.unmapped(&b, view)
	b.WriteString(c.judgement(view) + "\n")
	return b.String()
}

// nameColumns is how much of a name is shown.
const nameColumns = 60

func (c mapCheck) mapped(m fit.MappedTool, view report.View) string {
	name := view.Style.Strong(terminal.Cut(terminal.Clean(m.Key), nameColumns))
	state := ""
	switch m.State {
	case fit.Missing:
		state = view.Style.Bad("  the server does not have it")
	case fit.OtherServer:
		state = view.Style.Faint("  of another server")
	case fit.Offered:
		if m.Tool != m.Key {
			state = "  is " + terminal.Cut(terminal.Clean(m.Tool), nameColumns)
		}
	}
	line := fmt.Sprintf("%s -> contract %s%s\n", name, terminal.Cut(terminal.Clean(m.ContractID), nameColumns), state)
	for _, finding := range m.Findings {
		line += c.finding(finding, "  ", view)
	}
	return line
}

func (c mapCheck) finding(f fit.MappingFinding, indent string, view report.View) string {
	word := view.Style.Faint("note: ")
	if f.Misfit {
		word = view.Style.Warn("does not fit: ")
	}
	key := ""
	if f.Key != "" {
		key = terminal.Clean(f.Key) + ": "
	}
	line := fmt.Sprintf("%s%s:%d:%d: %s%s%s\n", indent, terminal.Clean(c.of.File), f.Line, f.Column, word, key, terminal.Clean(f.Message))
	if f.Hint != "" {
		line += fmt.Sprintf("%s  %s\n", indent, terminal.Clean(f.Hint))
	}
	return line
}

// unmappedShown is how many names of tools are listed.
const unmappedShown = 40

func (c mapCheck) unmapped(b *strings.Builder, view report.View) {
	var changing, reading []string
	for _, tool := range c.of.Unmapped {
		name := terminal.Cut(terminal.Clean(tool.Tool), nameColumns)
		if tool.ReadOnly {
			reading = append(reading, name)
		} else {
			changing = append(changing, name)
		}
	}
	for _, group := range []struct {
		title string
		names []string
	}{{"not mapped, and may change something: ", changing}, {"not mapped, and seems only to read: ", reading}} {
		if len(group.names) == 0 {
			continue
		}
		shown, more := group.names, ""
		if len(shown) > unmappedShown {
			more = fmt.Sprintf(", … and %d more (--json has all)", len(shown)-unmappedShown)
			shown = shown[:unmappedShown]
		}
		b.WriteString(view.Style.Faint(group.title) + strings.Join(shown, ", ") + more + "\n")
	}
}

func (c mapCheck) judgement(view report.View) string {
	file, mapped := terminal.Clean(c.of.File), terminal.Plural(int64(len(c.of.Mapped)), "mapped tool")
	misfits := 0
	count := func(findings []fit.MappingFinding) {
		for _, f := range findings {
			if f.Misfit {
				misfits++
			}
		}
	}
	count(c.of.Findings)
	for _, m := range c.of.Mapped {
		count(m.Findings)
	}
	switch {
	case misfits > 0:
		verb := "do not fit"
		if misfits == 1 {
			verb = "does not fit"
		}
		return view.Style.Bad(fmt.Sprintf("%s: %s, %s %s", file, mapped, terminal.Plural(int64(misfits), "thing"), verb))
	case c.of.Server == "":
		return view.Style.Good(fmt.Sprintf("%s: %s, held against no server", file, mapped))
	}
	return view.Style.Good(fmt.Sprintf("%s: %s, fits the server", file, mapped))
}
