package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// declared is what the answer to a declaration says of the allowance.
type declared struct {
	Recorded string
	Action   struct {
		ReceivedAt string `json:"received_at"`
	}
	Allowance struct {
		Plan, Period string
		Recorded     int64
		Included     *int64
		Over         bool
	}
	Warnings []struct{ Code string }
}

// told is the allowance in a line.
func (d *declared) told() string {
	included := "no limit"
	if d.Allowance.Included != nil {
		included = fmt.Sprint(*d.Allowance.Included)
	}
	text := fmt.Sprintf("%s, %s: %d of %s in %s", d.Recorded, d.Allowance.Plan, d.Allowance.Recorded, included, d.Allowance.Period)
	if d.Allowance.Over {
		text += ", over"
	}
	for _, w := range d.Warnings {
		text += ", " + w.Code
	}
	return text
}

// pay declares a refund and has the source report it, and says how the allowance
// stands.
func (s *clockScene) pay(t *testing.T, id string) string {
	t.Helper()
	var d declared
	s.post(t, "/v1/actions", s.agent, `{"action_id":"`+id+`","contract_id":"refund_workflow"}`, &d)
	s.post(t, "/v1/facts", s.connector, fmt.Sprintf(
		`{"facts":[{"source":"stripe","external_id":"re_%s","type":"refund.succeeded","refs":{"idempotency_key":%[1]q},"occurred_at":%q}]}`,
		id, d.Action.ReceivedAt), nil)
	return d.told()
}

// until turns the clock forward to a time.
func (c *turnedClock) until(at time.Time) { c.turn(at.Sub(c.now().Time())) }

func writePlans(t *testing.T, config *setting.Config, text string) {
	t.Helper()
	if err := os.WriteFile(config.Plans, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// putOn puts the only workspace on a plan, as deed host plan does.
func (s *clockScene) putOn(t *testing.T, config *setting.Config, name string) {
	t.Helper()
	kept, err := openStore(t.Context(), config, sqlstore.WithClock(s.clock.now))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	all, err := kept.Directory().Workspaces(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("there are the workspaces %v, %v", all, err)
	}
	accounts, err := account.New(kept, s.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.SetPlan(t.Context(), all[0].ID, name); err != nil {
		t.Fatal(err)
	}
}

func TestOverTheAllowanceAnActionIsRecordedVerifiedAndFlagged(t *testing.T) {
	t.Parallel()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			t.Parallel()
			config := clockConfig(t, database)
			config.Plans = filepath.Join(t.TempDir(), "plans.yaml")
			writePlans(t, config, "plans: {small: {actions_per_month: 2, features: [dry_runs], upgrade_to: large}, large: {}}")
			s := &clockScene{clock: &turnedClock{}}
			now := s.clock.now().Time()
			month := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			next := month.AddDate(0, 1, 0)
			s.clock.until(month.AddDate(0, 0, 9)) // so that no month ends while this runs
			s.innerServer = startInner(t, config, s.clock)
			s.furnish(t)
			s.check(t, "a0", month, "new, default: 1 of no limit in MONTH")
			s.end(t)

			s.putOn(t, config, "small")
			s.innerServer = startInner(t, config, s.clock)
			s.check(t, "a1", month, "new, small: 2 of 2 in MONTH")
			s.check(t, "a2", month, "new, small: 3 of 2 in MONTH, over, over_allowance")
			s.check(t, "a2", month, "replayed, small: 3 of 2 in MONTH, over, over_allowance")
			s.check(t, "a3", month, "new, small: 4 of 2 in MONTH, over, over_allowance")
			err := post(s.url+"/v1/contracts/draft", s.owner, `{"contract_id":"refund_workflow"}`, nil)
			if err == nil || !strings.Contains(err.Error(), "402 Payment Required") || !strings.Contains(err.Error(), `"upgrade_to":"large"`) {
				t.Errorf("what the plan leaves out is answered with %v", err)
			}
			s.clock.turn(76 * time.Hour) // the source may say until the 96 hours of grace are over
			s.clock.watermark(t, s)
			for _, id := range []string{"a0", "a1", "a2", "a3"} {
				if badge, revisions := s.settledBadge(t, id); badge != "PASS" || revisions != 1 {
					t.Errorf("%s is %s after %d settled verdicts", id, badge, revisions)
				}
			}
			s.clock.until(next.Add(time.Hour))
			s.check(t, "b1", next, "new, small: 1 of 2 in MONTH")
			s.end(t)

			// The plan vanishes: nobody loses anything by it, and the operator is told.
			writePlans(t, config, "plans: {default: {actions_per_month: 0}}")
			for _, file := range []string{config.Plans, ""} {
				config.Plans = file
				var said bytes.Buffer
				again, err := tryInner(t, config, s.clock, slog.New(slog.NewTextHandler(&said, nil)))
				if err != nil {
					t.Fatal(err)
				}
				s.innerServer = again
				s.check(t, "b1", next, "replayed, small: 1 of no limit in MONTH")
				s.end(t)
				if text := said.String(); !strings.Contains(text, "on a plan that is not in the plans") || !strings.Contains(text, "plan=small") || !strings.Contains(text, "workspaces=1") {
					t.Errorf("where a plan is not in %q the server says\n%s", filepath.Base(file), text)
				}
			}
			s.verify(t, config)
		})
	}
}

// check pays, and holds what is told of the allowance against what it must be.
func (s *clockScene) check(t *testing.T, id string, month time.Time, want string) {
	t.Helper()
	if got, want := s.pay(t, id), strings.ReplaceAll(want, "MONTH", month.Format("2006-01")); got != want {
		t.Errorf("%s is told as %q, want %q", id, got, want)
	}
}
