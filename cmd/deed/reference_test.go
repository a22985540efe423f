package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// referencePage is made from the command line itself, so that it cannot say
// anything else than the program does.
const referencePage = "../../docs/commands.md"

// reference is what the page has for a command and kong does not know.
type reference struct {
	example   string   // one that runs in a home with one session
	documents []string // what --json prints, by the name of its type in internal/report
	lines     bool     // a document a line
	answer    string   // the request whose answer --json prints, as the server sent it
	but       string   // how what it prints differs from that; without one, what it is
}

var references = map[string]reference{
	"run":        {example: "deed run --label shop -- deed demo-server < /dev/null"},
	"recorder":   {example: "deed recorder --help"},
	"flush":      {example: "deed flush --list", documents: []string{"OutboxDocument"}},
	"demo":       {example: "deed demo"},
	"last":       {example: "deed last", documents: []string{"LastDocument", "RunsDocument"}},
	"tail":       {example: "deed tail -n 5", documents: []string{"CallDocument", "GapDocument"}, lines: true},
	"watch":      {example: "deed watch -n 1 --since 1h", documents: []string{"CallDocument", "SessionLine", "GapDocument"}, lines: true},
	"show":       {example: "deed show last", documents: []string{"StoryDocument"}},
	"search":     {example: "deed search --tool list_orders", documents: []string{"SearchDocument"}},
	"stats":      {example: "deed stats", documents: []string{"StatsDocument"}},
	"cost":       {example: "deed cost --since 7d", documents: []string{"CostDocument"}},
	"tools":      {example: "deed tools", documents: []string{"ToolsDocument"}},
	"export":     {example: "deed export everything.jsonl", documents: []string{"ExportHead", "SessionLine", "GapDocument", "EntryLine", "BodyLine", "ExportEnd"}, lines: true},
	"du":         {example: "deed du", documents: []string{"DiskDocument"}},
	"erase":      {example: "deed erase --before 10w --dry-run", documents: []string{"ErasedDocument"}},
	"verify":     {example: "deed verify", documents: []string{"VerifyDocument"}},
	"checkpoint": {example: "deed checkpoint"},
	"evaluate":   {example: "deed evaluate --help", documents: []string{"EvaluationDocument"}},

	"contract validate": {example: "deed contract validate contracts/refund.yaml", documents: []string{"ValidationDocument"}},
	"contract explain":  {example: "deed contract explain contracts/refund.yaml", documents: []string{"ExplanationDocument"}},
	"contract diff":     {example: "deed contract diff --help", documents: []string{"ContractDiffDocument"}},
	"contract draft":    {example: "deed contract draft --help", documents: []string{"DraftDocument"}},
	"contract fmt":      {example: "deed contract fmt --help"},
	"contract schema":   {example: "deed contract schema"},
	"contract test":     {example: "deed contract test contracts/refund.yaml", documents: []string{"ContractTestsDocument"}},

	"map check": {example: "deed map check --help", documents: []string{"MapCheckDocument"}},
	"map draft": {example: "deed map draft -- deed demo-server"},

	"contract list":     {example: "deed contract list --help", answer: "GET /v1/contracts"},
	"contract push":     {example: "deed contract push --help", answer: "POST /v1/contracts"},
	"contract versions": {example: "deed contract versions --help", answer: "GET /v1/contracts/{id}/versions"},
	"contract pull":     {example: "deed contract pull --help", answer: "GET /v1/contracts/{id}/versions/{n}"},
	"contract approve":  {example: "deed contract approve --help", answer: "POST /v1/contracts/{id}/versions/{n}/approve"},
	"contract activate": {example: "deed contract activate --help", answer: "POST /v1/contracts/{id}/versions/{n}/activate"},
	"contract retire":   {example: "deed contract retire --help", answer: "POST /v1/contracts/{id}/retire"},
	"contract dry-run":  {example: "deed contract dry-run --help", answer: "POST /v1/contracts/dry-run"},

	"action declare": {example: "deed action declare --help", answer: "POST /v1/actions"},
	"action show":    {example: "deed action show --help", answer: "GET /v1/actions/{ref}"},
	"action list":    {example: "deed action list --help", answer: "GET /v1/actions"},
	"action pending": {example: "deed action pending --help", answer: "GET /v1/actions/pending"},
	"action summary": {example: "deed action summary --help", answer: "GET /v1/summary"},
	"action orphans": {example: "deed action orphans --help", answer: "GET /v1/orphans"},

	"fact list":   {example: "deed fact list --help", answer: "GET /v1/facts"},
	"fact import": {example: "deed fact import --help", documents: []string{"Imported"}},

	"source list":     {example: "deed source list --help", answer: "GET /v1/sources"},
	"source add":      {example: "deed source add --help", answer: "POST /v1/sources"},
	"source set":      {example: "deed source set --help", answer: "PATCH /v1/sources/{source}"},
	"source complete": {example: "deed source complete --help", answer: "PUT /v1/sources/{source}/watermark"},

	"gate": {example: "deed gate --help", answer: "GET /v1/actions", but: " with all actions on one page, by their ids, and `open`, how many were not settled in time"},

	"login":    {example: "deed login --help", answer: "POST /v1/session", but: " without the token, and `address`, the server's"},
	"logout":   {example: "deed logout", but: "an empty object"},
	"whoami":   {example: "deed whoami --help", answer: "GET /v1/session"},
	"confirm":  {example: "deed confirm --help", answer: "POST /v1/session/confirm"},
	"password": {example: "deed password --help", answer: "POST /v1/session/password", but: " without the token, and `address`, the server's"},

	"key list":   {example: "deed key list --help", answer: "GET /v1/keys"},
	"key create": {example: "deed key create --help", answer: "POST /v1/keys"},
	"key rotate": {example: "deed key rotate --help", answer: "POST /v1/keys/{id}/rotate"},
	"key revoke": {example: "deed key revoke --help", but: "an empty object"},

	"member list":   {example: "deed member list --help", answer: "GET /v1/members"},
	"member invite": {example: "deed member invite --help", answer: "POST /v1/members"},
	"member link":   {example: "deed member link --help", answer: "POST /v1/members/{id}/link"},
	"member role":   {example: "deed member role --help", answer: "PATCH /v1/members/{id}"},
	"member remove": {example: "deed member remove --help", but: "an empty object"},

	"workspace show":   {example: "deed workspace show --help", answer: "GET /v1/workspace"},
	"workspace set":    {example: "deed workspace set --help", answer: "PATCH /v1/workspace"},
	"workspace usage":  {example: "deed workspace usage --help", answer: "GET /v1/usage"},
	"workspace audit":  {example: "deed workspace audit --help", answer: "GET /v1/audit"},
	"workspace delete": {example: "deed workspace delete --help", but: "an empty object"},

	"serve":           {example: "deed serve --print-config"},
	"fsck":            {example: "deed fsck --help"},
	"backup":          {example: "deed backup --help"},
	"restore":         {example: "deed restore --help"},
	"secret new":      {example: "deed secret new deed.secret"},
	"secret rotate":   {example: "deed secret rotate deed.secret"},
	"host workspaces": {example: "deed host workspaces --help", documents: []string{"WorkspacesDocument"}},
	"host create":     {example: "deed host create --help"},
	"host plan":       {example: "deed host plan --help"},
	"host link":       {example: "deed host link --help"},
	"host export":     {example: "deed host export --help"},
}

const referenceHead = `# Commands

Every command of ` + "`deed`" + `, its flags, the fields of its JSON and its exit codes. This page is generated from the program
(` + "`go test ./cmd/deed -run TestTheReference -update`" + `).

Every command takes ` + "`--home DIR`" + ` (else ` + "`$DEED_HOME`, else `~/.deed`" + `) and ` + "`--help`" + `, which gives examples. Where a flag
takes a time, that is a span back from now (` + "`90m`, `24h`, `14d`, `2w`" + `), ` + "`today`, `yesterday`" + `, a date or a date and time in your zone
(` + "`2026-11-30`, `2026-11-30T14:05`" + `). Where it takes a session, the beginning of its id will do. Long tables show 15 rows and say
how many more there are.

JSON has wire bytes in names that end in ` + "`_bytes`, microseconds in `_us`" + `, and times as RFC 3339 in UTC. What is unknown is
` + "`null`" + `. Fields are added and never renamed or taken away. Sizes are bytes on the wire unless a field says otherwise, and text
never carries what a terminal would act on, in JSON neither.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | a negative answer, or the command failed |
| 2 | what was asked makes no sense |
| 3 | neither: the evidence does not carry an answer (` + "`deed evaluate`, `deed action show`, `deed gate`" + `) |
| 130 | interrupted by Ctrl-C |

` + "`deed run`" + ` ends with the code of the server that it wraps. A closed pipe is no failure: ` + "`deed tail | head`" + ` ends with 0.
`

func TestTheReferenceSaysWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	got := writeReference(t)
	if *update {
		if err := os.WriteFile(referencePage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/commands.md is out of date; run: go test ./cmd/deed -run TestTheReference -update\n(-page +program):\n%s", diff)
	}
}

func writeReference(t *testing.T) string {
	t.Helper()
	var line commands
	line.addSettings()
	application, err := newParser(t.Context(), &line, &world{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	types := readTypes(t, "../../internal/report", "../../internal/journal", "../../internal/journal/entry", "../../internal/draft", "../../internal/intent/fit", "../../internal/console")
	var b strings.Builder
	b.WriteString(referenceHead)
	shown := map[string]bool{}
	for _, command := range leaves(application.Model.Node) {
		extra, known := references[command.FullPath()[len("deed "):]]
		if !known {
			t.Fatalf("%s has no example in reference_test.go", command.FullPath())
		}
		writeCommand(t, &b, command, extra)
		for _, name := range extra.documents {
			writeType(t, &b, types, name, true)
			shown[name] = true
		}
	}
	b.WriteString("\n## JSON objects\n\nWhat the documents above are made of.\n")
	for { // objects lead to further objects
		var next []string
		for _, name := range types.used {
			if !shown[name] {
				next = append(next, name)
			}
		}
		if len(next) == 0 {
			break
		}
		for _, name := range next {
			if !shown[name] {
				shown[name] = true
				writeType(t, &b, types, name, false)
			}
		}
	}
	return b.String()
}

// leaves are the commands that do something, in the order of the help.
func leaves(node *kong.Node) []*kong.Node {
	var all []*kong.Node
	for _, command := range node.Children {
		switch {
		case command.Hidden:
		case len(command.Children) > 0:
			all = append(all, leaves(command)...)
		default:
			all = append(all, command)
		}
	}
	return all
}

func writeCommand(t *testing.T, b *strings.Builder, command *kong.Node, extra reference) {
	t.Helper()
	summary := command.FullPath()
	for _, argument := range command.Positional {
		summary += " " + argument.Summary()
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```sh\n%s\n```\n\n", command.FullPath(), command.Help, extra.example)
	prose, examples := splitHelp(command.Detail)
	if len(examples) > 0 {
		fmt.Fprintf(b, "```console\n")
		for _, example := range examples {
			fmt.Fprintf(b, "$ %s\n", example)
		}
		fmt.Fprintf(b, "```\n\n")
	}
	if prose != "" {
		b.WriteString(prose + "\n\n")
	}
	fmt.Fprintf(b, "`%s [flags]`\n", summary)
	var rows []string
	for _, argument := range command.Positional {
		rows = append(rows, fmt.Sprintf("| `%s` | %s |", argument.Summary(), cell(argument.Help)))
	}
	hasJSON := false
	for _, flag := range command.Flags {
		if flag.Hidden || flag.Name == "help" {
			continue
		}
		hasJSON = hasJSON || flag.Name == "json"
		rows = append(rows, flagRow(flag))
	}
	if len(rows) > 0 {
		b.WriteString("\n| Flag | Meaning |\n|---|---|\n" + strings.Join(rows, "\n") + "\n")
	}
	switch {
	case extra.answer != "":
		page := "api.md"
		if strings.Contains(extra.answer, "/v1/actions") {
			page = "api-actions.md"
		}
		fmt.Fprintf(b, "\nJSON: the answer to `%s` ([%[2]s](%[2]s))%s.\n", extra.answer, page, extra.but)
	case extra.but != "":
		b.WriteString("\nJSON: " + extra.but + ".\n")
	}
	if hasJSON && len(extra.documents) == 0 && extra.answer == "" && extra.but == "" {
		t.Errorf("%s has --json, and reference_test.go does not say what it prints", command.FullPath())
	}
	if extra.lines {
		b.WriteString("\nJSON: one document a line; `kind` tells them apart.\n")
	}
}

func flagRow(flag *kong.Flag) string {
	name := "`--" + flag.Name
	if !flag.IsBool() {
		name += "=" + flag.FormatPlaceHolder()
	}
	name += "`"
	if flag.Short != 0 {
		name = fmt.Sprintf("`-%c`, %s", flag.Short, name)
	}
	meaning := flag.Help
	if flag.HasDefault && flag.Default != "" && !flag.IsBool() {
		meaning += fmt.Sprintf(" Default: `%s`.", flag.Default)
	}
	return fmt.Sprintf("| %s | %s |", name, cell(meaning))
}

// splitHelp takes a command's help apart: the lines of its example, and the
// rest, whose line breaks are for terminals.
func splitHelp(help string) (prose string, examples []string) {
	var paragraphs []string
	inExample := false
	for _, paragraph := range strings.Split(strings.TrimSpace(help), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if strings.TrimSpace(lines[0]) == "Example:" {
			inExample, lines = true, lines[1:]
		}
		if inExample && (len(lines) == 0 || strings.HasPrefix(lines[0], "  ")) {
			for _, line := range lines {
				examples = append(examples, exampleLine(line))
			}
			continue
		}
		inExample = false
		paragraphs = append(paragraphs, paragraphText(lines))
	}
	return strings.Join(paragraphs, "\n\n"), examples
}

// exampleLine turns what is said beside a command into a comment.
func exampleLine(line string) string {
	command, comment, found := strings.Cut(strings.TrimSpace(line), "   ")
	if !found {
		return command
	}
	return command + "   # " + strings.TrimSpace(comment)
}

// paragraphText joins lines; one that is set in is code.
func paragraphText(lines []string) string {
	if len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "  ") }) {
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
		}
		return "```text\n" + strings.Join(lines, "\n") + "\n```"
	}
	text := ""
	for _, line := range lines {
		separator := " "
		switch {
		case text == "":
			separator = ""
		case strings.HasPrefix(line, "Exit code"):
			separator = "\n\n"
		}
		if strings.HasPrefix(line, "  ") {
			line = "`" + strings.TrimSpace(line) + "`"
		}
		text += separator + line
	}
	return text
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// documentTypes are the structs that become JSON, as their source has them.
type documentTypes struct {
	structs map[string]*ast.StructType
	docs    map[string]string
	named   map[string]string // other named types, by what they are made of
	used    []string          // structs that a field was made of, in order
}

func readTypes(t *testing.T, folders ...string) *documentTypes {
	t.Helper()
	types := &documentTypes{structs: map[string]*ast.StructType{}, docs: map[string]string{}, named: map[string]string{}}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range file.Decls {
				types.add(declaration)
			}
		}
	}
	return types
}

func (d *documentTypes) add(declaration ast.Decl) {
	general, ok := declaration.(*ast.GenDecl)
	if !ok || general.Tok != token.TYPE {
		return
	}
	for _, spec := range general.Specs {
		one := spec.(*ast.TypeSpec)
		if _, known := d.structs[one.Name.Name]; known {
			continue // the first folder rules
		}
		switch of := one.Type.(type) {
		case *ast.StructType:
			d.structs[one.Name.Name], d.docs[one.Name.Name] = of, general.Doc.Text()
		case *ast.Ident:
			d.named[one.Name.Name] = of.Name
		}
	}
}

// shownName is what the page calls a struct.
func shownName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "Document"), "Line")
}

func writeType(t *testing.T, b *strings.Builder, types *documentTypes, name string, inCommand bool) {
	t.Helper()
	if _, known := types.structs[name]; !known {
		t.Fatalf("there is no struct %s", name)
	}
	if inCommand {
		fmt.Fprintf(b, "\n**%s**\n\n", shownName(name))
	} else {
		fmt.Fprintf(b, "\n### %s\n\n", shownName(name))
	}
	b.WriteString("| Field | Type | Meaning |\n|---|---|---|\n")
	for _, row := range types.rows(t, name) {
		b.WriteString(row + "\n")
	}
}

func (d *documentTypes) rows(t *testing.T, name string) []string {
	t.Helper()
	var rows []string
	for _, field := range d.structs[name].Fields.List {
		if len(field.Names) == 0 { // its fields stand here as well
			rows = append(rows, d.rows(t, typeName(field.Type))...)
			continue
		}
		if field.Tag == nil {
			t.Fatalf("field %s of %s has no JSON name", field.Names[0].Name, name)
		}
		tag, optional, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
		comment := field.Comment.Text()
		if comment == "" {
			comment = field.Doc.Text()
		}
		of := d.jsonType(t, field.Type)
		if optional != "" {
			of = strings.TrimSuffix(of, " or null") + ", may be absent"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", tag, of, cell(strings.Join(strings.Fields(comment), " "))))
	}
	return rows
}

func typeName(expression ast.Expr) string {
	switch of := expression.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}

func (d *documentTypes) jsonType(t *testing.T, expression ast.Expr) string {
	t.Helper()
	switch of := expression.(type) {
	case *ast.StarExpr:
		return d.jsonType(t, of.X) + " or null"
	case *ast.ArrayType:
		return "list of " + d.jsonType(t, of.Elt)
	case *ast.MapType:
		return "object of " + d.jsonType(t, of.Value)
	}
	name := typeName(expression)
	if basic, known := d.named[name]; known {
		name = basic
	}
	switch name {
	case "string", "Hash":
		return "string"
	case "int64", "int":
		return "integer"
	case "float64":
		return "number"
	case "bool":
		return "boolean"
	case "RawMessage":
		return "object as in [the format of verdicts](case.md)"
	case "Text":
		return "string, or an object with `bytes`, `head` and `sha256` where the text was cut"
	}
	if _, known := d.structs[name]; !known {
		t.Fatalf("type %q has no JSON form here", name)
	}
	d.used = append(d.used, name)
	return fmt.Sprintf("[%s](#%s)", shownName(name), strings.ToLower(shownName(name)))
}
