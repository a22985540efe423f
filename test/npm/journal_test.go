package npmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// seen is the part of a record that the tests themselves read.
type seen struct {
	Answers []struct {
		Ask    string
		Result json.RawMessage
		Error  json.RawMessage
	}
	Sent struct {
		Bytes, Messages int64
		Methods         map[string]int64
	}
	Received int64
	Exit     any
}

func (r record) read(t *testing.T) seen {
	t.Helper()
	var s seen
	if err := json.Unmarshal([]byte(r.text), &s); err != nil {
		t.Fatalf("read the record: %v", err)
	}
	return s
}

// withoutDeed is the record without the lines that deed itself wrote to
// stderr. All of them begin with its name.
func (r record) withoutDeed() any {
	object, ok := r.value.(map[string]any)
	if !ok {
		return r.value
	}
	lines, ok := object["stderr"].([]any)
	if !ok {
		return r.value
	}
	var kept []any
	for _, line := range lines {
		if text, ok := line.(string); !ok || !strings.HasPrefix(text, "deed: ") {
			kept = append(kept, line)
		}
	}
	object["stderr"] = kept
	return object
}

// checkWorth demands that there was something to compare: the server
// introduced itself, listed tools and answered calls, and what it said of
// itself is not among the places that are left out.
func (r record) checkWorth(t *testing.T, s server, volatile places) {
	t.Helper()
	got := r.read(t)
	worth, asked := 0, 0
	for i, a := range got.Answers {
		switch {
		case a.Ask == "initialize" && len(a.Error) > 0:
			t.Fatalf("the server did not start: %s", a.Error)
		case a.Ask == "initialize" || a.Ask == "tools/list":
			if len(a.Error) > 0 {
				t.Errorf("%s failed: %s", a.Ask, a.Error)
			}
			for _, d := range sortedPlaces(volatile) {
				if strings.HasPrefix(d, fmt.Sprintf("answers[%d].", i)) {
					t.Errorf("%s is left out: %s differs between direct runs", a.Ask, d)
				}
			}
		case strings.HasPrefix(a.Ask, "tools/call"):
			asked++
			if len(a.Result) > 0 {
				worth++
			}
		}
	}
	// One call is for a tool that does not exist.
	if want := len(s.calls) + len(s.together) + 1; asked != want {
		t.Errorf("the client made %d calls, want %d", asked, want)
	}
	if worth == 0 {
		t.Error("no call got a result")
	}
}

// checkJournal asks the program what it recorded, the way a user would.
func (r record) checkJournal(t *testing.T, home string) {
	t.Helper()
	client := r.read(t)

	var verdict struct {
		Intact    bool
		SeenBytes int64 `json:"seen_bytes"`
		Unseen    int64 `json:"unseen_bytes"`
		Gaps      int64
		Findings  []any
	}
	ask(t, home, &verdict, "verify", "--json")
	if !verdict.Intact || verdict.Gaps != 0 || verdict.Unseen != 0 || len(verdict.Findings) > 0 {
		t.Errorf("deed verify says %+v, want an intact journal without gaps", verdict)
	}
	if want := client.Sent.Bytes + client.Received; verdict.SeenBytes != want {
		t.Errorf("the journal covers %d bytes, want the %d that the client sent and received", verdict.SeenBytes, want)
	}

	var last struct {
		Calls      int64
		Open       int64
		Unanswered int64
		State      string
		ExitCode   *int64 `json:"exit_code"`
	}
	ask(t, home, &last, "last", "--json")
	if want := client.Sent.Methods["tools/call"]; last.Calls != want {
		t.Errorf("the journal has %d calls, want the %d that the client sent", last.Calls, want)
	}
	if last.State != "ended" || last.Open != 0 {
		t.Errorf("the session is %s with %d open calls, want it ended", last.State, last.Open)
	}
	if code, ok := client.Exit.(float64); !ok || last.ExitCode == nil || float64(*last.ExitCode) != code {
		t.Errorf("the journal's exit code is %v, the client saw %v", last.ExitCode, client.Exit)
	}
}

// ask runs one command of deed and decodes its answer.
func ask(t *testing.T, home string, answer any, args ...string) {
	t.Helper()
	cmd := exec.Command(deed, args...)
	cmd.Env = append(os.Environ(), "DEED_HOME="+home)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("deed %s: %v\n%s%s", strings.Join(args, " "), err, text, complaint.String())
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("deed %s answers %s: %v", strings.Join(args, " "), text, err)
	}
}
