package contract

import (
	"fmt"
	"strings"
	"time"
)

var units = [...]struct {
	name   string
	length time.Duration
}{{"w", 7 * day}, {"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}}

// ParseDuration reads a time span as contracts write it: 30s, 5m, 48h, 30d, 1w,
// or a sum of these, the longer unit first: 1d12h. A day has 24 hours.
func ParseDuration(text string) (time.Duration, error) {
	failed := fmt.Errorf("%q is no time span; write it as in 30s, 5m, 48h, 30d, 1w or 1d12h", clip(text))
	if text == "" || len(text) > maxName {
		return 0, failed
	}
	var total time.Duration
	next := 0 // the longest unit that may still come
	for rest := text; rest != ""; {
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		if n == 0 || n > 9 || n == len(rest) || n > 1 && rest[0] == '0' {
			return 0, failed
		}
		var amount time.Duration
		for _, c := range rest[:n] {
			amount = amount*10 + time.Duration(c-'0')
		}
		unit := next
		for unit < len(units) && !strings.HasPrefix(rest[n:], units[unit].name) {
			unit++
		}
		if unit == len(units) {
			return 0, failed
		}
		if total += min(amount, 1<<62/units[unit].length) * units[unit].length; total < 0 || total > 10*longest {
			return 0, failed
		}
		next = unit + 1
		rest = rest[n+1:]
	}
	return total, nil
}
