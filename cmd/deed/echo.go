package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/terminal"
)

// echoLine writes one call, or one answer, for deed run --echo.
func echoLine(s observer.Sighting) string {
	name := s.Tool
	if name == "" {
		name = s.Method
	}
	if name == "" {
		name = "?"
	}
	name = terminal.Clean(name)
	if !s.Answer {
		return fmt.Sprintf("deed: -> %s  %s", name, terminal.Size(s.Bytes))
	}
	line := fmt.Sprintf("deed: <- %s  %s  %s", name, outcomeWord(s.Outcome), terminal.Size(s.Bytes))
	if s.Took < 0 {
		return line
	}
	return line + "  " + terminal.Duration(time.Duration(s.Took)*time.Microsecond)
}

func outcomeWord(o entry.Outcome) string {
	if o == entry.OutcomeOK {
		return "ok"
	}
	return "ERR"
}

// oneLine writes an error with what to do next in a single line, for those
// that are told beside a running server's own output.
func oneLine(err error) string {
	var out strings.Builder
	terminal.PrintError(&out, err)
	text := strings.TrimPrefix(strings.TrimSpace(out.String()), "deed: ")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", "; ")), " ")
}
