package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/rogpeppe/go-internal/testscript"
)

// fill writes a journal for a script: fill FILE. The file has a line for each
// thing that was seen, its times in seconds after the session's start:
//
//	session ID LABEL START
//	call SECONDS TOOL SENT ok|error|tool_error RETURNED TOOK [CODE]
//	call SECONDS TOOL SENT
//	request SECONDS client|server METHOD SENT RETURNED TOOK
//	gap SECONDS client|server BYTES LINES REASON
//	stderr SECONDS BYTES LINES
//	end SECONDS EXITCODE REASON
//	tools SECONDS NAME=DESCRIPTION...
//
// and lines that say more about the call in the next line:
//
//	args TEXT       its arguments, kept as detail and as body
//	result TEXT     its result, the same
//	said TEXT       the text of its error
//	to HOST|EMAIL   where its data was going
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill FILE")
	}
	j, err := journal.Open(ts.Getenv("DEED_HOME"), journal.Options{
		AllowNetwork: true,
		Retention:    journal.Policy{MaxAge: -1, MaxBytes: -1}, // the sessions of the scripts are old, and their bodies stay
	})
	ts.Check(err)
	f := &filler{journal: j}
	for number, line := range strings.Split(ts.ReadFile(args[0]), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := f.line(fields); err != nil {
			ts.Fatalf("%s:%d: %v", args[0], number+1, err)
		}
	}
	ts.Check(j.Close(context.Background()))
}

// filler is a recorder that is told what it saw.
type filler struct {
	journal *journal.Journal
	session string
	start   time.Time
	seq     int64
	client  int64 // bytes of the client so far
	server  int64
	open    int64
	next    extra
}

// extra is what is said about the next call.
type extra struct {
	args, result, said string
	to                 entry.Destinations
}

func (f *filler) line(fields []string) (err error) {
	defer func() {
		if recover() != nil { // a field too few, or a number that is none
			err = fmt.Errorf("not understood: %s", strings.Join(fields, " "))
		}
	}()
	if fields[0] == "session" {
		start, err := time.Parse(time.RFC3339, fields[3])
		if err != nil {
			return err
		}
		*f = filler{journal: f.journal, session: fields[1], start: start}
		return f.append(entry.Entry{Kind: entry.KindSession, Capture: "shape"},
			&entry.Detail{Label: fields[2], Program: "npx", Transport: "stdio", Version: "0.1.0"}, start)
	}
	if rest := strings.Join(fields[1:], " "); f.next.take(fields[0], rest) {
		return nil
	}
	at := f.start.Add(time.Duration(number(fields[1]) * int64(time.Second)))
	switch fields[0] {
	case "call":
		return f.call(at, "client", "tools/call", fields[2], fields[3], fields[4:])
	case "request":
		return f.call(at, fields[2], fields[3], "", fields[4], append([]string{"ok"}, fields[5:]...))
	case "tools":
		return f.tools(at, fields[2:])
	case "gap":
		f.count(fields[2], number(fields[3]))
		return f.append(entry.Entry{Kind: entry.KindGap, From: fields[2], Bytes: number(fields[3]), Messages: number(fields[4]), Reason: fields[5]}, nil, at)
	case "stderr":
		return f.append(entry.Entry{Kind: entry.KindStderr, From: "server", Bytes: number(fields[2]), Messages: number(fields[3])}, nil, at)
	case "end":
		return f.append(entry.Entry{
			Kind: entry.KindEnd, ExitCode: number(fields[2]), Reason: fields[3], Open: f.open,
			ClientBytes: f.client, ServerBytes: f.server,
		}, nil, at)
	}
	return fmt.Errorf("no such thing: %s", fields[0])
}

func (f *filler) call(at time.Time, from, method, tool, sent string, answer []string) error {
	seq := f.seq
	id := entry.Text{Whole: strconv.FormatInt(seq, 10)}
	detail := entry.Detail{ID: &id, Method: &entry.Text{Whole: method}}
	if tool != "" {
		detail.Tool = &entry.Text{Whole: tool}
		detail.Shape = []entry.Field{{Name: "order", Type: "string", Bytes: 9}}
	}
	request := entry.Entry{Kind: entry.KindRequest, From: from, Bytes: number(sent), Wire: entry.Hash{1}}
	f.count(from, request.Bytes)
	f.open++
	more := f.next
	f.next = extra{}
	asked := detail
	if asked.Args = kept(more.args); len(more.to.Hosts)+len(more.to.Emails) > 0 {
		asked.Destinations = &more.to
	}
	if err := f.appendBody(request, &asked, at, more.args); err != nil || len(answer) == 0 {
		return err
	}
	detail.Preview, detail.ErrorText = kept(more.result), kept(more.said)
	took, err := time.ParseDuration(answer[2])
	if err != nil {
		return err
	}
	response := entry.Entry{
		Kind: entry.KindResponse, From: map[string]string{"client": "server", "server": "client"}[from],
		Bytes: number(answer[1]), Wire: entry.Hash{2}, Call: seq, Took: took.Microseconds(), Outcome: entry.Outcome(answer[0]),
	}
	if len(answer) > 3 {
		detail.Error = &entry.Text{Whole: answer[3]}
	}
	f.count(response.From, response.Bytes)
	f.open--
	return f.appendBody(response, &detail, at.Add(took), more.result)
}

// tools writes a list of tools. An underscore in a description is a blank.
func (f *filler) tools(at time.Time, list []string) error {
	detail := entry.Detail{}
	for _, one := range list {
		name, description, _ := strings.Cut(one, "=")
		definition := fmt.Appendf(nil, `{"description":%q,"inputSchema":{"type":"object"},"name":%q}`, strings.ReplaceAll(description, "_", " "), name)
		sum := entry.Hash(sha256.Sum256(definition))
		if err := f.journal.Define(context.Background(), sum, definition); err != nil {
			return err
		}
		detail.Tools = append(detail.Tools, entry.ToolRef{Name: &entry.Text{Whole: name}, SHA256: sum, Bytes: int64(len(definition))})
	}
	return f.append(entry.Entry{Kind: entry.KindTools, From: "server", Messages: int64(len(list)), Definitions: journal.DefinitionsHash(detail.Tools)}, &detail, at)
}

// take notes what a line says about the next call, if it does.
func (x *extra) take(word, rest string) bool {
	switch word {
	case "args":
		x.args = rest
	case "result":
		x.result = rest
	case "said":
		x.said = rest
	case "to":
		if strings.Contains(rest, "@") {
			x.to.Emails = append(x.to.Emails, rest)
		} else {
			x.to.Hosts = append(x.to.Hosts, rest)
		}
	default:
		return false
	}
	return true
}

func kept(text string) *entry.Text {
	if text == "" {
		return nil
	}
	return &entry.Text{Whole: text}
}

func (f *filler) count(from string, bytes int64) {
	if from == "client" {
		f.client += bytes
	} else {
		f.server += bytes
	}
}

func (f *filler) append(e entry.Entry, detail *entry.Detail, at time.Time) error {
	return f.appendBody(e, detail, at, "")
}

func (f *filler) appendBody(e entry.Entry, detail *entry.Detail, at time.Time, body string) error {
	e.Session, e.Seq, e.At = f.session, f.seq, at.UnixMicro()
	if e.Kind != entry.KindResponse {
		e.Call, e.Took = -1, -1
	}
	if e.Kind != entry.KindEnd {
		e.ExitCode = -1
	}
	f.seq++
	if body == "" {
		return f.journal.Append(context.Background(), &e, detail)
	}
	return f.journal.AppendBody(context.Background(), &e, detail, &journal.Body{Bytes: []byte(body)})
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
