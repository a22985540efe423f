package sqlstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// Entries come in any order, and are added up at any time in between, up to any time.
func TestALimitComesToTheSameWhateverOfItIsAddedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		d := newDesk(t, open(t))
		var group atomic.Int64
		rapid.Check(t, func(r *rapid.T) {
			one := refund(1)
			one.Declaration.AgentID = fmt.Sprint("bot-", group.Add(1))
			entry := d.entries(one)[0]
			near := func(label string) value.Instant {
				unit := rapid.SampledFrom([]time.Duration{time.Second, 50 * time.Second, 7 * time.Minute, 2 * time.Hour}).Draw(r, "unit")
				return noon.Add(time.Duration(rapid.IntRange(-20, 20).Draw(r, label)) * unit)
			}
			type added struct {
				start value.Instant
				cents int
			}
			var all []added
			for range 10 {
				switch rapid.IntRange(0, 3).Draw(r, "step") {
				case 0:
					if err := sqlstore.SumUp(t.Context(), d.store, w, entry.Group, near("added up until")); err != nil {
						r.Fatal(err)
					}
				case 1:
					q := d.history(&one.Declaration)
					q.History.From = near("from")
					q.History.To = near("to")
					view(t, d.store, func(tx store.Tx) error { return tx.Ask([]*docket.Question{q}) })
					count, cents := 0, 0
					for _, a := range all {
						if a.start > q.History.From && a.start <= q.History.To {
							count, cents = count+1, cents+a.cents
						}
					}
					want := money.Decimal{}
					if cents > 0 {
						want = decimal(fmt.Sprintf("%d.%02d", cents/100, cents%100))
					}
					got := money.Decimal{}
					if len(q.Sum.Totals) > 0 {
						got = q.Sum.Totals[0].Value
					}
					if q.Sum.Count != count || !got.Equal(want) {
						r.Fatalf("from %s to %s there are %d that come to %v, want %d and %v", q.History.From, q.History.To, q.Sum.Count, got, count, want)
					}
				default:
					some := make([]added, rapid.IntRange(1, 20).Draw(r, "entries"))
					for i := range some {
						some[i] = added{start: near("start"), cents: 1 + rapid.IntRange(0, 500).Draw(r, "cents")}
					}
					base := len(all)
					do(t, d.store, func(tx store.Tx) error {
						tx.Turn(store.Alone)
						for i, a := range some {
							entry.Start, entry.Amount = a.start, fmt.Sprintf("%d.%02d", a.cents/100, a.cents%100)
							sqlstore.AddLimits(tx, refOf(base+i), noon, []store.LimitEntry{entry})
						}
						return nil
					})
					all = append(all, some...)
				}
			}
		})
	})
}

func TestAGroupWithManyEntriesIsAddedUpOnceItIsRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		d := newDesk(t, open(t))
		const entries = 12_000 // more than one unit adds up
		one := refund(7)
		entry := d.entries(one)[0]
		do(t, d.store, func(tx store.Tx) error {
			tx.Turn(store.Alone)
			for n := range entries {
				entry.Start = noon.Add(time.Duration(n) * time.Second)
				sqlstore.AddLimits(tx, refOf(n), noon, []store.LimitEntry{entry})
			}
			return nil
		})
		to := noon.Add(entries * time.Second)
		q := d.history(&one.Declaration)
		q.History.From, q.History.To = noon.Add(-time.Hour), to
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for {
			var single, sums int
			view(t, d.store, func(tx store.Tx) (err error) {
				if err := tx.Ask([]*docket.Question{q}); err != nil {
					return err
				}
				single, sums, err = sqlstore.Summed(tx, entry.Key, entry.Group, 0, to)
				return err
			})
			if q.Sum.Count != entries {
				t.Fatalf("%d entries were counted, want %d", q.Sum.Count, entries)
			}
			// The last second is not over.
			if single <= 2 && sums > 0 {
				return
			}
			select {
			case <-again.C:
			case <-t.Context().Done():
				t.Fatalf("%d entries are read one by one", single)
			}
		}
	})
}

func TestAnEntryThatIsAddedByAUnitThatIsNotAloneIsRefused(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		d := newDesk(t, open(t))
		a := refund(1)
		for name, turn := range map[string]store.Turn{"none": 0, "together": store.Together, "evaluating": store.Evaluating} {
			if err := d.store.Do(t.Context(), w, func(tx store.Tx) error {
				if turn != 0 {
					tx.Turn(turn)
				}
				tx.AddAction(a, d.entries(a), nil)
				return nil
			}); err == nil {
				t.Errorf("turn %s: it was added", name)
			}
		}
	})
}

// Else each time that a group is added up would leave one more row of each span.
func TestASpanHasOneSumHoweverOftenItsGroupIsAddedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		d := newDesk(t, open(t))
		one := refund(7)
		entry := d.entries(one)[0]
		spans := map[[2]int64]bool{}
		const times = 20
		for n := range times {
			entry.Start = noon.Add(time.Duration(n) * 2 * time.Second)
			for _, bits := range []int{20, 23, 27, 31, 35} {
				spans[[2]int64{int64(bits), int64(entry.Start) >> bits}] = true
			}
			do(t, d.store, func(tx store.Tx) error {
				tx.Turn(store.Alone)
				sqlstore.AddLimits(tx, refOf(n), noon, []store.LimitEntry{entry})
				return nil
			})
			if err := sqlstore.SumUp(t.Context(), d.store, w, entry.Group, entry.Start.Add(2*time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		q := d.history(&one.Declaration)
		q.History.From, q.History.To = noon.Add(-time.Hour), noon.Add(time.Hour)
		view(t, d.store, func(tx store.Tx) error {
			single, sums, err := sqlstore.Summed(tx, entry.Key, entry.Group, 0, noon.Add(24*time.Hour))
			if single != 0 || sums != len(spans) {
				t.Errorf("there are %d rows of sums and %d single entries, want %d and none", sums, single, len(spans))
			}
			if err != nil {
				return err
			}
			return tx.Ask([]*docket.Question{q})
		})
		if q.Sum.Count != times {
			t.Errorf("%d entries were counted, want %d", q.Sum.Count, times)
		}
	})
}
