package governance

import (
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/verdict"
)

// onPostgres is an office with instances of the service on one database.
func onPostgres(t *testing.T, n int) (*office, []*Service) {
	t.Helper()
	o := &office{t: t, space: access.Workspace{ID: acme}}
	o.now.Store(int64(noon))
	url := pgtest.Start(t).Database(t)
	var stores []store.Store
	var services []*Service
	for range n {
		s, err := postgres.Open(t.Context(), url, sqlstore.WithClock(o.clock))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		stores, services = append(stores, s), append(services, New(s, nil))
	}
	return o.on(stores[0]), services
}

func TestOnPostgresOneVersionGovernsWhateverInstanceIsAsked(t *testing.T) {
	t.Parallel()
	o, services := onPostgres(t, 3)
	first, second := o.save(strict), o.save(weaker)
	var all sync.WaitGroup
	for _, s := range services {
		for _, n := range []int{first, second} {
			all.Go(func() {
				if _, err := s.Activate(t.Context(), o.admin(), "refunds", n, verdict.Live); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil {
		t.Fatal(err)
	}
	governing := 0
	for _, v := range versions {
		if v.From != 0 && v.Until == 0 {
			governing++
		}
	}
	if governing != 1 {
		t.Errorf("%d versions govern: %+v", governing, versions)
	}
}

func TestOnPostgresANewLimitAddsUpWhatWasDeclaredBeforeIt(t *testing.T) {
	t.Parallel()
	o, _ := onPostgres(t, 1)
	old := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	o.declare(1, old, 1, verdict.Live, "100.00", o.clock())
	o.advance(time.Hour)
	yaml := text("48h", byOrder, dailyTotal)
	o.activate(o.save(yaml), verdict.Live)
	if h := o.added(compiled(t, yaml), "daily", verdict.Live); h.Count != 1 {
		t.Errorf("it adds up %d", h.Count)
	}
	if _, err := o.Retire(t.Context(), o.admin(), "refunds"); err != nil {
		t.Error(err)
	}
}
