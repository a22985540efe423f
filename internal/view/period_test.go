package view

import (
	"errors"
	"testing"
)

func TestAPeriodIsReadInTheWordsThatPeopleUse(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-02T12:00:00Z")
	for text, want := range map[string][2]string{
		"2026-11":       {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		"2026-12":       {"2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"2024-02":       {"2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		"last 7 days":   {"2026-10-26T12:00:00Z", "2026-11-02T12:00:00Z"},
		"last 1 day":    {"2026-11-01T12:00:00Z", "2026-11-02T12:00:00Z"},
		"last 366 days": {"2025-11-01T12:00:00Z", "2026-11-02T12:00:00Z"},
		"2026-11-01T00:00:00Z..2026-11-08T00:00:00+02:00": {"2026-11-01T00:00:00Z", "2026-11-07T22:00:00Z"},
	} {
		got, err := ParsePeriod(text, now)
		if want := (Period{From: at(t, want[0]), To: at(t, want[1])}); err != nil || got != want {
			t.Errorf("%q is %s to %s, %v; want %s to %s", text, got.From, got.To, err, want.From, want.To)
		}
	}
	for _, text := range []string{
		"", "2026", "2026-13", "2026-1", "2026-11-02", "0001-01", "November", "last week", "last 0 days", "last 367 days", "last -1 days",
		"last 07 days", "last 7", "last 7 dayss", "7 days", "last 7 days ", "..", "2026-11-01T00:00:00Z..", "2026-11-01T00:00:00..2026-11-02T00:00:00Z",
		"2026-11-02T00:00:00Z..2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z..2026-11-02T00:00:00Z",
	} {
		if got, err := ParsePeriod(text, now); !errors.As(err, new(*PeriodError)) {
			t.Errorf("%q is read as %s to %s, %v", text, got.From, got.To, err)
		}
	}
}

func TestAMonthIsThatOfUTC(t *testing.T) {
	t.Parallel()
	if got := MonthOf(at(t, "2026-11-01T00:30:00+01:00")); got != "2026-10" {
		t.Errorf("half past midnight one hour east is in %s", got)
	}
}
