package terminal_test

import (
	"errors"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
	"pgregory.net/rapid"
)

// berlin has a summer time, which moves midnights against spans.
func berlin(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatalf("this test needs the time zone database: %v", err)
	}
	return zone
}

func clockAt(t testing.TB, text string) terminal.Clock {
	t.Helper()
	zone := berlin(t)
	now, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return terminal.Clock{Now: func() time.Time { return now }, Zone: zone}
}

func TestSinceTakesSpansDatesAndWords(t *testing.T) {
	t.Parallel()
	clock := clockAt(t, "2026-11-30 14:05:09")
	for given, want := range map[string]string{
		"90m":                       "2026-11-30T12:35:09+01:00",
		"24h":                       "2026-11-29T14:05:09+01:00",
		"14d":                       "2026-11-16T14:05:09+01:00",
		"2w":                        "2026-11-16T14:05:09+01:00",
		"1d12h":                     "2026-11-29T02:05:09+01:00",
		"45s":                       "2026-11-30T14:04:24+01:00",
		"0m":                        "2026-11-30T14:05:09+01:00",
		" 1h ":                      "2026-11-30T13:05:09+01:00",
		"today":                     "2026-11-30T00:00:00+01:00",
		"Yesterday":                 "2026-11-29T00:00:00+01:00",
		"2026-11-01":                "2026-11-01T00:00:00+01:00",
		"2026-10-01":                "2026-10-01T00:00:00+02:00", // summer time
		"2026-11-30T14:05":          "2026-11-30T14:05:00+01:00",
		"2026-11-30 14:05:01":       "2026-11-30T14:05:01+01:00",
		"2026-11-30T12:00:00Z":      "2026-11-30T13:00:00+01:00",
		"2026-11-30T08:00:00-05:00": "2026-11-30T14:00:00+01:00",
		"2026-11-30T12:00Z":         "2026-11-30T13:00:00+01:00",
	} {
		got, err := clock.Since(given)
		if err != nil {
			t.Errorf("Since(%q): %v", given, err)
			continue
		}
		if text := got.In(clock.Zone).Format(time.RFC3339); text != want {
			t.Errorf("Since(%q) = %s, want %s", given, text, want)
		}
	}
}

func TestYesterdayBeginsAtMidnightAlsoWhenTheClocksWereChanged(t *testing.T) {
	t.Parallel()
	clock := clockAt(t, "2026-10-26 09:00:00") // the day before had 25 hours
	got, err := clock.Since("yesterday")
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Format(time.RFC3339); text != "2026-10-25T00:00:00+02:00" {
		t.Errorf("yesterday began %s", text)
	}
}

func TestSinceSaysWhatIsWrongAndGivesExamples(t *testing.T) {
	t.Parallel()
	clock := clockAt(t, "2026-11-30 14:05:09")
	for given, want := range map[string]string{
		"":                      `--since "": is empty`,
		"14":                    `--since "14": has no unit`,
		"1.5":                   `--since "1.5": has no unit`,
		"14 days":               `--since "14 days": is no time span, date or time`,
		"-3d":                   `--since "-3d": is no time span, date or time`,
		"3y":                    `--since "3y": is no time span, date or time`,
		"2026-13-01":            `--since "2026-13-01": is no time span, date or time`,
		"2026-12-24":            `--since "2026-12-24": lies in the future (2026-12-24 00:00:00)`,
		"999999999w":            `--since "999999999w": reaches too far back`,
		"199w99999d":            `--since "199w99999d": reaches too far back`,
		"99999999999999999999s": `--since "99999999999999999999s": reaches too far back`,
		"1d12":                  `--since "1d12": is no time span, date or time`,
		"d":                     `--since "d": is no time span, date or time`,
	} {
		_, err := clock.Since(given)
		var since *terminal.SinceError
		if !errors.As(err, &since) || err.Error() != want {
			t.Errorf("Since(%q) failed with %v, want %s", given, err, want)
			continue
		}
		var hint *terminal.Hint
		if !errors.As(err, &hint) || hint.Next != terminal.SinceExamples {
			t.Errorf("Since(%q) gives no examples", given)
		}
	}
}

func TestSinceNeverLiesInTheFuture(t *testing.T) {
	t.Parallel()
	clock := clockAt(t, "2026-11-30 14:05:09")
	rapid.Check(t, func(rt *rapid.T) {
		given := rapid.StringMatching(`[0-9]{1,9}[wdhms]([0-9]{1,9}[wdhms])?|20[0-9]{2}-[01][0-9]-[0-3][0-9]`).Draw(rt, "since")
		at, err := clock.Since(given)
		if err == nil && at.After(clock.Now()) {
			rt.Fatalf("Since(%q) = %v", given, at)
		}
	})
}

func TestMomentsCarryTheirDateOnlyWhenItIsNotToday(t *testing.T) {
	t.Parallel()
	clock := clockAt(t, "2026-11-30 00:30:00")
	earlier := clock.Now().Add(-20 * time.Minute)
	if got := clock.Moment(earlier); got != "00:10:00" {
		t.Errorf("the same day reads %q", got)
	}
	// In UTC both are the 29th: the reader's zone decides.
	if got := clock.Moment(clock.Now().Add(-40 * time.Minute)); got != "2026-11-29 23:50:00" {
		t.Errorf("the day before reads %q", got)
	}
	if got := clock.Exact(time.UnixMicro(1764549009123456)); got != "2025-12-01 01:30:09.123456 +01:00" {
		t.Errorf("an exact time reads %q", got)
	}
}
