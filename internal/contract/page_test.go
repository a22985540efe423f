package contract

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/parser"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

const (
	languagePage    = "../../docs/contract-language.md"
	languageExample = "testdata/valid/language.yaml" // every key, in a contract that can be read
)

func TestTheLanguagesPageSaysWhatTheParserDoes(t *testing.T) {
	t.Parallel()
	golden(t, languagePage, writePage(t))
}

func TestTheExampleOfThePageUsesEveryKeyAndIsLaidOut(t *testing.T) {
	t.Parallel()
	shown := examples(t)
	for _, key := range keys {
		if shown[key.Path()] == "" {
			t.Errorf("%s has no example", key.Path())
		}
	}
	source, err := os.ReadFile(languageExample)
	if err != nil {
		t.Fatal(err)
	}
	if out := format(t, string(source)); out != string(source) {
		t.Errorf("it is laid out otherwise:\n%s", out)
	}
	c, err := Parse(source)
	if err != nil || len(c.Warnings) > 0 {
		t.Errorf("%v, %v", err, c.Warnings)
	}
}

// examples are the values that the example has for each key, the first of each.
func examples(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile(languageExample)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseBytes(source, 0)
	if err != nil {
		t.Fatal(err)
	}
	d := &drawing{lines: strings.Split(string(source), "\n")}
	root := d.shape(file.Docs[0].Body, nil)
	shown := map[string]string{}
	var walk func(s *shape, in string)
	walk = func(s *shape, in string) {
		for _, p := range s.parts {
			i := slices.IndexFunc(keys[:], func(k Key) bool { return k.In == in && k.Name == p.name })
			if i < 0 {
				continue
			}
			if text := p.name + ": " + flowText(p.value); shown[keys[i].Path()] == "" {
				shown[keys[i].Path()] = text
			}
			below := []*shape{p.value}
			if keys[i].Named || p.value.kind == sequence {
				below = nil
				for _, q := range p.value.parts {
					below = append(below, q.value)
				}
			}
			for _, b := range below {
				walk(b, keys[i].Path())
			}
		}
	}
	walk(root, "")
	return shown
}

func writePage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`# The contract language

A contract says in YAML what must, may and must not follow an action, and what the action was allowed to be. This page is the
reference: every key, every form, every bound. To learn the language, begin with the [tutorial](tutorial.md).

The page is made from the parser's own table of keys (` + "`go test ./internal/contract -run Page -update`" + `), its messages and its bounds.

## In an editor

[contract.schema.json](contract.schema.json) is the language as JSON Schema; the program prints the one of its own version:

` + "```sh\ndeed contract schema > contract.schema.json\n```" + `

Editors with a language server for YAML complete keys and show their meaning where the contract begins with

` + "```text\n# yaml-language-server: $schema=contract.schema.json\n```" + `

The schema knows names, forms and places. What a condition means, and whether a step that is named is there, says
` + "`deed contract validate`; `deed contract fmt`" + ` lays a contract out in the order of this page.

`)
	writeKeys(t, &b)
	writeForms(&b)
	writeConditions(t, &b)
	writeRefusals(t, &b)
	writeBounds(&b)
	source, err := os.ReadFile(languageExample)
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n## All of it\n\nEvery key in one contract, from which the examples above are taken.\n\n```yaml\n" + string(source) + "```\n")
	return b.String()
}

// headings say what a table of keys belongs to.
var headings = map[string]string{
	"":                "The contract",
	"applies_to":      "applies_to",
	"params":          "params: each parameter",
	"settle":          "settle",
	"sources":         "sources: each source",
	"steps":           "steps: each step",
	"steps.count":     "steps.count, where it is no number",
	"steps.sum":       "steps.sum",
	"never":           "never: each entry",
	"state":           "state: each entry",
	"limits":          "limits: each limit",
	"approvals":       "approvals: each approval",
	"compensation":    "compensation",
	"evidence":        "evidence",
	"verified_amount": "verified_amount",
	"orphans":         "orphans",
}

func writeKeys(t *testing.T, b *strings.Builder) {
	t.Helper()
	shown := examples(t)
	b.WriteString("## Keys\n")
	var order []string
	for _, k := range keys {
		if !slices.Contains(order, k.In) {
			order = append(order, k.In)
		}
	}
	for _, in := range order {
		heading, known := headings[in]
		if !known {
			t.Fatalf("the mapping %s has no heading", in)
		}
		fmt.Fprintf(b, "\n### %s\n\n| Key | Takes | Left out | Meaning | Example |\n|---|---|---|---|---|\n", heading)
		for _, k := range keys {
			if k.In != in {
				continue
			}
			left := cmpOr(k.Default, "–")
			if k.Required {
				left = "**required**"
			}
			example := shown[k.Path()]
			switch {
			case k.Kind == MappingKind && (k.List || k.Named):
				example = "see below"
			default:
				example = "`" + example + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Name, takes(k), cell(left), cell(k.Sentence), cell(example))
		}
	}
	b.WriteString(`
A limit has one of ` + "`check`, `total` and `count`" + `; the last two want ` + "`max` and `over`" + `. A contract whose only source is used everywhere
may leave ` + "`from`" + ` out, and one with a single step ` + "`before`" + `.
`)
}

// takes names what a key takes.
func takes(k Key) string {
	what := string(k.Kind)
	switch k.Kind {
	case WordKind:
		what = "`" + strings.Join(k.Words, "`, `") + "`"
	case MappingKind:
		what = "keys"
	case CountKind:
		what = "integer or keys"
	case BoundKind:
		what = "integer or amount"
	}
	switch {
	case k.Named:
		return "names with " + what
	case k.List && k.Single:
		return what + " or a list"
	case k.List:
		return "list of " + what
	}
	return what
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func writeForms(b *strings.Builder) {
	fmt.Fprintf(b, `
## Forms

| Form | How it is written |
|---|---|
| text | any text of at most %d characters that is not blank. What YAML takes for a number or a boolean stands in quotes |
| id | letters, digits, `+"`_` and `-`"+`, at most %d, a letter first. The ids of all checks of a contract differ, and none is `+"`%s`"+` |
| contract id | likewise, and with dots |
| fact type | a family and a name joined by a dot: `+"`refund.succeeded`"+` |
| duration | `+"`30s`, `5m`, `48h`, `30d`, `1w`"+`, or a sum of these with the longer unit first: `+"`1d12h`"+`. A day has 24 hours. At most five years |
| money, amount | `+"`\"250.00 USD\"`"+`: exact, and never without a currency |
| currency | a code in capitals, or the name of a parameter of type currency |
| ref | `+"`refs.NAME`"+`: a key that facts carry to say what they belong to |
| link | `+"`refs.NAME == action_id`, `refs.NAME == subject_id`, `refs.NAME == params.NAME`, or `subject`"+` |
| condition, expression | see below; in quotes where it begins with a quote, a bracket or `+"`!`, or holds `: ` or ` #`"+` |

`, maxText, maxName, strings.Join(builtIn[:], "` or `"))
	b.WriteString("### Types of parameters\n\n| Type | What a declaration may give | In conditions |\n|---|---|---|\n")
	for _, t := range []struct {
		of    ParamType
		gives string
	}{
		{MoneyParam, "a number, `\"180.00\"`, `\"180.00 USD\"`, or `{\"amount\": \"180.00\", \"currency\": \"USD\"}`. With `unit: minor` whole numbers of the smallest unit"},
		{CurrencyParam, "a code, in capitals or not"},
		{StringParam, "a text"},
		{IntegerParam, "a whole number, or a text that is one"},
		{DecimalParam, "a number, or a text that is one; never rounded"},
		{BooleanParam, "true or false"},
		{TimestampParam, "a text such as `2026-10-15T12:00:00Z`; the zone is required"},
		{EnumParam, "one of `values`"},
		{ListParam, "a list"},
	} {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", t.of, t.gives, t.of.kind())
	}
}

// truths evaluates a condition in which p and q are what they are called.
type truths map[string]condition.Truth

// Value implements [condition.Names].
func (n truths) Value(ref condition.Ref) value.Value {
	switch n[ref.Name] {
	case condition.True:
		return value.OfBool(true)
	case condition.False:
		return value.OfBool(false)
	}
	return value.Value{}
}

var truthNames = map[condition.Truth]string{condition.True: "true", condition.False: "false", condition.Unknown: "unknown"}

func writeConditions(t *testing.T, b *strings.Builder) {
	t.Helper()
	kinds := func(of map[string]value.Kind) string {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			names = append(names, "`"+name+"` ("+of[name].String()+")")
		}
		return strings.Join(names, ", ")
	}
	fmt.Fprintf(b, `
## Conditions

Conditions are written in a subset of the [Common Expression Language](https://cel.dev). Numbers are exact decimals, amounts name their
currency, and what is not there is unknown. They read no clock, do no input or output, and cannot run long.

| Written | What it reads |
|---|---|
| `+"`action.NAME`"+` | the declaration: %s |
| `+"`params.NAME`"+` | a parameter that the contract declares |
| `+"`fact.NAME`"+` | the fact's own %s; any other name is one of its attributes |

`+"`when`, and `check`, `total`, `min`, `max` and `exactly`"+` cannot read a fact; `+"`orphans.where`"+` reads nothing else.

| Written | Meaning |
|---|---|
| `+"`\"text\"`, `'text'`, `12.50`, `true`, `[1, 2]`"+` | a text, an exact number, a truth, a list |
| `+"`money(\"250.00 USD\")`, `timestamp(\"2026-10-15T12:00:00Z\")`"+` | an amount, a time |
| `+"`==`, `!=`"+` | equal, different. Amounts in two currencies are neither |
| `+"`<`, `<=`, `>`, `>=`"+` | order of numbers, amounts in one currency, texts and times |
| `+"`&&`, `\\|\\|`, `!`"+` | and, or, not |
| `+"`+`, `-`, `*`"+` | exact arithmetic with numbers and amounts |
| `+"`x in [a, b]`"+` | x is one of them |
| `+"`c ? a : b`"+` | a where c is true, else b |
| `+"`s.startsWith(\"x\")`, `s.endsWith(\"x\")`, `s.contains(\"x\")`"+` | parts of a text |
| `+"`s.matches(\"[A-Z]+\")`"+` | a pattern of [RE2](https://github.com/google/re2/wiki/Syntax) that occurs in a text |
| `+"`size(x)`"+` | how many characters a text or elements a list has |
| `+"`list.exists(x, x > 1)`, `list.all(x, x > 1)`"+` | one element is so, all are |

### What is not known

An attribute that is missing, amounts in two currencies, and values of kinds that cannot be compared make a condition **unknown**:
never false, and never an error. Unknown goes on as far as it matters:

| p | q | p && q | p \|\| q | !p |
|---|---|---|---|---|
`, kinds(condition.ActionKinds()), kinds(condition.FactKinds()))
	order := []condition.Truth{condition.True, condition.False, condition.Unknown}
	for _, p := range order {
		for _, q := range order {
			cells := []string{truthNames[p], truthNames[q]}
			for _, text := range []string{"fact.p && fact.q", "fact.p || fact.q", "!fact.p"} {
				e, err := condition.Parse(text, condition.Scope{Fact: true})
				if err != nil {
					t.Fatal(err)
				}
				cells = append(cells, truthNames[e.Truth(truths{"p": p, "q": q}).Truth])
			}
			b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		}
	}
	b.WriteString("\nSo compare an amount's currency beside the amount: `fact.amount == params.amount && fact.currency == params.currency`\nis false, not unknown, for a payment in another currency.\n")
}

// refusedConditions are parts of the full language, and habits of other ones.
var refusedConditions = []string{
	`params.amount > 100`, `fact.amount / 2 == params.amount`, `has(fact.amount)`, `fact.amount == null`, `double(fact.amount) > 1`,
	`now() > fact.occurred_at`, `fact.items.map(x, x) == [1]`, `fact.items[0] == 1`, `fact.a == 1e3`, `fact.a = 1`, `fact.a and fact.b`,
	`fact.a == 1 // why`, `{"a": 1} == fact.a`, `money("250.00") < params.amount`, `params.ammount == fact.amount`, `amount > 1`,
}

// refusedTexts are what YAML has and contracts do not, each with the place
// where it would stand.
var refusedTexts = []struct{ what, text string }{
	{"anchors and aliases", "title: &t x\nowner: *t"},
	{"merge keys", "<<: {title: x}"},
	{"tags", "title: !!str x"},
	{"several contracts in a file", "title: x\n---\ncontract: y"},
	{"a key twice", "title: x\ntitle: y"},
	{"an unknown key", "titel: x"},
	{"a number where a text is wanted", "title: 010"},
	{"a duration without its unit", "settle: {after: 48}"},
}

func writeRefusals(t *testing.T, b *strings.Builder) {
	t.Helper()
	b.WriteString("\n### What is refused in conditions\n\n| Written | What is said | Instead |\n|---|---|---|\n")
	scope := condition.Scope{Params: map[string]value.Kind{"amount": value.Money}, Fact: true}
	for _, text := range refusedConditions {
		_, err := condition.Parse(text, scope)
		refused, ok := err.(*condition.Error)
		if !ok || refused.Hint == "" {
			t.Fatalf("%s: %v", text, err)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell(text), cell(refused.Message), cell(refused.Hint))
	}
	b.WriteString("\n## What is refused of YAML\n\nWhat two readers of YAML could take for two things is not part of the language.\n\n| What | What is said | Instead |\n|---|---|---|\n")
	for _, refused := range refusedTexts {
		_, err := Parse([]byte(refused.text))
		problems, ok := err.(Problems)
		if !ok {
			t.Fatalf("%s is accepted", refused.what)
		}
		// A part of a contract lacks much besides.
		i := slices.IndexFunc(problems, func(p Problem) bool { return !strings.HasSuffix(p.Message, "is missing") })
		if i < 0 {
			t.Fatalf("%s: %v", refused.what, err)
		}
		fmt.Fprintf(b, "| %s: `%s` | %s | %s |\n", refused.what, cell(strings.ReplaceAll(refused.text, "\n", "⏎")), cell(problems[i].Message), cell(problems[i].Hint))
	}
}

// conditionBounds are bounds of expressions, each with one that just keeps it
// and one that just does not.
var conditionBounds = []struct {
	what       string
	most       int
	keeps, not func(n int) string
}{
	{"bytes of a condition", 4096, padded, padded},
	{"brackets within each other in a condition", 31, nested, nested},
	{"`exists` and `all` within each other", 2, quantified, quantified},
	{"multiplications in a condition", 8, multiplied, multiplied},
	{"bytes of a pattern", 200, patterned, patterned},
}

func padded(n int) string { return "true" + strings.Repeat(" ", n-4) }
func nested(n int) string { return strings.Repeat("(", n) + "true" + strings.Repeat(")", n) }
func quantified(n int) string {
	text := "true"
	for i := range n {
		text = fmt.Sprintf("fact.l.all(x%d, %s)", i, text)
	}
	return text
}
func multiplied(n int) string { return "fact.a" + strings.Repeat(" * 2", n) + " == 1" }
func patterned(n int) string  { return `fact.a.matches("` + strings.Repeat("a", n) + `")` }

func TestTheBoundsOfThePageAreThoseOfConditions(t *testing.T) {
	t.Parallel()
	for _, bound := range conditionBounds {
		if _, err := condition.Parse(bound.keeps(bound.most), condition.Scope{Fact: true}); err != nil {
			t.Errorf("%d %s: %v", bound.most, bound.what, err)
		}
		if _, err := condition.Parse(bound.not(bound.most+1), condition.Scope{Fact: true}); err == nil {
			t.Errorf("%d %s are accepted", bound.most+1, bound.what)
		}
	}
}

func writeBounds(b *strings.Builder) {
	b.WriteString("\n## Bounds\n\n| At most | Of |\n|---|---|\n")
	row := func(n, what string) { fmt.Fprintf(b, "| %s | %s |\n", n, what) }
	row(fmt.Sprintf("%d KiB", maxBytes>>10), "a contract")
	row(fmt.Sprintf("%d KiB", maxLine>>10), "a line")
	row(fmt.Sprint(maxChecks), "checks of a contract")
	row(fmt.Sprint(maxKeys), "keys of a mapping")
	row(fmt.Sprint(maxNesting), "levels of mappings and lists")
	row(fmt.Sprint(maxText), "characters of a text")
	row(fmt.Sprint(maxName), "characters of a name")
	row(fmt.Sprint(maxCount), "a count")
	row(fmt.Sprintf("%d days", longest/day), "a duration")
	row(fmt.Sprintf("%d hours", day/time.Hour), "`settle.max_skew`")
	for _, bound := range conditionBounds {
		row(fmt.Sprint(bound.most), bound.what)
	}
}
