package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestQuantilesAreTimesThatWereMeasured(t *testing.T) {
	t.Parallel()
	hundred := make(sample, 100)
	for i := range hundred {
		hundred[99-i] = time.Duration(i + 1) // 100 down to 1
	}
	for _, c := range []struct {
		name string
		of   sample
		q    float64
		want time.Duration
	}{
		{"the median of 1 to 100 is the fiftieth", hundred, 0.5, 50},
		{"its 99th percentile is the ninety-ninth", hundred, 0.99, 99},
		{"its worst is the last", hundred, 1, 100},
		{"one time is every quantile", sample{7}, 0.01, 7},
		{"of two the median is the smaller", sample{9, 3}, 0.5, 3},
		{"nothing has no quantile", nil, 0.5, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.of.quantile(c.q); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestAQuantileSplitsTheSampleAtItsShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := sample(rapid.SliceOfN(rapid.Map(rapid.Int64(), func(n int64) time.Duration { return time.Duration(n) }), 1, 200).Draw(t, "sample"))
		q := rapid.Float64Range(0.001, 1).Draw(t, "q")
		before := slices.Clone(s)
		got := s.quantile(q)
		if !slices.Equal(before, s) {
			t.Fatal("the sample was reordered")
		}
		notAbove := 0
		for _, d := range s {
			if d <= got {
				notAbove++
			}
		}
		if float64(notAbove) < q*float64(len(s))-1e-9 {
			t.Fatalf("%d of %d times are at most %d, fewer than the share %v", notAbove, len(s), got, q)
		}
	})
}

func TestRotateGivesEachTurnAllWaysAndAnotherFirst(t *testing.T) {
	t.Parallel()
	firsts := map[int]bool{}
	for turn := range 4 {
		order := rotate(4, turn)
		firsts[order[0]] = true
		slices.Sort(order)
		if !slices.Equal(order, []int{0, 1, 2, 3}) {
			t.Errorf("turn %d has the ways %v", turn, order)
		}
	}
	if len(firsts) != 4 {
		t.Errorf("%d ways came first in four turns, want all 4", len(firsts))
	}
}

func TestTheTallyCountsTheRunsThatMetATarget(t *testing.T) {
	t.Parallel()
	var tally tally
	tally.add([]figure{{what: "start-up", target: "< 15 ms", value: "14 ms", met: true}})
	tally.add([]figure{{what: "start-up", target: "< 15 ms", value: "16 ms"}})
	var out strings.Builder
	tally.print(&out)
	if want := "| start-up | < 15 ms | 14 ms, 16 ms | 1 of 2 |"; !strings.Contains(out.String(), want) {
		t.Errorf("want the row %q in\n%s", want, out.String())
	}
}

func TestMessagesHaveTheSizeThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, size := range []int{200, 20_000, 500_000} {
		if got := len(request(size)); got != size {
			t.Errorf("a request of %d bytes has %d", size, got)
		}
	}
}
