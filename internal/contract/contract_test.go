package contract_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func read(t testing.TB, name string) *contract.Contract {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parse compiles a contract that begins as most in these tests do.
func parse(t testing.TB, rest string) *contract.Contract {
	t.Helper()
	c, err := contract.Parse([]byte(head + rest))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const head = `contract: short
settle: {after: 24h}
sources: {stripe: {trust: independent}}
`

const steps = "steps: [{id: paid, expect: charge.succeeded}]\n"

func TestARefundContractIsCompiled(t *testing.T) {
	t.Parallel()
	c := read(t, "testdata/valid/refund.yaml")
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", what, got, want)
		}
	}
	check("the id", c.ID, "refund_workflow")
	check("the title", c.Title, "Refund an order")
	check("the owner", c.Owner, "payments-team")
	check("what it applies to", c.AppliesTo, contract.AppliesTo{ActionType: "refund_order", SubjectKind: "order"})
	check("the time to settle", c.Settle, contract.Settle{After: 72 * time.Hour, Grace: 12 * time.Hour, MaxSkew: 2 * time.Minute})
	check("the sources", c.Sources, []contract.Source{
		{Name: "stripe", Trust: evidence.Independent}, {Name: "zendesk", Trust: evidence.Attested}, {Name: "approvals", Trust: evidence.Attested},
	})
	check("the links", c.Link, []contract.Link{{Ref: "idempotency_key", By: contract.ByActionID}, {By: contract.BySubject}})

	money := c.Steps[0]
	check("the first step", []any{money.ID, money.Expect, money.From, money.Count, money.Window.Within, money.After, money.When == nil}, []any{
		"money_moved", "refund.succeeded", []string{"stripe"}, contract.Count{Min: 1, Max: 1}, 48 * time.Hour, "", true,
	})
	check("its condition", money.Where.String(), "fact.amount == params.amount && fact.currency == params.currency")
	told := c.Steps[1]
	check("the second step", []any{told.ID, told.Count, told.Window.Within, told.After, told.Where == nil}, []any{
		"customer_told", contract.Count{Min: 1}, 72 * time.Hour, "money_moved", true,
	})
	check("what must not be seen", []any{c.Never[0].ID, c.Never[0].Expect, c.Never[0].Anyone}, []any{"not_reversed", "refund.failed", false})

	check("the first limit", []any{c.Limits[0].Check.String(), c.Limits[0].Rolling == nil}, []any{`params.amount <= money("250.00 USD")`, true})
	daily := c.Limits[1].Rolling
	check("the second limit", []any{daily.Total.String(), daily.MaxTotal.String(), daily.Over, daily.Per}, []any{"params.amount", "2000.00 USD", 24 * time.Hour, "agent_id"})
	once := c.Limits[2].Rolling
	check("the third limit", []any{once.Total == nil, once.MaxCount, once.Over, once.Per}, []any{true, 1, 720 * time.Hour, "subject_id"})

	ok := c.Approvals[0]
	check("the approval", []any{ok.ID, ok.When.String(), ok.Lookback, ok.Before, ok.Link}, []any{
		"manager_ok", `params.amount > money("100.00 USD")`, 168 * time.Hour, "money_moved", []contract.Link{{Ref: "action_id", By: contract.ByActionID}},
	})
	check("what undoes it", *c.Compensation, contract.Compensation{By: "refund_reversal_workflow", NetZero: true})
	check("the evidence", c.Evidence, contract.Evidence{Exclusive: true, SameEffect: "refund"})
	check("the verified amount", []any{c.VerifiedAmount.Step, c.VerifiedAmount.Of.String()}, []any{"money_moved", "fact.amount"})
	check("the warnings", len(c.Warnings), 0)
	check("the digest", c.Digest, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(c.Text))))
}

func TestWhatIsLeftOutHasTheDefaultOfTheTable(t *testing.T) {
	t.Parallel()
	c := read(t, "testdata/valid/small.yaml")
	if c.Settle.Grace != 12*time.Hour || c.Settle.MaxSkew != 2*time.Minute {
		t.Errorf("it settles %+v", c.Settle)
	}
	if want := []contract.Link{{Ref: "action_id", By: contract.ByActionID}, {By: contract.BySubject}}; !reflect.DeepEqual(c.Link, want) {
		t.Errorf("it links by %+v, want %+v", c.Link, want)
	}
	s := c.Steps[0]
	if !reflect.DeepEqual(s.From, []string{"stripe"}) || s.Count != (contract.Count{Min: 1}) || s.Window.Within != 0 || s.Trust != evidence.NoTrust {
		t.Errorf("its step is %+v", s)
	}
	if !c.Evidence.Exclusive || c.Evidence.Decides != "" || c.Compensation != nil || c.VerifiedAmount != nil || c.Orphans != nil {
		t.Errorf("it is %+v", c)
	}
	a := parse(t, steps+"approvals: [{id: ok, expect: approval.granted}]").Approvals[0]
	if a.Before != "paid" || a.Lookback != 7*24*time.Hour {
		t.Errorf("an approval is %+v", a)
	}
}

func TestATimeSpanIsReadAsContractsWriteIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "48h": 48 * time.Hour, "30d": 720 * time.Hour, "1w": 168 * time.Hour,
		"1d12h": 36 * time.Hour, "1w1d1h1m1s": 193*time.Hour + time.Minute + time.Second, "0s": 0,
	} {
		if got, err := contract.ParseDuration(text); err != nil || got != want {
			t.Errorf("%s is %v with the error %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "1", "h", "1y", "-1h", "+1h", "1.5h", "1h 2m", "1h1d", "1h1h", "01h", "1e3s", "1H", " 1h", "1ms", "1us", "٣h", "9999999999h", "999999999w",
	} {
		if got, err := contract.ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestALinkIsOneOfFourForms(t *testing.T) {
	t.Parallel()
	c := parse(t, `params: {order: {type: string}, line: {type: integer}}
link: [refs.key == action_id, "refs.order-id==subject_id", refs.order.ref == params.order, refs.l == params.line, subject]
`+steps)
	want := []contract.Link{
		{Ref: "key", By: contract.ByActionID},
		{Ref: "order-id", By: contract.BySubjectID},
		{Ref: "order.ref", By: contract.ByParam, Param: "order"},
		{Ref: "l", By: contract.ByParam, Param: "line"},
		{By: contract.BySubject},
	}
	if !reflect.DeepEqual(c.Link, want) {
		t.Errorf("they are %+v, want %+v", c.Link, want)
	}
	if one := parse(t, "link: subject\n"+steps).Link; len(one) != 1 || one[0].Keyed() {
		t.Errorf("one alone is %+v", one)
	}
}

func TestWhatIsOddIsSaidAndAllowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rest, path, message string }{
		"a condition without names": {"steps: [{id: paid, expect: charge.succeeded, where: 1 == 1}]", "steps[0].where", "reads nothing"},
		"a condition on the declaration alone": {
			"params: {n: {type: integer}}\nsteps: [{id: paid, expect: charge.succeeded, where: params.n == 1}]", "steps[0].where", "says nothing about the fact",
		},
		"a currency that is none":          {"params: {a: {type: money, currency: UDS}}\n" + steps, "params.a.currency", "UDS is not a currency of ISO 4217"},
		"a currency in a condition":        {"params: {a: {type: money}}\nlimits: [{id: cap, check: 'params.a < money(\"1 UDS\")'}]\n" + steps, "limits[0].check", "UDS is not a currency"},
		"a default for what is required":   {"params: {n: {type: integer, required: true, default: 1}}\n" + steps, "params.n.default", "never missing"},
		"a sum that adds up a parameter":   {"params: {n: {type: integer}}\nsteps: [{id: paid, expect: charge.succeeded, sum: {of: params.n, min: 1}}]", "steps[0].sum.of", "nothing about the facts"},
		"a source that nobody asks":        {"x", "sources.ledger", "no check asks the source ledger"},
		"two sources and one exact effect": {"y", "steps[0]", "2 sources tell of paid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := head + c.rest
			two := strings.Replace(head, "{stripe: {trust: independent}}", "{stripe: {trust: independent}, ledger: {trust: attested}}", 1)
			switch c.rest {
			case "x":
				source = two + "steps: [{id: paid, expect: charge.succeeded, from: stripe}]"
			case "y":
				source = two + "steps: [{id: paid, expect: charge.succeeded, from: [stripe, ledger], count: 1}]"
			}
			compiled, err := contract.Parse([]byte(source))
			if err != nil {
				t.Fatal(err)
			}
			if len(compiled.Warnings) != 1 || compiled.Warnings[0].Path != c.path || !strings.Contains(compiled.Warnings[0].Message, c.message) {
				t.Errorf("the warnings are %v", compiled.Warnings)
			}
		})
	}
}

func TestTooMuchIsRefusedBeforeItTakesLong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, message string }{
		"bytes":        {strings.Repeat("# filler\n", 30_000), "longer than 256 KiB"},
		"a long line":  {"title: " + strings.Repeat("x", 9_000), "the line is longer than 8192 bytes"},
		"tokens":       {strings.Repeat("- a\n", 60_000), "the contract is too long"},
		"keys":         {strings.Repeat("a: 1\n", 1_100), "more than 1000 keys"},
		"keys in flow": {"{" + strings.Repeat("a: 1,\n", 1_100) + "}", "more than 1000 keys"},
		"brackets":     {strings.Repeat("[", 3_000), "nested deeper than 16"},
		"dashes":       {strings.Repeat("- ", 3_000), "nested deeper than 16"},
		"checks": {
			head + "steps:\n" + strings.Repeat("- {id: a, expect: b.c}\n", 2_001), "more than 2000 checks",
		},
		"a title":       {head + "title: |\n" + strings.Repeat("  "+strings.Repeat("x", 100)+"\n", 30) + steps, "longer than 2000 characters"},
		"bytes of Zero": {"contract: a\x00b", "NUL"},
		"old line ends": {"contract: a\rowner: b\r", "line 1, column 1: the line holds a carriage return"},
		"not UTF-8":     {"contract: a\nowner: \xff\n", "line 2, column 1: the line is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contract.Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.message) {
				t.Errorf("it says %.300v, want %q", err, c.message)
			}
		})
	}
}

// Editors count characters and may end lines with \r\n.
func TestAPlaceIsCountedInCharacters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text         string
		line, column int
	}{
		"behind letters of several bytes": {`steps: [{id: paid, expect: charge.succeeded, where: 'fact.a == "Zürich" && fat.b == 1'}]`, 4, 76},
		"behind a comment":                {"# ü\n" + `steps: [{id: paid, expect: charge.succeeded, where: fat.b == 1}]`, 5, 53},
		"in a folded text":                {"steps:\n  - id: paid\n    expect: charge.succeeded\n    where: >-\n      fact.a == 1\n      && fat.b == 1\n", 9, 10},
		"in a kept text":                  {"steps:\n  - id: paid\n    expect: charge.succeeded\n    where: |\n      fact.a == 1 &&\n\n        fat.b == 1\n", 10, 9},
		"in a text of several lines":      {"steps:\n  - id: paid\n    expect: charge.succeeded\n    where: fact.a == 1 &&\n      fat.b == 1\n", 8, 7},
		"with \\r\\n":                     {"steps:\r\n  - id: paid\r\n    expect: charge.succeeded\r\n    where: fat.b == 1\r\n", 7, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contract.Parse([]byte(head + c.text))
			var problems contract.Problems
			if !errors.As(err, &problems) || len(problems) != 1 {
				t.Fatalf("it says %v", err)
			}
			if p := problems[0]; p.Line != c.line || p.Column != c.column || p.Text != "fat" {
				t.Errorf("it points at %q in line %d, column %d, want line %d, column %d", p.Text, p.Line, p.Column, c.line, c.column)
			}
		})
	}
}

func TestAContractOfAThousandChecksIsCompiled(t *testing.T) {
	t.Parallel()
	c, err := contract.Parse(thousand())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Steps) != 1000 || c.Steps[999].ID != "step_999" || c.Steps[999].After != "step_998" {
		t.Errorf("it has %d steps", len(c.Steps))
	}
}

func thousand() []byte {
	var b strings.Builder
	b.WriteString(head + "params: {amount: {type: money, currency: USD}}\nsteps:\n  - {id: step_0, expect: refund.succeeded}\n")
	for i := 1; i < 1000; i++ {
		fmt.Fprintf(&b, "  - {id: step_%d, expect: refund.succeeded, where: fact.amount == params.amount, after: step_%d}\n", i, i-1)
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	large, small := thousand(), []byte(nil)
	small, err := os.ReadFile("testdata/valid/refund.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for name, source := range map[string][]byte{"a thousand checks": large, "a refund": small} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := contract.Parse(source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"valid/refund.yaml", "valid/everything.yaml", "invalid/names.yaml", "invalid/scalars.yaml", "invalid/conditions.yaml", "invalid/yaml.yaml"} {
		source, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	for _, s := range []string{"", "a", "- a", "{", "a: |\n x", "a: &b\n", "? a", "contract: x\nsteps: [{id: a, where: >\n  fact.x}]", "\"\\u00e9\": 'it''s'", "a:\n- b\n -c", "!!x", "---\n...\n---"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		c, err := contract.Parse(source)
		if err == nil {
			if c.ID == "" || len(c.Steps) == 0 || len(c.Link) == 0 || c.Settle.After <= 0 || len(c.Steps[0].From) == 0 {
				t.Fatalf("%q was compiled to %+v", source, c)
			}
			c.Bind(nil)
			return
		}
		lines := strings.Count(string(source), "\n") + 1
		for _, p := range err.(contract.Problems) {
			if p.Line < 1 || p.Line > lines+1 || p.Column < 1 || p.Message == "" {
				t.Fatalf("%q: %+v", source, p)
			}
		}
	})
}
