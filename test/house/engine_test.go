package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An amount that was a binary floating-point number for one moment is no longer
// the amount that was declared: 0.1 + 0.2 would pass for something else than 0.3.
func TestTheEngineHasNoFloatingPoint(t *testing.T) {
	t.Parallel()
	eachEngineFile(t, func(file goFile) {
		for _, found := range floats(file) {
			t.Errorf("%s:%s; amounts are exact decimals", file.path, found)
		}
	})
}

// A verdict that depends on when or where it is made cannot be checked.
func TestTheEngineHasNoClockAndNoChance(t *testing.T) {
	t.Parallel()
	eachEngineFile(t, func(file goFile) {
		for _, found := range clocks(file) {
			t.Errorf("%s:%s; what a verdict depends on is in its case", file.path, found)
		}
	})
}

// eachEngineFile looks at the code of the engine without its tests.
func eachEngineFile(t *testing.T, look func(goFile)) {
	t.Helper()
	seen := map[string]bool{}
	for dir, pkg := range tree(t) {
		if !below(dir, engine...) {
			continue
		}
		seen[dir] = true
		for _, file := range pkg.files {
			if !file.test {
				look(file)
			}
		}
	}
	for _, dir := range engine {
		if !seen[dir] {
			t.Errorf("there is no %s, so that nothing was looked at", dir)
		}
	}
}

// floats lists where a file has to do with floating point, as line: what.
func floats(file goFile) []string {
	var found []string
	add := func(node ast.Node, what string) {
		found = append(found, fmt.Sprintf("%d: %s", file.positions.Position(node.Pos()).Line, what))
	}
	for _, spec := range file.syntax.Imports {
		if slices.Contains([]string{`"math"`, `"math/cmplx"`}, spec.Path.Value) {
			add(spec, "imports "+spec.Path.Value)
		}
	}
	integers := map[ast.Node]bool{} // that are written like 1e6
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CompositeLit:
			for _, element := range node.Elts {
				integers[element] = listsIntegers(node)
			}
		case *ast.SelectorExpr:
			// ParseFloat of strconv, NewFromFloat and InexactFloat64 of decimal,
			// Float of big, Seconds of a duration, and whatever is named alike.
			// FloatNode is how the YAML library calls a number, whose text is read.
			if name := node.Sel.Name; strings.Contains(name, "Float") && name != "FloatNode" || slices.Contains([]string{"Seconds", "Minutes", "Hours"}, name) {
				add(node, name)
			}
		case *ast.Ident:
			if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, node.Name) {
				add(node, node.Name)
			}
		case *ast.BasicLit:
			if (node.Kind == token.FLOAT || node.Kind == token.IMAG) && !integers[node] {
				add(node, node.Value)
			}
		}
		return true
	})
	return found
}

// listsIntegers says that a composite is a list of integers.
func listsIntegers(composite *ast.CompositeLit) bool {
	list, ok := composite.Type.(*ast.ArrayType)
	if !ok {
		return false
	}
	element, ok := list.Elt.(*ast.Ident)
	return ok && slices.Contains([]string{"int", "int64", "uint64"}, element.Name)
}

// clocks lists where a file reads a clock, waits, or throws dice.
func clocks(file goFile) []string {
	var found []string
	add := func(node ast.Node, what string) {
		found = append(found, fmt.Sprintf("%d: %s", file.positions.Position(node.Pos()).Line, what))
	}
	for _, spec := range file.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err == nil && below(name, "math/rand", "crypto/rand", "github.com/google/uuid") {
			add(spec, "imports "+spec.Path.Value)
		}
	}
	ast.Inspect(file.syntax, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		for _, name := range []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Sleep", "Local", "LoadLocation"} {
			if isSelector(selector, "time", name) {
				add(selector, "time."+name)
			}
		}
		return true
	})
	return found
}

// The rules above are only worth something if a breach is seen.
func TestABreachOfTheEnginesRulesIsFound(t *testing.T) {
	t.Parallel()
	const source = `package p

import "math"
import "math/rand/v2"

func f(d decimal.Decimal, took time.Duration) float64 {
	x, _ := strconv.ParseFloat("0.1", 64)
	y := decimal.NewFromFloat(0.1)
	return took.Seconds()
}

func g(d decimal.Decimal, i Instant) { _ = time.Now(); _ = i.Time() }

var tens = [...]int64{1, 1e1, 1e2}
`
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := goFile{syntax: syntax, positions: positions}
	wantFloats := []string{`3: imports "math"`, "6: float64", "7: ParseFloat", "8: NewFromFloat", "8: 0.1", "9: Seconds"}
	if got := floats(file); !slices.Equal(got, wantFloats) {
		t.Errorf("found %q, want %q", got, wantFloats)
	}
	wantClocks := []string{`4: imports "math/rand/v2"`, "12: time.Now"}
	if got := clocks(file); !slices.Equal(got, wantClocks) {
		t.Errorf("found %q, want %q", got, wantClocks)
	}
}
