package account

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
)

// SetPlan puts a workspace on a plan, and says on which it was; nothing is written if
// that is the same. It is for whoever runs the server: no member chooses what their
// workspace may use. Errors: [RequestError] for a name that cannot be,
// [store.ErrNotFound].
func (s *Service) SetPlan(ctx context.Context, w access.WorkspaceID, name string) (before string, err error) {
	if !plan.IsName(name) {
		return "", &RequestError{Field: "plan", Problem: "cannot be: " + plan.NameForm}
	}
	err = s.store.Do(ctx, w, func(tx store.Tx) error {
		now, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		if before = now.Plan; before == "" {
			before = plan.Default
		}
		if before == name {
			return nil
		}
		now.Plan = name
		tx.PutWorkspace(*now)
		told(tx, Console, "workspace.changed", string(w), audit.Metadata{"plan": name, "plan_before": before})
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("put the workspace on the plan %s: %w", name, err)
	}
	return before, nil
}
