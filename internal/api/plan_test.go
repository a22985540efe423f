package api

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"github.com/deed-dev/deed/internal/plan"
)

const cityPlans = `plans:
  default: {title: Free, actions_per_month: 1, features: [], upgrade_to: team}
  team: {title: Team, features: [dry_runs], upgrade_to: business}
  business: {}
`

func planned(t *testing.T) *city {
	t.Helper()
	book, err := plan.Parse("plans.yaml", []byte(cityPlans))
	if err != nil {
		t.Fatal(err)
	}
	return newCityOn(t, book)
}

func (c *city) putOn(name string) {
	c.t.Helper()
	if _, err := c.accounts.SetPlan(c.t.Context(), c.ids["Acme"], name); err != nil {
		c.t.Fatal(err)
	}
}

func TestAFeatureThatThePlanLeavesOutIsRefusedWithThePlanThatHasIt(t *testing.T) {
	t.Parallel()
	c := planned(t)
	c.govern()
	draft := ask{method: post, path: "/v1/contracts/draft", credential: c.owner, body: `{"contract_id":"refund"}`}
	dry := ask{method: post, path: "/v1/contracts/dry-run", credential: c.owner, body: `{"contract_id":"refund","period":"2026-11"}`}
	for _, one := range []struct {
		plan  string
		ask   ask
		upTo  any
		whole string
	}{
		{"default", draft, "business", "the plan default does not include drafts; the plan business does"},
		{"default", dry, "team", "the plan default does not include dry_runs; the plan team does"},
		{"team", draft, "business", "the plan team does not include drafts; the plan business does"},
	} {
		c.putOn(one.plan)
		g := c.must(http.StatusPaymentRequired, one.ask)
		wantError(t, g, http.StatusPaymentRequired, "plan_required")
		if at(t, g, "error.upgrade_to") != one.upTo || text(t, g, "error.message") != one.whole {
			t.Errorf("%s on %s is answered with %s", one.ask.path, one.plan, g.body)
		}
	}
	c.must(http.StatusOK, dry) // on team
	for _, name := range []string{"business", "gold"} {
		c.putOn(name)
		c.must(http.StatusOK, dry)
		wantError(t, c.do(draft), http.StatusNotFound, "not_found") // there is nothing to draft from
	}
	// What is missing first is told first: who may not draft learns nothing of plans.
	c.putOn("default")
	draft.credential = c.key(`{"name":"k","scopes":["actions:read"]}`)
	wantError(t, c.do(draft), http.StatusForbidden, "insufficient_scope")
}

func TestTheUsageSaysWhatThePlanHas(t *testing.T) {
	t.Parallel()
	c := planned(t)
	agent := c.key(`{"name":"agent","preset":"recorder"}`)
	for n := range 2 {
		c.must(http.StatusCreated, ask{method: post, path: "/v1/actions", credential: agent, body: fmt.Sprintf(`{"action_id":"a-%d","subject_id":"s"}`, n)})
	}
	asked := ask{method: get, path: "/v1/usage", credential: c.owner}
	g := c.must(http.StatusOK, asked)
	for path, want := range map[string]any{
		"plan": "default", "title": "Free", "limits.actions_per_month": 1.0, "features": []any{}, "upgrade_to": "team", "period": "2026-11",
		"actions.recorded": 2.0, "actions.included": 1.0, "actions.over": true,
	} {
		if got := at(t, g, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	c.putOn("gold") // which nothing describes
	g = c.must(http.StatusOK, asked)
	for path, want := range map[string]any{
		"plan": "gold", "title": "gold", "limits.actions_per_month": nil, "features": []any{"drafts", "dry_runs"}, "upgrade_to": nil,
		"actions.recorded": 2.0, "actions.included": nil, "actions.over": false,
	} {
		if got := at(t, g, path); !reflect.DeepEqual(got, want) {
			t.Errorf("on a plan that vanished %s is %v, want %v", path, got, want)
		}
	}
}
