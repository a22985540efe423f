package view

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// longestHeadline is how many characters a headline has at most.
const longestHeadline = 200

// summaryOf says in a sentence what a verdict comes to and because of what, and
// what to do next. The reason is the first of the lens that decides the badge;
// where both do, of the outcome.
func summaryOf(v *verdict.Verdict) Summary {
	lens, name := &v.Outcome, verdict.OutcomeLens
	if lens.Result != v.Badge {
		lens, name = &v.Conformance, verdict.ConformanceLens
	}
	var b strings.Builder
	b.WriteString(string(v.Badge))
	if v.Status == verdict.Provisional && !v.Decided {
		b.WriteString(" so far")
	}
	if len(lens.Codes) == 0 {
		return Summary{Headline: b.String(), Next: ""}
	}
	entry, _ := verdict.Lookup(lens.Codes[0])
	b.WriteString(": " + entry.Label)
	switch check := cause(v, name, entry.Code); {
	case entry.Code == verdict.AwaitingEvidence && len(v.Waits) > 0:
		b.WriteString(awaited(v.Waits))
	case check != nil:
		b.WriteString(" (" + printable(check.ID) + ")")
	}
	return Summary{Headline: cut(b.String()), Next: entry.Next}
}

// cause is the first check of a lens that gives a code; nil where the code is of
// the lens itself.
func cause(v *verdict.Verdict, lens string, code verdict.Code) *verdict.Check {
	for i := range v.Checks {
		check := &v.Checks[i]
		if check.Lens == lens && len(check.Reasons) > 0 && check.Reasons[0].Code == code {
			return check
		}
	}
	return nil
}

// awaited names the sources that are waited for, and until when at most.
func awaited(waits []verdict.Wait) string {
	var sources []string
	var until value.Instant
	for _, w := range waits {
		if name := printable(w.Source); !slices.Contains(sources, name) {
			sources = append(sources, name)
		}
		until = max(until, w.Until)
	}
	const named = 3
	list := strings.Join(sources[:min(named, len(sources))], ", ")
	if more := len(sources) - named; more > 0 {
		list += " and " + strconv.Itoa(more) + " more"
	}
	return " from " + list + ", up to " + until.String()
}

// printable keeps what a stranger named from making a line of its own.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// cut shortens a text to what a headline may have.
func cut(s string) string {
	if utf8.RuneCountInString(s) <= longestHeadline {
		return s
	}
	return string([]rune(s)[:longestHeadline-1]) + "…"
}
