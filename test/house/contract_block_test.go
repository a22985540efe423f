package house

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/scenario"
	"github.com/deed-dev/deed/internal/verdict"
)

// page is a document as its contracts and tests see it: the files that it has
// its reader save, and the contract that its fragments are part of.
type page struct {
	name  string
	files map[string]string
	base  string // the latest whole contract
}

// isContract tells a whole contract from a part of one.
func isContract(text string) bool { return hasKey(text, "contract") && hasKey(text, "steps") }

// isTests tells tests and scenarios.
func isTests(text string) bool { return hasKey(text, "tests") || hasKey(text, "scenario") }

func hasKey(text, key string) bool {
	return strings.HasPrefix(text, key+":") || strings.Contains(text, "\n"+key+":")
}

// pieces cuts YAML into its outermost keys with what belongs to them.
func pieces(text string) (keys []string, of map[string]string) {
	of = map[string]string{}
	key := ""
	for _, line := range strings.SplitAfter(text, "\n") {
		if name, _, found := strings.Cut(line, ":"); found && !strings.ContainsAny(name, " #-") {
			key = name
			keys = append(keys, key)
		}
		of[key] += line
	}
	return keys, of
}

// whole puts a part of a contract in the place of the same keys of another.
func whole(base, part string) string {
	if isContract(part) {
		return part
	}
	keys, of := pieces(base)
	partKeys, partOf := pieces(part)
	for _, key := range partKeys {
		if of[key] == "" {
			keys = append(keys, key)
		}
		of[key] = partOf[key]
	}
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(of[key])
	}
	return b.String()
}

func TestAPartOfAContractTakesThePlaceOfTheSameKeys(t *testing.T) {
	t.Parallel()
	got := whole("contract: a\nsteps:\n  - one\nnever: []\n", "steps:\n  - two\nlimits: []\n")
	if want := "contract: a\nsteps:\n  - two\nnever: []\nlimits: []\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// read finds a file that a page's tests name: what the page has its reader
// save, its contract under the contract's name, or a file of the library.
func (p *page) read(name, contractText string) ([]byte, error) {
	if text, saved := p.files[name]; saved {
		return []byte(text), nil
	}
	if k, err := contract.Parse([]byte(contractText)); err == nil && k.ID+".yaml" == path.Base(name) {
		return []byte(contractText), nil
	}
	return os.ReadFile(filepath.Join(root, "contracts", path.Base(name)))
}

// play runs a block of tests against a contract and returns what deed contract
// test prints, and whether all passed.
func (p *page) play(tests block, contractText string) (printed string, passed bool, err error) {
	suite, err := scenario.ReadSuite(p.name, func(name string) ([]byte, error) {
		if name == p.name {
			return []byte(strings.Repeat("\n", tests.line-1) + tests.text()), nil
		}
		return p.read(strings.TrimPrefix(name, path.Dir(p.name)+"/"), contractText)
	})
	if err != nil {
		return "", false, err
	}
	all := &report.ContractTests{Seen: scenario.Seen{}}
	file := report.TestedFile{File: p.name}
	for _, test := range suite.Tests {
		checked, err := test.Check()
		if err != nil {
			return "", false, err
		}
		file.Tests = append(file.Tests, report.TestedScenario{Checked: checked})
	}
	all.Files = append(all.Files, file)
	return all.Text(report.View{}), all.Good(), nil
}

// problems are what deed says about a contract, a line each.
func problems(text string) []string {
	k, err := contract.Parse([]byte(text))
	var found contract.Problems
	if !errors.As(err, &found) && k != nil {
		found = k.Warnings
	}
	var lines []string
	for _, p := range found {
		lines = append(lines, p.Path+": "+p.Message, p.Hint)
	}
	return lines
}

// Every YAML block of the documents is a contract, a part of one, or tests. A
// contract parses and tests pass, unless the block is marked as wrong: then the
// text block of the same section says what comes of it.
func TestEveryYAMLBlockOfTheDocumentsIsRight(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		library, err := os.ReadFile(filepath.Join(root, "contracts", "refund.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		p := &page{name: filepath.ToSlash(name), files: map[string]string{}, base: string(library)}
		var section []block
		for _, b := range blocks(string(text)) {
			if len(section) > 0 && section[0].section != b.section {
				p.check(t, section)
				section = nil
			}
			section = append(section, b)
		}
		p.check(t, section)
	}
}

// check looks at the blocks under one heading.
func (p *page) check(t *testing.T, section []block) {
	t.Helper()
	wrong := slices.IndexFunc(section, func(b block) bool { return b.language == "yaml wrong" })
	if wrong >= 0 {
		p.mistake(t, section, section[wrong])
		return
	}
	for _, b := range section {
		if file := b.file(); file != "" {
			all := b.saved(p.files[file])
			p.files[file] = all
			b.line -= strings.Count(all, "\n") - len(b.lines)
			b.lines = strings.Split(strings.TrimSuffix(all, "\n"), "\n")
		}
		switch {
		case b.language != "yaml", isMapping(b.text()):
		case strings.HasSuffix(b.file(), ".map.yaml"):
			if _, err := console.ParseCSVMapping(b.file(), []byte(b.text())); err != nil {
				t.Errorf("%s:%d: %v", p.name, b.line, err)
			}
		case isTests(b.text()):
			if printed, passed, err := p.play(b, p.base); err != nil || !passed {
				t.Errorf("%s:%d: the tests do not pass (%v)\n%s", p.name, b.line, err, printed)
			}
		default:
			p.contract(t, b)
		}
	}
}

// contract looks at a contract or a part of one that must be right.
func (p *page) contract(t *testing.T, b block) string {
	t.Helper()
	text := whole(p.base, b.text())
	if found := problems(text); len(found) > 0 {
		t.Errorf("%s:%d: the contract is not right: %s", p.name, b.line, strings.Join(found, "\n"))
	}
	if isContract(b.text()) {
		p.base = text
	}
	return text
}

// mistake looks at a section that shows a mistake: the wrong part, perhaps the
// tests that tell, what comes of it, and the right part.
func (p *page) mistake(t *testing.T, section []block, wrong block) {
	t.Helper()
	find := func(what string, is func(block) bool) (block, bool) {
		i := slices.IndexFunc(section, is)
		if i < 0 {
			t.Errorf("%s:%d: the mistake is shown without %s", p.name, wrong.line, what)
			return block{}, false
		}
		return section[i], true
	}
	right, hasRight := find("what is right", func(b block) bool { return b.language == "yaml" && !isTests(b.text()) })
	said, hasSaid := find("what comes of it", func(b block) bool { return b.language == "text" })
	if !hasRight || !hasSaid {
		return
	}
	rightText, wrongText := p.contract(t, right), whole(p.base, wrong.text())
	printed := strings.Join(problems(wrongText), "\n")
	if _, err := contract.Parse([]byte(wrongText)); err == nil {
		tests, hasTests := find("tests that tell", func(b block) bool { return b.language == "yaml" && isTests(b.text()) })
		if !hasTests {
			return
		}
		output, passed, err := p.play(tests, wrongText)
		if err != nil || passed {
			t.Errorf("%s:%d: the tests do not find the mistake (%v)\n%s", p.name, tests.line, err, output)
		}
		printed += "\n" + output
		if output, passed, err := p.play(tests, rightText); err != nil || !passed {
			t.Errorf("%s:%d: the tests do not pass with what is right (%v)\n%s", p.name, tests.line, err, output)
		}
	}
	if missing := missingLine(said, printed); missing != "" {
		t.Errorf("%s:%d: nothing says %q:\n%s", p.name, said.line, missing, printed)
	}
}

// The library is what authors copy from, so each of its contracts is without a
// warning, and its tests show every answer of every check.
func TestEveryContractOfTheLibraryIsTestedForEveryAnswer(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(root, "contracts")
	names, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(names) < 16 {
		t.Fatalf("%d files in %s, want a contract and its tests for 8 at least (%v)", len(names), folder, err)
	}
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		stem := strings.TrimSuffix(filepath.Base(name), ".yaml")
		if strings.HasSuffix(stem, ".test") {
			continue
		}
		t.Run(stem, func(t *testing.T) {
			t.Parallel()
			suite, err := scenario.ReadSuite(stem+".test.yaml", func(name string) ([]byte, error) { return fs.ReadFile(os.DirFS(folder), name) })
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(index), "("+stem+".yaml)") {
				t.Errorf("contracts/README.md does not link to %s.yaml", stem)
			}
			seen := scenario.Seen{}
			for _, test := range suite.Tests {
				checked, err := test.Check()
				if err != nil {
					t.Fatal(err)
				}
				for _, wrong := range checked.Wrong {
					t.Errorf("line %d, %s: %v", wrong.Evaluation.Line, test.Name, wrong.Differences)
				}
				seen.Add(checked.Outcomes)
			}
			for _, file := range suite.Contracts {
				for _, warning := range file.Contract.Warnings {
					t.Errorf("%s: %s", file.File, warning)
				}
				for _, check := range scenario.Checks(file.Contract) {
					for _, result := range []verdict.Result{verdict.Pass, verdict.Fail, verdict.Unknown} {
						if !seen.Gave(file.Contract, check, result) {
							t.Errorf("%s: no test makes %s %s", file.File, check, result)
						}
					}
				}
			}
		})
	}
}
