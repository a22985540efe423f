package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/baseline"
)

const npmFolder = "../npm"

// without is the environment variable that leaves out what needs npm, loudly.
const without = "DEED_TEST_WITHOUT_NPM"

func TestMain(m *testing.M) {
	if os.Getenv(without) == "1" {
		fmt.Fprintf(os.Stderr, "\nNOT TESTED, because %s=1: that the census measures public MCP servers\n\n", without)
	}
	os.Exit(m.Run())
}

func TestAQuickCensusMeasuresRealServersThroughDeedRun(t *testing.T) {
	t.Parallel()
	if os.Getenv(without) == "1" {
		t.Skipf("NOT TESTED, because %s=1", without)
	}
	temporary := t.TempDir()
	file := filepath.Join(temporary, "census.json")
	var said bytes.Buffer
	err := run(t.Context(), []string{"-quick", "-n", "2", "-deed", buildDeed(t), "-npm", npmFolder, "-out", file}, io.Discard, &said)
	if err != nil {
		t.Fatalf("%v\nor set %s=1 to leave this test out\n%s", err, without, said.String())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := baseline.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	builtIn, err := baseline.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if got := packages(c); !slices.Equal(got, []string{"npm:@modelcontextprotocol/server-memory", "npm:mcp-hello-world"}) {
		t.Fatalf("it measured %v", got)
	}
	for _, s := range c.Servers {
		before := builtIn.Servers[slices.IndexFunc(builtIn.Servers, func(b baseline.Server) bool { return b.Package == s.Package })]
		if len(s.Tools) == 0 || s.DeclaredTools != before.DeclaredTools || s.Version != before.Version {
			t.Errorf("%s %s declares %d tools, %d called; the built-in census has %s with %d", s.Package, s.Version, s.DeclaredTools, len(s.Tools), before.Version, before.DeclaredTools)
		}
		// These two answer the same to everybody, and so measuring again
		// gives the sizes that are built in.
		if s.DeclaredBytes != before.DeclaredBytes {
			t.Errorf("%s: tools/list has %d bytes, the built-in census has %d", s.Package, s.DeclaredBytes, before.DeclaredBytes)
		}
		for i, tool := range s.Tools {
			if tool.WireBytes.N != 2 || tool.Failed != 0 {
				t.Errorf("%s: %d answers, %d failed, want two answers", tool.Name, tool.WireBytes.N, tool.Failed)
			}
			// Fewer calls need shorter ids, by one digit.
			if want := before.Tools[i].WireBytes; tool.WireBytes.Min < want.Min-1 || tool.WireBytes.Max > want.Max {
				t.Errorf("%s: %d to %d bytes, the built-in census has %d to %d", tool.Name, tool.WireBytes.Min, tool.WireBytes.Max, want.Min, want.Max)
			}
		}
	}
	if bytes.Contains(text, []byte(os.TempDir())) {
		t.Error("the result holds a path of this machine")
	}
}

func packages(c *baseline.Census) []string {
	var names []string
	for _, s := range c.Servers {
		names = append(names, s.Package)
	}
	return names
}

// buildDeed builds the program, unless DEED_BIN names one.
func buildDeed(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("DEED_BIN"); given != "" {
		return given
	}
	program := filepath.Join(t.TempDir(), "deed.exe") // the ending is needed on Windows and harmless elsewhere
	build := exec.Command("go", "build", "-o", program, "github.com/deed-dev/deed/cmd/deed")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build deed: %v\n%s", err, said)
	}
	return program
}

// What follows needs neither Node.js nor packages.

func TestEveryPackageThatIsTestedIsMeasuredOrLeftOutWithAReason(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(npmFolder, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	measured := map[string]bool{}
	for _, s := range servers() {
		measured[s.name] = true
		if file.Dependencies[s.name] == "" {
			t.Errorf("%s is measured and not in test/npm/package.json", s.name)
		}
	}
	for name := range file.Dependencies {
		if reason := leftOut()[name]; measured[name] == (reason != "") {
			t.Errorf("%s: measured is %v, left out because %q", name, measured[name], reason)
		}
	}
}

func TestTheBuiltInCensusHasEveryServerOfTheList(t *testing.T) {
	t.Parallel()
	c, err := baseline.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range servers() {
		want = append(want, "npm:"+s.name)
	}
	slices.Sort(want)
	if got := packages(c); !slices.Equal(got, want) {
		t.Errorf("the census has %v, the list %v", got, want)
	}
}

func TestTheFiguresAreReadFromTheLinesOfDeedTail(t *testing.T) {
	t.Parallel()
	seen, err := sight([]byte(`
{"kind":"call","from":"client","method":"initialize","tool":"","outcome":"ok","returned_bytes":900,"took_us":9}
{"kind":"call","from":"client","method":"tools/list","tool":"","outcome":"ok","returned_bytes":330,"took_us":9}
{"kind":"call","from":"client","method":"tools/list","tool":"","outcome":"ok","returned_bytes":330,"took_us":9}
{"kind":"call","from":"client","method":"tools/call","tool":"get","outcome":"ok","returned_bytes":101,"took_us":30}
{"kind":"call","from":"client","method":"tools/call","tool":"get","outcome":"tool_error","returned_bytes":9,"took_us":1}
{"kind":"call","from":"client","method":"tools/call","tool":"get","outcome":"ok","returned_bytes":100,"took_us":10}
{"kind":"call","from":"client","method":"tools/call","tool":"hang","outcome":"unanswered","returned_bytes":null,"took_us":null}
{"kind":"call","from":"server","method":"tools/call","tool":"get","outcome":"ok","returned_bytes":7,"took_us":1}
`[1:]))
	if err != nil {
		t.Fatal(err)
	}
	if seen.declaredBytes != 660 {
		t.Errorf("two pages of tools have %d bytes, want their sum 660", seen.declaredBytes)
	}
	get, hang := seen.tool("get"), seen.tool("hang")
	if want := []int64{100, 101}; !slices.Equal(get.WireBytes.Sorted, want) || get.Failed != 1 || get.TookP50US != 10 {
		t.Errorf("get is %+v, want the sizes %v and one that failed", get, want)
	}
	if hang.WireBytes.N != 0 || hang.Failed != 1 || hang.TookP50US != 0 {
		t.Errorf("hang is %+v, want one that failed and nothing else", hang)
	}
}

func TestAJournalWithAGapGivesNoFigures(t *testing.T) {
	t.Parallel()
	if _, err := sight([]byte(`{"kind":"gap","unseen_bytes":9}` + "\n")); err == nil || !strings.Contains(err.Error(), "gap") {
		t.Errorf("the error is %v, want one about the gap", err)
	}
}

func TestMissingPartsAreNamedBeforeAnythingIsMeasured(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("node"); err != nil {
		empty = "" // then Node.js is what is missed first
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a server that is not in the list": {[]string{"-only", "nobody"}, "nobody is not in the list"},
		"no call at all":                   {[]string{"-n", "0"}, "at least once"},
		"packages that are not there":      {[]string{"-deed", self, "-npm", empty}, "npm ci"},
		"a deed that is not there":         {[]string{"-deed", filepath.Join(empty, "deed")}, "make build"},
	} {
		if empty == "" && (c.want == "npm ci" || c.want == "make build") {
			c.want = "node.js 20"
		}
		err := run(context.Background(), c.args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.want)
		}
	}
}

func TestAnInterruptedCensusWritesNothing(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &census{deed: self, parts: npmFolder, calls: 1, progress: io.Discard}
	if result, err := c.take(ctx, nil); err == nil || !errors.Is(err, context.Canceled) || result != nil {
		t.Errorf("got %v and the error %v, want the interruption", result, err)
	}
}
