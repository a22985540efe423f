package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var (
	// The first wake of each workspace is found by its index, which begins with the
	// workspace; an index by time alone would cost each unit that adds a wake.
	dueIn = overview("due_in", `
		SELECT d.workspace_id, d.due_at FROM (
			SELECT w.workspace_id, (SELECT k.due_at FROM wakes k WHERE k.workspace_id = w.workspace_id ORDER BY k.due_at, k.id LIMIT 1) AS due_at
			FROM workspaces w) AS d
		WHERE d.due_at <= $1`)
	// Hardly any leaf has no number, and those that have none are in an index of their own.
	unsequencedIn = overview("unsequenced_in", `SELECT DISTINCT l.workspace_id FROM leaves l WHERE l.number < 0`)
)

// oversee runs a unit that looks over all workspaces.
func (c *catalogue) oversee(ctx context.Context, fn func(*unit) error) error {
	return c.store.run(ctx, SessionOptions{ReadOnly: true, Overview: true}, fn)
}

// Due implements [store.Directory].
func (c *catalogue) Due(ctx context.Context) ([]store.DueIn, error) {
	var all []store.DueIn
	err := c.oversee(ctx, func(u *unit) error {
		all = nil
		return u.ask(&query{statement: dueIn, args: []any{u.Now()}, row: func(r Row) error {
			all = append(all, store.DueIn{Workspace: access.WorkspaceID(r.Text()), Late: u.Now().Sub(value.Instant(r.Int()))})
			return nil
		}})
	})
	if err != nil && !errors.Is(err, store.ErrNoOverview) {
		err = fmt.Errorf("find the workspaces where something is due: %w", err)
	}
	return all, err
}

// Unsequenced implements [store.Directory].
func (c *catalogue) Unsequenced(ctx context.Context) ([]access.WorkspaceID, error) {
	var all []access.WorkspaceID
	err := c.oversee(ctx, func(u *unit) error {
		all = nil
		return u.ask(&query{statement: unsequencedIn, row: func(r Row) error {
			all = append(all, access.WorkspaceID(r.Text()))
			return nil
		}})
	})
	if err != nil && !errors.Is(err, store.ErrNoOverview) {
		err = fmt.Errorf("find the workspaces with leaves that have no number: %w", err)
	}
	return all, err
}
