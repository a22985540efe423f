package contract

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// repository lists the contracts of the whole repository that are right.
func repository(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{
		"testdata/valid/*.yaml", "../verdict/testdata/*.yaml", "../../testdata/scenarios/contracts/*.yaml",
		"../../contracts/*.yaml", "../../test/bench/testdata/*.yaml",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if source, err := os.ReadFile(name); err == nil {
				if _, err := Parse(source); err == nil {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %d contracts were found", len(names))
	}
	return names
}

func format(t testing.TB, source string) string {
	t.Helper()
	out, err := Format([]byte(source))
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	return string(out)
}

func TestALayoutIsWhatItSays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, want string }{
		{
			"keys come in the order of the documentation, and names as they were",
			"settle: {grace: 1h, after: 2h}\nparams:\n    b: {type: string}\n    a:\n        required: true\n        type: string\ncontract: x\n",
			"contract: x\nparams:\n  b: {type: string}\n  a:\n    type: string\n    required: true\nsettle: {after: 2h, grace: 1h}\n",
		},
		{
			"comments move with what they are about",
			"# of the file\n\ntitle: T   # beside the title\n# above the contract\ncontract: x\n# the last word\n",
			"# of the file\n\n# above the contract\ncontract: x\ntitle: T  # beside the title\n# the last word\n",
		},
		{
			"a comment at the end of a block stays in the block",
			"steps:\n- id: a\n  # in the step\n# about what must not be\nnever: []\ncontract: x\n",
			"contract: x\nsteps:\n  - id: a\n    # in the step\n# about what must not be\nnever: []\n",
		},
		{
			"brackets with a comment inside are opened",
			"link: [refs.k == action_id, # the best\n  # second\n  subject # the last\n  # none more\n] # ends\n",
			"link:  # ends\n  - refs.k == action_id  # the best\n  # second\n  - subject  # the last\n  # none more\n",
		},
		{
			"brackets over several lines are joined where they fit",
			"sources: {stripe: {trust: independent},\n          bank: {trust: attested}}\n",
			"sources: {stripe: {trust: independent}, bank: {trust: attested}}\n",
		},
		{
			"a comment behind a dash stands above the element",
			"steps:\n  -   # first\n    expect: b\n    id: a\n",
			"steps:\n  # first\n  - id: a\n    expect: b\n",
		},
		{
			"empty lines stay, one of several, and none at the beginning",
			"\n\ncontract: x\n\n\ntitle: T\nsteps:\n\n  - id: a\n\n  - id: b\n",
			"contract: x\n\ntitle: T\nsteps:\n  - id: a\n\n  - id: b\n",
		},
		{
			"quotes stay as they were written",
			"title: 'it''s'\ncontract: \"x\\u0041\"\n",
			"contract: \"x\\u0041\"\ntitle: 'it''s'\n",
		},
		{
			"a plain text of two lines becomes one line",
			"steps:\n  - where: fact.a == 1\n      && fact.b == 2   # why\n    id: a\n",
			"steps:\n  - id: a\n    where: fact.a == 1 && fact.b == 2  # why\n",
		},
		{
			"a folded text keeps its lines",
			"steps:\n      - where: >-   # why\n          fact.a == 1\n            && fact.b == 2\n\n        id: a\n",
			"steps:\n  - id: a\n    where: >-  # why\n      fact.a == 1\n        && fact.b == 2\n",
		},
		{
			"unknown keys stand last",
			"zebra: 1\ncontract: x\nyak: 2\n",
			"contract: x\nzebra: 1\nyak: 2\n",
		},
		{
			"the line for the editor stays first",
			"# yaml-language-server: $schema=contract.schema.json\ntitle: T\ncontract: x\n",
			"# yaml-language-server: $schema=contract.schema.json\ncontract: x\ntitle: T\n",
		},
		{
			"the text after a document's marker is what is left",
			"---\ncontract: x\n",
			"contract: x\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := format(t, test.in)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if again := format(t, got); again != got {
				t.Errorf("laid out again it is\n%s", again)
			}
		})
	}
}

func TestALongLineInBracketsIsOpened(t *testing.T) {
	t.Parallel()
	// 90 letters, and with `not_checked: [` and `]` more than a line has.
	one, two := strings.Repeat("a", 45), strings.Repeat("b", 45)
	if got, want := format(t, "not_checked: ["+one+", "+two+"]\n"), "not_checked:\n  - "+one+"\n  - "+two+"\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	short := "not_checked: [" + one + ", " + two[:38] + "]\n"
	if got := format(t, short); len(short) != 101 || got != short {
		t.Errorf("a line of %d characters became\n%s", len(short)-1, got)
	}
}

func TestWhatIsNoYAMLIsNotLaidOut(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "a: [", "a: &x 1\n", "contract: x\n---\ncontract: y\n", "a: \xff\n"} {
		if out, err := Format([]byte(source)); err == nil {
			t.Errorf("%q became %q", source, out)
		}
	}
}

func TestLaidOutAgainAContractIsTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range repository(t) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out := format(t, string(source))
		if again := format(t, out); again != out {
			t.Errorf("%s: (-once +twice)\n%s", name, cmp.Diff(out, again))
		}
		unchanged(t, string(source), out)
	}
}

// unchanged holds contracts against each other in everything but their texts.
func unchanged(t testing.TB, before, after string) {
	t.Helper()
	one, err := Parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	other, err := Parse([]byte(after))
	if err != nil {
		t.Fatalf("%v\n%s", err, after)
	}
	if len(one.Warnings) != len(other.Warnings) {
		t.Errorf("there were %d warnings and are %d", len(one.Warnings), len(other.Warnings))
	}
	for _, c := range []*Contract{one, other} {
		c.Text, c.Digest, c.Warnings = "", "", nil
	}
	if !same(one, other) {
		t.Errorf("the contract changed:\n%s", after)
	}
}

// scramble draws another layout of a contract: other orders of keys, brackets
// or none, other indentations, and comments and empty lines anywhere.
type scramble struct {
	*rapid.T
	n int
}

func (s *scramble) comment() string {
	s.n++
	return "# " + strings.Repeat("c", s.n%5+1) + " {x: y} 'z"
}

func (s *scramble) order(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return rapid.Permutation(order).Draw(s.T, "order")
}

func (s *scramble) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(s.T, "chance") <= percent
}

func (s *scramble) noise(b *strings.Builder, indent int) {
	for s.chance(20) {
		if s.chance(30) {
			b.WriteByte('\n')
		} else {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, indent+2).Draw(s.T, "in")) + s.comment() + "\n")
		}
	}
}

func (s *scramble) scalar(n *node) string {
	switch {
	case n.kind != text:
		return n.text
	case s.chance(40):
		return "'" + strings.ReplaceAll(n.text, "'", "''") + "'"
	}
	return doubleQuoted(n.text)
}

func (s *scramble) flow(n *node) string {
	var parts []string
	for _, e := range n.entries {
		parts = append(parts, e.key.text+": "+s.flow(e.value))
	}
	for _, item := range n.items {
		parts = append(parts, s.flow(item))
	}
	between := ", "
	if s.chance(15) {
		between = ",\n                " // further in than any key
	}
	switch n.kind {
	case mapping:
		return "{" + strings.Join(parts, between) + "}"
	case sequence:
		return "[" + strings.Join(parts, between) + "]"
	}
	return s.scalar(n)
}

func (s *scramble) write(b *strings.Builder, n *node, indent int, named bool) {
	if n.kind == sequence {
		for _, item := range n.items {
			s.noise(b, indent)
			if item.kind == mapping && len(item.entries) > 0 && s.chance(60) {
				var inner strings.Builder
				s.write(&inner, item, indent+2, false)
				if body := inner.String(); strings.HasPrefix(strings.TrimLeft(body, " "), "#") || body[0] == '\n' {
					b.WriteString(strings.Repeat(" ", indent) + "-\n" + body)
				} else {
					b.WriteString(strings.Repeat(" ", indent) + "- " + strings.TrimLeft(body, " "))
				}
				continue
			}
			b.WriteString(strings.Repeat(" ", indent) + "- " + s.flow(item) + s.tail() + "\n")
		}
		return
	}
	order := s.order(len(n.entries))
	if named {
		slices.Sort(order)
	}
	for _, i := range order {
		e := n.entries[i]
		s.noise(b, indent)
		b.WriteString(strings.Repeat(" ", indent) + e.key.text + ":")
		if (len(e.value.entries) > 0 || len(e.value.items) > 0) && s.chance(60) {
			b.WriteString(s.tail() + "\n")
			more := rapid.IntRange(1, 4).Draw(s.T, "more")
			if e.value.kind == sequence {
				more = rapid.IntRange(0, 3).Draw(s.T, "dashes")
			}
			s.write(b, e.value, indent+more, e.key.text == "params" || e.key.text == "sources")
			continue
		}
		b.WriteString(" " + s.flow(e.value) + s.tail() + "\n")
	}
}

func (s *scramble) tail() string {
	if s.chance(20) {
		return "   " + s.comment()
	}
	return ""
}

func TestALayoutNeverChangesTheMeaningAndIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := &scramble{T: rt}
		var b strings.Builder
		s.write(&b, tree(t, file), 0, false)
		out, err := Format([]byte(b.String()))
		if err != nil {
			rt.Fatalf("%v\n%s", err, b.String())
		}
		again, err := Format(out)
		if err != nil || !bytes.Equal(again, out) {
			rt.Fatalf("%v\nlaid out again:\n%s\nfrom\n%s", err, cmp.Diff(string(out), string(again)), b.String())
		}
		if got := strings.Count(string(out), "{x: y} 'z"); got != s.n {
			rt.Fatalf("of %d comments %d are left\n%s\nfrom\n%s", s.n, got, out, b.String())
		}
		one, _ := Parse(source)
		other, err := Parse(out)
		if err != nil {
			rt.Fatalf("%v\n%s", err, out)
		}
		for _, c := range []*Contract{one, other} {
			c.Text, c.Digest, c.Warnings = "", "", nil
		}
		if !same(one, other) {
			rt.Fatalf("the contract changed:\n%s", out)
		}
	})
}

func FuzzFormat(f *testing.F) {
	for _, name := range repository(f) {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	f.Fuzz(func(t *testing.T, source string) {
		out, err := Format([]byte(source))
		if err != nil {
			return
		}
		again, err := Format(out)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%v\n%q\nbecame\n%q\nthen\n%q", err, source, out, again)
		}
	})
}
