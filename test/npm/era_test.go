package npmtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sdks are the packages that the clients and the servers of the eras are made
// with, by the last version of the protocol that each speaks.
var sdks = []string{
	"sdk-2024-11-05", "sdk-2025-03-26", "sdk-2025-06-18",
	"@modelcontextprotocol/sdk",                                    // 2025-11-25
	"@modelcontextprotocol/client", "@modelcontextprotocol/server", // 2026-07-28
	"zod",
}

// encounter is one client that meets one server.
type encounter struct {
	client, server string // a package, or "go"
	offers         string // the version that a Go client offers
	era            string // that they agree on
	// says is what must have crossed the wire: the kind of entry, the side and
	// the method, and how often at least.
	says map[string]int
}

// inEveryEra is what client and server say whatever they are made with.
var inEveryEra = map[string]int{
	"request client tools/list": 1, "request client tools/call": 8, "request client resources/list": 1,
	"request client prompts/list": 1, "request client prompts/get": 1, "request client completion/complete": 1,
	"request client resources/read": 1, "notification client notifications/cancelled": 1,
	"notification server notifications/progress": 4, "notification server notifications/message": 1,
	"notification server notifications/tools/list_changed": 1, "notification server notifications/resources/list_changed": 1,
	"notification server notifications/prompts/list_changed": 1, "notification server notifications/resources/updated": 1,
}

// beforeRounds is what there is besides while the server may ask the client.
var beforeRounds = map[string]int{
	"request client initialize": 1, "notification client notifications/initialized": 1, "request client ping": 1,
	"request client logging/setLevel": 1, "request client resources/subscribe": 1, "request client resources/unsubscribe": 1,
	"request server sampling/createMessage": 1, "request server roots/list": 1, "notification client notifications/roots/list_changed": 1,
	"response client sampling/createMessage": 1, "response client roots/list": 1,
}

var elicits = map[string]int{"request server elicitation/create": 1, "response client elicitation/create": 1}

// inRounds is what there is since it may not.
var inRounds = map[string]int{
	"round server tools/call": 3, "request client subscriptions/listen": 1, "notification server notifications/subscriptions/acknowledged": 1,
}

func encounters() []encounter {
	return []encounter{
		{"sdk-2024-11-05", "sdk-2024-11-05", "", "2024-11-05", beforeRounds},
		{"sdk-2025-03-26", "sdk-2025-03-26", "", "2025-03-26", beforeRounds},
		{"sdk-2025-06-18", "sdk-2025-06-18", "", "2025-06-18", merged(beforeRounds, elicits)},
		{"@modelcontextprotocol/sdk", "@modelcontextprotocol/sdk", "", "2025-11-25", merged(beforeRounds, elicits)},
		{"two", "two", "", "2026-07-28", inRounds},
		{"go", "go", "2026-07-28", "2026-07-28", inRounds},
		{"go", "go", "2025-06-18", "2025-06-18", merged(beforeRounds, elicits)},
		// Those who are of different age, and find what both speak.
		{"sdk-2024-11-05", "@modelcontextprotocol/sdk", "", "2024-11-05", beforeRounds},
		{"@modelcontextprotocol/sdk", "two", "", "2025-11-25", merged(beforeRounds, elicits)},
		{"go", "two", "2026-07-28", "2026-07-28", inRounds},
		{"two", "go", "", "2026-07-28", inRounds},
		{"go", "sdk-2025-06-18", "2026-07-28", "2025-06-18", merged(beforeRounds, elicits)},
	}
}

func merged(all ...map[string]int) map[string]int {
	sum := map[string]int{}
	for _, one := range all {
		for key, n := range one {
			sum[key] = n
		}
	}
	return sum
}

// TestEveryEraIsRecordedAsItWasSpoken lets each client meet its server once
// directly and once through deed run, with a tee on either side of it.
func TestEveryEraIsRecordedAsItWasSpoken(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range encounters() {
		t.Run(strings.TrimSpace(fmt.Sprintf("%s meets %s %s", e.client, e.server, e.offers)), func(t *testing.T) {
			t.Parallel()
			dir, home := t.TempDir(), t.TempDir()
			at := func(name string) []string { return []string{self, "tee", filepath.Join(dir, name)} }
			server := e.serverCommand(self)

			direct := e.run(t, home, slices.Concat(at("direct"), server))
			recorded := e.run(t, home, slices.Concat(at("outside"), []string{deed, "run", "--capture", "raw", "--"}, at("inside"), server))
			if direct != recorded {
				t.Errorf("the client got other things through deed run:\n%s", lineDifference(direct, recorded))
			}
			alone, outside, inside := readTapped(t, filepath.Join(dir, "direct")), readTapped(t, filepath.Join(dir, "outside")), readTapped(t, filepath.Join(dir, "inside"))
			if !bytes.Equal(outside.in, inside.in) || !bytes.Equal(outside.out, inside.out) {
				t.Error("what one side sent is not what the other got")
			}
			// What is told at no one's request has no fixed place, and the end
			// of a subscription may come too late to be told.
			if a, b := sortedLines(alone.in), sortedLines(inside.in); a != b {
				t.Errorf("the client said other things through deed run:\n%s", lineDifference(a, b))
			}
			if a, b := sortedLines(alone.out), sortedLines(inside.out); a != b {
				t.Errorf("the server said other things through deed run:\n%s", lineDifference(a, b))
			}
			e.checkRecord(t, home, inside)
		})
	}
}

func (e encounter) serverCommand(self string) []string {
	switch e.server {
	case "go":
		return []string{self, "go-server"}
	case "two":
		return []string{"node", filepath.Join(folder, "era", "server2.mjs")}
	}
	return []string{"node", filepath.Join(folder, "era", "server1.mjs"), e.server}
}

// run lets the client play its part over a command and returns what it saw.
func (e encounter) run(t *testing.T, home string, command []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), runTime)
	defer cancel()
	env := append(os.Environ(), "DEED_HOME="+home, "NODE_OPTIONS=", "NO_COLOR=1")
	if e.client == "go" {
		seen, err := goClient(ctx, e.offers, command, env)
		if err != nil {
			t.Fatalf("the client over %q: %v", command, err)
		}
		return seen
	}
	script := "client1.mjs"
	if e.client == "two" {
		script = "client2.mjs"
	}
	file := filepath.Join(t.TempDir(), "record.json")
	cmd := exec.CommandContext(ctx, "node", slices.Concat([]string{filepath.Join(folder, "era", script), e.client, file, "--"}, command)...)
	cmd.Env, cmd.WaitDelay = env, runTime
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the client over %q: %v\n%s", command, err, said)
	}
	seen, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(seen)
}

func sortedLines(text []byte) string {
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(text))), func(line string) bool {
		return strings.Contains(line, `"result"`) && strings.Contains(line, "io.modelcontextprotocol/subscriptionId")
	})
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// lineDifference shows the first line where two texts part.
func lineDifference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(left), len(right)) {
		var l, r string
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		if l != r {
			return fmt.Sprintf("line %d\n    directly:         %s\n    through deed run: %s", i+1, short(l), short(r))
		}
	}
	return "no line differs"
}
