package baseline

import "slices"

// Percentile is the nearest-rank percentile: the smallest of the values that
// at least so many percent of them do not exceed. It is always one of the
// values; of an even number, the 50th is the lower of the two in the middle.
// All figures of this package use this definition. The values are sorted and
// there is at least one; percent is from 1 to 100.
func Percentile(sorted []int64, percent int) int64 {
	// Whole numbers: 0.95 of 20 as a float may come out above 19.
	rank := (percent*len(sorted) + 99) / 100
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Spread is how values of one kind are spread. The values themselves are kept
// because "larger than 3 of 5" cannot be told from their percentiles.
type Spread struct {
	N      int     `json:"n"`
	Min    int64   `json:"min"`
	P50    int64   `json:"p50"`
	Max    int64   `json:"max"`
	Sorted []int64 `json:"sorted"`
}

// SpreadOf sorts a copy of the values. Of no values it is zero.
func SpreadOf(values []int64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Spread{
		N: len(sorted), Min: sorted[0], P50: Percentile(sorted, 50), Max: sorted[len(sorted)-1],
		Sorted: sorted,
	}
}

// holds says that the figures are those of the values.
func (s Spread) holds() bool {
	again := SpreadOf(s.Sorted)
	return slices.Equal(again.Sorted, s.Sorted) &&
		again.N == s.N && again.Min == s.Min && again.P50 == s.P50 && again.Max == s.Max
}
