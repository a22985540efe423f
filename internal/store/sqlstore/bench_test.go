package sqlstore_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// openDurable is a PostgreSQL whose commits survive a loss of power, as one in use.
func openDurable(tb testing.TB) store.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), pgtest.StartOwn(tb).URL("postgres", "postgres"))
	return kept(tb, s, err)
}

var benched = []struct {
	name string
	open opener
}{{"SQLite", openSQLite}, {"PostgreSQL", openDurable}}

func BenchmarkDeclare(b *testing.B) {
	for _, on := range benched {
		b.Run(on.name, func(b *testing.B) {
			d := newDesk(b, on.open(b))
			next := 0
			for _, c := range []struct{ units, batch int }{{1, 1}, {8, 1}, {2, 32}, {2, 128}} {
				b.Run(fmt.Sprintf("units=%d/batch=%d", c.units, c.batch), func(b *testing.B) {
					from := next
					next += b.N + c.units*c.batch
					share(b, c.units, c.batch, func(at, n int) {
						do(b, d.store, func(tx store.Tx) error {
							all := make([]*store.Action, n)
							for i := range all {
								all[i] = refund(from + at + i)
							}
							return d.declare(tx, all...)
						})
					})
				})
			}
		})
	}
}

func BenchmarkFacts(b *testing.B) {
	for _, on := range benched {
		b.Run(on.name, func(b *testing.B) {
			d := newDesk(b, on.open(b))
			next := 0
			for _, c := range []struct{ units, batch int }{{1, 1}, {1, 1000}, {2, 1000}} {
				b.Run(fmt.Sprintf("units=%d/batch=%d", c.units, c.batch), func(b *testing.B) {
					from := next
					next += b.N + c.units*c.batch
					share(b, c.units, c.batch, func(at, n int) {
						facts := make([]store.Fact, n)
						for i := range facts {
							facts[i] = paid(from + at + i)
						}
						do(b, d.store, func(tx store.Tx) error {
							if _, err := tx.AddFacts(facts); err != nil {
								return err
							}
							for i := range facts {
								tx.Wake(store.Wake{Kind: store.WakeFact, Fact: facts[i].Identity()})
							}
							return nil
						})
					})
				})
			}
		})
	}
}

// share has b.N things done in batches by several at the same time.
func share(b *testing.B, units, batch int, work func(at, n int)) {
	b.Helper()
	var at atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range units {
		all.Go(func() {
			for {
				from := int(at.Add(int64(batch))) - batch
				if from >= b.N {
					return
				}
				work(from, min(batch, b.N-from))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}

// BenchmarkAsk asks what the cases of 200 actions ask first, which is one round trip
// on PostgreSQL.
func BenchmarkAsk(b *testing.B) {
	for _, on := range benched {
		b.Run(on.name, func(b *testing.B) {
			d := newDesk(b, on.open(b))
			const stored, batch = 10_000, 200
			for n := 0; n < stored; n += batch {
				do(b, d.store, func(tx store.Tx) error {
					tx.Turn(store.Alone)
					var facts []store.Fact
					for i := range batch {
						a := refund(n + i)
						tx.AddAction(a, d.entries(a), map[string]string{"order": a.Declaration.SubjectID})
						facts = append(facts, paid(n+i))
					}
					_, err := tx.AddFacts(facts)
					return err
				})
			}
			runtime.GC()
			b.ResetTimer()
			for i := range b.N {
				view(b, d.store, func(tx store.Tx) error {
					var questions []*docket.Question
					for n := range batch {
						dec := refund((i*batch + n) % stored).Declaration
						questions = append(questions,
							&docket.Question{Revisions: dec.ActionID},
							&docket.Question{Active: &docket.ActiveKey{ContractID: dec.ContractID, At: dec.ReceivedAt}},
							&docket.Question{Facts: &docket.FactKey{SubjectID: dec.SubjectID, Since: dec.ReceivedAt.Add(-25 * time.Hour)}},
							&docket.Question{Facts: &docket.FactKey{Ref: "key", Value: dec.ActionID}},
							&docket.Question{Compensating: dec.ActionID},
							&docket.Question{Latest: dec.ActionID},
							d.history(&dec))
					}
					return tx.Ask(questions)
				})
			}
			b.ReportMetric(float64(b.N*batch)/b.Elapsed().Seconds(), "actions/s")
		})
	}
}

// BenchmarkHistory adds up a day of a limit whose entries came a second apart.
func BenchmarkHistory(b *testing.B) {
	for _, on := range benched {
		for _, entries := range []int{100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/entries=%d", on.name, entries), func(b *testing.B) {
				d := newDesk(b, on.open(b))
				one := refund(7)
				entry := d.entries(one)[0]
				const batch = 5000
				for n := 0; n < entries; n += batch {
					do(b, d.store, func(tx store.Tx) error {
						tx.Turn(store.Alone)
						for i := range batch {
							entry.Start = noon.Add(time.Duration(n+i) * time.Second)
							sqlstore.AddLimits(tx, refOf(n+i), noon, []store.LimitEntry{entry})
						}
						return nil
					})
				}
				q := d.history(&one.Declaration).History
				q.To = noon.Add(time.Duration(entries-1)*time.Second + 500*time.Millisecond)
				q.From = q.To.Add(-24 * time.Hour)
				const want = 24 * 3600
				if err := sqlstore.SumUp(b.Context(), d.store, w, "", q.To); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				for range b.N {
					view(b, d.store, func(tx store.Tx) error {
						asked := &docket.Question{History: q}
						err := tx.Ask([]*docket.Question{asked})
						if asked.Sum.Count != want {
							b.Fatalf("%d entries were counted, want %d", asked.Sum.Count, want)
						}
						return err
					})
				}
			})
		}
	}
}
