package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// linkInScript puts the sign-in link that a server printed into a variable:
// link SERVER VARIABLE.
func linkInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: link SERVER VARIABLE")
	}
	s := serversOf(ts)[args[0]]
	s.output.mu.Lock()
	printed, err := os.ReadFile(s.output.file.Name())
	s.output.mu.Unlock()
	ts.Check(err)
	for line := range strings.Lines(string(printed)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "http") && strings.Contains(line, "/sign-in#") {
			ts.Setenv(args[1], line)
			return
		}
	}
	ts.Fatalf("the server printed no link")
}

// keepInScript puts what the last command printed into a variable: its first line,
// or a member of its JSON: keep VARIABLE [PATH.TO.MEMBER].
func keepInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: keep VARIABLE [MEMBER]")
	}
	printed := ts.ReadFile("stdout")
	if len(args) == 1 {
		first, _, _ := strings.Cut(printed, "\n")
		ts.Setenv(args[0], first)
		return
	}
	var at any
	ts.Check(json.Unmarshal([]byte(printed), &at))
	for _, name := range strings.Split(args[1], ".") {
		switch inner := at.(type) {
		case map[string]any:
			at = inner[name]
		case []any:
			index, err := strconv.Atoi(name)
			ts.Check(err)
			at = inner[index]
		}
	}
	text, ok := at.(string)
	if !ok {
		ts.Fatalf("%s is %v", args[1], at)
	}
	ts.Setenv(args[0], text)
}

// factsInScript writes a file of facts that happen now, one for each action
// refund:o-1, refund:o-2, …: facts FILE COUNT.
func factsInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: facts FILE COUNT")
	}
	count, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b bytes.Buffer
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	for i := range count {
		fmt.Fprintf(&b, `{"source":"payments","external_id":"re_%d","type":"refund.succeeded","subject_id":"o-%[1]d","subject_kind":"order",`+
			`"refs":{"idempotency_key":"refund:o-%[1]d"},"attrs":{"amount":{"amount":"180.00","currency":"USD"}},"occurred_at":%q}`+"\n", i+1, now)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// soonInScript puts the time in a span from now into a variable: soon VARIABLE SPAN.
func soonInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: soon VARIABLE SPAN")
	}
	span, err := time.ParseDuration(args[1])
	ts.Check(err)
	ts.Setenv(args[0], time.Now().Add(span).UTC().Format(time.RFC3339Nano))
}

// modeInScript looks at who may do what with files: mode OCTAL FILE...
func modeInScript(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode OCTAL FILE...")
	}
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] && runtime.GOOS != "windows" {
			ts.Fatalf("%s has the mode %s", name, got)
		}
	}
}
