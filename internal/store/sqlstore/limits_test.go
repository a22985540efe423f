package sqlstore

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/value"
)

func TestTheStretchesOfAWindowAreTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(-1<<40, 1<<51).Draw(t, "from")
		long := rapid.Int64Range(-10, 1<<rapid.IntRange(0, 43).Draw(t, "bits")).Draw(t, "long")
		next := from + 1 // the window is (from, from+long]
		for _, s := range stretches(value.Instant(from), value.Instant(from+long)) {
			if s.from != next || s.to <= s.from {
				t.Fatalf("after %d comes [%d, %d)", next, s.from, s.to)
			}
			if s.width != 0 && (s.from%s.width != 0 || s.to%s.width != 0) {
				t.Fatalf("[%d, %d) is not made of spans of %d", s.from, s.to, s.width)
			}
			next = s.to
		}
		if want := max(from, from+long) + 1; next != want {
			t.Fatalf("the stretches end at %d, the window at %d", next, want)
		}
	})
}

func TestAMonthIsAddedUpFromAFewHundredSumsHoweverManyEntriesThereAre(t *testing.T) {
	t.Parallel()
	const month = 31 * 24 * time.Hour
	rapid.Check(t, func(t *rapid.T) {
		to := value.Instant(rapid.Int64Range(1<<50, 1<<51).Draw(t, "to"))
		sums, single := int64(0), int64(0)
		for _, s := range stretches(to.Add(-month), to) {
			if s.width == 0 {
				single += s.to - s.from
			} else {
				sums += (s.to - s.from) / s.width
			}
		}
		// 31 days are 78 spans of 2^35 µs; each end has up to 15 of the next three, and 7 of the shortest.
		if sums > 78+6*15+2*7 {
			t.Errorf("it takes %d sums", sums)
		}
		if single > 2*(1<<20) {
			t.Errorf("single entries are read for %d µs", single)
		}
	})
}
