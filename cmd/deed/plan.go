package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/terminal"
)

// readPlans reads the file of plans; without one there is a plan without limits.
func readPlans(name string) (*plan.Book, error) {
	if name == "" {
		return nil, nil
	}
	const page = "plans: docs/serve.md#plans"
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &misuse{terminal.WithHint(fmt.Errorf("read the plans: %w", err), "name the file: --plans FILE\n"+page)}
	}
	book, err := plan.Parse(name, text)
	if err != nil {
		return nil, &misuse{planError(err, page)}
	}
	return book, nil
}

// planError tells the first thing that is wrong with a file of plans, what to do about
// it, and the rest.
func planError(err error, next ...string) error {
	problems, are := errors.AsType[plan.Problems](err)
	if !are || len(problems) == 0 {
		return terminal.WithHint(err, strings.Join(next, "\n"))
	}
	var lines []string
	for i, p := range problems {
		if i > 0 {
			lines = append(lines, p.Error())
		}
		if p.Hint != "" {
			lines = append(lines, p.Hint)
		}
	}
	return terminal.WithHint(problems[0], strings.Join(append(lines, next...), "\n"))
}

// missingPlans tells of plans that workspaces are on and that nothing describes.
// It takes nothing away from them: what was a mistake in a file would be paid for by
// people who have no part in it.
func (a *assembly) missingPlans(ctx context.Context, plans *plan.Book, d store.Directory) error {
	all, err := d.Workspaces(ctx)
	if err != nil {
		return err
	}
	var names []string
	on := map[string][]store.Workspace{}
	for _, w := range all {
		if !plans.Of(w.Plan).Missing {
			continue
		}
		if on[w.Plan] == nil {
			names = append(names, w.Plan)
		}
		on[w.Plan] = append(on[w.Plan], w)
	}
	for _, name := range names {
		a.log.Warn("workspaces are on a plan that is not in the plans: they have no limit and every feature",
			"plan", name, "plans", a.config.Plans, "workspaces", len(on[name]), "one", on[name][0].ID)
	}
	return nil
}

type hostPlanCmd struct {
	Workspace string       `arg:"" help:"Its name or id."`
	Plan      string       `arg:"" help:"The plan's name; default for the one that a new workspace has."`
	Settings  settingFlags `embed:""`
}

// Help is printed under the flags of deed host plan --help.
func (hostPlanCmd) Help() string {
	return `Example:

    deed host plan Acme team --plans plans.yaml

With a file of plans, one that it does not have is refused. The audit of the
workspace says that it was changed at the console. Servers that run on the same
database go by it within five seconds.`
}

// Validate refuses what can be the name of no plan.
func (c *hostPlanCmd) Validate() error {
	if !plan.IsName(c.Plan) {
		return &misuse{terminal.WithHint(fmt.Errorf("%q cannot be the name of a plan", c.Plan), plan.NameForm)}
	}
	return nil
}

func (c *hostPlanCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.change(ctx, w, func(ctx context.Context, k *keeping) error {
		plans, err := readPlans(k.config.Plans)
		if err != nil {
			return err
		}
		if plans != nil && plans.Of(c.Plan).Missing {
			return &misuse{terminal.WithHint(fmt.Errorf("there is no plan %q in %s", c.Plan, k.config.Plans), "plans: "+strings.Join(plans.Names(), ", "))}
		}
		one, err := k.workspaceNamed(ctx, c.Workspace)
		if err != nil {
			return err
		}
		accounts, err := account.New(k.store, systemClock)
		if err != nil {
			return err
		}
		before, err := accounts.SetPlan(ctx, one.ID, c.Plan)
		if err != nil {
			return err
		}
		name := terminal.Clean(one.Name)
		if before == c.Plan {
			return w.print(fmt.Sprintf("%s is on the plan %s already\n", name, before))
		}
		return w.print(fmt.Sprintf("%s is on the plan %s now, and was on %s\n", name, c.Plan, terminal.Clean(before)))
	})
}
