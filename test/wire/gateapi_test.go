//go:build unix

package wiretest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// gateKey is a key that must be seen by nobody but the server that it is for.
const gateKey = "spk_wiretest_k3y_that_is_nowhere_else_0123456789"

// api is a server that actions are declared to. It can be taken away and come
// back under the same address.
type api struct {
	t       tb
	address string
	server  *http.Server

	mu     sync.Mutex
	bodies map[string][]string // by action, each time that it came
	order  []string            // actions that were taken, when they were first
	asked  int
	// answer is what the next declaration is answered with; nil takes it.
	answer func(n int, w http.ResponseWriter, r *http.Request) (taken bool)
}

func newAPI(t tb) *api {
	t.Helper()
	a := &api{t: t, bodies: map[string][]string{}, address: freeAddress(t)}
	a.start()
	t.Cleanup(a.stop)
	return a
}

func (a *api) start() {
	a.t.Helper()
	listener, err := net.Listen("tcp", a.address)
	if err != nil {
		a.t.Fatalf("listen for declarations: %v", err)
	}
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(listener) }(a.server)
}

// stop ends the server and every connection to it, as a kill would.
func (a *api) stop() { _ = a.server.Close() }

// says sets how declarations are answered from now on.
func (a *api) says(answer func(n int, w http.ResponseWriter, r *http.Request) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

// ServeHTTP implements [http.Handler].
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var said struct {
		Action string `json:"action_id"`
	}
	if err != nil || json.Unmarshal(body, &said) != nil || said.Action == "" || r.URL.Path != "/v1/actions" || r.Header.Get("X-Api-Key") != gateKey {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	a.mu.Lock()
	n, answer := a.asked, a.answer
	a.asked++
	a.bodies[said.Action] = append(a.bodies[said.Action], string(body))
	a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if answer == nil || answer(n, w, r) {
		if a.take(said.Action) {
			_, _ = io.WriteString(w, `{"recorded":"replayed"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"recorded":"new"}`)
	}
}

// take keeps an action and says whether it was known before.
func (a *api) take(action string) (known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.order, action) {
		return true
	}
	a.order = append(a.order, action)
	return false
}

// actions are those that were taken, in their order.
func (a *api) actions() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.order)
}

// mustBeConsistent fails the test when an action came twice in different
// words: the second would be another action, or change the first.
func (a *api) mustBeConsistent() {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	for action, bodies := range a.bodies {
		if len(slices.Compact(slices.Clone(bodies))) != 1 {
			a.t.Fatalf("%s was declared in different words: %q", action, bodies)
		}
	}
}

// The ways in which a server may answer.
func fails(status int, body string) func(int, http.ResponseWriter, *http.Request) bool {
	return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return false
	}
}

// hangs does not answer before the client has given up.
func hangs(_ int, _ http.ResponseWriter, r *http.Request) bool {
	<-r.Context().Done()
	return false
}

// hangsUp closes the connection in place of an answer.
func hangsUp(_ int, w http.ResponseWriter, _ *http.Request) bool {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
	return false
}

// flaps takes one, fails on the next, hangs up on the one after that, and so on.
func flaps(n int, w http.ResponseWriter, r *http.Request) bool {
	switch n % 4 {
	case 0:
		return true
	case 1:
		return fails(503, `{"error":{"code":"unavailable","retry_after":1}}`)(n, w, r)
	case 2:
		return hangsUp(n, w, r)
	}
	return fails(400, `{"error":{"code":"invalid_request","message":"no"}}`)(n, w, r)
}

// throughGate puts the program with a mapping of "refund" and "charge" between
// the two.
func throughGate(a *api, home string, flags ...string) route {
	return route{"through the gate", func(t tb, server []string) ([]string, []string) {
		argv := append([]string{deedPath(t), "run", "--map", gateMapping(t)}, flags...)
		return append(append(argv, "--"), server...), gateEnv(a, home)
	}}
}

func gateEnv(a *api, home string) []string {
	return []string{"DEED_HOME=" + home, "DEED_API_URL=http://" + a.address, "DEED_API_KEY=" + gateKey}
}

func gateMapping(t tb) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wt")
	if err != nil {
		t.Fatalf("make a folder for a mapping: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "mapping.json")
	const text = `{"agent_id":"bot","tools":{
		"refund":{"contract_id":"refund_workflow","subject":"arguments.order","params":{"amount":"arguments.amount"}},
		"charge":{"contract_id":"charge_workflow","subject":"arguments.order","action_id":"charge:{arguments.order}"}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("write a mapping: %v", err)
	}
	return path
}

// charge is a call whose action is charge:ORDER, on one line.
func charge(id, order string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"charge","arguments":{"order":%q}}}`+"\n", id, order)
}

// flush sends what is in the outbox and returns what is left of it.
func flush(t tb, a *api, home string) (waiting, undeliverable []string) {
	t.Helper()
	got := deedWith(t, gateEnv(a, home), "flush", "--json")
	var document struct {
		Waiting, Undeliverable []struct {
			Action string `json:"action_id"`
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &document); err != nil {
		t.Fatalf("deed flush --json: exit code %d, %q %q: %v", got.code, got.stdout, got.stderr, err)
	}
	for _, l := range document.Waiting {
		waiting = append(waiting, l.Action)
	}
	for _, l := range document.Undeliverable {
		undeliverable = append(undeliverable, l.Action)
	}
	if left := len(waiting) + len(undeliverable); (got.code != 0) != (left > 0) {
		t.Fatalf("deed flush: exit code %d with %d left", got.code, left)
	}
	return waiting, undeliverable
}

// refusalOf is what the client is answered with in place of the server.
func refusalOf(id, why string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Deed recording failed: %s"}}`+"\n", id, why)
}

// ownBegin takes away of lines on stderr those that do not begin so.
func ownBegin(lines []string, begin string) (kept []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, begin) {
			kept = append(kept, line)
		}
	}
	return kept
}
