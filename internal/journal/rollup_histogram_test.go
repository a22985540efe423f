package journal

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// nearestRank is the value at a share of all, -1 of none.
func nearestRank(values []int64, share float64) int64 {
	if len(values) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(math.Round(share*float64(len(sorted)-1)))]
}

func withinOnePercent(got, want int64) bool {
	return math.Abs(float64(got)-float64(want)) <= 0.01*math.Abs(float64(want))
}

func TestAPercentileIsWithinOnePercentOfTheExactOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(rapid.Int64Range(0, 300), rapid.Int64Range(0, 1<<40), rapid.Int64Min(0))).Draw(t, "values")
		var one, other histogram
		for i, value := range values {
			if i%3 == 0 {
				one.add(value, 1)
			} else {
				other.add(value, 1)
			}
		}
		one.merge(other)
		for _, share := range []float64{0, 0.5, 0.95, 1} {
			if got, want := one.quantile(share), nearestRank(values, share); !withinOnePercent(got, want) {
				t.Fatalf("at %v it is %d, exactly %d", share, got, want)
			}
		}
	})
}

func TestEveryValueIsInTheBucketWhoseMiddleStandsForIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Int64Range(0, 1_000), rapid.Int64Min(0)).Draw(t, "value")
		index := bucketOf(value)
		if !withinOnePercent(bucketMiddle(index), value) || bucketOf(bucketMiddle(index)) != index || index > maxBucket {
			t.Fatalf("%d is in bucket %d, whose middle is %d", value, index, bucketMiddle(index))
		}
		if value > 0 && bucketOf(value-1) > index {
			t.Fatalf("the buckets of %d and the value below are out of order", value)
		}
	})
}

func drawRollup(t *rapid.T, name string) *rollup {
	r := &rollup{}
	for n := range rapid.Int64Range(0, 15).Draw(t, name) {
		number := n*7 + rapid.Int64Range(0, 6).Draw(t, "n")
		r.ask(number, rapid.Int64Range(0, 5_000).Draw(t, "sent"))
		if rapid.Bool().Draw(t, "answered") {
			r.answer(number, answer{
				bytes: rapid.Int64Range(0, 100).Draw(t, "bytes"), took: rapid.Int64Range(-1, 50).Draw(t, "took"),
				outcome: rapid.SampledFrom([]Outcome{OutcomeOK, OutcomeError, OutcomeToolError, ""}).Draw(t, "outcome"), code: "-1",
			})
		}
	}
	return r
}

func TestARollupComesBackFromItsRowAndAddsUpInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRollup(t, "a"), drawRollup(t, "b")
		var ab, ba rollup
		ab.merge(a)
		ab.merge(b)
		ba.merge(b)
		ba.merge(a)
		if diff := cmp.Diff(ab.values(), ba.values()); diff != "" {
			t.Fatalf("the order counts:\n%s", diff)
		}
		row := rollupRow{rollup: rollup{}}
		values := ab.values()
		row.extremes, row.rollup = values[15].([]byte), ab
		row.sizes, row.times = values[16].([]byte), values[17].([]byte)
		row.biggest, row.slowest, row.biggestBad, row.slowestBad = nil, nil, nil, nil
		again, err := row.open()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(values, again.values()); diff != "" {
			t.Fatalf("what was written is not read (-want +got):\n%s", diff)
		}
	})
}

func FuzzReadRollup(f *testing.F) {
	var r rollup
	r.ask(5, 100)
	r.answer(5, answer{bytes: 90_000, took: 12, outcome: OutcomeOK})
	values := r.values()
	f.Add(values[15].([]byte), values[16].([]byte))
	f.Add([]byte{11, 1, 1}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Fuzz(func(t *testing.T, extremes, sizes []byte) {
		row := rollupRow{extremes: extremes, sizes: sizes}
		again, err := row.open()
		if err != nil {
			return
		}
		if again.sizes.quantile(1) < -1 {
			t.Errorf("%x gives %d", sizes, again.sizes.quantile(1))
		}
		if len(again.biggest) > extremesKept {
			t.Errorf("%x gives %d of the biggest", extremes, len(again.biggest))
		}
	})
}
