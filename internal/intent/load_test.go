package intent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
)

// refundsYAML says the same as refunds.
const refundsYAML = `# which calls declare which actions
agent_id: support-bot
workflow_id: refunds
tools:
  refund_payment:
    contract_id: refund_workflow
    action_type: refund_order
    subject: arguments.order_id
    subject_kind: order
    params:
      amount: arguments.amount
      currency: arguments.currency
    action_id: refund:{arguments.order_id}
    compensates: arguments.original_action_id
`

func TestYAMLSaysTheSameAsJSON(t *testing.T) {
	t.Parallel()
	c := call(t, "refund_payment", `{"arguments":{"order_id":"o-1","amount":180.0,"currency":"USD","original_action_id":"x"}}`)
	want := declare(t, parse(t, refunds), c)
	for name, text := range map[string]string{
		"block style":            refundsYAML,
		"line ends of Windows":   strings.ReplaceAll(refundsYAML, "\n", "\r\n"),
		"a byte order mark":      "\ufeff" + refundsYAML,
		"a document's beginning": "---\n" + refundsYAML,
		"JSON with a mark":       "\ufeff" + refunds,
		"an anchor and a merge": strings.Replace(refundsYAML, "tools:\n  refund_payment:\n    contract_id: refund_workflow\n",
			"shared: &shared\n  contract_id: refund_workflow\n  subject: nowhere\ntools:\n  refund_payment:\n    <<: *shared\n", 1),
	} {
		got := declare(t, parse(t, text), c)
		if string(got.Body) != string(want.Body) {
			t.Errorf("%s: %s, want %s", name, got.Body, want.Body)
		}
	}
	for _, name := range []string{"m.yaml", "m.yml", "m.YAML"} {
		if m, err := intent.Parse(name, []byte(refunds)); err != nil {
			t.Errorf("JSON is YAML as well: %v", err)
		} else if got := declare(t, m, c); string(got.Body) != string(want.Body) {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

func TestTheNameSaysWhichLanguageItIs(t *testing.T) {
	t.Parallel()
	if _, err := intent.Parse("m.json", []byte(refundsYAML)); err == nil || !strings.Contains(err.Error(), "m.json:1:1: this is no JSON: ") {
		t.Errorf("error %v", err)
	}
	if _, err := intent.Parse("m.txt", []byte(refundsYAML)); err != nil {
		t.Error(err)
	}
}

// tool is a mapping of the tool t whose keys stand from line 3 on.
func tool(keys string) string {
	return "tools:\n  t:\n    " + strings.ReplaceAll(keys, "\n", "\n    ") + "\n"
}

func TestWhatIsWrongWithAFileIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, file, text, want string }{
		{"no contract", "m.yaml", tool("subject: name"), `m.yaml:3:5: tool "t": key "contract_id": it is missing; write`},
		{"no subject", "m.yaml", tool("contract_id: c"), `m.yaml:3:5: tool "t": key "subject": it is missing; write`},
		{"nothing behind a required key", "m.yaml", tool("contract_id: c\nsubject:"), `m.yaml:3:5: tool "t": key "subject": it is missing`},
		{"an empty contract", "m.yaml", tool(`contract_id: ""` + "\nsubject: name"), `m.yaml:3:18: tool "t": key "contract_id": the text is empty`},
		{"a number as contract", "m.yaml", tool("contract_id: 3\nsubject: name"), `m.yaml:3:18: tool "t": key "contract_id": here stands a number instead of a text; write it in quotes`},
		{"a number as path", "m.yaml", tool("contract_id: c\nsubject: 3"), `m.yaml:4:14: tool "t": key "subject": here stands a number instead of a path`},
		{"a list as path", "m.yaml", tool("contract_id: c\nsubject: [a]"), `tool "t": key "subject": here stands a list instead of a path; write a path`},
		{"an object as template", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: {a: b}"), `tool "t": key "action_id": here stands an object instead of a template`},
		{"a template that yaml reads as an object", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: {name}"), `tool "t": key "action_id": here stands an object instead of a template`},
		{"an empty path", "m.yaml", tool(`contract_id: c` + "\n" + `subject: ""`), `m.yaml:4:14: tool "t": key "subject": the path is empty`},
		{"a dot too many", "m.yaml", tool("contract_id: c\nsubject: arguments..id"), `m.yaml:4:14: tool "t": key "subject": the path has a dot too many`},
		{"a dot at the end", "m.yaml", tool("contract_id: c\nsubject: arguments."), `key "subject": the path has a dot too many`},
		{"a quote without an end", "m.yaml", tool(`contract_id: c` + "\n" + `subject: _meta."a.b`), `key "subject": a quote in the path has no end`},
		{"no dot behind a quote", "m.yaml", tool(`contract_id: c` + "\n" + `subject: _meta."a"b`), `key "subject": a dot is missing behind the quoted name "a"`},
		{"a path of 33 steps", "m.yaml", tool("contract_id: c\nsubject: " + strings.Repeat("a.", 32) + "a"), `key "subject": the path has more than 32 steps`},
		{"params as a list", "m.yaml", tool("contract_id: c\nsubject: name\nparams: [amount]"), `key "params": here stands a list instead of an object; write an object`},
		{"a param of a number", "m.yaml", tool("contract_id: c\nsubject: name\nparams: {amount: 5}"), `m.yaml:5:22: tool "t": key "params.amount": here stands a number instead of a path`},
		{"a param of nothing", "m.yaml", tool("contract_id: c\nsubject: name\nparams: {amount: }"), `tool "t": key "params.amount": the path is missing`},
		{"a version that is a text", "m.yaml", tool("contract_id: c\nsubject: name\ncontract_version: '3'"), `m.yaml:5:23: tool "t": key "contract_version": here stands a text instead of a whole number`},
		{"a version with a fraction", "m.yaml", tool("contract_id: c\nsubject: name\ncontract_version: 3.5"), `key "contract_version": here stands 3.5 instead of a whole number`},
		{"an open brace", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: a:{name"), `key "action_id": an opening brace has no closing one behind it; write a template`},
		{"a closing brace", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: a:name}"), `key "action_id": a closing brace has no opening one before it`},
		{"an empty place", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: a:{}"), `key "action_id": the place {}: the path is empty`},
		{"a brace within a place", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: a:{{name}}"), `key "action_id": an opening brace has no closing one`},
		{"an empty template", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: ''"), `key "action_id": the template is empty`},
		{"a template with a line end", "m.yaml", tool("contract_id: c\nsubject: name\naction_id: \"a\\nb{name}\""), `key "action_id": the template has a control character`},
		{"a contract's name of 257 bytes", "m.yaml", tool("contract_id: " + strings.Repeat("c", 257) + "\nsubject: name"), `key "contract_id": the text has 257 bytes, and the server takes 256`},
		{"a tool that is a text", "m.yaml", "tools: {t: x}", `m.yaml:1:12: tool "t": here stands a text instead of an object`},
		{"a tool without a name", "m.yaml", "tools:\n  '': {contract_id: c, subject: name}", `the name of a tool is empty`},
		{"tools as a list", "m.yaml", "tools: [t]", `key "tools": here stands a list instead of an object`},
		{"no tools", "m.yaml", "agent_id: a", `m.yaml:1:1: key "tools": it is missing`},
		{"an agent that is a list", "m.yaml", "agent_id: [a]\ntools: {}", `key "agent_id": here stands a list instead of a text`},
		{"a list", "m.yaml", "- a", `m.yaml:1:1: here stands a list instead of an object; write {"tools": {…}}`},
		{"nothing", "m.yaml", "  \n", `m.yaml:1:1: the file is empty; deed map draft`},
		{"only a comment", "m.yaml", "# nothing\n", `m.yaml:1:1: the file is empty`},
		{"two documents", "m.yaml", "tools: {}\n---\ntools: {}\n", `m.yaml:2:1: a file holds one mapping`},
		{"a tag", "m.yaml", "tools: !!map {}", `m.yaml:1:8: tags are not allowed`},
		{"an anchor that is missing", "m.yaml", "tools: *nowhere", `there is no anchor "&nowhere" before`},
		{"an anchor within itself", "m.yaml", "tools: &a\n  t: *a\n", `there is no anchor "&a" before`},
		{"a merge of a text", "m.yaml", "x: &x text\ntools:\n  <<: *x\n", `what is merged is a text`},
		{"no UTF-8", "m.yaml", "agent_id: \xff\ntools: {}\n", `m.yaml:1:1: the line is not UTF-8`},
		{"a NUL byte", "m.json", "{\"tools\": {}}\n\x00", `m.json:2:1: the line holds a NUL byte`},
		{"bad YAML", "m.yaml", "tools:\n  t: {contract_id: c\n", `this is no YAML: `},
		{"a key twice", "m.yaml", "agent_id: a\nagent_id: b\ntools: {}\n", `m.yaml:2:1: key "agent_id": "agent_id" stands here twice, first in line 1; keep one of them`},
		{"a tool twice", "m.json", `{"tools":{"t":{"contract_id":"c","subject":"name"},"t":{"contract_id":"c","subject":"name"}}}`, `m.json:1:52: tool "t": "t" stands here twice, first in line 1`},
		{"a param twice", "m.json", `{"tools":{"t":{"contract_id":"c","subject":"name","params":{"a":"name","\u0061":"name"}}}}`, `tool "t": key "params.a": "a" stands here twice`},
		{"an ignored key twice", "m.json", `{"tools":{},"x":{"y":1,"y":2}}`, `key "x.y": "y" stands here twice`},
		{"JSON that ends early", "m.json", "{\n  \"tools\": {", `m.json:2:13: this is no JSON: the text ends too early`},
		{"JSON with a comma too many", "m.json", "{\n  \"tools\": {},\n}", `m.json:2:14: this is no JSON: `},
		{"JSON with a comment", "m.json", "{\n  // which\n  \"tools\": {}}", `m.json:2:3: this is no JSON: `},
		{"two JSON values", "m.json", "{\"tools\": {}}\n{}", `m.json:2:1: this is no JSON: something follows the value`},
		{"deep JSON", "m.json", `{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, `this is no JSON: it is nested deeper than 32`},
		{"deep YAML", "m.yaml", "x: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), `the mapping is nested deeper than 32`},
		{"a big file", "m.json", strings.Repeat(" ", 257<<10), `m.json:1:1: the mapping is longer than 256 KiB`},
		{"a long line of YAML", "m.yaml", "agent_id: a\nx: " + strings.Repeat("y", 9<<10), `m.yaml:2:1: the line is longer than 8192 bytes`},
		{
			"two tools with one bare name", "m.yaml", "tools:\n  stripe.refund: {contract_id: c, subject: name}\n  adyen.refund: {contract_id: c, subject: name}\n",
			`m.yaml:3:3: tool "adyen.refund": it matches "refund", and so does "stripe.refund" in line 2; keep one of them, or say which server this is with --label adyen`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := intent.Parse(test.file, []byte(test.text))
			var wrong *intent.MappingError
			if !errors.As(err, &wrong) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("it says\n%s\nand not\n%s", err, test.want)
			}
			for _, p := range wrong.Problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Errorf("incomplete: %+v", p)
				}
			}
		})
	}
}

func TestAllProblemsAreToldAtOnceInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	_, err := intent.Parse("m.yaml", []byte("tools:\n  a: {contract_id: 1, subject: a..b}\n  b: {subject: name}\n"))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "m.yaml:2:") || !strings.HasPrefix(lines[1], "m.yaml:2:") || !strings.HasPrefix(lines[2], "m.yaml:3:") {
		t.Errorf("it says %q", lines)
	}
}

func TestKeysThatMeanNothingAreAllowedAndNoted(t *testing.T) {
	t.Parallel()
	m := parse(t, tool("contract_id: c\nsubject: name\nsubjct_kind: order\nowner: me\nparams: {mcp_tool: name}\naction_id: same")+"descripton: x\n")
	var notes []string
	for _, note := range m.Notes {
		notes = append(notes, note.String())
	}
	want := []string{
		`5:5: tool "t": key "subjct_kind": the key means nothing here; did you mean subject_kind?`,
		`6:5: tool "t": key "owner": the key means nothing here`,
		`7:14: tool "t": key "params.mcp_tool": the recorder fills it in itself, so that what stands here is not read; leave it out`,
		`8:16: tool "t": key "action_id": all calls have this one id, so that only the first is an action of its own; put a place into it, such as {arguments.order_id}`,
		`9:1: key "descripton": the key means nothing here`,
	}
	if fmt.Sprint(notes) != fmt.Sprint(want) {
		t.Errorf("notes\n%s, want\n%s", strings.Join(notes, "\n"), strings.Join(want, "\n"))
	}
	if got := declare(t, m, call(t, "t", `{"name":"t"}`)); strings.Count(string(got.Body), "mcp_tool") != 1 {
		t.Errorf("body %s", got.Body)
	}
}

func TestWhatStandsBehindAnOptionalKeyMayBeNothing(t *testing.T) {
	t.Parallel()
	m := parse(t, tool("contract_id: c\nsubject: name\nparams:\naction_id: null\ncompensates: ~")+"agent_id:\n")
	if got := declare(t, m, call(t, "t", `{"name":"t"}`)); got.ActionID != "mcp:t:7" {
		t.Errorf("id %s", got.ActionID)
	}
}

func TestAnExactKeyWinsOverOneWithAServersName(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"tools": {
		"stripe.refund": {"contract_id": "prefixed", "subject": "name"},
		"refund": {"contract_id": "exact", "subject": "name"},
		"stripe.pay": {"contract_id": "pay", "subject": "name"},
		"files.read.all": {"contract_id": "all", "subject": "name"}}}`)
	for name, want := range map[string]string{
		"refund": "exact", "stripe.refund": "prefixed", "pay": "pay", "stripe.pay": "pay", "read.all": "all",
		"Refund": "", "all": "", "stripe": "", "stripe.": "", "": "", ".pay": "",
	} {
		found, ok := m.Tool(name)
		if ok != (want != "") || ok && found.ContractID != want {
			t.Errorf("%q finds %v, want %q", name, found, want)
		}
	}
}

func TestTheLabelPicksBetweenServers(t *testing.T) {
	t.Parallel()
	text := []byte(`{"tools": {"klarna.refund": {"contract_id": "k", "subject": "name"}, "stripe.refund": {"contract_id": "s", "subject": "name"}, "adyen.refund": {"contract_id": "a", "subject": "name"}, "adyen.pay": {"contract_id": "p", "subject": "name"}}}`)
	for label, want := range map[string]string{"stripe": "s", "adyen": "a"} {
		m, err := intent.ParseFor("m", text, label)
		if err != nil {
			t.Fatal(err)
		}
		for name, contract := range map[string]string{"refund": want, "stripe.refund": "s", "adyen.refund": "a", "pay": "p"} {
			if found, ok := m.Tool(name); !ok || found.ContractID != contract {
				t.Errorf("%s: %s finds %v", label, name, found)
			}
		}
		if found, _ := m.With("", "", "klarna").Tool("refund"); found.ContractID != "k" {
			t.Errorf("with a label, refund finds %v", found)
		}
		if found, _ := m.With("", "", "nobody").Tool("refund"); found.ContractID != want {
			t.Errorf("a label that decides nothing changed it: refund finds %v", found)
		}
	}
	if _, err := intent.ParseFor("m", text, "other"); err == nil {
		t.Error("another label decides nothing, and it was taken")
	}
}

func TestALabelMayHaveDots(t *testing.T) {
	t.Parallel()
	m, err := intent.ParseFor("m", []byte(`{"tools": {"com.example.pay": {"contract_id": "c", "subject": "name"}}}`), "com.example")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.Tool("pay"); !ok {
		t.Error("pay is not found")
	}
}
