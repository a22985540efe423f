package terminal_test

import (
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

func TestSizesCountInStepsOf1024WithOneDecimal(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB",
		1023*1024 + 972: "1023.9 KiB", 1023*1024 + 973: "1.0 MiB", 1 << 20: "1.0 MiB", 12 << 20: "12.0 MiB",
		3<<30 + 1<<29: "3.5 GiB", 1<<63 - 1: "8.0 EiB", -2048: "-2.0 KiB", -1 << 63: "-8.0 EiB",
	} {
		if got := terminal.Size(bytes); got != want {
			t.Errorf("Size(%d) = %q, want %q", bytes, got, want)
		}
	}
}

func TestCountsHaveTheirThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000",
	} {
		if got := terminal.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "no calls", 1: "1 call", 2: "2 calls", 1234: "1,234 calls"} {
		if got := terminal.Plural(n, "call"); got != want {
			t.Errorf("Plural(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestDurationsKeepTheDigitsThatMatter(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		0:                                       "0 µs",
		340 * time.Microsecond:                  "340 µs",
		1234 * time.Microsecond:                 "1.2 ms",
		9940 * time.Microsecond:                 "9.9 ms",
		9960 * time.Microsecond:                 "10 ms",
		48 * time.Millisecond:                   "48 ms",
		999400 * time.Microsecond:               "999 ms",
		999600 * time.Microsecond:               "1.0 s",
		3400 * time.Millisecond:                 "3.4 s",
		59940 * time.Millisecond:                "59.9 s",
		59960 * time.Millisecond:                "1m 00s",
		125 * time.Second:                       "2m 05s",
		59*time.Minute + 59600*time.Millisecond: "1h 00m",
		192 * time.Minute:                       "3h 12m",
		103 * time.Hour:                         "4d 7h",
		-2 * time.Second:                        "-2.0 s",
	} {
		if got := terminal.Duration(span); got != want {
			t.Errorf("Duration(%v) = %q, want %q", int64(span), got, want)
		}
	}
}

func TestAgesAreToldInTheirLargestUnit(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Second: "0s", 40 * time.Second: "40s", 12*time.Minute + 59*time.Second: "12m",
		5*time.Hour + 59*time.Minute: "5h", 23*time.Hour + 59*time.Minute: "23h", 75 * time.Hour: "3d",
	} {
		if got := terminal.Age(age); got != want {
			t.Errorf("Age(%v) = %q, want %q", age, got, want)
		}
	}
}
