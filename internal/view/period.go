package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// Period is a span of time, its end excluded. The zero Period is all of it.
type Period struct {
	From value.Instant `json:"from"`
	To   value.Instant `json:"to"`
}

// longestPeriod is how many days "last N days" may name.
const longestPeriod = 366

// PeriodError says that a text names no period.
type PeriodError struct{ Problem string }

func (e *PeriodError) Error() string { return e.Problem }

// ParsePeriod reads a period in the words that people use: a month ("2026-11"),
// "last 7 days", or two times with ".." between them. Months are those of UTC, and
// the last days end now.
func ParsePeriod(text string, now value.Instant) (Period, error) {
	if from, to, two := strings.Cut(text, ".."); two {
		return between(from, to)
	}
	if count, days := strings.CutPrefix(text, "last "); days {
		count, days = strings.CutSuffix(strings.TrimSuffix(count, "s"), " day")
		n, err := strconv.Atoi(count)
		if !days || err != nil || n < 1 || n > longestPeriod || count != strconv.Itoa(n) {
			return Period{}, &PeriodError{Problem: fmt.Sprintf("days are named as in \"last 7 days\", 1 to %d of them", longestPeriod)}
		}
		return Period{From: now.Add(-time.Duration(n) * 24 * time.Hour), To: now}, nil
	}
	return Month(text)
}

func between(from, to string) (p Period, err error) {
	if p.From, err = value.ParseInstant(from); err != nil {
		return Period{}, &PeriodError{Problem: err.Error()}
	}
	if p.To, err = value.ParseInstant(to); err != nil {
		return Period{}, &PeriodError{Problem: err.Error()}
	}
	if p.To <= p.From {
		return Period{}, &PeriodError{Problem: "a period ends after it begins"}
	}
	return p, nil
}

// Month reads a month: "2026-11".
func Month(text string) (Period, error) {
	month, err := time.Parse("2006-01", text)
	if err != nil || month.Year() < 1971 || month.Year() > 9997 {
		return Period{}, &PeriodError{Problem: fmt.Sprintf("%q is no period; write 2026-11, last 7 days, or two times with .. between them", text)}
	}
	return Period{From: value.FromTime(month), To: value.FromTime(month.AddDate(0, 1, 0))}, nil
}

// MonthOf is the month that a time lies in, as [Month] reads it.
func MonthOf(at value.Instant) string { return at.Time().Format("2006-01") }
