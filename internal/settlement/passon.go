package settlement

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// passOn wakes those that come after an action in its rolling limits where the action
// itself cannot be evaluated. Others have relied on it to tell them: see [line]. It takes
// the declaration as it was kept, and no case.
func (e *Evaluator) passOn(tx store.Tx, ref store.Ref, from value.Instant) error {
	a, err := tx.ActionByRef(ref)
	if err != nil {
		return fmt.Errorf("read action %s: %w", ref, err)
	}
	if a.Version == 0 {
		return nil
	}
	d := a.Declaration
	q := docket.Question{Active: &docket.ActiveKey{ContractID: d.ContractID, Version: a.Version}}
	if err := tx.Ask([]*docket.Question{&q}); err != nil {
		return fmt.Errorf("find the version that governs action %s: %w", ref, err)
	}
	if len(q.Governing) == 0 {
		return nil
	}
	versions, err := e.versions.Until(tx, q.Governing[0])
	if err != nil {
		return err
	}
	neighbours, err := Neighbours(docket.NewInquiry(tx.Ask), []Spreading{{
		Ref: ref, Case: &verdict.Case{Declarations: []verdict.Declaration{d}}, Declared: true,
		Entries: docket.Entries(versions, &d), From: max(from, d.Start(), 1),
	}})
	if err != nil {
		return err
	}
	return neighbours.Wake(tx, nil)
}

// passOn does so for those targets that others have relied on and that failed.
func (u *unit) passOn(all []*target) error {
	for _, t := range all {
		if t.finding != nil || !t.declared {
			continue
		}
		if err := u.e.passOn(u.tx, t.ref, t.from); err != nil {
			return err
		}
	}
	return nil
}

// passOnAlone does so for wakes whose unit failed, in a unit for each. One that fails too
// is told, and done again when its wake is tried again.
func (e *Evaluator) passOnAlone(ctx context.Context, w access.WorkspaceID, off []store.Wake) {
	for _, wake := range off {
		if wake.Kind != store.WakeSpread {
			continue
		}
		err := e.store.Do(ctx, w, func(tx store.Tx) error {
			return guarded(func() error { return e.passOn(tx, wake.Ref, wake.Watermark) })
		})
		if err != nil && ctx.Err() == nil {
			e.options.OnFailure(w, wake.Ref, err)
		}
	}
}
