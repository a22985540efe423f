package settlement_test

import (
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// Evidence may leave a verdict as it is, and yet it is other coverage that can change it
// from then on.
func TestAVerdictThatSaysTheSameMayWaitForSomethingElse(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	ref := p.refund(t, "a1", "o-1")
	p.after(time.Minute)
	other := verdict.Wait{Source: "bank", Type: "transfer.booked", Until: noon.Add(time.Hour)}
	err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error {
		built, err := docket.BuildAll(tx.Ask, tx.Now(), []string{"a1"})
		if err != nil {
			return err
		}
		was := p.verdict(t, "a1")
		f, err := settlement.Find(ref, built[0].Case, &docket.Stored{Verdict: *was})
		if err != nil {
			return err
		}
		if f.Changed() {
			t.Error("nothing happened, and the verdict is another")
		}
		f.Lacking = []verdict.Wait{other}
		if settlement.Keep(tx, f, false) {
			t.Error("the verdict was kept anew")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	waiting := func(source, factType string) []store.Ref {
		t.Helper()
		var refs []store.Ref
		if err := p.store.View(t.Context(), p.id, func(tx store.Tx) (err error) {
			refs, err = tx.Waiting(source, factType, noon.Add(1000*time.Hour), "", 10)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return refs
	}
	if got := waiting("bank", "transfer.booked"); !slices.Equal(got, []store.Ref{ref}) {
		t.Errorf("for the bank wait %v", got)
	}
	if got := waiting("stripe", "refund.succeeded"); len(got) > 0 {
		t.Errorf("for Stripe still wait %v", got)
	}
}

func TestOfOneSourceAndTypeAnActionWaitsForTheEarliestTimeAndThenForTheNext(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	ref := p.refund(t, "a1", "o-1")
	p.after(time.Minute)
	for _, step := range []struct{ mark, next time.Duration }{{0, time.Hour}, {time.Hour, 2 * time.Hour}, {2 * time.Hour, 3 * time.Hour}} {
		var lacking []verdict.Wait
		for _, until := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
			lacking = append(lacking, verdict.Wait{Source: "bank", Type: "transfer.booked", Until: noon.Add(until), Watermark: noon.Add(step.mark)})
		}
		err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error {
			built, err := docket.BuildAll(tx.Ask, tx.Now(), []string{"a1"})
			if err != nil {
				return err
			}
			f, err := settlement.Find(ref, built[0].Case, &docket.Stored{Verdict: *p.verdict(t, "a1")})
			if err != nil {
				return err
			}
			f.Lacking = lacking
			settlement.Keep(tx, f, false)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for until, want := range map[time.Duration]int{step.next - 1000: 0, step.next: 1} { // a µs before
			var refs []store.Ref
			if err := p.store.View(t.Context(), p.id, func(tx store.Tx) (err error) {
				refs, err = tx.Waiting("bank", "transfer.booked", noon.Add(until), "", 10)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if len(refs) != want {
				t.Errorf("complete up to %s: up to %s wait %v, want %d", step.mark, until, refs, want)
			}
		}
	}
}
