package value

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Instant is a moment: microseconds since 1970-01-01T00:00:00Z, without leap
// seconds. The zero value means that no time is known.
type Instant int64

// Second in the unit of an [Instant].
const Second = Instant(time.Second / time.Microsecond)

// ParseInstant reads an RFC 3339 time. The zone is required: a time without one
// is a different moment to everybody who reads it. A leap second, which has no
// number of its own, is the last microsecond of the second before it.
func ParseInstant(text string) (Instant, error) {
	given, leap := text, false
	if len(text) >= 19 && text[17:19] == "60" && text[10] != ' ' {
		text, leap = text[:17]+"59"+text[19:], true
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	// The reader of Go takes 1:00:00 and 12:00:00,5 as well, RFC 3339 does not.
	if err == nil && (len(text) < 20 || text[13] != ':' || strings.ContainsRune(text, ',')) {
		err = errors.New("not RFC 3339")
	}
	if leap && err == nil && (t.UTC().Hour() != 23 || t.UTC().Minute() != 59) {
		return 0, fmt.Errorf("%q is no time; a leap second is the last of a day in UTC", given)
	}
	text = given
	if err != nil {
		if _, bare := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); bare == nil {
			return 0, fmt.Errorf("time %q names no zone; write it as in 2026-10-15T12:00:00Z", text)
		}
		return 0, fmt.Errorf("%q is no time; write it as in 2026-10-15T12:00:00Z", text)
	}
	if year := t.UTC().Year(); year < 1971 || year > 9998 {
		return 0, fmt.Errorf("time %q lies outside the years 1971 to 9998", text)
	}
	if leap {
		t = t.Truncate(time.Second).Add(time.Second - time.Microsecond)
	}
	return FromTime(t), nil
}

// FromTime cuts t to whole microseconds.
func FromTime(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Time is the instant in UTC.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add is the instant d later, d cut to whole microseconds.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d/time.Microsecond) }

// Sub is the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration {
	return time.Duration(i-earlier) * time.Microsecond
}

// Cut is the start of the unit that i lies in, for a unit of at least a
// microsecond; times of a source that tells whole seconds are compared so.
func (i Instant) Cut(unit time.Duration) Instant {
	u := Instant(unit / time.Microsecond)
	if u <= 1 {
		return i
	}
	rest := i % u
	if rest < 0 {
		rest += u
	}
	return i - rest
}

// String writes the instant as [ParseInstant] reads it, in UTC, with as many
// decimals of a second as it has; the zero value is empty.
func (i Instant) String() string {
	if i == 0 {
		return ""
	}
	return i.Time().Format(time.RFC3339Nano)
}
