package verdict

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	reasonPage = "../../docs/reason-codes.md"
	casePage   = "../../docs/case.md"
)

// generated holds the part of a page between two marks against what the code
// says, and writes it anew with -update.
func generated(t *testing.T, page, mark, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+mark+" -->\n", "<!-- "+mark+" end -->"
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no part between %q and %q", page, strings.TrimSpace(begin), end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, want); diff != "" {
		t.Errorf("%s is out of date; run: go test ./internal/verdict -run %s -update (-page +code):\n%s", page, t.Name(), diff)
	}
}

// groups are the parts of the page, by the worst result that a code can mean.
var groups = []struct {
	title, about string
	holds        func(Entry) bool
}{
	{
		"Passed", "What was asked for was seen, or was allowed.",
		func(e Entry) bool { return slices.Contains(e.Results, Pass) },
	},
	{
		"Does not apply", "The check says nothing about this action. It never counts as a pass.",
		func(e Entry) bool { return slices.Contains(e.Results, NotApplicable) },
	},
	{
		"Not known, or not yet", "Nothing is claimed, neither that it happened nor that it did not. While a verdict is provisional, `waits` says what may still decide it.",
		func(e Entry) bool { return slices.Contains(e.Results, Unknown) && !slices.Contains(e.Results, Fail) },
	},
	{
		"Failed", "It did not happen as declared, or it was not allowed. Some of these codes also stand beside a result that is not known yet.",
		func(e Entry) bool { return slices.Contains(e.Results, Fail) },
	},
	{
		"Notes", "Said of the action or of its evidence beside all checks. A note changes no result.",
		func(e Entry) bool { return len(e.Results) == 0 },
	},
}

func TestTheReasonCodePageIsWhatTheRegistrySays(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for _, group := range groups {
		fmt.Fprintf(&page, "\n| [%s](#%s) | |\n|---|---|\n", group.title, anchor(group.title))
		for _, e := range Registry() {
			if group.holds(e) {
				fmt.Fprintf(&page, "| [`%s`](#%s) | %s |\n", e.Code, anchor(string(e.Code)), e.Label)
			}
		}
	}
	for _, group := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", group.title, group.about)
		for _, e := range Registry() {
			if group.holds(e) {
				describe(&page, e)
			}
		}
	}
	page.WriteString("\n")
	generated(t, reasonPage, "codes", page.String())
}

func describe(page *strings.Builder, e Entry) {
	fmt.Fprintf(page, "\n### %s\n\n**%s.** %s\n\n", e.Code, upperFirst(e.Label), e.Explanation)
	if len(e.Results) > 0 {
		fmt.Fprintf(page, "- Result: %s\n", words(e.Results, " or "))
		fmt.Fprintf(page, "- Lens: %s\n", lensWords[e.Lens])
	}
	switch {
	case len(e.Kinds) > 0:
		fmt.Fprintf(page, "- Checks: %s\n", words(e.Kinds, ", "))
	case len(e.Results) > 0:
		fmt.Fprintf(page, "- Checks: none; it is said of the lens as a whole\n")
	}
	fmt.Fprintf(page, "- Who can do something: %s\n- What to do next: %s\n", sideWords[e.Side], e.Next)
}

var lensWords = map[string]string{OutcomeLens: "outcome", ConformanceLens: "conformance", bothLenses: "outcome or conformance"}

var sideWords = map[Side]string{
	Nobody: "nobody needs to", Agent: "whoever runs the agent", System: "whoever runs the system of record",
	Operator: "whoever connects the sources to Deed", Author: "whoever writes the contract",
}

func anchor(title string) string {
	kept := regexp.MustCompile(`[^a-z0-9_ -]`).ReplaceAllString(strings.ToLower(title), "")
	return strings.ReplaceAll(kept, " ", "-")
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func words[T ~string](list []T, between string) string {
	texts := make([]string, len(list))
	for i, word := range list {
		texts[i] = string(word)
	}
	return strings.Join(texts, between)
}

func TestEveryCodeIsDescribedOnceAndInFull(t *testing.T) {
	t.Parallel()
	seen := map[Code]bool{}
	form := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	for _, e := range Registry() {
		if seen[e.Code] {
			t.Errorf("%s is there twice", e.Code)
		}
		seen[e.Code] = true
		if !form.MatchString(string(e.Code)) {
			t.Errorf("%q is not written as codes are", e.Code)
		}
		if e.Label == "" || strings.HasSuffix(e.Label, ".") || e.Label != strings.ToLower(e.Label[:1])+e.Label[1:] {
			t.Errorf("%s: the label %q is no few words in small letters", e.Code, e.Label)
		}
		for _, text := range []string{e.Explanation, e.Next} {
			if len(strings.Fields(text)) < 1 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no sentence", e.Code, text)
			}
		}
		if sideWords[e.Side] == "" {
			t.Errorf("%s: nobody is called %q", e.Code, e.Side)
		}
		if isNote := e.Lens == noteOnly; isNote != (len(e.Results) == 0) || isNote && len(e.Kinds) > 0 || !isNote && lensWords[e.Lens] == "" {
			t.Errorf("%s is half a note: lens %q, results %v, checks %v", e.Code, e.Lens, e.Results, e.Kinds)
		}
		in := 0
		for _, group := range groups {
			if group.holds(e) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s is in %d groups of the page", e.Code, in)
		}
	}
}

// The two questions have checks of their own, and a code that only one of them
// can give belongs to that lens.
func TestACodesLensFollowsFromItsChecks(t *testing.T) {
	t.Parallel()
	lenses := map[Kind]string{
		StepCheck: OutcomeLens, NeverCheck: OutcomeLens, StateCheck: OutcomeLens,
		LimitCheck: ConformanceLens, ApprovalCheck: ConformanceLens, DeclarationCheck: ConformanceLens,
	}
	for _, e := range Registry() {
		if len(e.Kinds) == 0 {
			continue
		}
		want := lenses[e.Kinds[0]]
		for _, kind := range e.Kinds {
			if lenses[kind] != want {
				want = bothLenses
			}
		}
		if e.Lens != want {
			t.Errorf("%s is of the lens %q, its checks are of %q", e.Code, e.Lens, want)
		}
	}
}
