package scenario

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/deed-dev/deed/internal/value"
)

// moment reads a time: RFC 3339, or a signed sum of spans counted from the
// scenario's start, such as +1h30m or -2d.
func (r *reader) moment(n ast.Node, start value.Instant) value.Instant {
	text := r.text(n)
	if text == "" {
		return 0
	}
	if text[0] != '+' && text[0] != '-' {
		at, err := value.ParseInstant(text)
		if err != nil {
			r.fail(n, "or count from the start: +1h30m, -2d", "%v", err)
		}
		return at
	}
	span, ok := span(text[1:])
	if !ok {
		r.fail(n, "write it as +1h30m, -2d or 2026-11-02T12:00:00Z", "%q is no time", text)
	}
	if text[0] == '-' {
		span = -span
	}
	return start.Add(span)
}

func (f fields) moment(name string, start value.Instant) value.Instant {
	if !f.has(name) {
		return 0
	}
	return f.r.moment(f.nodes[name], start)
}

// span reads a sum of numbers with units from days to microseconds.
func span(text string) (time.Duration, bool) {
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= 0
	}
	whole, err := time.ParseDuration(days + "h") // a day is 24 of what the number says
	if err != nil || whole < 0 {
		return 0, false
	}
	sum := 24 * whole
	if rest == "" {
		return sum, true
	}
	d, err := time.ParseDuration(rest)
	return sum + d, err == nil && d >= 0
}
