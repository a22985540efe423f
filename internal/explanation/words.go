package explanation

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

const day = 24 * time.Hour

// Span says a time span in words, exactly: 48 hours, 7 days, 1 hour 30 minutes.
// Up to three days are told in hours, as people do.
func Span(d time.Duration) string {
	if d > 3*day && d%day == 0 {
		return number(int64(d/day), "day")
	}
	var parts []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if unit.length == day && d <= 3*day {
			continue
		}
		if n := d / unit.length; n > 0 {
			parts = append(parts, number(int64(n), unit.name))
			d -= n * unit.length
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

func number(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// count says how many in a word where there is a short one.
func count(n int) string {
	words := [...]string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// list joins names: a, b and c.
func list(names []string, last string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// trusted says what a level of trust asks of a source.
func trusted(t evidence.Trust) string {
	switch t {
	case evidence.Independent:
		return "independent: read with a credential that the agent does not have"
	case evidence.Attested:
		return "attested: signed by the provider itself, or independent"
	case evidence.Asserted:
		return "asserted: pushed with a key of the customer, or better"
	}
	return "self_reported: whoever tells it"
}

// Link says a rule by which a fact belongs to an action.
func Link(l contract.Link) string {
	switch l.By {
	case contract.ByActionID:
		return "its key " + l.Ref + " is the action's id"
	case contract.BySubjectID:
		return "its key " + l.Ref + " is the id of the action's subject"
	case contract.ByParam:
		return "its key " + l.Ref + " is the declared " + l.Param
	}
	return "it is about the action's subject, kind and id, and names no other actor than the agent"
}

// quote puts a text of the contract into quotes, on one line.
func quote(s string) string { return `"` + oneLine(s) + `"` }

// exactly puts a text into quotes as it is, blanks and all.
func exactly(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) }) >= 0 {
		return strconv.Quote(s)
	}
	return `"` + s + `"`
}

// oneLine takes the line breaks out of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
