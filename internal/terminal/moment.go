package terminal

import "time"

// Clock is the time and the zone that answers are given in.
type Clock struct {
	Now  func() time.Time
	Zone *time.Location
}

// SystemClock is the machine's time in the reader's zone.
func SystemClock() Clock { return Clock{Now: time.Now, Zone: time.Local} }

// IsToday says whether a moment is on the reader's present day.
func (c Clock) IsToday(at time.Time) bool { return c.sameDay(c.Now(), at) }

func (c Clock) sameDay(one, other time.Time) bool {
	year, month, day := one.In(c.Zone).Date()
	otherYear, otherMonth, otherDay := other.In(c.Zone).Date()
	return year == otherYear && month == otherMonth && day == otherDay
}

// Moment writes a time to the second, with the date where it is not today.
func (c Clock) Moment(at time.Time) string { return c.MomentOn(c.Now(), at) }

// MomentOn writes a time to the second, with the date where it is not on the
// day that the reader was told of.
func (c Clock) MomentOn(day, at time.Time) string {
	if c.sameDay(day, at) {
		return at.In(c.Zone).Format("15:04:05")
	}
	return c.Dated(at)
}

// Dated writes a time to the second, always with the date.
func (c Clock) Dated(at time.Time) string {
	return at.In(c.Zone).Format("2006-01-02 15:04:05")
}

// Exact writes a time to the microsecond, with its date and its offset from
// UTC, for whoever compares it with another record.
func (c Clock) Exact(at time.Time) string {
	return at.In(c.Zone).Format("2006-01-02 15:04:05.000000 -07:00")
}

// Micros turns a journal's time, µs since 1970, into a time.
func Micros(us int64) time.Time { return time.UnixMicro(us) }
