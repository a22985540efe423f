package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/deed-dev/deed"

// root is the repository, seen from this package's folder.
const root = "../.."

// goPackage is one folder of Go files, whatever system they are for.
type goPackage struct {
	dir   string // slash-separated, from the root
	files []goFile
}

type goFile struct {
	path      string // slash-separated, from the root
	test      bool
	generated bool
	lines     int
	syntax    *ast.File
	positions *token.FileSet
}

// imports lists what the package's files import; its tests are left out.
func (p goPackage) imports() []string {
	seen := map[string]bool{}
	var list []string
	for _, file := range p.files {
		if file.test {
			continue
		}
		for _, spec := range file.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil || seen[name] {
				continue
			}
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// hasCode says that the package is more than tests.
func (p goPackage) hasCode() bool {
	for _, file := range p.files {
		if !file.test {
			return true
		}
	}
	return false
}

// readTree parses the repository once for all tests.
var readTree = sync.OnceValues(func() (map[string]goPackage, error) {
	tree := map[string]goPackage{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && skipped(entry.Name()) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := readGo(name)
		if err != nil {
			return err
		}
		dir := path.Dir(file.path)
		pkg := tree[dir]
		pkg.dir = dir
		pkg.files = append(pkg.files, file)
		tree[dir] = pkg
		return nil
	})
	return tree, err
})

// skipped names folders that hold no code of ours.
func skipped(name string) bool {
	return name == "testdata" || name == "node_modules" || name == "bin" ||
		strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func readGo(name string) (goFile, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return goFile{}, err
	}
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, name, source, parser.ParseComments)
	if err != nil {
		return goFile{}, err
	}
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return goFile{}, err
	}
	return goFile{
		path:      filepath.ToSlash(relative),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(syntax),
		lines:     strings.Count(string(source), "\n"),
		syntax:    syntax,
		positions: positions,
	}, nil
}

func tree(t *testing.T) map[string]goPackage {
	t.Helper()
	packages, err := readTree()
	if err != nil {
		t.Fatalf("read the repository: %v", err)
	}
	if _, found := packages["internal/wire"]; !found {
		t.Fatalf("read %d packages below %s and internal/wire is not among them", len(packages), root)
	}
	return packages
}

// npm packages bring Go files of their own along; without this line go vet
// and the linters would take them for ours.
func TestGoLooksAwayFromNodeModules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "./test/npm/node_modules") {
		t.Error("go.mod does not ignore test/npm/node_modules; run: go mod edit -ignore=./test/npm/node_modules")
	}
}
