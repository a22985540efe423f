package server

import (
	"context"
	"errors"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// Measured is a store whose units are counted and timed, with what they keep. What
// a unit keeps counts once it is committed, however often the unit ran.
func (m *Meter) Measured(s store.Store) store.Store { return &measured{Store: s, meter: m} }

type measured struct {
	store.Store
	meter *Meter
}

func (s *measured) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	began := time.Now()
	var last *tally
	err := s.Store.Do(ctx, w, func(tx store.Tx) error {
		last = &tally{Tx: tx}
		return fn(last)
	})
	s.meter.unit("do", began, err)
	if err == nil && last != nil {
		last.tell(s.meter)
	}
	return err
}

func (s *measured) View(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	began := time.Now()
	err := s.Store.View(ctx, w, fn)
	s.meter.unit("view", began, err)
	return err
}

// kept is what is counted of a verdict.
type kept struct {
	badge  verdict.Result
	status verdict.Status
}

// tally counts what one run of a unit keeps.
type tally struct {
	store.Tx
	actions, revisions  int
	newFacts, sameFacts int
	verdicts            []kept
}

func (t *tally) AddAction(a *store.Action, limits []store.LimitEntry, linkParams map[string]string) {
	t.actions++
	t.Tx.AddAction(a, limits, linkParams)
}

func (t *tally) AddRevision(d *store.Declared) {
	t.revisions++
	t.Tx.AddRevision(d)
}

func (t *tally) AddFacts(facts []store.Fact) ([]bool, error) {
	isNew, err := t.Tx.AddFacts(facts)
	for _, one := range isNew {
		if one {
			t.newFacts++
		} else {
			t.sameFacts++
		}
	}
	return isNew, err
}

func (t *tally) KeepVerdict(ref store.Ref, v *verdict.Verdict, c *verdict.Case, waits []verdict.Wait) {
	t.verdicts = append(t.verdicts, kept{v.Badge, v.Status})
	t.Tx.KeepVerdict(ref, v, c, waits)
}

func (t *tally) tell(m *Meter) {
	m.actions.WithLabelValues("new").Add(float64(t.actions))
	m.actions.WithLabelValues("changed").Add(float64(t.revisions))
	m.facts.WithLabelValues("new").Add(float64(t.newFacts))
	m.facts.WithLabelValues("known").Add(float64(t.sameFacts))
	for _, v := range t.verdicts {
		m.verdicts.WithLabelValues(string(v.badge), string(v.status)).Inc()
	}
}

// Evaluated counts what a unit of the evaluator did.
func (m *Meter) Evaluated(wakes, evaluated, failed int) {
	m.wakes.Add(float64(wakes))
	m.evaluations.Add(float64(evaluated))
	m.poisoned.Add(float64(failed))
}

// How the evaluator's lag is looked at.
const (
	lagEvery = 5 * time.Second
	lagMost  = 200 // workspaces at a time, where each has to be asked; the others have their turn later
)

// WatchLag looks now and then how long the longest due wake has been due. It asks
// the store and not the evaluator, which could not tell that it stands still.
func (m *Meter) WatchLag(s store.Store) Worker {
	return Worker{Name: "lag", Run: func(ctx context.Context) error {
		ticker := time.NewTicker(lagEvery)
		defer ticker.Stop()
		for from := 0; ; {
			if lag, next, err := lagOf(ctx, s, from); err == nil { // else the units say so
				m.lag.Set(lag.Seconds())
				from = next
			}
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}}
}

// lagOf is the longest lag of all workspaces, or of some and where to go on.
func lagOf(ctx context.Context, s store.Store, from int) (longest time.Duration, next int, err error) {
	due, err := s.Directory().Due(ctx)
	if !errors.Is(err, store.ErrNoOverview) {
		for _, one := range due {
			longest = max(longest, one.Late)
		}
		return longest, 0, err
	}
	all, err := s.Directory().Workspaces(ctx)
	if err != nil {
		return 0, from, err
	}
	for range min(lagMost, len(all)) {
		from %= len(all)
		err := s.View(ctx, all[from].ID, func(tx store.Tx) error {
			due, err := tx.NextDue()
			if due != 0 {
				longest = max(longest, tx.Now().Sub(due))
			}
			return err
		})
		if err != nil {
			return 0, from, err
		}
		from++
	}
	return longest, from, nil
}

func (m *Meter) unit(kind string, began time.Time, err error) {
	m.units.WithLabelValues(kind, unitResult(err)).Inc()
	m.unitSeconds.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}

// unitResult tells the database's failures from those of what was asked.
func unitResult(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, new(*store.UnavailableError)):
		return "unavailable"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "refused"
}
