package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

func drawRollup(t *rapid.T, name string) *rollup.Rollup {
	r := &rollup.Rollup{}
	for n := range rapid.Int64Range(0, 15).Draw(t, name) {
		number := n*7 + rapid.Int64Range(0, 6).Draw(t, "n")
		r.Ask(number, rapid.Int64Range(0, 5_000).Draw(t, "sent"))
		if rapid.Bool().Draw(t, "answered") {
			r.Answer(number, rollup.Answer{
				Bytes: rapid.Int64Range(0, 100).Draw(t, "bytes"), Took: rapid.Int64Range(-1, 50).Draw(t, "took"),
				Outcome: rapid.SampledFrom([]entry.Outcome{entry.OutcomeOK, entry.OutcomeError, entry.OutcomeToolError, ""}).Draw(t, "outcome"), Code: "-1",
			})
		}
	}
	return r
}

func TestARollupComesBackFromItsRowAndAddsUpInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRollup(t, "a"), drawRollup(t, "b")
		var ab, ba rollup.Rollup
		ab.Merge(a)
		ab.Merge(b)
		ba.Merge(b)
		ba.Merge(a)
		if diff := cmp.Diff(rollupValues(&ab), rollupValues(&ba)); diff != "" {
			t.Fatalf("the order counts:\n%s", diff)
		}
		row := rollupRow{Rollup: rollup.Rollup{}}
		values := rollupValues(&ab)
		row.extremes, row.Rollup = values[15].([]byte), ab
		row.sizes, row.times = values[16].([]byte), values[17].([]byte)
		row.Biggest, row.Slowest, row.BiggestBad, row.SlowestBad = nil, nil, nil, nil
		again, err := row.open()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(values, rollupValues(again)); diff != "" {
			t.Fatalf("what was written is not read (-want +got):\n%s", diff)
		}
	})
}

func FuzzReadRollup(f *testing.F) {
	var r rollup.Rollup
	r.Ask(5, 100)
	r.Answer(5, rollup.Answer{Bytes: 90_000, Took: 12, Outcome: entry.OutcomeOK})
	values := rollupValues(&r)
	f.Add(values[15].([]byte), values[16].([]byte))
	f.Add([]byte{11, 1, 1}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Fuzz(func(t *testing.T, extremes, sizes []byte) {
		row := rollupRow{extremes: extremes, sizes: sizes}
		again, err := row.open()
		if err != nil {
			return
		}
		if again.Sizes.Quantile(1) < -1 {
			t.Errorf("%x gives %d", sizes, again.Sizes.Quantile(1))
		}
		if len(again.Biggest) > rollup.ExtremesKept {
			t.Errorf("%x gives %d of the biggest", extremes, len(again.Biggest))
		}
	})
}
