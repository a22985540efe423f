package sqlstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
)

// While actions are declared by several units, rows of sums are replaced by fewer.
// No reader may ever see an entry twice or not at all.
func TestASumIsExactWhileItsRowsAreReplaced(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		d := newDesk(t, open(t))
		const writers, each = 3, 120
		var declared sync.WaitGroup
		done := make(chan struct{})
		for writer := range writers {
			declared.Go(func() {
				for i := range each {
					n := (i*writers + writer) * 7 // all by one agent
					if err := d.store.Do(t.Context(), w, func(tx store.Tx) error {
						tx.Turn(store.Alone)
						a := refund(n)
						a.Declaration.ReceivedAt = noon.Add(time.Duration(n) * time.Millisecond)
						tx.AddAction(a, d.entries(a), nil)
						return nil
					}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		go func() { declared.Wait(); close(done) }()
		last := 0
		for finished := false; !finished; {
			select {
			case <-done:
				finished = true
			default:
			}
			view(t, d.store, func(tx store.Tx) error {
				asker := refund(1_000_006) // agent 0 as well
				asker.Declaration.AgentID = "bot-0"
				q := d.history(&asker.Declaration)
				q.History.From, q.History.To = noon.Add(-time.Hour), noon.Add(time.Hour)
				if err := tx.Ask([]*docket.Question{q}); err != nil {
					return err
				}
				want := money.Amount{Value: decimal("10.25").Mul(decimal(fmt.Sprint(q.Sum.Count))), Currency: "USD"}
				if q.Sum.Count < last || q.Sum.Count > 0 && (len(q.Sum.Totals) != 1 || !q.Sum.Totals[0].Value.Equal(want.Value)) {
					t.Errorf("after %d entries there are %d, which come to %v, want %v", last, q.Sum.Count, q.Sum.Totals, want)
				}
				last = q.Sum.Count
				return nil
			})
		}
		if last != writers*each {
			t.Errorf("%d entries were counted, want %d", last, writers*each)
		}
	})
}
