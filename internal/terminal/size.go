package terminal

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Size writes a number of bytes in steps of 1024, with one decimal from KiB
// on: 340 B, 1.5 KiB, 12.0 MiB, 3.1 GiB.
func Size(bytes int64) string {
	if bytes > -1024 && bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	value, unit := float64(bytes)/1024, 0
	// 1023.95 would be written 1024.0, which is the next unit's 1.0.
	for ; math.Abs(value) >= 1023.95 && unit < len(sizeUnits)-1; unit++ {
		value /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", value, sizeUnits[unit])
}

const sizeUnits = "KMGTPE"

// Count writes a number with its thousands apart: 1,234,567.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1
	}
	for at := len(digits) - 3; at > first; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Plural writes a number with its noun: "1 call", "2 calls", "no calls".
// The noun takes an s.
func Plural(n int64, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return Count(n) + " " + noun + "s"
}

// Duration writes a time span with two or three digits that matter: 340 µs,
// 1.2 ms, 48 ms, 3.4 s, 2m 05s, 3h 12m, 4d 7h.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-max(d, -1<<62))
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond-50*time.Microsecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second-500*time.Microsecond:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	case d < time.Minute-50*time.Millisecond:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	switch d = d.Round(time.Second); {
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Age writes how long ago something was, in its largest unit: 40s, 12m, 5h, 3d.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(d, 0)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}
