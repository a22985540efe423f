//go:build unix

package wiretest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newHome is a Deed home that does not exist yet.
func newHome(t *testing.T) string { return filepath.Join(t.TempDir(), "home") }

// call is what `deed tail --json` says about one request.
type call struct {
	Kind          string   `json:"kind"`
	Session       string   `json:"session"`
	Seq           int64    `json:"seq"`
	Label         string   `json:"label"`
	From          string   `json:"from"`
	At            string   `json:"at"`
	Method        string   `json:"method"`
	Tool          string   `json:"tool"`
	Outcome       string   `json:"outcome"`
	ErrorCode     *string  `json:"error_code"`
	AnsweredAt    *string  `json:"answered_at"`
	TookUS        *int64   `json:"took_us"`
	SentBytes     int64    `json:"sent_bytes"`
	ReturnedBytes *int64   `json:"returned_bytes"`
	Flags         []string `json:"flags"`
}

func (c call) answered() bool { return c.AnsweredAt != nil }

// callsIn lists every request in a home, oldest first, and fails the test when
// anything was not seen.
func callsIn(t tb, home string) []call {
	t.Helper()
	calls, gaps := recordedIn(t, home)
	if len(gaps) > 0 {
		t.Fatalf("part of the wire was not seen: %s", gaps)
	}
	return calls
}

// recordedIn lists every request in a home and every gap.
func recordedIn(t tb, home string) (calls []call, gaps []string) {
	t.Helper()
	got := deed(t, home, "tail", "--json", "--all", "-n", "10000000")
	if got.code == 1 && strings.Contains(got.stderr, "nothing recorded") {
		return nil, nil
	}
	if got.code != 0 {
		t.Fatalf("deed tail --json: exit code %d\n%s", got.code, got.stderr)
	}
	for line := range strings.Lines(got.stdout) {
		var c call
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("deed tail --json printed %q: %v", line, err)
		}
		switch c.Kind {
		case "call":
			calls = append(calls, c)
		case "gap":
			gaps = append(gaps, line)
		default:
			t.Fatalf("deed tail --json printed a line of kind %q: %s", c.Kind, line)
		}
	}
	return calls, gaps
}

// summary is what `deed last --json` says in figures.
type summary struct {
	Session       string  `json:"session"`
	Label         string  `json:"label"`
	State         string  `json:"state"`
	ExitCode      *int64  `json:"exit_code"`
	EndReason     *string `json:"end_reason"`
	Calls         int64   `json:"calls"`
	Failed        int64   `json:"failed"`
	Unanswered    int64   `json:"unanswered"`
	Open          int64   `json:"open"`
	ReturnedBytes int64   `json:"returned_bytes"`
	OtherRequests []struct {
		From   string `json:"from"`
		Method string `json:"method"`
		Count  int64  `json:"count"`
	} `json:"other_requests"`
	NoiseLines  int64             `json:"noise_lines"`
	StderrBytes int64             `json:"stderr_bytes"`
	Gaps        []json.RawMessage `json:"gaps"`
}

// lastRun is the summary of the newest session in a home.
func lastRun(t tb, home string) summary {
	t.Helper()
	got := deed(t, home, "last", "--json")
	if got.code != 0 {
		t.Fatalf("deed last --json: exit code %d\n%s", got.code, got.stderr)
	}
	var s summary
	if err := json.Unmarshal([]byte(got.stdout), &s); err != nil {
		t.Fatalf("deed last --json printed %q: %v", got.stdout, err)
	}
	return s
}

func count[T any](of []T, is func(T) bool) int {
	n := 0
	for _, one := range of {
		if is(one) {
			n++
		}
	}
	return n
}

// byTool is each call under its tool's name, which the test made unique.
func byTool(t tb, calls []call) map[string]call {
	t.Helper()
	named := make(map[string]call, len(calls))
	for _, c := range calls {
		if other, twice := named[c.Tool]; twice {
			t.Fatalf("the call to %q is recorded twice: %+v and %+v", c.Tool, other, c)
		}
		named[c.Tool] = c
	}
	return named
}

// moment reads a time as the answers print it.
func moment(t tb, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatalf("understand a time: %v", err)
	}
	return at
}
