package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// SinceError says that the time of a flag is not understood.
type SinceError struct {
	Flag   string // "--since" or "--before"
	Given  string
	Reason string
}

func (e *SinceError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Flag, e.Given, e.Reason)
}

// SinceExamples is the hint under a [SinceError].
const SinceExamples = "examples: --since 90m   --since 24h   --since 14d   --since 2w   --since today   --since yesterday   --since 2026-11-30   --since 2026-11-30T14:05"

// Layouts of dates and times. Those with a zone of their own are tried first,
// the others are read in the reader's zone.
var (
	zonedLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00"}
	localLayouts = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"}
)

// longestSpan keeps a mistyped number from turning into the stone age.
const longestSpan = 200 * 365 * 24 * time.Hour

// Since reads what a user gave for --since: a span back from now (14d, 2w,
// 90m, 24h, 1d12h), a date or time in the reader's zone or with its own, or
// "today" and "yesterday", which begin at the reader's midnight. A [SinceError]
// comes with examples as its hint.
func (c Clock) Since(text string) (time.Time, error) { return c.past("--since", text) }

// Before reads what a user gave for --before, which is written as a --since is.
func (c Clock) Before(text string) (time.Time, error) { return c.past("--before", text) }

func (c Clock) past(flag, text string) (time.Time, error) {
	at, reason := c.since(strings.TrimSpace(text))
	if reason == "" && at.After(c.Now()) {
		reason = "lies in the future (" + c.Dated(at) + ")"
	}
	if reason != "" {
		return time.Time{}, WithHint(&SinceError{Flag: flag, Given: text, Reason: reason}, strings.ReplaceAll(SinceExamples, "--since", flag))
	}
	return at, nil
}

func (c Clock) since(text string) (at time.Time, reason string) {
	now := c.Now().In(c.Zone)
	midnight := func(daysAgo int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()-daysAgo, 0, 0, 0, 0, c.Zone)
	}
	switch strings.ToLower(text) {
	case "":
		return at, "is empty"
	case "today":
		return midnight(0), ""
	case "yesterday":
		return midnight(1), ""
	}
	if span, isSpan := parseSpan(text); isSpan {
		if span > longestSpan {
			return at, "reaches too far back"
		}
		return now.Add(-span), ""
	}
	for _, layout := range zonedLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return at, ""
		}
	}
	for _, layout := range localLayouts {
		if at, err := time.ParseInLocation(layout, text, c.Zone); err == nil {
			return at, ""
		}
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return at, "has no unit"
	}
	return at, "is no time span, date or time"
}

// parseSpan reads one or more numbers with units: 2w, 1d12h, 90m. A span
// beyond longestSpan is some span beyond it.
func parseSpan(text string) (total time.Duration, isSpan bool) {
	for text != "" {
		digits := 0
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits == len(text) {
			return 0, false
		}
		unit := unitLength(text[digits])
		if unit == 0 {
			return 0, false
		}
		// More digits than an int64 has reach too far in every unit.
		n, err := strconv.ParseInt(text[:digits], 10, 64)
		if err != nil || time.Duration(n) > longestSpan/unit {
			n = int64(longestSpan/unit) + 1
		}
		total = min(total+time.Duration(n)*unit, longestSpan+1)
		text = text[digits+1:]
		isSpan = true
	}
	return total, isSpan
}

func unitLength(unit byte) time.Duration {
	switch unit {
	case 'w':
		return 7 * 24 * time.Hour
	case 'd':
		return 24 * time.Hour
	case 'h':
		return time.Hour
	case 'm':
		return time.Minute
	case 's':
		return time.Second
	}
	return 0
}
