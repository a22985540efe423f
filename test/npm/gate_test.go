package npmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// declared is a server that takes every action and remembers it.
type declared struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []declaration
}

type declaration struct {
	Action   string `json:"action_id"`
	Contract string `json:"contract_id"`
	Subject  string `json:"subject_id"`
	Params   struct {
		Tool string `json:"mcp_tool"`
	}
}

func newDeclared(t *testing.T) *declared {
	d := &declared{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var said declaration
		if err != nil || json.Unmarshal(body, &said) != nil {
			http.Error(w, "no declaration", http.StatusBadRequest)
			return
		}
		d.mu.Lock()
		d.bodies = append(d.bodies, said)
		d.mu.Unlock()
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(d.Close)
	return d
}

// tools are those whose calls were declared, sorted.
func (d *declared) tools() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var tools []string
	for _, one := range d.bodies {
		tools = append(tools, one.Params.Tool)
	}
	slices.Sort(tools)
	return tools
}

// behind is what stands before a server's command to declare its actions. They
// must be declared, so that a call whose action was not never arrives.
func (d *declared) behind(mapping string) []string {
	return []string{"env", "DEED_API_URL=" + d.URL, "DEED_API_KEY=spk_npm", deed, "run", "--map", mapping, "--no-fail-open", "--"}
}

// Each public server does the same under a gate, and each call of a mapped
// tool is declared once.
func TestPublicServersDoTheSameWhileTheirActionsAreDeclared(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	for name, test := range map[string]struct {
		mapping string
		mapped  []string
		cannot  []string // calls that cannot be declared: an id has no NUL in it
	}{
		"@modelcontextprotocol/server-everything": {"everything.yaml", []string{"echo", "get-sum"}, []string{"echo"}},
		"@modelcontextprotocol/server-filesystem": {"filesystem.yaml", []string{"write_file", "edit_file", "create_directory", "move_file"}, nil},
		"@modelcontextprotocol/server-memory":     {"memory.yaml", []string{"create_entities", "add_observations", "delete_entities"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := servers()
			s := list[slices.IndexFunc(list, func(s server) bool { return s.name == name })]
			b, api, home := newBench(t, s), newDeclared(t), t.TempDir()
			first := b.play(nil, "")
			recorded := b.play(api.behind(filepath.Join(folder, "..", "..", "examples", test.mapping)), home)
			volatile := places{}
			volatile.add(first.value, b.play(nil, "").value)
			if found := volatile.unexplained(first.value, recorded.withoutDeed()); len(found) > 0 {
				t.Errorf("the client sees a difference: %v", found)
			}
			var want []string
			for _, c := range slices.Concat(s.calls, s.together) {
				if slices.Contains(test.mapped, c.Name) {
					want = append(want, c.Name)
				}
			}
			slices.Sort(want)
			for _, one := range test.cannot {
				at := slices.Index(want, one)
				want = slices.Delete(want, at, at+1)
			}
			if got := api.tools(); !slices.Equal(got, want) || len(want) < 2 {
				t.Errorf("declared %q, called %q", got, want)
			}
			recorded.checkJournal(t, home)
		})
	}
}

// A call that needs two or three rounds is one action, between the clients and
// servers of 2026-07-28.
func TestACallInRoundsIsOneActionWhoeverSpeaks(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mapping := filepath.Join(t.TempDir(), "rounds.json")
	writeFile(t, mapping, []byte(`{"tools":{"ask":{"contract_id":"c","subject":"name"},"twice":{"contract_id":"c","subject":"name"},
		"sample":{"contract_id":"c","subject":"name"},"roots":{"contract_id":"c","subject":"name"}}}`))
	for _, e := range encounters() {
		if e.era != "2026-07-28" {
			continue
		}
		t.Run(fmt.Sprintf("%s meets %s", e.client, e.server), func(t *testing.T) {
			t.Parallel()
			home, api := t.TempDir(), newDeclared(t)
			direct := e.run(t, home, e.serverCommand(self))
			gated := e.run(t, home, slices.Concat(api.behind(mapping), e.serverCommand(self)))
			if direct != gated {
				t.Errorf("the client got other things under a gate:\n%s", lineDifference(direct, gated))
			}
			want := "ask roots sample twice"
			if e.server == "go" { // which has no tool that asks twice
				want = "ask roots sample"
			}
			if got := strings.Join(api.tools(), " "); got != want {
				t.Errorf("declared %q, want %q: one action of each call", got, want)
			}
		})
	}
}
