package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/vault"
)

// turnedClock is a clock that a test turns.
type turnedClock struct {
	mu     sync.Mutex
	turned time.Duration
}

func (c *turnedClock) now() value.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return value.FromTime(time.Now().Add(c.turned))
}

func (c *turnedClock) turn(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turned += by
}

// innerServer is a server in this process, whose clock can be turned.
type innerServer struct {
	url   string
	link  string
	stop  context.CancelFunc
	ended chan error
}

func startInner(t *testing.T, config *setting.Config, clock *turnedClock) *innerServer {
	t.Helper()
	s, err := tryInner(t, config, clock, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("the server did not start: %v", err)
	}
	return s
}

func tryInner(t *testing.T, config *setting.Config, clock *turnedClock, log *slog.Logger) (*innerServer, error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	options, err := serverOptions(config, log)
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	a := &assembly{config: config, log: log, meter: options.Meter, traces: options.Traces, stdout: &printed, stderr: io.Discard, clock: clock.now}
	started := make(chan string, 1)
	options.Started = func(address, url string) {
		a.announce(address, url)
		started <- url
	}
	s := &innerServer{stop: stop, ended: make(chan error, 1)}
	go func() { s.ended <- server.Run(ctx, options, a.open) }()
	select {
	case s.url = <-started:
	case err := <-s.ended:
		stop()
		return nil, err
	}
	if _, rest, found := strings.Cut(printed.String(), "/sign-in#"); found {
		s.link, _, _ = strings.Cut(rest, "\n")
	}
	return s, nil
}

func (s *innerServer) end(t *testing.T) {
	t.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

const clockContract = `contract: refund_workflow
title: Refund an order
owner: payments-team
settle: {after: 48h, grace: 96h, max_skew: 24h}
sources:
  stripe: {trust: independent}
link: refs.idempotency_key == action_id
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, count: 1, within: 24h}
`

// clockScene is a server whose clock is turned, and the credentials for it.
type clockScene struct {
	*innerServer
	clock            *turnedClock
	owner            string // credential of a session
	agent, connector string
}

func (s *clockScene) furnish(t *testing.T) {
	t.Helper()
	var session struct{ Token string }
	s.post(t, "/v1/session", "", `{"link":"`+s.link+`"}`, &session)
	s.owner = session.Token
	s.post(t, "/v1/sources", session.Token, `{"name":"stripe","trust":"independent","resolution":"1us"}`, nil)
	yaml, err := json.Marshal(clockContract)
	if err != nil {
		t.Fatal(err)
	}
	s.post(t, "/v1/contracts", session.Token, `{"yaml":`+string(yaml)+`}`, nil)
	s.post(t, "/v1/contracts/refund_workflow/versions/1/activate", session.Token, `{"mode":"live"}`, nil)
	for order, key := range map[string]*string{
		`{"name":"agent","preset":"recorder"}`: &s.agent, `{"name":"connector","preset":"evidence","sources":["stripe"]}`: &s.connector,
	} {
		var minted struct{ Secret string }
		s.post(t, "/v1/keys", session.Token, order, &minted)
		*key = minted.Secret
	}
}

func (s *clockScene) post(t *testing.T, path, credential, body string, answer any) {
	t.Helper()
	if err := post(s.url+path, credential, body, answer); err != nil {
		t.Fatal(err)
	}
}

// refund declares a refund, and has the source report it. It returns when it was
// received.
func (s *clockScene) refund(t *testing.T, id string) string {
	t.Helper()
	var declared struct {
		Action struct {
			ReceivedAt string `json:"received_at"`
		}
	}
	s.post(t, "/v1/actions", s.agent, `{"action_id":"`+id+`","contract_id":"refund_workflow"}`, &declared)
	s.post(t, "/v1/facts", s.connector, fmt.Sprintf(
		`{"facts":[{"source":"stripe","external_id":"re_%s","type":"refund.succeeded","refs":{"idempotency_key":%[1]q},"occurred_at":%q}]}`,
		id, declared.Action.ReceivedAt), nil)
	return declared.Action.ReceivedAt
}

// settledBadge waits until an action is settled, and returns how.
func (s *clockScene) settledBadge(t *testing.T, id string) (badge string, revisions int) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	limit := time.After(serverLimit)
	for {
		r, err := http.NewRequest(http.MethodGet, s.url+"/v1/actions/"+id, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.agent)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var one struct {
			Verification struct{ Status, Badge string }
			Revisions    []json.RawMessage
		}
		err = json.NewDecoder(got.Body).Decode(&one)
		got.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Revisions) > 0 {
			return one.Verification.Badge, len(one.Revisions)
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("%s does not settle", id)
		}
	}
}

func TestAClockThatIsTurnedBackAndForthDoesNoHarm(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := clockConfig(t, name)
			s := &clockScene{clock: &turnedClock{}}
			s.innerServer = startInner(t, config, s.clock)
			s.furnish(t)
			before := s.refund(t, "before")
			s.clock.turn(-2 * time.Hour)
			if after := s.refund(t, "turned-back"); after < before {
				t.Errorf("what came later was received at %s, before %s", after, before)
			}
			s.end(t)
			config.AcceptClock = true
			s.innerServer = startInner(t, config, s.clock) // which goes on from it
			// By this clock no contract was active yet, so that none governs it: what
			// cannot be told in order is not judged.
			s.refund(t, "before-the-contract")
			s.post(t, "/v1/facts", s.connector, `{"facts":[{"source":"stripe","external_id":"re_x","type":"refund.succeeded","refs":{"idempotency_key":"before"},"occurred_at":"`+before+`"}]}`, nil)
			s.clock.turn(3 * time.Hour)
			s.refund(t, "afterwards")
			s.clock.turn(75 * time.Hour)
			s.clock.watermark(t, s)
			for id, want := range map[string]string{"before": "FAIL", "turned-back": "PASS", "before-the-contract": "UNKNOWN", "afterwards": "PASS"} {
				if badge, revisions := s.settledBadge(t, id); badge != want || revisions != 1 {
					t.Errorf("%s is %s after %d settled verdicts, want %s after one", id, badge, revisions, want)
				}
			}
			s.end(t)
			s.verify(t, config)
		})
	}
}

func TestAClockThatIsALittleBehindAfterARestartGoesOnFromWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := clockConfig(t, name)
			s := &clockScene{clock: &turnedClock{}}
			s.innerServer = startInner(t, config, s.clock)
			s.furnish(t)
			before := s.refund(t, "before")
			s.end(t)
			s.clock.turn(-4 * time.Minute)
			s.innerServer = startInner(t, config, s.clock)
			// The contract was activated four minutes from now.
			if after := s.refund(t, "after"); after < before {
				t.Errorf("what came after the restart was received at %s, before %s", after, before)
			}
			s.clock.turn(76 * time.Hour)
			s.clock.watermark(t, s)
			for _, id := range []string{"before", "after"} {
				if badge, _ := s.settledBadge(t, id); badge != "PASS" {
					t.Errorf("%s is %s", id, badge)
				}
			}
			s.end(t)
		})
	}
}

func TestAClockThatIsFarBehindAfterARestartIsToldWithBothTimes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := clockConfig(t, name)
			s := &clockScene{clock: &turnedClock{}}
			s.innerServer = startInner(t, config, s.clock)
			s.furnish(t)
			written := s.refund(t, "before")
			s.end(t)
			s.clock.turn(-6 * time.Minute)
			set := s.clock.now().String()
			var said bytes.Buffer
			log := slog.New(slog.NewTextHandler(&said, nil))
			again, err := tryInner(t, config, s.clock, log)
			if name == "sqlite" { // where the clock is this machine's
				if err == nil {
					t.Fatal("it started")
				}
				problem, is := errors.AsType[*sqlstore.ClockError](err)
				if !is || problem.Clock.String() < set || problem.Written.String() < written {
					t.Fatalf("it fails with %v", err)
				}
				text := exitText(err)
				for _, want := range []string{problem.Clock.String(), problem.Written.String(), "--accept-clock"} {
					if !strings.Contains(text, want) {
						t.Errorf("%q is not said: %s", want, text)
					}
				}
				config.AcceptClock = true
				if again, err = tryInner(t, config, s.clock, log); err != nil {
					t.Fatalf("it does not go on though it was told to: %v", err)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			again.end(t)
			found := clockWarning.FindStringSubmatch(said.String())
			if found == nil {
				t.Fatalf("there is no warning in the log: %s", &said)
			}
			if found[1] < set || found[2] < written {
				t.Errorf("the times are %s and %s, want at least %s and %s", found[1], found[2], set, written)
			}
		})
	}
}

// clockWarning has the times of a warning in the log, which are texts that sort.
var clockWarning = regexp.MustCompile(`level=WARN msg="the clock is behind.*clock=(\S+) written=(\S+) `)

// exitText is what is printed where a command fails.
func exitText(err error) string {
	var printed bytes.Buffer
	terminal.PrintError(&printed, err)
	return printed.String()
}

// watermark says that the source is complete up to a moment ago.
func (c *turnedClock) watermark(t *testing.T, s *clockScene) {
	t.Helper()
	at := c.now().Add(-time.Second)
	r, err := http.NewRequest(http.MethodPut, s.url+"/v1/sources/stripe/watermark", strings.NewReader(`{"watermarks":{"refund.succeeded":"`+at.String()+`"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.connector)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		t.Fatalf("the watermark is answered with %s", got.Status)
	}
}

// clockConfig are the settings of a server on one of the databases.
func clockConfig(t *testing.T, name string) *setting.Config {
	t.Helper()
	c := &setting.Config{
		Data: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", ShutdownLimit: time.Minute,
		WorkspaceName: "main", OwnerEmail: "owner@localhost",
	}
	if name == "sqlite" {
		return c
	}
	c.Database = pgtest.Start(t).Database(t)
	c.SecretFile = filepath.Join(t.TempDir(), "deed.secret")
	if _, err := vault.LoadOrMake(c.SecretFile); err != nil {
		t.Fatal(err)
	}
	return c
}

// verify holds everything against the ledgers.
func (s *clockScene) verify(t *testing.T, config *setting.Config) {
	t.Helper()
	kept, err := lookStore(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	secret, err := openVault(t.Context(), config, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	workspaces, err := kept.Directory().Workspaces(t.Context())
	if err != nil || len(workspaces) != 1 {
		t.Fatalf("there are %d workspaces (%v)", len(workspaces), err)
	}
	report, err := ledger.New(kept, secret).Verify(t.Context(), workspaces[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() || report.Verdicts != 4 {
		t.Errorf("%d verdicts were made again, and this does not agree: %v", report.Verdicts, report.Problems)
	}
}
