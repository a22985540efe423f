package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"pgregory.net/rapid"
)

// hostile draws text as a peer may write it, terminal escapes included.
func hostile() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x1b]0;owned\x07", "\u009b2J", "a\r\ndeed: intact", "\u202egnp.exe", "\u2066\u200b\ufeff", "\U000e0041"}),
	)
}

// answersAbout renders every answer there is about a journal whose names all
// come from draw.
func answersAbout(t *rapid.T, draw func() string) (texts []string, documents [][]byte) {
	run := journal.Run{ID: firstID, Label: draw(), Program: draw(), Transport: draw(), Version: draw(), Capture: draw(), Started: ago(time.Hour), Last: ago(2 * time.Hour)}
	if rapid.Bool().Draw(t, "ended") {
		run = ended(run, time.Minute, -1, draw())
	}
	call := newCall(firstID, 3, draw(), ago(time.Minute))
	call.Label, call.Ended = draw(), run.End != nil
	failed := refused(answered(newCall(firstID, 5, draw(), ago(time.Minute)), journal.OutcomeError, 9, 7), draw())
	failed.Flags = []string{draw()}
	other := newCall(firstID, 7, "", ago(time.Minute))
	other.Method, other.From = draw(), draw()
	s := &shelf{
		runs: []journal.Run{run}, calls: []journal.Call{call, failed, other},
		others: []journal.MethodCount{{From: draw(), Method: draw(), Count: 1}, {From: "server", Method: draw(), Count: 1}},
		gaps:   []journal.Gap{{Session: firstID, At: ago(0), From: draw(), Reason: draw(), Bytes: 1}},
		noise:  1,
		records: map[int64][]journal.Record{3: {{
			Entry: journal.Entry{Kind: journal.Kind(draw()), Session: firstID, Seq: 3, From: "client", Flags: []string{draw()}},
			Detail: &journal.Detail{
				ID: text(draw()), Method: text(draw()), Tool: text(draw()), Error: text(draw()), Target: text(draw()),
				Peer:  &journal.Peer{Name: text(draw()), Version: text(draw()), Protocol: text(draw())},
				Shape: []journal.Field{{Name: draw(), Type: draw()}},
			},
			Leaf: []byte(draw()),
		}}},
	}
	add := func(a answer, err error) {
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := report.WriteJSON(&b, a.Document()); err != nil {
			t.Fatal(err)
		}
		texts, documents = append(texts, a.Text(view)), append(documents, b.Bytes())
	}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	add(last, err)
	runs, err := report.ListRuns(t.Context(), s, view.Clock, 0, 5)
	add(runs, err)
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.3")
	add(story, err)
	tail, err := report.TailCalls(t.Context(), s, view.Clock, report.TailQuery{Limit: 9, All: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	if err := report.WriteJSONLines(&lines, tail.Documents()); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(lines.Bytes(), []byte("\n")); got != len(tail.Documents()) {
		t.Fatalf("%d documents became %d lines", len(tail.Documents()), got)
	}
	return append(texts, tail.Text(view)), append(documents, bytes.Split(bytes.TrimSpace(lines.Bytes()), []byte("\n"))...)
}

func TestNothingFromTheWireActsOnTheReadersTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		texts, documents := answersAbout(rt, func() string { return hostile().Draw(rt, "wire") })
		for _, text := range texts {
			checkShown(rt, text)
		}
		for _, document := range documents {
			checkShown(rt, string(document))
			if !json.Valid(document) {
				rt.Fatalf("no JSON: %s", document)
			}
		}
	})
}

func checkShown(t *rapid.T, text string) {
	if !utf8.ValidString(text) {
		t.Fatalf("not UTF-8: %q", text)
	}
	for _, r := range text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%U would reach the terminal in %q", r, text)
		}
	}
}

func TestNothingFromTheWireAddsALine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		wire := func() string { return hostile().Draw(rt, "wire") }
		// A label of one letter takes the place of every name, to count the
		// lines that the answers have of themselves.
		tail := func(name string) int {
			call := newCall(firstID, 3, name, ago(time.Minute))
			call.Label = name
			s := &shelf{runs: []journal.Run{newRun(firstID, name, ago(time.Hour))}, calls: []journal.Call{call, answered(call, "ok", 1, 1)}}
			last, err := report.LastRun(rt.Context(), s, view.Clock, "")
			if err != nil {
				rt.Fatal(err)
			}
			calls, err := report.TailCalls(rt.Context(), s, view.Clock, report.TailQuery{Limit: 9})
			if err != nil {
				rt.Fatal(err)
			}
			return strings.Count(last.Text(view)+calls.Text(view), "\n")
		}
		if plain, got := tail("x"), tail("x"+wire()); got != plain {
			rt.Fatalf("%d lines instead of %d", got, plain)
		}
	})
}

func TestJSONKeepsTheExactText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		given := strings.ToValidUTF8(hostile().Draw(rt, "wire"), "?")
		var b bytes.Buffer
		if err := report.WriteJSON(&b, map[string]string{"tool": given}); err != nil {
			rt.Fatal(err)
		}
		var read map[string]string
		if err := json.Unmarshal(b.Bytes(), &read); err != nil {
			rt.Fatalf("%v in %q", err, b.String())
		}
		if read["tool"] != given {
			rt.Fatalf("%q was read back as %q", given, read["tool"])
		}
	})
}
