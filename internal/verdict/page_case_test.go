package verdict

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/evidence"
)

// pageTypes are what the page describes, by the marks around their tables.
var pageTypes = map[string]reflect.Type{
	"Case": reflect.TypeFor[caseForm](), "Declaration": reflect.TypeFor[Declaration](), "Fact": reflect.TypeFor[evidence.Fact](),
	"Source": reflect.TypeFor[evidence.Source](), "governingForm": reflect.TypeFor[governingForm](), "History": reflect.TypeFor[historyForm](),
	"Shared": reflect.TypeFor[Shared](), "Compensator": reflect.TypeFor[Compensator](), "Target": reflect.TypeFor[Target](),
	"Previous": reflect.TypeFor[Previous](), "PreviousCheck": reflect.TypeFor[PreviousCheck](),
	"Verdict": reflect.TypeFor[Verdict](), "Lens": reflect.TypeFor[Lens](), "Check": reflect.TypeFor[Check](), "Reason": reflect.TypeFor[Reason](),
	"Seen": reflect.TypeFor[Seen](), "Wait": reflect.TypeFor[Wait](), "Compensation": reflect.TypeFor[Compensation](),
}

var (
	membersTable = regexp.MustCompile(`(?s)<!-- members (\w+) -->\n(.*?)<!-- members end -->`)
	quoted       = regexp.MustCompile("`([^`]+)`")
)

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(casePage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page is for people who have no other source: a member that it leaves out
// is a program that gets another digest.
func TestThePageDescribesEveryMember(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for _, table := range membersTable.FindAllStringSubmatch(readPage(t), -1) {
		name := table[1]
		kind, known := pageTypes[name]
		if !known {
			t.Errorf("the page describes %s, which is not there", name)
			continue
		}
		described[name] = true
		fields := map[string]formField{}
		addFields(fields, kind)
		for _, row := range strings.Split(strings.TrimSpace(table[2]), "\n")[2:] {
			cells := strings.Split(strings.Trim(row, "| "), " | ")
			for _, member := range quoted.FindAllStringSubmatch(cells[0], -1) {
				field, known := fields[member[1]]
				if !known {
					t.Errorf("%s has no member %s", name, member[1])
				} else if always := strings.Contains(row, "| yes |"); always == field.optional {
					t.Errorf("%s: the page says of %s that always is %v", name, member[1], always)
				}
				delete(fields, member[1])
			}
		}
		for missing := range fields {
			t.Errorf("the page does not describe the member %s of %s", missing, name)
		}
	}
	for name := range pageTypes {
		if !described[name] {
			t.Errorf("the page does not describe %s", name)
		}
	}
}

func TestThePageNamesEveryRole(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(readPage(t), "<!-- roles -->\n")
	table, _, _ := strings.Cut(rest, "<!-- roles end -->")
	var onPage []string
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		for _, role := range quoted.FindAllStringSubmatch(strings.Split(row, " | ")[0], -1) {
			onPage = append(onPage, role[1])
		}
	}
	inCode := roles(t)
	slices.Sort(onPage)
	slices.Sort(inCode)
	if !slices.Equal(onPage, inCode) {
		t.Errorf("the page has the roles %v, the code %v", onPage, inCode)
	}
}

// roles reads the constants of the type Role from the code.
func roles(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "verdict.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "Role" {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, word)
		}
		return true
	})
	if len(found) < 5 {
		t.Fatalf("found only the roles %v", found)
	}
	return found
}
