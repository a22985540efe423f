package redact_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/redact"
)

var update = flag.Bool("update", false, "write the score into docs/redaction.md")

// sample is one text with one secret in it, or with none.
type sample struct {
	kind    string
	context string
	mode    string // json, text or argv
	text    string
	pieces  []string // of the secret; none may survive
	heldOut bool     // not looked at while the rules were made
}

// contexts are where secrets are found when no name gives them away.
var contexts = []struct {
	name string
	mode string
	wrap func(secret string) string
}{
	{"argument", "json", func(s string) string {
		return `{"name":"send","arguments":{"to":"jo@acme.example","note":` + quote(s) + `,"n":180.0}}`
	}},
	{"escaped JSON", "json", func(s string) string {
		return `{"content":[{"type":"text","text":` + quote("{\n  \"id\": 7,\n  \"note\": "+quote(s)+"\n}") + `}]}`
	}},
	{"twice escaped", "json", func(s string) string {
		return `{"text":` + quote(`{"body":`+quote(`{"x":`+quote(s)+`}`)+`}`) + `}`
	}},
	{"log line", "text", func(s string) string {
		return "2024-01-15T10:42:13Z INFO worker-3 connected with " + s + " after 3 tries"
	}},
	{"shell", "text", func(s string) string { return "$ ./run.sh --with " + s + " --verbose 2>&1 | tee out.log" }},
	{"env file", "text", func(s string) string { return "PORT=8080\nTHING=" + s + "\nDEBUG=0\n" }},
	{"YAML", "text", func(s string) string { return "app:\n  thing: \"" + s + "\"\n  port: 8080\n" }},
	{"header dump", "text", func(s string) string {
		return "GET /v1/me HTTP/1.1\r\nHost: api.acme.example\r\nX-Thing: " + s + "\r\n\r\n"
	}},
	{"code", "text", func(s string) string { return "const client = new Client('" + s + "'); // TODO\n" }},
	{"sentence", "text", func(s string) string { return "Use this one: " + s + ". It worked for me (yesterday)." }},
	{"Markdown", "text", func(s string) string { return "| key | value |\n|---|---|\n| thing | `" + s + "` |\n" }},
	{"array", "json", func(s string) string { return `["a",` + quote(s) + `,null,{"b":[` + quote(s) + `]}]` }},
}

func corpusLines(t testing.TB, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// secretSamples reads testdata/secret.txt. Half of it, every second sample, is
// held out.
func secretSamples(t testing.TB) []sample {
	t.Helper()
	m := newMaker(1)
	var list []sample
	add := func(s sample) {
		s.heldOut = len(list)%2 == 1
		list = append(list, s)
	}
	for i, line := range corpusLines(t, "secret.txt") {
		fields := strings.SplitN(line, " | ", 3)
		if len(fields) == 3 {
			mode, own, ok := strings.Cut(fields[2], ":")
			if !ok {
				t.Fatalf("line %q has no mode", line)
			}
			secret := m.fill(fields[1])
			written := secret
			if mode == "json" {
				written = strings.Trim(quote(secret), `"`)
			} else {
				own = strings.ReplaceAll(own, `\n`, "\n")
			}
			add(sample{kind: fields[0], context: "its own", mode: mode, text: strings.ReplaceAll(own, "§", written), pieces: m.pieces})
			continue
		}
		for j := range 5 {
			c := contexts[(i*5+j*7)%len(contexts)]
			secret := m.fill(fields[1])
			if c.name == "env file" && strings.Contains(secret, "\n") {
				c = contexts[0]
			}
			add(sample{kind: fields[0], context: c.name, mode: c.mode, text: c.wrap(secret), pieces: m.pieces})
		}
	}
	return list
}

func innocentSamples(t testing.TB) []sample {
	t.Helper()
	m := newMaker(2)
	var list []sample
	for i, line := range corpusLines(t, "innocent.txt") {
		text := strings.NewReplacer(`\{`, "{", `\}`, "}").Replace(m.fill(line))
		s := sample{kind: "innocent", mode: "text", text: text, heldOut: i%2 == 1}
		if text[0] == '{' || text[0] == '[' {
			s.mode = "json"
		} else {
			s.text = strings.ReplaceAll(text, `\n`, "\n")
		}
		list = append(list, s)
	}
	return list
}

// run redacts a sample the way its mode says. Texts are also tried as a
// string in a JSON result, where most of them are met.
func (s sample) run() (outs []string, report redact.Report) {
	switch s.mode {
	case "json":
		out, r := redact.Value([]byte(s.text))
		return []string{string(out)}, r
	case "argv":
		out, r := redact.CommandLine(strings.Fields(s.text))
		return []string{strings.Join(out, " ")}, r
	default:
		out, r := redact.Text(s.text)
		wrapped, r2 := redact.Value([]byte(`{"content":[{"type":"text","text":` + quote(s.text) + `}]}`))
		return []string{out, string(wrapped)}, r.Merge(r2)
	}
}

// leaks says which part of the secret is still to be read in out: any eight
// bytes of it in a row, or all of it where it is shorter.
func (s sample) leaks(out string) string {
	for _, piece := range s.pieces {
		if strings.Contains(piece, " ") {
			if strings.Contains(out, piece) {
				return piece
			}
			continue
		}
		window := min(8, len(piece))
		if window < 5 {
			continue
		}
		for i := 0; i+window <= len(piece); i++ {
			if strings.Contains(out, piece[i:i+window]) {
				return piece[i : i+window]
			}
		}
	}
	return ""
}

type tally struct{ n, found int }

func (t tally) share() float64 { return float64(t.found) / float64(t.n) }

func (t tally) String() string { return fmt.Sprintf("%d of %d", t.found, t.n) }

// score is what the corpora say, the half that the rules were made with and
// the half that was held out.
type score struct {
	kinds          map[string]*tally
	secret         [2]tally
	innocent       [2]tally // found is what was left alone
	misses, alarms []string
}

func half(heldOut bool) int {
	if heldOut {
		return 1
	}
	return 0
}

func measure(t testing.TB) score {
	t.Helper()
	result := score{kinds: map[string]*tally{}}
	for _, s := range secretSamples(t) {
		kind := result.kinds[s.kind]
		if kind == nil {
			kind = &tally{}
			result.kinds[s.kind] = kind
		}
		outs, _ := s.run()
		leaked := ""
		for _, out := range outs {
			if leak := s.leaks(out); leak != "" {
				leaked = out
			}
		}
		kind.n++
		result.secret[half(s.heldOut)].n++
		if leaked == "" {
			kind.found++
			result.secret[half(s.heldOut)].found++
		} else {
			result.misses = append(result.misses, fmt.Sprintf("%v %s in %s: %s", s.heldOut, s.kind, s.context, leaked))
		}
	}
	for _, s := range innocentSamples(t) {
		outs, report := s.run()
		result.innocent[half(s.heldOut)].n++
		if report == nil {
			result.innocent[half(s.heldOut)].found++
		} else {
			result.alarms = append(result.alarms, fmt.Sprintf("%v %s\n      -> %s", s.heldOut, s.text, outs[0]))
		}
	}
	return result
}

func TestTheCorporaAreLargeEnough(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	secrets := secretSamples(t)
	for _, s := range secrets {
		kinds[s.kind] = true
		if len(s.pieces) == 0 {
			t.Errorf("%s in %s has no secret in it: %s", s.kind, s.context, s.text)
		}
		if s.mode == "json" && !json.Valid([]byte(s.text)) {
			t.Errorf("%s in %s is not JSON: %s", s.kind, s.context, s.text)
		}
	}
	if len(secrets) < 200 || len(kinds) < 60 || len(innocentSamples(t)) < 300 {
		t.Errorf("%d secrets of %d kinds, %d innocents", len(secrets), len(kinds), len(innocentSamples(t)))
	}
}

// The floors are what was reached when they were set, less a little for the
// innocents: a new word for a name may cost one. A secret that is missed is a
// defect of a format that was found before, so there the floor is the score.
const (
	secretFloor   = 1.0
	innocentFloor = 0.99
	cutFloor      = 0.999
)

func TestSecretsAreFoundAndInnocentsLeftAlone(t *testing.T) {
	t.Parallel()
	result := measure(t)
	slices.Sort(result.misses)
	for _, miss := range result.misses {
		t.Log("missed: ", miss)
	}
	for _, alarm := range result.alarms {
		t.Log("alarm: ", alarm)
	}
	for i, name := range []string{"tuned", "held out"} {
		if share := result.secret[i].share(); share < secretFloor {
			t.Errorf("%s: %v secrets found, want a share of %v", name, result.secret[i], secretFloor)
		}
		if share := result.innocent[i].share(); share < innocentFloor {
			t.Errorf("%s: %v innocents left alone, want a share of %v", name, result.innocent[i], innocentFloor)
		}
	}
	checkPage(t, result)
}

const (
	tableBegins = "<!-- score: written by go test ./internal/redact -run Innocents -update -->\n"
	tableEnds   = "<!-- end of score -->\n"
)

// checkPage sees that docs/redaction.md has the score that was measured.
func checkPage(t *testing.T, result score) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "redaction.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), tableBegins)
	_, after, closed := strings.Cut(rest, tableEnds)
	if !found || !closed {
		t.Fatalf("%s has no place for the score", path)
	}
	want := before + tableBegins + result.table() + tableEnds + after
	if string(raw) == want {
		return
	}
	if !*update {
		t.Fatalf("%s has another score than was measured: run this test with -update", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table is the score in Markdown.
func (r score) table() string {
	var b strings.Builder
	b.WriteString("| | used while the rules were made | held out |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| secrets of which nothing is left | %v | %v |\n", r.secret[0], r.secret[1])
	fmt.Fprintf(&b, "| innocent strings left as they were | %v | %v |\n\n", r.innocent[0], r.innocent[1])
	b.WriteString("| Kind | found | | Kind | found | | Kind | found |\n|---|---|---|---|---|---|---|---|\n")
	names := slices.Sorted(maps.Keys(r.kinds))
	rows := (len(names) + 2) / 3
	for row := range rows {
		var cells []string
		for column := range 3 {
			cell := " | "
			if i := column*rows + row; i < len(names) {
				cell = fmt.Sprintf("%s | %v", names[i], *r.kinds[names[i]])
			}
			cells = append(cells, cell)
		}
		b.WriteString("| " + strings.Join(cells, " | | ") + " |\n")
	}
	return b.String()
}

// TestThePageNamesEveryReason keeps the page's list of reasons whole.
func TestThePageNamesEveryReason(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "redaction.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range redact.Reasons() {
		if !strings.Contains(string(raw), "`"+string(reason)+"`") {
			t.Errorf("docs/redaction.md does not name `%s`", reason)
		}
	}
}
