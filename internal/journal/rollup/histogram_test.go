package rollup

import (
	"math"
	"slices"
	"testing"

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
		var one, other Histogram
		for i, value := range values {
			if i%3 == 0 {
				one.Add(value, 1)
			} else {
				other.Add(value, 1)
			}
		}
		one.Merge(other)
		for _, share := range []float64{0, 0.5, 0.95, 1} {
			if got, want := one.Quantile(share), nearestRank(values, share); !withinOnePercent(got, want) {
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
