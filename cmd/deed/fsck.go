package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/terminal"
)

type fsckCmd struct {
	Settings settingFlags `embed:""`
}

// Help is printed under the flags of deed fsck --help.
func (fsckCmd) Help() string {
	return `Example:

    deed fsck                               the data of this user's server
    deed fsck --data /var/lib/deed

Hashes each workspace's ledger again up to its signed head, holds declarations,
contracts, settled verdicts and the audit against their leaves, and makes every
settled verdict again from the case that is kept with it. It writes nothing and
may run beside the server.

Exit code 0: everything agrees. 1: something does not, and it is named. 2: a
setting makes no sense.`
}

func (c *fsckCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.look(ctx, w, func(ctx context.Context, k *keeping) error {
		workspaces, err := k.store.Directory().Workspaces(ctx)
		if err != nil {
			return err
		}
		service := ledger.New(k.store, k.vault)
		found := int64(0)
		for i := range workspaces {
			report, err := service.Verify(ctx, workspaces[i].ID)
			if err != nil {
				return fmt.Errorf("verify the workspace %s: %w", workspaces[i].Name, err)
			}
			found += report.Found
			if err := w.print(fsckText(&workspaces[i], report)); err != nil {
				return err
			}
		}
		switch {
		case len(workspaces) == 0:
			return w.print("there is no workspace yet\n")
		case found > 0:
			return exitCode(exitNegative)
		}
		return nil
	})
}

// fsckText is what was found in a workspace.
func fsckText(w *store.Workspace, r *ledger.Report) string {
	var b strings.Builder
	state := "everything agrees"
	if !r.OK() {
		state = fmt.Sprintf("%d things do not agree", r.Found)
		if r.Found == 1 {
			state = "1 thing does not agree"
		}
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", terminal.Clean(w.Name), w.ID, state)
	fmt.Fprintf(&b, "  %d leaves hashed, %d without a number yet\n", r.Leaves, r.Unnumbered)
	fmt.Fprintf(&b, "  %d declarations, %d verdicts evaluated again, %d activations, %d audit entries\n", r.Declarations, r.Verdicts, r.Activations, r.AuditRows)
	for _, one := range []struct {
		n    int64
		what string
	}{
		{r.Uncovered, "audit entries that no leaf covers yet"},
		{r.Erased, "declarations whose bodies were erased"},
		{r.OtherEngine, "verdicts of an engine that this release does not have"},
	} {
		if one.n > 0 {
			fmt.Fprintf(&b, "  %d %s\n", one.n, one.what)
		}
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  %s\n", terminal.Clean(p.String()))
	}
	if more := r.Found - int64(len(r.Problems)); more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	return b.String()
}
