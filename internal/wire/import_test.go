package wire

import (
	"os/exec"
	"strings"
	"testing"
)

// The wire must not be able to parse, log or store what it carries, not even
// through something that it imports.
func TestTheWireCannotParseLogOrStore(t *testing.T) {
	t.Parallel()
	format := `{{.ImportPath}} {{if .Standard}}standard{{else}}other{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", format, ".").Output()
	if err != nil {
		t.Fatalf("list what the package imports: %v", err)
	}
	forbidden := []string{"encoding", "log", "database", "net", "text", "html", "regexp", "unicode/utf16"}
	seen := 0
	for line := range strings.Lines(string(out)) {
		path, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
		seen++
		if kind != "standard" && path != "github.com/deed-dev/deed/internal/wire" {
			t.Errorf("the wire imports %s", path)
		}
		for _, tree := range forbidden {
			if path == tree || strings.HasPrefix(path, tree+"/") {
				t.Errorf("the wire imports %s", path)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages were listed:\n%s", seen, out)
	}
}
