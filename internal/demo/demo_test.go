package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// play is a finished demonstration.
type play struct {
	out   string
	home  string   // of the journal, as deed last was told
	calls []string // that reached the stranger
	err   error
}

// run runs a demonstration of the shop, or of a kind of stranger.
func run(t *testing.T, kind string, change func(*Demo)) play {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	calls := filepath.Join(t.TempDir(), "calls")
	d := &Demo{Program: self, Version: "test", Out: &out, Err: &out, limits: patient()}
	if kind != "" {
		d.Command = []string{self, "stranger", kind, calls}
	}
	if change != nil {
		change(d)
	}
	p := play{err: d.Run(t.Context()), out: out.String()}
	if _, after, found := strings.Cut(p.out, "last of "); found {
		p.home, _, _ = strings.Cut(after, "\n")
	}
	if noted, err := os.ReadFile(calls); err == nil {
		p.calls = strings.Fields(string(noted))
	}
	return p
}

// patient limits are for machines that do much else at the same time.
func patient() limits {
	const long = 5 * time.Minute
	return limits{start: long, list: long, call: long, total: long, finish: time.Minute}
}

func (p play) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.out, text) {
			t.Errorf("the output does not show %q", text)
		}
	}
	if t.Failed() {
		t.Logf("output:\n%s", p.out)
	}
}

func TestOnlySafeToolsOfAStrangerAreCalled(t *testing.T) {
	t.Parallel()
	p := run(t, "with tools of every sort", nil)
	if p.err != nil {
		t.Fatal(p.err)
	}
	slices.Sort(p.calls)
	if want := []string{"frob", "get_failure", "get_thing", "list_things"}; !slices.Equal(p.calls, want) {
		t.Errorf("called %v, want %v", p.calls, want)
	}
	p.shows(t,
		"stranger 9 has 9 tools",
		"get_failure        failed    no such thing",
		`with {"thing_id":"example"}`,
		`delete_thing       its name says "delete"`,
		`wipe_all           it says that it only reads, but its name says "wipe"`,
		`read_secret        its answer may hold secrets ("secret")`,
		`update_thing       it does not say that it only reads`,
		`query_things       it asks for something to run ("sql")`,
	)
	if strings.Contains(p.out, "\x1b") {
		t.Error("the output holds an escape that the server wrote")
	}
}

func TestADemoWithoutACallFails(t *testing.T) {
	t.Parallel()
	for kind, shown := range map[string]string{
		"that only writes": `create_thing       its name says "create"`,
		"without tools":    "stranger 9 has no tools",
	} {
		t.Run("a server "+kind, func(t *testing.T) {
			t.Parallel()
			p := run(t, kind, nil)
			if !errors.Is(p.err, ErrNoCall) || len(p.calls) > 0 {
				t.Errorf("error %v after the calls %v, want that no tool was called", p.err, p.calls)
			}
			// What was recorded can be looked at all the same.
			p.shows(t, shown, "last of ", "verify of ")
		})
	}
}

func TestAServerThatDoesNotStartIsExplained(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "no-such-server")
	for kind, c := range map[string]struct{ says, hint string }{
		"that exits":        {"the server did not start: exit status 3", "stranger: no database at"},
		"that says nothing": {"the server did not introduce itself within 300 ms", "try the command alone: "},
		missing:             {"the server did not start: exit status 127", "no-such-server: not found"},
	} {
		t.Run("a server "+filepath.Base(kind), func(t *testing.T) {
			t.Parallel()
			p := run(t, kind, func(d *Demo) {
				if kind == missing {
					d.Command = []string{missing}
				}
				if kind == "that says nothing" {
					d.limits.start = 300 * time.Millisecond
				}
			})
			var hint *terminal.Hint
			if !errors.As(p.err, &hint) || hint.Error() != c.says || !strings.Contains(hint.Next, c.hint) {
				t.Errorf("error %q with hint %+v, want %q with %q", p.err, hint, c.says, c.hint)
			}
			if strings.Contains(p.out, "last of") {
				t.Error("deed last is asked about a server that never ran")
			}
		})
	}
}

func TestAServerThatCrashesInACallIsShownAndNothingMoreIsCalled(t *testing.T) {
	t.Parallel()
	p := run(t, "that crashes", nil)
	if p.err != nil {
		t.Fatal(p.err)
	}
	if !slices.Equal(p.calls, []string{"get_crash"}) {
		t.Errorf("called %v, want get_crash alone", p.calls)
	}
	p.shows(t, "get_crash          no answer the server ended", "get_more           the server had ended", "last of ")
}

func TestACallThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	p := run(t, "that hangs", func(d *Demo) {
		d.limits.call, d.limits.finish = 10*time.Second, time.Second
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	p.shows(t, "get_never          no answer none within", "get_more           ok        here")
}

func TestEnoughCallsAreEnough(t *testing.T) {
	t.Parallel()
	p := run(t, "with very many tools", nil)
	if p.err != nil {
		t.Fatal(p.err)
	}
	if len(p.calls) > mostCalls || len(p.calls) == 0 {
		t.Errorf("%d calls, want at most %d", len(p.calls), mostCalls)
	}
	// Tools come two on a page, so a client that reads one page sees two.
	p.shows(t, "stranger 9 has 30 tools", "25 calls are enough")
}

// cancelAt interrupts when a text was shown.
type cancelAt struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelAt) Write(data []byte) (int, error) {
	if strings.Contains(string(data), c.text) {
		c.cancel()
	}
	return c.Buffer.Write(data)
}

func TestAChildSeesTheDemosHomeAndNothingElseOfTheUsers(t *testing.T) {
	t.Setenv("DEED_HOME", "/somewhere/else")
	t.Setenv("DEED_API_KEY", "a real one")
	t.Setenv("COMMITLAYER_API_URL", "https://deed.example.com")
	var homes []string
	for _, pair := range environment("/demo") {
		if strings.HasPrefix(pair, "DEED_") || strings.HasPrefix(pair, "COMMITLAYER_") {
			homes = append(homes, pair)
		}
	}
	if !slices.Equal(homes, []string{"DEED_HOME=/demo"}) {
		t.Errorf("the environment has %v", homes)
	}
}

func TestAnAnswerIsShownInOneShortLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a plain line":      {"5 orders", "5 orders"},
		"several lines":     {"a\n\n  b\tc", "a b c"},
		"a terminal escape": {"a\x1b[2Jb", `a\x1b[2Jb`},
		"bytes, not text":   {"a\xffb", "ab"},
		"an endless line":   {strings.Repeat("é", 1<<20), strings.Repeat("é", lineLimit-1) + "…"},
	} {
		if got := oneLine(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestTheEntryForAClientIsJSON holds for a path with everything in it that a
// JSON text has to escape.
func TestTheEntryForAClientIsJSON(t *testing.T) {
	t.Parallel()
	program := `C:\Program Files\"deed" & <friends>\deed.exe`
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	entry := (&Demo{Program: program}).entry()
	if err := json.Unmarshal([]byte(entry), &config); err != nil {
		t.Fatalf("%v in %s", err, entry)
	}
	server := config.Servers["memory"]
	if server.Command != program || !slices.Contains(server.Args, "--") {
		t.Errorf("the entry runs %q with %q", server.Command, server.Args)
	}
	if strings.Contains(entry, `\u0026`) {
		t.Error("the entry spells & as an escape")
	}
}
