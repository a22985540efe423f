package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	maxFileLines         = 600
	maxMainLines         = 150
	maxContributingLines = 130
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for dir, pkg := range tree(t) {
		if !pkg.hasCode() && !below(dir, "test") {
			t.Errorf("%s has tests and no code", dir)
			continue
		}
		checkPackageComment(t, pkg)
	}
}

func checkPackageComment(t *testing.T, pkg goPackage) {
	t.Helper()
	var comments []string
	for _, file := range pkg.files {
		if file.syntax.Doc != nil && !strings.HasSuffix(file.syntax.Name.Name, "_test") {
			comments = append(comments, file.syntax.Doc.Text())
		}
	}
	if len(comments) == 0 {
		t.Errorf("%s has no package comment", pkg.dir)
		return
	}
	if len(comments) > 1 {
		t.Errorf("%s has %d package comments; readers see them run together", pkg.dir, len(comments))
		return
	}
	name := pkg.files[0].syntax.Name.Name
	begins := "Package " + strings.TrimSuffix(name, "_test") + " "
	if name == "main" {
		begins = "Command " + path.Base(pkg.dir) + " "
	}
	if !strings.HasPrefix(comments[0], begins) {
		t.Errorf("%s: the package comment begins with %q, not with %q", pkg.dir, firstWords(comments[0]), begins)
	}
	if words := len(strings.Fields(comments[0])); words < 15 {
		t.Errorf("%s: the package comment has %d words; say what it is for and what it must not do", pkg.dir, words)
	}
}

func firstWords(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(4, len(words))], " ")
}

func TestNoFileGrowsTooLongToRead(t *testing.T) {
	t.Parallel()
	for _, pkg := range tree(t) {
		for _, file := range pkg.files {
			if file.lines > maxFileLines && !file.generated {
				t.Errorf("%s has %d lines, the limit is %d: split it by concept", file.path, file.lines, maxFileLines)
			}
		}
	}
}

func TestMainFitsOnAPage(t *testing.T) {
	t.Parallel()
	checkLines(t, "cmd/deed/main.go", maxMainLines)
}

func TestContributingFitsOnAPage(t *testing.T) {
	t.Parallel()
	checkLines(t, "CONTRIBUTING.md", maxContributingLines)
}

func checkLines(t *testing.T, name string, limit int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(text), "\n"); lines >= limit {
		t.Errorf("%s has %d lines; it must stay below %d", name, lines, limit)
	}
}

func TestPackagesAreNounsOfTheField(t *testing.T) {
	t.Parallel()
	vague := []string{
		"util", "utils", "common", "helper", "helpers", "type", "types",
		"manager", "misc", "base", "shared", "lib", "core", "model", "models",
	}
	for dir, pkg := range tree(t) {
		for _, name := range strings.Split(dir, "/") {
			if slices.Contains(vague, name) {
				t.Errorf("%s: %q says nothing about what is inside", dir, name)
			}
		}
		for _, file := range pkg.files {
			stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(file.path), ".go"), "_test")
			if slices.Contains(vague, stem) {
				t.Errorf("%s: %q says nothing about what is inside", file.path, stem)
			}
		}
		name := path.Base(dir)
		name = strings.TrimSuffix(name, "postgres") // a name that only looks like a plural
		if strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && !strings.HasSuffix(name, "us") {
			t.Errorf("%s: name packages in the singular", dir)
		}
		if strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			t.Errorf("%s: package names are one small word", dir)
		}
	}
}

// A test that sleeps is slow on a good day and wrong on a bad one. Inside
// testing/synctest sleeping costs nothing and is exact, so it is allowed there,
// and a child that plays a server which hangs may do so: what is looked at is
// code that is handed a *testing.T, or another T.
func TestNoTestSleeps(t *testing.T) {
	t.Parallel()
	for _, pkg := range tree(t) {
		for _, file := range pkg.files {
			if !file.test || importsPath(file.syntax, "testing/synctest") {
				continue
			}
			for _, line := range sleepsInTests(file) {
				t.Errorf("%s:%d sleeps; wait for a signal or use testing/synctest", file.path, line)
			}
		}
	}
}

func TestASleepIsFoundInATestAndNotInItsChild(t *testing.T) {
	t.Parallel()
	const source = `package p

func TestX(t *testing.T) {
	go func() { time.Sleep(1) }()
}

func helper(t testing.TB, n int) { time.Sleep(1) }

func hang() { time.Sleep(1) }
`
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, "p_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := sleepsInTests(goFile{syntax: syntax, positions: positions})
	if want := []int{4, 7}; !slices.Equal(got, want) {
		t.Errorf("found sleeps in the lines %v, want %v", got, want)
	}
}

// sleepsInTests returns the lines in which code with a T sleeps.
func sleepsInTests(file goFile) []int {
	var lines []int
	for _, declaration := range file.syntax.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil || !takesT(function) {
			continue
		}
		ast.Inspect(function.Body, func(node ast.Node) bool {
			if call, ok := node.(*ast.SelectorExpr); ok && isSelector(call, "time", "Sleep") {
				lines = append(lines, file.positions.Position(call.Pos()).Line)
			}
			return true
		})
	}
	return lines
}

// takesT says that a parameter's type is a T, B, F or TB of some package.
func takesT(function *ast.FuncDecl) bool {
	return slices.ContainsFunc(function.Type.Params.List, func(field *ast.Field) bool {
		kind := field.Type
		if pointer, ok := kind.(*ast.StarExpr); ok {
			kind = pointer.X
		}
		selector, ok := kind.(*ast.SelectorExpr)
		return ok && slices.Contains([]string{"T", "B", "F", "TB"}, selector.Sel.Name)
	})
}

func isSelector(selector *ast.SelectorExpr, pkg, name string) bool {
	from, ok := selector.X.(*ast.Ident)
	return ok && from.Name == pkg && selector.Sel.Name == name
}

func importsPath(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool {
		return spec.Path.Value == `"`+name+`"`
	})
}
