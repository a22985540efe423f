package verdict

import (
	"bytes"
	"encoding/json"
	"fmt"
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

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
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

const exampleContract = `contract: refund_workflow
params:
  amount: {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.idempotency_key == action_id
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: single_cap, check: params.amount <= money("250.00 USD")}
`

// exampleCase is the page's: 180.00 USD were declared, 18.00 USD were refunded.
func exampleCase(t *testing.T) *Case {
	t.Helper()
	governing, err := contract.Parse([]byte(exampleContract))
	if err != nil {
		t.Fatal(err)
	}
	c := refundCase(t)
	c.Governing.Contract = governing
	refund := c.Facts[1]
	refund.Attrs = map[string]value.Value{"amount": value.OfMoney(amount(t, "18.00 USD"))}
	c.Facts = []evidence.Fact{refund}
	c.Sources = c.Sources[1:2]
	c.History = nil
	return c
}

func TestTheExampleOfThePageIsWhatItsCaseComesTo(t *testing.T) {
	t.Parallel()
	c := exampleCase(t)
	v, err := Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	// What the page says of its example: a certain failure of the one lens, and
	// a declaration that was allowed.
	if v.Outcome.Result != Fail || !slices.Equal(v.Outcome.Codes, []Code{ValueMismatch}) ||
		v.Conformance.Result != Pass || v.Status != Settled || !v.Decided {
		t.Fatalf("the example comes to %s", v.AppendJSON(nil))
	}
	var page strings.Builder
	fmt.Fprintf(&page, "\n```json\n%s\n```\n\nIts digest is\n`%s`.\nIt comes to this verdict:\n\n```json\n%s\n```\n\nIts digest is\n`%s`.\n\n",
		indented(t, c.AppendJSON(nil)), c.Digest(), indented(t, v.AppendJSON(nil)), v.Digest())
	generated(t, casePage, "example", page.String())
	followPage(t)
}

func indented(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// followPage does what a reader does who has no more than a JSON library.
func followPage(t *testing.T) {
	t.Helper()
	_, example, _ := strings.Cut(readPage(t), "<!-- example -->")
	parts := strings.Split(example, "```json\n")
	if len(parts) != 3 {
		t.Fatalf("the page has %d JSON blocks in its example, want a case and a verdict", len(parts)-1)
	}
	caseText, afterCase, _ := strings.Cut(parts[1], "```")
	verdictText, afterVerdict, _ := strings.Cut(parts[2], "```")
	c, err := DecodeCase([]byte(caseText))
	if err != nil {
		t.Fatal(err)
	}
	v, err := Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := resort(t, []byte(verdictText)); !bytes.Equal(v.AppendJSON(nil), want) {
		t.Errorf("the page's case comes to\n%s, the page says\n%s", v.AppendJSON(nil), want)
	}
	digests := regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	if got := digests.FindString(afterCase); got != c.Digest() || got != v.Case {
		t.Errorf("the case's digest is %s, the page says %s", c.Digest(), got)
	}
	if got := digests.FindString(afterVerdict); got != v.Digest() {
		t.Errorf("the verdict's digest is %s, the page says %s", v.Digest(), got)
	}
}
