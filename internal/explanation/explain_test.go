package explanation_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/value"
)

var update = flag.Bool("update", false, "write the golden files")

// contracts are all contracts of the repository, by their paths.
func contracts(t *testing.T, patterns ...string) map[string]*contract.Contract {
	t.Helper()
	found := map[string]*contract.Contract{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: there are no files (%v)", pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, ".test.yaml") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			k, err := contract.Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			found[name] = k
		}
	}
	return found
}

const (
	language  = "../contract/testdata/valid/*.yaml"
	scenarios = "../../testdata/scenarios/contracts/*.yaml"
	library   = "../../contracts/*.yaml"
)

func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date; it is now\n%s", name, got)
	}
}

// The sentences were read against the rules of the language when they were
// written; the golden files show in review what a change of words does.
func TestContractsAreExplainedInTheseWords(t *testing.T) {
	t.Parallel()
	for path, k := range contracts(t, language, scenarios) {
		t.Run(k.ID, func(t *testing.T) {
			t.Parallel()
			name := strings.TrimSuffix(filepath.Base(path), ".yaml")
			if strings.Contains(path, "scenarios") {
				name = "scenario_" + name
			}
			golden(t, name+".txt", explanation.Explain(k).Plain(96))
		})
	}
}

func TestADocumentIsMarkdown(t *testing.T) {
	t.Parallel()
	for _, k := range contracts(t, "../contract/testdata/valid/refund.yaml") {
		golden(t, "refund.md", explanation.Explain(k).Markdown())
	}
}

var moneyLiteral = regexp.MustCompile(`money\(["']([^"']+)["']\)`)

func TestNothingOfAContractIsLeftOut(t *testing.T) {
	t.Parallel()
	for path, k := range contracts(t, language, scenarios, library) {
		text := strings.Join(strings.Fields(explanation.Explain(k).Markdown()), " ")
		text = strings.ReplaceAll(text, `\`, "")
		must := func(what string) {
			if what != "" && !strings.Contains(text, what) {
				t.Errorf("%s: %q is nowhere", path, what)
			}
		}
		observed := func(o contract.Observation) {
			for _, what := range append(o.From, o.ID, o.Expect) {
				must(what)
			}
			for _, e := range []*condition.Expr{o.When, o.Where} {
				if e == nil {
					continue
				}
				for _, ref := range e.Refs() {
					must(ref.Name)
				}
			}
		}
		spans := []time.Duration{k.Settle.After, k.Settle.MaxSkew}
		if k.Settle.Grace > 0 {
			spans = append(spans, k.Settle.Grace)
		}
		must(k.ID)
		for _, s := range k.Sources {
			must(s.Name)
			must(s.Trust.String())
		}
		for _, p := range k.Params {
			must(p.Name)
		}
		for _, l := range k.Link {
			must(l.Ref)
			must(l.Param)
		}
		for _, s := range k.Steps {
			observed(s.Observation)
			must(s.After)
			spans = append(spans, s.Window.Within)
		}
		for _, n := range k.Never {
			observed(n.Observation)
		}
		for _, s := range k.State {
			observed(s.Observation)
			spans = append(spans, s.Window.Within)
		}
		for _, l := range k.Limits {
			must(l.ID)
			if r := l.Rolling; r != nil {
				spans = append(spans, r.Over)
				if r.Total != nil {
					must(r.MaxTotal.String())
				}
			}
		}
		for _, a := range k.Approvals {
			observed(a.Observation)
			must(a.Before)
			spans = append(spans, a.Lookback)
		}
		for _, found := range moneyLiteral.FindAllStringSubmatch(k.Text, -1) {
			must(found[1])
		}
		for _, d := range spans {
			if d > 0 {
				must(explanation.Span(d))
			}
		}
		if k.Compensation != nil {
			must(k.Compensation.By)
		}
		must(k.Evidence.SameEffect)
		must(k.Evidence.Decides)
		for _, n := range k.NotChecked {
			must(n)
		}
	}
}

func TestEverySentenceHasANumberOfItsOwnAndSaysWhatItSpeaksOf(t *testing.T) {
	t.Parallel()
	for path, k := range contracts(t, language, scenarios, library) {
		var numbers []string
		for _, section := range explanation.Explain(k).Sections {
			if len(section.Sentences) == 0 {
				t.Errorf("%s: %s says nothing", path, section.Name)
			}
			for _, s := range section.Sentences {
				if slices.Contains(numbers, s.Number) || len(s.Keys) == 0 || !strings.HasSuffix(s.Text, ".") || strings.Contains(s.Text, "%!") {
					t.Errorf("%s: %+v", path, s)
				}
				numbers = append(numbers, s.Number)
			}
		}
	}
}

func TestATimeSpanIsSaidExactly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ written, said string }{
		{"30s", "30 seconds"},
		{"1m", "1 minute"},
		{"90m", "1 hour 30 minutes"},
		{"1h", "1 hour"},
		{"24h", "24 hours"},
		{"48h", "48 hours"},
		{"3d", "72 hours"},
		{"1d12h", "36 hours"},
		{"4d", "4 days"},
		{"1w", "7 days"},
		{"30d", "30 days"},
		{"4d12h", "4 days 12 hours"},
		{"1h1m1s", "1 hour 1 minute 1 second"},
		{"0s", "0 seconds"},
	} {
		d, err := contract.ParseDuration(test.written)
		if err != nil {
			t.Fatal(err)
		}
		if got := explanation.Span(d); got != test.said {
			t.Errorf("%s is %q, want %q", test.written, got, test.said)
		}
	}
}

func TestAConditionIsSaidSoThatItMeansOneThing(t *testing.T) {
	t.Parallel()
	scope := condition.Scope{Fact: true, Params: map[string]value.Kind{
		"amount": value.Money, "urgent": value.Bool, "n": value.Decimal, "due": value.Time, "tags": value.List,
	}}
	for _, test := range []struct{ written, said string }{
		{`fact.amount == params.amount`, "the fact's amount equals the declared amount"},
		{`params.amount <= money("250.00 USD")`, "the declared amount is at most 250.00 USD"},
		{`params.urgent`, "the declared urgent is true"},
		{`!params.urgent`, "the declared urgent is false"},
		{`fact.ok`, "the fact's ok is true"},
		{`params.urgent && params.n > 2`, "the declared urgent is true and the declared n is more than 2"},
		{`params.urgent || params.n < 2 && !params.urgent`, "either the declared urgent is true or (the declared n is less than 2 and the declared urgent is false)"},
		{`!(params.n > 2 || params.urgent)`, "it is not so that (either the declared n is more than 2 or the declared urgent is true)"},
		{`params.n >= 2.50`, "the declared n is at least 2.50"},
		{`fact.status in ["a", "b", "c"]`, `the fact's status is one of "a", "b" and "c"`},
		{`!(fact.status in ["a"])`, `the fact's status is none of "a"`},
		{`fact.status in params.tags`, "the fact's status is an element of the declared tags"},
		{`fact.note != ' a  b '`, `the fact's note differs from " a  b "`},
		{`params.due < action.received_at`, "the declared due is before the action's received_at"},
		{`fact.code.startsWith("R-")`, `the fact's code begins with "R-"`},
		{`fact.code.matches("^R-[0-9]+$")`, `the fact's code matches the pattern "^R-[0-9]+$"`},
		{`size(fact.items) == 2`, "the size of the fact's items equals 2"},
		{`fact.items.exists(i, i == "x")`, `for at least one element of the fact's items, here called i: i equals "x"`},
		{`fact.items.all(i, i > 1 && i < 4)`, "for every element of the fact's items, here called i: (i is more than 1 and i is less than 4)"},
		{`params.n * 2 + 1 == 5`, "((the declared n times 2) plus 1) equals 5"},
		{`-params.n < 0`, "(minus the declared n) is less than 0"},
		{`(params.urgent ? 1 : 2) == params.n`, "(1 if the declared urgent is true, and otherwise 2) equals the declared n"},
		{`params.urgent ? params.n > 1 : params.n > 2`, "if the declared urgent is true, the declared n is more than 1, and if not, the declared n is more than 2"},
		{`params.urgent == (params.n > 1)`, "the declared urgent equals whether (the declared n is more than 1)"},
		{`true`, "in every case"},
	} {
		e, err := condition.Parse(test.written, scope)
		if err != nil {
			t.Fatalf("%s: %v", test.written, err)
		}
		if got := explanation.Condition(e); got != test.said {
			t.Errorf("%s\n is %s\nwant %s", test.written, got, test.said)
		}
	}
}

func TestLinesEndWhereTheTerminalDoes(t *testing.T) {
	t.Parallel()
	for _, k := range contracts(t, language) {
		for _, line := range strings.Split(explanation.Explain(k).Plain(60), "\n") {
			if utf8.RuneCountInString(line) > 60 && len(strings.Fields(line)) > 2 {
				t.Errorf("%q is too long", line)
			}
		}
	}
}

func TestMarkdownInAContractIsShownAndNotActedOn(t *testing.T) {
	t.Parallel()
	k, err := contract.Parse([]byte("contract: c\ntitle: \"<b>x</b> [y](z)\\n# w\"\nsettle: {after: 1h}\nsources: {a: {trust: attested}}\nsteps: [{id: s, expect: a.b}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(explanation.Explain(k).Markdown(), "\n")
	if want := `# c: \<b\>x\</b\> \[y\](z) \# w`; first != want {
		t.Errorf("the heading is %s, want %s", first, want)
	}
}
