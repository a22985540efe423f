package setting

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the page of settings anew")

const page = "../../docs/settings.md"

const head = `# Settings of the server

Every setting of ` + "`deed serve`" + `. This page is generated from the program (` + "`go test ./internal/setting -run TestThePage -update`" + `).

Each can be given in three ways. A flag goes before the environment, the environment before the file, the file before the default:

` + "```console" + `
$ deed serve --listen 127.0.0.1:8080
$ DEED_LISTEN=127.0.0.1:8080 deed serve
$ deed serve --config deed.yaml
` + "```" + `

The file has settings by name, ` + "`listen: 127.0.0.1:8080`" + `, one a line. A name that is no setting is an error with its line.
` + "`deed serve --print-config`" + ` shows every setting as it holds and where it came from, without secrets, and starts nothing.

A password has no place among the arguments of a process, where everybody on the machine can read it: a ` + "`database`" + ` URL with one
is taken from the environment or the file only, and so are ` + "`otlp-headers`" + `. An empty environment variable counts as absent.

`

func render() string {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("## Where things are kept\n\n`deed fsck`, `deed backup`, `deed restore` and `deed export` take these too.\n\n")
	rows(&b, For(Kept))
	b.WriteString("\n## Serving\n\n")
	rows(&b, For(Serving))
	return b.String()
}

func rows(b *strings.Builder, settings []Setting) {
	b.WriteString("| Setting | Environment | Value | Default | Meaning |\n|---|---|---|---|---|\n")
	for _, s := range settings {
		fallback := s.Absent
		if s.Default != "" {
			fallback = "`" + s.Default + "`"
		}
		meaning := s.Meaning
		if s.Secret() {
			meaning += " May hold a secret."
		}
		fmt.Fprintf(b, "| `%s` | `%s` | %s | %s | %s |\n", s.Name, s.Variable(), s.Form.Reads, fallback, strings.ReplaceAll(meaning, "|", `\|`))
	}
}

func TestThePageSaysWhatTheTableSays(t *testing.T) {
	t.Parallel()
	got := render()
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/settings.md is out of date (-page +program):\n%s", diff)
	}
}

func TestEverySettingIsDescribedWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range Table() {
		switch {
		case seen[s.Name]:
			t.Errorf("%s is there twice", s.Name)
		case s.Meaning == "" || !strings.HasSuffix(s.Meaning, "."):
			t.Errorf("%s: the meaning %q is no sentence", s.Name, s.Meaning)
		case (s.Default == "") == (s.Absent == ""):
			t.Errorf("%s says either what the default is or what holds without one", s.Name)
		case s.into == nil || s.Use == 0:
			t.Errorf("%s has no place or no use", s.Name)
		case s.Name != strings.ToLower(s.Name) || strings.ContainsAny(s.Name, "_ "):
			t.Errorf("%s is no name of a flag", s.Name)
		}
		seen[s.Name] = true
		if s.Default != "" {
			if err := s.into(&Config{}, s.Default); err != nil {
				t.Errorf("the default of %s: %v", s.Name, err)
			}
		}
	}
}
