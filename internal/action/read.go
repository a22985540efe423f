package action

import (
	"context"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Found is one action with everything that is known of it.
type Found struct {
	Action       store.Action
	Declarations []store.Declared // the first first
	Verdict      verdict.Verdict
	Settled      []store.Settled // the first first
	// Compensation is as of now, and Notes are the verdict's and those of now: what
	// undoes an action, and what else is to be said of it, may come long after its
	// verdict settled, and changes no verdict.
	Compensation *verdict.Compensation
	Notes        []verdict.Reason
}

// Get returns an action by the server's id or by its own. Errors:
// [store.ErrNotFound], also for one that the principal may not see; an
// [access.ScopeError].
func (s *Service) Get(ctx context.Context, p access.Principal, name string) (*Found, error) {
	if err := p.Require(access.ActionsRead); err != nil {
		return nil, err
	}
	var found *Found
	err := s.view(ctx, p, func(tx store.Tx) error {
		a, err := named(tx, name)
		if err != nil {
			return err
		}
		if p.MaySeeAction(targetOf(&a.Declaration)) != nil {
			return store.ErrNotFound
		}
		found, err = whole(tx, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read an action: %w", err)
	}
	return found, nil
}

// named finds an action by either of its names.
func named(tx store.Tx, name string) (*store.Action, error) {
	if IsRef(name) {
		return tx.ActionByRef(store.Ref(name))
	}
	actions, err := tx.ActionsByID([]string{name})
	if err != nil {
		return nil, err
	}
	if actions[name] == nil {
		return nil, store.ErrNotFound
	}
	return actions[name], nil
}

func whole(tx store.Tx, a *store.Action) (*Found, error) {
	f := &Found{Action: *a}
	var err error
	if f.Declarations, err = tx.Declarations(a.Ref); err != nil {
		return nil, fmt.Errorf("its declarations: %w", err)
	}
	current, err := tx.Current([]store.Ref{a.Ref})
	if err != nil {
		return nil, fmt.Errorf("its verdict: %w", err)
	}
	if current[a.Ref] == nil {
		return nil, fmt.Errorf("action %s has no verdict", a.Ref)
	}
	f.Verdict = *current[a.Ref]
	if f.Settled, err = tx.Settled(a.Ref); err != nil {
		return nil, fmt.Errorf("its settled verdicts: %w", err)
	}
	return f, f.update(tx)
}

// update looks at what may have come since the verdict settled. A verdict that cannot
// be made anew shows what it has.
func (f *Found) update(tx store.Tx) error {
	f.Compensation, f.Notes = f.Verdict.Compensation, f.Verdict.Notes
	if f.Verdict.Revision == 0 || f.Action.Version == 0 {
		return nil
	}
	built, err := docket.BuildAll(tx.Ask, tx.Now(), []string{f.Action.Declaration.ActionID})
	if err != nil {
		return fmt.Errorf("what came since it settled: %w", err)
	}
	if built[0].Err != nil {
		return nil
	}
	now, err := engine.Evaluate(built[0].Case)
	if err != nil || now.Revision != f.Verdict.Revision {
		return nil
	}
	f.Compensation = now.Compensation
	for _, note := range now.Notes {
		if !slices.Contains(f.Notes, note) {
			f.Notes = append(f.Notes[:len(f.Notes):len(f.Notes)], note)
		}
	}
	return nil
}

// narrowed is a filter that shows a principal no more than it may see.
func narrowed(p access.Principal, f store.Filter) (store.Filter, error) {
	if err := p.Require(access.ActionsRead); err != nil {
		return f, err
	}
	f.Limits = p.Limits()
	return f, nil
}

// List returns actions, the newest first. Errors: an [access.ScopeError], a
// [store.CursorError].
func (s *Service) List(ctx context.Context, p access.Principal, f store.Filter, page store.Page) ([]store.Listed, store.Cursor, error) {
	return s.list(ctx, p, f, func(tx store.Tx, f store.Filter) ([]store.Listed, store.Cursor, error) {
		return tx.ListActions(f, page)
	})
}

// Pending are provisional actions, and how far the evaluator has come.
type Pending struct {
	Actions []store.Listed
	Next    store.Cursor
	At      value.Instant // of the look
	// EvaluatedTo is the time up to which all that was told has been evaluated; At, if
	// nothing is left to do.
	EvaluatedTo value.Instant
}

// Pending returns the provisional actions, the one that settles first first. What
// they wait for says how far the sources are now, and not when the verdict was made.
// Errors: those of [Service.List].
func (s *Service) Pending(ctx context.Context, p access.Principal, f store.Filter, page store.Page) (*Pending, error) {
	found := &Pending{}
	listed, next, err := s.list(ctx, p, f, func(tx store.Tx, f store.Filter) ([]store.Listed, store.Cursor, error) {
		due, err := tx.NextDue()
		if err != nil {
			return nil, "", fmt.Errorf("see how far the evaluator has come: %w", err)
		}
		found.At = tx.Now()
		found.EvaluatedTo = found.At
		if due != 0 {
			found.EvaluatedTo = min(due, found.At)
		}
		listed, next, err := tx.ListPending(f, page)
		if err != nil {
			return nil, "", err
		}
		return listed, next, remark(tx, listed)
	})
	if err != nil {
		return nil, err
	}
	found.Actions, found.Next = listed, next
	return found, nil
}

func (s *Service) list(ctx context.Context, p access.Principal, f store.Filter, read func(store.Tx, store.Filter) ([]store.Listed, store.Cursor, error)) (listed []store.Listed, next store.Cursor, err error) {
	if f, err = narrowed(p, f); err != nil {
		return nil, "", err
	}
	err = s.view(ctx, p, func(tx store.Tx) (err error) {
		listed, next, err = read(tx, f)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list actions: %w", err)
	}
	return listed, next, nil
}

// remark puts the watermarks of now into what provisional verdicts wait for. A
// verdict keeps those of when it was made: that coverage has moved, and not far
// enough to change anything, makes no other verdict.
func remark(tx store.Tx, listed []store.Listed) error {
	var names []string
	for i := range listed {
		for _, w := range listed[i].Verdict.Waits {
			if !slices.Contains(names, w.Source) {
				names = append(names, w.Source)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	states, err := tx.SourceStates(names...)
	if err != nil {
		return fmt.Errorf("read how far the sources are: %w", err)
	}
	marks := map[string]map[string]value.Instant{}
	for i := range states {
		marks[states[i].Name] = states[i].Watermarks
	}
	for i := range listed {
		v := &listed[i].Verdict
		v.Waits = slices.Clone(v.Waits)
		for j := range v.Waits {
			if mark := marks[v.Waits[j].Source][v.Waits[j].Type]; mark != 0 {
				v.Waits[j].Watermark = mark
			}
		}
	}
	return nil
}

// Summary counts actions by contract and by what they came to. Errors: an
// [access.ScopeError].
func (s *Service) Summary(ctx context.Context, p access.Principal, f store.Filter) (counts []store.ContractCount, err error) {
	if f, err = narrowed(p, f); err != nil {
		return nil, err
	}
	err = s.view(ctx, p, func(tx store.Tx) (err error) {
		counts, err = tx.Summary(f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count actions: %w", err)
	}
	return counts, nil
}
