package action

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Options are what a [Service] needs beside a store. The zero value works, but for
// Random.
type Options struct {
	Random io.Reader // for ids
	// Plans say what workspaces have; nil: all of them everything, without limits.
	Plans *plan.Book
	// Patience is how long a unit that serves several requests may take; 0 is 30 s.
	Patience time.Duration
}

// Service records actions and answers questions about them.
type Service struct {
	store    store.Store
	options  Options
	refs     minter
	versions *settlement.Versions
	lines    lines
	plans    plans
}

// NewService makes a service over a store.
func NewService(s store.Store, o Options) *Service {
	if o.Patience == 0 {
		o.Patience = 30 * time.Second
	}
	service := &Service{store: s, options: o, refs: minter{random: o.Random}, versions: settlement.NewVersions()}
	service.lines.open = map[access.WorkspaceID]*line{}
	service.plans.known = map[access.WorkspaceID]knownPlan{}
	return service
}

// Allowance is what a plan includes in a month, and what is recorded in it.
type Allowance struct {
	Plan     string
	Period   string // the month, as in 2026-11
	Recorded int64
	Included int64 // of use if Limited
	Limited  bool
}

// Over says that what the plan includes is used up. What comes is recorded and
// verified all the same.
func (a *Allowance) Over() bool { return a.Limited && a.Recorded > a.Included }

// plans remembers each workspace's plan for a short time: it is asked for with every
// declaration and hardly ever changes.
type plans struct {
	mu    sync.Mutex
	known map[access.WorkspaceID]knownPlan
}

type knownPlan struct {
	plan string
	at   value.Instant
}

// planLife is for how long a plan that was changed may still be told.
const planLife = 5 * time.Second

// month is the one in which a workspace was asked about last; empty for none.
func (p *plans) month(w access.WorkspaceID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, there := p.known[w]; there {
		return month(known.at)
	}
	return ""
}

func (p *plans) of(tx store.Tx) (string, error) {
	now, workspace := tx.Now(), tx.Workspace()
	p.mu.Lock()
	known, there := p.known[workspace]
	p.mu.Unlock()
	if there && known.at <= now && now.Sub(known.at) < planLife {
		return known.plan, nil
	}
	w, err := tx.GetWorkspace()
	if err != nil {
		return "", err
	}
	known = knownPlan{plan: w.Plan, at: now}
	if known.plan == "" {
		known.plan = plan.Default
	}
	p.mu.Lock()
	p.known[workspace] = known
	p.mu.Unlock()
	return known.plan, nil
}

// allowance is how it stands without what this unit adds. It is what a unit asks
// first: the month is taken to be that of the last unit, so that beginning the unit and
// counting are one round trip.
func (s *Service) allowance(tx store.Tx) (a Allowance, err error) {
	if a.Period = s.plans.month(tx.Workspace()); a.Period != "" {
		if a.Recorded, err = tx.DeclaredIn(a.Period); err != nil {
			return Allowance{}, err
		}
	}
	if is := month(tx.Now()); is != a.Period {
		a.Period = is
		if a.Recorded, err = tx.DeclaredIn(is); err != nil {
			return Allowance{}, err
		}
	}
	if a.Plan, err = s.plans.of(tx); err != nil {
		return Allowance{}, err
	}
	has := s.options.Plans.Of(a.Plan)
	a.Included, a.Limited = has.ActionsPerMonth, has.Limited
	return a, nil
}

// month is the one that a time lies in, in UTC.
func month(at value.Instant) string { return at.Time().Format("2006-01") }

// view reads one snapshot of the principal's workspace.
func (s *Service) view(ctx context.Context, p access.Principal, fn func(store.Tx) error) error {
	return s.store.View(ctx, p.Workspace(), fn)
}
