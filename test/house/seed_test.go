package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	citedTest   = regexp.MustCompile("`((?:Test|Fuzz|Example)[A-Za-z0-9_]*)`")
	citedScript = regexp.MustCompile("`([a-z-]+\\.txtar)`")
)

// A page that says which test shows which sentence is worth nothing once a test
// has another name.
func TestEveryTestThatAPageNamesIsThere(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	for _, pkg := range tree(t) {
		for _, file := range pkg.files {
			if file.test {
				for _, name := range functions(file) {
					there[name] = true
				}
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "seed-*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no such pages (%v)", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		cited := citedTest.FindAllSubmatch(text, -1)
		if len(cited) < 10 {
			t.Errorf("%s names %d tests", filepath.Base(page), len(cited))
		}
		for _, match := range cited {
			if name := string(match[1]); !there[name] {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(page), name)
			}
		}
		for _, match := range citedScript.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, "cmd", "deed", "testdata", "script", string(match[1]))); err != nil {
				t.Errorf("%s names the script %s, which is not there", filepath.Base(page), match[1])
			}
		}
		for number, line := range strings.Split(string(text), "\n") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			if strings.HasPrefix(line, "| ") && len(cells) < 2 {
				t.Errorf("%s:%d: a sentence stands without what shows it: %s", filepath.Base(page), number+1, line)
			}
		}
	}
}

// functions are the names of a file's functions that are no methods.
func functions(file goFile) []string {
	var names []string
	for _, declaration := range file.syntax.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
			names = append(names, function.Name.Name)
		}
	}
	return names
}
