package house

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// block is a fenced block of a document.
type block struct {
	language string
	line     int // of its first line, from 1
	lines    []string
	intro    string // the last line of text before it
	section  string // the heading above it
}

func (b block) text() string { return strings.Join(b.lines, "\n") + "\n" }

var namedFile = regexp.MustCompile("`([\\w./-]+\\.(?:yaml|jsonl|json|csv))`:$")

// file is the name under which a reader is told to save the block: the line
// before it ends with that name and a colon.
func (b block) file() string {
	if match := namedFile.FindStringSubmatch(b.intro); match != nil {
		return match[1]
	}
	return ""
}

// saved is what the file holds after a reader did as told: the block, or what
// was there and then the block.
func (b block) saved(before string) string {
	if strings.Contains(b.intro, "to the end of") {
		return before + b.text()
	}
	return b.text()
}

// output says that the block is what the last command prints, whole or in part.
func (b block) output() bool {
	return b.language == "text" && (strings.HasSuffix(b.intro, "prints:") || strings.HasSuffix(b.intro, "says:"))
}

func blocks(document string) []block {
	var all []block
	var intro, section string
	inside := false
	for index, line := range strings.Split(document, "\n") {
		language, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && !inside:
			all = append(all, block{language: language, line: index + 2, intro: intro, section: section})
			inside, intro = true, ""
		case isFence:
			inside = false
		case inside:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		case strings.HasPrefix(line, "#"):
			section, intro = line, ""
		case strings.TrimSpace(line) != "":
			intro = strings.TrimSpace(line)
		}
	}
	return all
}

// shellLine is one line of a ```sh block. Blocks of lines that cannot run
// here (they need a network, another program or a placeholder) are ```console.
type shellLine struct {
	number int
	text   string
	code   int // the exit code that the line must end with
}

var exitComment = regexp.MustCompile(`# exit code (\d+)`)

// shellLines reads a ```sh block, without comments and blank lines. A comment
// that begins with an exit code, "# exit code 1: …", is held to it.
func (b block) shellLines() []shellLine {
	if b.language != "sh" {
		return nil
	}
	var lines []shellLine
	for index, line := range b.lines {
		text, _, _ := strings.Cut(" "+line, " #")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		one := shellLine{number: b.line + index, text: text}
		if match := exitComment.FindStringSubmatch(line); match != nil {
			one.code, _ = strconv.Atoi(match[1])
		}
		lines = append(lines, one)
	}
	return lines
}

// shellLines reads a document's ```sh blocks.
func shellLines(document string) []shellLine {
	var lines []shellLine
	for _, block := range blocks(document) {
		lines = append(lines, block.shellLines()...)
	}
	return lines
}

func TestShellLinesAreReadFromShBlocksOnly(t *testing.T) {
	t.Parallel()
	document := "deed outside\n```sh\n# a comment\ndeed last   # the last run\n\n```\n```console\ndeed run -- SERVER\n```\n```sh\nmake demo   # exit code 3: no\n```\n"
	got := fmt.Sprint(shellLines(document))
	want := "[{4 deed last 0} {11 make demo 3}]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEveryJSONBlockOfTheDocumentsIsJSON(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks(string(text)) {
			if block.language != "json" {
				continue
			}
			var value any
			if err := json.Unmarshal([]byte(strings.Join(block.lines, "\n")), &value); err != nil {
				t.Errorf("%s:%d: %v; an excerpt goes into a ```text block", name, block.line, err)
			}
		}
	}
}

// Every document is read by somebody with a terminal beside it. Its lines run
// here in order, in a home that holds one recorded session, the library of
// contracts, and the files that the document has its reader save; and what it
// says that a line prints is what it prints.
func TestEveryShellLineOfTheDocumentsRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the documents' shell lines are for a POSIX shell")
	}
	documents := documents(t)
	bin := buildDeed(t)
	targets := makeTargets(t)
	for _, name := range documents {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(shellLines(string(text))) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader := newReader(t, bin)
			reader.recordOneSession(t)
			printed := ""
			for _, block := range blocks(string(text)) {
				if file := block.file(); file != "" {
					reader.save(t, file, block)
				}
				if missing := missingLine(block, printed); block.output() && missing != "" {
					t.Errorf("%s:%d: the line before prints no %q:\n%s", name, block.line, missing, printed)
				}
				for _, line := range block.shellLines() {
					if target, isMake := strings.CutPrefix(line.text, "make "); isMake {
						if !targets[strings.Fields(target)[0]] {
							t.Errorf("%s:%d: the Makefile has no target for %q", name, line.number, line.text)
						}
						continue
					}
					if name, isExport := strings.CutPrefix(line.text, "export "); isExport {
						reader.export(t, name)
						continue
					}
					if server, isServer := strings.CutSuffix(line.text, " &"); isServer && strings.HasPrefix(server, "deed serve ") {
						reader.serve(t, server)
						continue
					}
					if !runs(line.text) {
						t.Errorf("%s:%d: nothing runs %q; put it into a ```console block", name, line.number, line.text)
						continue
					}
					if printed, err = reader.run(t, line.text); exitCode(err) != line.code {
						t.Errorf("%s:%d: %s: exit code %d, want %d (%v)\n%s", name, line.number, line.text, exitCode(err), line.code, err, printed)
					}
				}
			}
		})
	}
}

// runs says whether a line is given to a shell: it begins with a program that
// everybody has who reads this.
func runs(line string) bool {
	program, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"deed", "curl", "sed"}, program)
}

// missingLine is the first line of a block that is not in a command's output
// after the lines before it. A document may leave lines out.
func missingLine(b block, printed string) string {
	rest := strings.Split(printed, "\n")
	for _, line := range b.lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		at := slices.IndexFunc(rest, func(one string) bool { return strings.TrimRight(one, " ") == strings.TrimRight(line, " ") })
		if at < 0 {
			return line
		}
		rest = rest[at+1:]
	}
	return ""
}

func TestOutputThatADocumentShowsMayBeShortenedAndNotReordered(t *testing.T) {
	t.Parallel()
	printed := "one\ntwo\nthree\n"
	for shown, missing := range map[string]string{"one\n\nthree": "", "two\none": "one", "tw": "tw"} {
		if got := missingLine(block{lines: strings.Split(shown, "\n")}, printed); got != missing {
			t.Errorf("of %q %q is missing, want %q", shown, got, missing)
		}
	}
}

// exitCode of a command; -1 if it did not run.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md", "CONTRIBUTING.md", filepath.Join("contracts", "README.md")}
	for _, page := range pages {
		names = append(names, filepath.Join("docs", filepath.Base(page)))
	}
	return names
}

var makeTarget = regexp.MustCompile(`(?m)^([a-z]+):`)

func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, match := range makeTarget.FindAllSubmatch(text, -1) {
		targets[string(match[1])] = true
	}
	return targets
}

// buildDeed builds the binary and returns the folder that holds it.
func buildDeed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "deed"), "./cmd/deed")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build deed: %v\n%s", err, output)
	}
	return dir
}

// reader is somebody who follows a document in an empty home folder.
type reader struct {
	folder      string
	environment []string
	server      string // where the server of the document serves, once it was started
}

// documentedServer is where documents have their server.
const documentedServer = "http://127.0.0.1:7373"

func newReader(t *testing.T, bin string) *reader {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(filepath.Join(home, "contracts"), os.DirFS(filepath.Join(root, "contracts"))); err != nil {
		t.Fatal(err)
	}
	return &reader{
		folder: home,
		environment: []string{
			"HOME=" + home, "TZ=UTC",
			"DEED_HOME=" + filepath.Join(home, ".deed"),
			"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
			"DEED_LISTEN=127.0.0.1:0", // several documents start servers at once
		},
	}
}

// save writes a file that a document tells its reader to save.
func (r *reader) save(t *testing.T, name string, b block) {
	t.Helper()
	path := filepath.Join(r.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(b.saved(string(before))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run gives the line to a shell and returns all that it printed.
func (r *reader) run(t *testing.T, line string) (string, error) {
	t.Helper()
	output, err := r.shell(t, line).CombinedOutput()
	return string(output), err
}

func (r *reader) shell(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	if r.server != "" {
		line = strings.ReplaceAll(line, documentedServer, r.server)
	}
	shell := exec.CommandContext(ctx, "sh", "-c", line)
	shell.Dir, shell.Env = r.folder, r.environment
	return shell
}

// export keeps a variable for the lines that follow.
func (r *reader) export(t *testing.T, assignment string) {
	t.Helper()
	name, _, _ := strings.Cut(assignment, "=")
	value, err := r.run(t, assignment+"; printf %s \"$"+name+"\"")
	if err != nil {
		t.Fatalf("export %s: %v\n%s", assignment, err, value)
	}
	r.environment = append(r.environment, name+"="+value)
}

// serve starts a server that runs beside the document until its end, and waits
// until it says in its output, which goes into a file, where it serves.
func (r *reader) serve(t *testing.T, line string) {
	t.Helper()
	_, rest, _ := strings.Cut(line, "> ")
	output := filepath.Join(r.folder, strings.Fields(rest + " missing")[0])
	server := exec.Command("sh", "-c", "exec "+line)
	server.Dir, server.Env = r.folder, r.environment
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		printed, _ := os.ReadFile(output) // not there yet
		if _, said, found := strings.Cut(string(printed), "Deed serves "); found && strings.Contains(said, "deed login") {
			r.server, _, _ = strings.Cut(said, "\n")
			return
		}
		select {
		case <-again.C:
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v", line, err)
		case <-t.Context().Done():
			t.Fatalf("%s printed no address", line)
		}
	}
}

// recordOneSession has a short conversation with the demo's server, so that
// the commands that look at a journal find one.
func (r *reader) recordOneSession(t *testing.T) {
	t.Helper()
	server := r.shell(t, "deed run --label shop -- deed demo-server")
	var told bytes.Buffer
	server.Stderr = &told
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(stdout)
	for _, question := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"house","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_orders","arguments":{}}}`,
	} {
		if _, err := io.WriteString(stdin, question+"\n"); err != nil {
			t.Fatal(err)
		}
		if !answers.Scan() || !strings.Contains(answers.Text(), `"result"`) {
			t.Fatalf("asked %s, got %q and %v", question, answers.Text(), answers.Err())
		}
	}
	stdin.Close()
	if err := server.Wait(); err != nil {
		t.Fatalf("record a session: %v\n%s", err, told.String())
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

func TestEveryLinkBetweenDocumentsLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range link.FindAllSubmatch(text, -1) {
			target := string(match[1])
			if strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
}

func TestTheIndexNamesEveryPage(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents(t) {
		page, inDocs := strings.CutPrefix(filepath.ToSlash(name), "docs/")
		if inDocs && page != "README.md" && !strings.Contains(string(index), "("+page+")") {
			t.Errorf("docs/README.md does not link to %s", page)
		}
	}
}
