package docket

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/value"
)

// model is a series without any cleverness.
type model []seriesEntry

func (m model) within(from, to, received value.Instant) tally {
	var sum tally
	for _, e := range m {
		if e.start > from && e.start <= to && e.received <= received {
			sum.count++
			sum.sum = sum.sum.Add(e.amount)
		}
	}
	return sum
}

func TestASeriesAddsUpWhatAPlainListDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := series{size: sizes{chunk: rapid.IntRange(2, 4).Draw(t, "chunk"), block: rapid.IntRange(1, 3).Draw(t, "block")}}
		var plain model
		next := 0
		entry := func(t *rapid.T) seriesEntry {
			next++
			return seriesEntry{
				// Few starts, so that many entries share one.
				start:    value.Instant(rapid.IntRange(1, 60).Draw(t, "start")),
				received: value.Instant(rapid.IntRange(1, 60).Draw(t, "received")),
				actionID: fmt.Sprint("a", next),
				amount:   decimal.New(rapid.Int64Range(0, 99_999).Draw(t, "cents"), -2),
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert some": func(t *rapid.T) {
				for range rapid.IntRange(1, 9).Draw(t, "n") {
					e := entry(t)
					s.insert(e)
					plain = append(plain, e)
				}
			},
			"remove": func(t *rapid.T) {
				if len(plain) == 0 {
					t.Skip("nothing there")
				}
				i := rapid.IntRange(0, len(plain)-1).Draw(t, "which")
				if !s.remove(plain[i]) {
					t.Fatalf("%v is not there", plain[i])
				}
				if s.remove(plain[i]) {
					t.Fatalf("%v was there twice", plain[i])
				}
				plain = slices.Delete(plain, i, i+1)
			},
			"": func(t *rapid.T) {
				from := value.Instant(rapid.IntRange(0, 61).Draw(t, "from"))
				to := from + value.Instant(rapid.IntRange(0, 61).Draw(t, "length"))
				const ever = value.Instant(1000)
				got, want := s.within(from, to), plain.within(from, to, ever)
				if got.count != want.count || !got.sum.Equal(want.sum) {
					t.Fatalf("(%d, %d] is %d and %s, want %d and %s", from, to, got.count, got.sum, want.count, want.sum)
				}
				by := value.Instant(rapid.IntRange(0, 61).Draw(t, "by"))
				got, want = s.receivedBy(from, to, by), plain.within(from, to, by)
				if got.count != want.count || !got.sum.Equal(want.sum) {
					t.Fatalf("(%d, %d] by %d is %d and %s, want %d and %s", from, to, by, got.count, got.sum, want.count, want.sum)
				}
			},
		})
	})
}

func TestATotalReadsTheSameWhateverWasAddedAndTakenAway(t *testing.T) {
	t.Parallel()
	s := series{size: usualSizes()}
	fine := seriesEntry{start: 1, actionID: "a", amount: decimal.RequireFromString("0.125")}
	s.insert(fine)
	s.insert(seriesEntry{start: 2, actionID: "b", amount: decimal.RequireFromString("179.50")})
	if got := shortest(s.within(1, 2).sum).String(); got != "179.5" {
		t.Errorf("the total is written %s, want 179.5", got)
	}
	for number, want := range map[string]string{"1200": "1200", "1200.00": "1200", "0.10": "0.1", "0.00": "0", "-3.50": "-3.5"} {
		if got := plain(decimal.RequireFromString(number)); got != want {
			t.Errorf("%s is written %s, want %s", number, got, want)
		}
	}
}
