package npmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// runTime is how long the client may take for one server. It is only there
// so that a hang ends with a message.
const runTime = 10 * time.Minute

// tries is how many more direct runs are made before a difference counts:
// what is random by a small chance may be the same in two runs.
const tries = 2

func TestTheClientSeesNoDifferenceThroughDeedRun(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	for _, s := range servers() {
		t.Run(strings.TrimSpace(s.name+" "+s.variant), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, s)
			home := t.TempDir()
			// Direct runs on both sides of the recorded one: what only moves
			// on, such as the date, cannot then look the same in both and be
			// different in between.
			first := b.play(nil, "")
			recorded := b.play([]string{deed, "run", "--"}, home)
			second := b.play(nil, "")

			volatile := places{}
			volatile.add(first.value, second.value)
			found := volatile.unexplained(first.value, recorded.withoutDeed())
			for range tries {
				if len(found) == 0 {
					break
				}
				volatile.add(first.value, b.play(nil, "").value)
				found = volatile.unexplained(first.value, recorded.withoutDeed())
			}
			for _, d := range found {
				t.Errorf("%v", d)
			}
			if len(volatile) > 0 {
				t.Logf("left out, because direct runs differ: %s", strings.Join(sortedPlaces(volatile), ", "))
			}
			first.checkWorth(t, s, volatile)
			recorded.checkJournal(t, home)
		})
	}
}

// TestARelayThatAltersIsNoticed shows that the comparison can fail.
func TestARelayThatAltersIsNoticed(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list := servers()
	hello := list[slices.IndexFunc(list, func(s server) bool { return s.name == "mcp-hello-world" })]
	hello.calls = append(hello.calls, call{Name: "echo", Arguments: m{"message": "Hello World"}})
	b := newBench(t, hello)
	first, second := b.play(nil, ""), b.play(nil, "")
	volatile := places{}
	volatile.add(first.value, second.value)
	if same := volatile.unexplained(first.value, b.play([]string{self, "alter", "nothing"}, "").value); len(same) > 0 {
		t.Errorf("a relay that alters nothing is said to make a difference: %v", same)
	}
	for _, how := range []string{
		"add a space", "write CRLF", "escape a letter", "add a line", "change a text",
		"drop an answer's member", "lose the exit code",
	} {
		if found := volatile.unexplained(first.value, b.play([]string{self, "alter", how}, "").value); len(found) == 0 {
			t.Errorf("a relay that does this is not noticed: %s", how)
		}
	}
}

func needsNPM(t *testing.T) {
	t.Helper()
	if folder == "" {
		t.Skipf("NOT TESTED, because %s=1", without)
	}
}

// bench is the place where one server is played. Its folder is the same for
// every run and is emptied before each: paths show up in answers.
type bench struct {
	t      *testing.T
	server server
	work   string
	web    string // address of a web server
	runs   int
}

func newBench(t *testing.T, s server) *bench {
	web := httptest.NewServer(http.HandlerFunc(answerPage))
	t.Cleanup(web.Close)
	return &bench{t: t, server: s, work: filepath.Join(t.TempDir(), "work"), web: web.URL}
}

// answerPage is all that the servers of the test find on the web.
func answerPage(w http.ResponseWriter, r *http.Request) {
	// A header that changes every second would be left out as volatile, and
	// the answer that quotes it with it.
	w.Header()["Date"] = nil
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html><body><h1>h\u00e9llo \U0001F600</h1><p>a page</p></body></html>")
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true,"resultObj":"https://example.invalid/chart.png","orders":[{"id":9007199254740993,"total":180.0}]}`)
	}
}

// record is what the client wrote down.
type record struct {
	value any
	text  string
}

// play lets the client talk to the server, with wrapper in front of the
// server's command.
func (b *bench) play(wrapper []string, home string) record {
	b.t.Helper()
	b.runs++
	b.fill()
	out := b.t.TempDir()
	planFile, recordFile := filepath.Join(out, "plan.json"), filepath.Join(out, "record.json")
	writeFile(b.t, planFile, b.plan())

	command := slices.Concat([]string{filepath.Join(folder, "client.mjs"), planFile, recordFile, "--"}, wrapper, b.command())
	cmd := exec.Command("node", command...)
	cmd.Env = append(os.Environ(),
		"HOME="+b.work+"/home", "DEED_HOME="+home, "TZ=UTC", "LANG=C.UTF-8", "CI=1", "NO_COLOR=1",
		"NODE_OPTIONS=", "npm_config_update_notifier=false", "npm_config_offline=true", "GIT_CONFIG_NOSYSTEM=1",
	)
	for _, pair := range b.server.env {
		cmd.Env = append(cmd.Env, b.expand(pair))
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = runTime // what the client leaves behind may take long to end on a busy machine
	timer := time.AfterFunc(runTime, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("run %d of the client (behind %q): %v\n%s", b.runs, wrapper, err, said.String())
	}
	text, err := os.ReadFile(recordFile)
	if err != nil {
		b.t.Fatal(err)
	}
	return record{value: decode(b.t, string(text)), text: string(text)}
}

// command is the server's own.
func (b *bench) command() []string {
	if b.server.npx != "" {
		return []string{"npx", "--prefix", folder, "--no-install", b.server.npx}
	}
	command := []string{"node", filepath.Join(folder, "node_modules", b.server.name, b.server.entry)}
	for _, arg := range b.server.args {
		command = append(command, b.expand(arg))
	}
	return command
}

func (b *bench) expand(text string) string {
	return strings.NewReplacer("$WORK", b.work, "$HTTP", b.web).Replace(text)
}

// plan is what the client reads.
func (b *bench) plan() []byte {
	plan, err := json.Marshal(m{
		"folder": b.work, "timeoutMS": 300_000, "quietMS": b.server.quietMS,
		"roots": []m{{"uri": "file://" + b.work + "/files", "name": "files"}},
		"calls": b.server.calls, "together": b.server.together, "prompts": b.server.prompts,
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return []byte(b.expand(string(plan)))
}

// fill makes the folder as it is at the start of every run.
func (b *bench) fill() {
	b.t.Helper()
	if err := os.RemoveAll(b.work); err != nil {
		b.t.Fatal(err)
	}
	for _, dir := range []string{"home", "files", "files/inner", "bank", "repository"} {
		if err := os.MkdirAll(filepath.Join(b.work, dir), 0o755); err != nil {
			b.t.Fatal(err)
		}
	}
	var big strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&big, "line %d of a text that is larger than any pipe: %s\n", i, "\u00e9\u2028\U0001F600")
	}
	for name, content := range map[string]string{
		"odd.txt": "plain\r\n" + oddText, "big.txt": big.String(), "inner/deep.txt": "deep",
		"page.drawio":       `<mxfile><diagram id="d" name="Page-1"><mxGraphModel><root><mxCell id="0"/></root></mxGraphModel></diagram></mxfile>`,
		"program.js":        "var unused = 1\n",
		"api.json":          `{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},"paths":{"/orders":{"get":{"operationId":"listOrders","summary":"List orders","parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}}},"/orders/{id}":{"get":{"operationId":"getOrder","summary":"Get an order","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`,
		"eslint.config.mjs": "export default [{ rules: { \"no-unused-vars\": \"error\" } }];\n",
	} {
		writeFile(b.t, filepath.Join(b.work, "files", name), []byte(content))
	}
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func sortedPlaces(p places) []string {
	var all []string
	for place := range p {
		all = append(all, place)
	}
	slices.Sort(all)
	return all
}
