//go:build unix

package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// told is an action as the server tells of it in the end.
type told struct {
	Action struct {
		ID       string `json:"id"`
		ActionID string `json:"action_id"`
	} `json:"action"`
	Verification verification      `json:"verification"`
	Declarations []json.RawMessage `json:"declarations"`
	Revisions    []verification    `json:"revisions"`
}

type verification struct {
	Status      string `json:"status"`
	Badge       string `json:"badge"`
	Revision    int    `json:"revision"`
	SettledAt   string `json:"settled_at"`
	Digest      string `json:"digest"`
	Outcome     lens   `json:"outcome"`
	Conformance lens   `json:"conformance"`
}

type lens struct {
	Result string   `json:"result"`
	Codes  []string `json:"codes"`
}

// settled waits until nothing is pending, and nothing that came late is left to be
// evaluated. The connector has said that it is complete up to after the last action's
// end. However slow a machine is, it has to get on.
func (l *load) settled(ctx context.Context) error {
	last, stuck := "", time.NewTimer(patience)
	defer stuck.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for atRest := true; ; {
		// A watermark is something to evaluate too: where each look is preceded by one,
		// a slow machine never comes to rest.
		if atRest {
			complete := stamp(time.Now().Add(-time.Millisecond))
			marks := object{"watermarks": object{"refund.succeeded": complete, "refund.failed": complete}}
			if err := l.w.connector.ask(ctx, http.MethodPut, "/v1/sources/stripe/watermark", marks, nil); err != nil {
				return err
			}
		}
		var page struct {
			Actions     []told `json:"actions"`
			At          string `json:"at"`
			EvaluatedTo string `json:"evaluated_to"`
		}
		if err := l.w.owner.ask(ctx, http.MethodGet, "/v1/actions/pending?limit=1", nil, &page); err != nil {
			return err
		}
		if page.At == "" {
			return errors.New("the answer does not say when it is")
		}
		far := page.EvaluatedTo
		if atRest = far == page.At; atRest {
			if len(page.Actions) == 0 {
				return nil
			}
			far = page.Actions[0].Action.ID // then it is the settling that has to get on
		}
		if far != last {
			last = far
			stuck.Reset(patience)
		}
		select {
		case <-again.C:
		case <-stuck.C:
			return fmt.Errorf("it is %s, all has been evaluated up to %s only, and pending is %+v", page.At, page.EvaluatedTo, page.Actions)
		}
	}
}

// check holds what the server tells in the end against what was acknowledged.
func (l *load) check(ctx context.Context, t *testing.T) {
	t.Helper()
	listed, err := all[told](ctx, l.w.owner, "/v1/actions", "actions", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed) != len(l.declared) {
		t.Errorf("%d actions were acknowledged, and %d are there", len(l.declared), len(listed))
	}
	var actions []told
	for _, one := range listed {
		if l.declared[one.Action.ActionID] != one.Action.ID {
			t.Errorf("%s is there as %s, and was acknowledged as %q", one.Action.ActionID, one.Action.ID, l.declared[one.Action.ActionID])
		}
		var whole told
		if err := l.w.owner.ask(ctx, http.MethodGet, "/v1/actions/"+one.Action.ID, nil, &whole); err != nil {
			t.Fatal(err)
		}
		actions = append(actions, whole)
	}
	facts := l.checkFacts(ctx, t)
	settled := 0
	for _, a := range actions {
		settled += checkSettled(t, a)
	}
	t.Logf("%d actions, %d facts, %d settled verdicts", len(actions), len(facts), settled)
	l.checkLedger(ctx, t, actions)
	l.checkVerdicts(ctx, t, actions, facts)
	l.checkUsage(ctx, t)
}

// checkFacts returns the facts as they are there, in the order in which they were
// kept.
func (l *load) checkFacts(ctx context.Context, t *testing.T) []object {
	t.Helper()
	facts, err := all[object](ctx, l.w.owner, "/v1/facts", "facts", nil)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, f := range facts {
		there[f["external_id"].(string)]++
	}
	for id, revisions := range l.reported {
		if there[id] != revisions {
			t.Errorf("%d revisions of fact %s were acknowledged, and %d are there", revisions, id, there[id])
		}
	}
	if len(there) != len(l.reported) {
		t.Errorf("%d facts were acknowledged, and %d are there", len(l.reported), len(there))
	}
	slices.Reverse(facts)
	return facts
}

// checkUsage: an action counts once, however often it was sent.
func (l *load) checkUsage(ctx context.Context, t *testing.T) {
	t.Helper()
	recorded := 0
	for _, period := range slices.Compact([]string{l.began.UTC().Format("2006-01"), time.Now().UTC().Format("2006-01")}) {
		var usage struct {
			Actions struct {
				Recorded int `json:"recorded"`
			} `json:"actions"`
		}
		if err := l.w.owner.ask(ctx, http.MethodGet, "/v1/usage?period="+period, nil, &usage); err != nil {
			t.Fatal(err)
		}
		recorded += usage.Actions.Recorded
	}
	if recorded != len(l.declared) {
		t.Errorf("usage counts %d actions of %d", recorded, len(l.declared))
	}
}

// checkSettled: an action settles exactly once in each revision, in their order.
func checkSettled(t *testing.T, a told) int {
	t.Helper()
	if len(a.Revisions) == 0 {
		t.Errorf("%s never settled", a.Action.ActionID)
	}
	before := ""
	for i, r := range a.Revisions {
		status := "revised"
		if i == 0 {
			status = "settled"
		}
		if r.Revision != i+1 || r.Status != status || r.SettledAt < before {
			t.Errorf("revision %d of %s has number %d, status %s and time %s after %s", i+1, a.Action.ActionID, r.Revision, r.Status, r.SettledAt, before)
		}
		before = r.SettledAt
	}
	if last := len(a.Revisions) - 1; last >= 0 && a.Revisions[last].Digest != a.Verification.Digest {
		t.Errorf("the verdict of %s is not its last settled one", a.Action.ActionID)
	}
	return len(a.Revisions)
}

// checkLedger: every settled verdict is a leaf, with a proof that holds.
func (l *load) checkLedger(ctx context.Context, t *testing.T, actions []told) {
	t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	limit := time.Now().Add(patience)
	every := max(1, len(actions)/200) // deed fsck looks at all of them
	for i, a := range actions {
		if i%every > 0 {
			continue
		}
		for _, r := range a.Revisions {
			for {
				var found struct {
					Found, Included bool
					Kind            string
				}
				if err := l.w.owner.ask(ctx, http.MethodGet, "/v1/verify/"+url.PathEscape(r.Digest), nil, &found); err != nil {
					t.Fatal(err)
				}
				if found.Found && found.Included && found.Kind == "verdict" {
					break
				}
				if time.Now().After(limit) {
					t.Fatalf("revision %d of %s is not in the ledger: %+v", r.Revision, a.Action.ActionID, found)
				}
				<-again.C
			}
		}
	}
}

// checkVerdicts asks the engine what the verdicts are, over what the server says
// that it was told.
func (l *load) checkVerdicts(ctx context.Context, t *testing.T, actions []told, facts []object) {
	t.Helper()
	memory, err := l.memory(ctx, actions, facts)
	if err != nil {
		t.Fatal(err)
	}
	at := value.FromTime(time.Now())
	count, codes := map[string]int{}, map[string]int{}
	for _, a := range actions {
		_, want, err := memory.Evaluate(a.Action.ActionID, at)
		if err != nil {
			t.Fatalf("evaluate %s: %v", a.Action.ActionID, err)
		}
		got := a.Verification
		count[got.Badge]++
		for _, code := range append(got.Outcome.Codes, got.Conformance.Codes...) {
			codes[code]++
		}
		if got.Outcome.Result != string(want.Outcome.Result) || got.Conformance.Result != string(want.Conformance.Result) {
			t.Errorf("%s is %s %v and %s %v; the engine finds %s %v and %s %v", a.Action.ActionID,
				got.Outcome.Result, got.Outcome.Codes, got.Conformance.Result, got.Conformance.Codes,
				want.Outcome.Result, want.Outcome.Codes, want.Conformance.Result, want.Conformance.Codes)
		}
	}
	t.Logf("verdicts: %v, codes: %v", count, codes)
	for _, badge := range []string{"PASS", "FAIL", "UNKNOWN"} {
		if count[badge] == 0 {
			t.Errorf("no verdict is %s, so that the load proves less than it should", badge)
		}
	}
}

// memory has all that the server was told.
func (l *load) memory(ctx context.Context, actions []told, facts []object) (*docket.Memory, error) {
	memory := docket.NewMemory()
	k, err := contract.Parse([]byte(refundContract))
	if err != nil {
		return nil, err
	}
	from, err := value.ParseInstant(l.w.activeFrom)
	if err != nil {
		return nil, err
	}
	v := docket.Version{From: from}
	v.Contract, v.Version, v.Mode = k, 1, verdict.Live
	if err := memory.Activate(v); err != nil {
		return nil, err
	}
	var lines [][]byte
	for _, a := range actions {
		for _, d := range a.Declarations {
			lines = append(lines, d)
		}
	}
	declarations, _, err := docket.ReadActions("actions", bytes.NewReader(bytes.Join(lines, []byte("\n"))))
	if err != nil {
		return nil, err
	}
	lines = nil
	for _, f := range facts {
		delete(f, "recorded_by")
		line, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	known, err := docket.ReadFacts("facts", bytes.NewReader(bytes.Join(lines, []byte("\n"))))
	if err != nil {
		return nil, err
	}
	var source struct {
		Source object `json:"source"`
	}
	if err := l.w.owner.ask(ctx, http.MethodGet, "/v1/sources/stripe", nil, &source); err != nil {
		return nil, err
	}
	for _, member := range []string{"title", "facts", "last_fact_at", "created_at", "created_by"} {
		delete(source.Source, member)
	}
	text, err := json.Marshal(object{"sources": []object{source.Source}})
	if err != nil {
		return nil, err
	}
	sources, err := docket.ReadSources("sources", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	memory.Load(declarations, known, sources)
	return memory, nil
}

// checkOutput: nothing that a server ever printed, with all that it can log, has a
// secret in it. The link of the first start is the one thing that is meant to be
// printed: once as it is, and once in the command that uses it.
func checkOutput(t *testing.T, w *workspace, sites ...*site) {
	t.Helper()
	all := ""
	for _, s := range sites {
		all += s.written()
	}
	if !strings.Contains(all, "level=DEBUG") {
		t.Error("the servers did not log all that they can")
	}
	for i, secret := range append(w.secrets, fileSecrets(t, sites)...) {
		printed := strings.Count(all, secret)
		if i == 0 {
			printed -= 2
		}
		if printed != 0 {
			t.Errorf("secret %d was printed %d times too often", i, printed)
		}
	}
}

// fileSecrets are the keys in the servers' secret files.
func fileSecrets(t *testing.T, sites []*site) []string {
	t.Helper()
	var all []string
	for _, s := range sites {
		for i, arg := range s.args {
			name := ""
			switch arg {
			case "--data":
				name = filepath.Join(s.args[i+1], "secret")
			case "--secret-file":
				name = s.args[i+1]
			default:
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, key, found := strings.Cut(strings.TrimSpace(string(text)), ":")
			if !found || len(key) < 40 {
				t.Fatal("the secret file has another form than this test knows")
			}
			all = append(all, key)
		}
	}
	return all
}

// checkFolder has the program verify what is kept.
func checkFolder(t *testing.T, s *site) {
	t.Helper()
	output, err := s.run(append([]string{"fsck"}, s.dataArgs()...)...)
	if err != nil {
		t.Errorf("deed fsck: %v\n%s", err, output)
	}
}
