package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
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

// wireJournal is a journal whose names and texts all come from draw.
func wireJournal(t *rapid.T, draw func() string) *shelf {
	run := journal.Run{ID: firstID, Label: draw(), Program: draw(), Transport: draw(), Version: draw(), Capture: draw(), Started: ago(time.Hour), Last: ago(2 * time.Hour)}
	if rapid.Bool().Draw(t, "ended") {
		run = ended(run, time.Minute, -1, draw())
	}
	call := newCall(firstID, 3, draw(), ago(time.Minute))
	call.Label, call.Ended = draw(), run.End != nil
	failed := refused(answered(newCall(firstID, 5, draw(), ago(time.Minute)), entry.OutcomeError, 9, 7), draw())
	failed.Flags = []string{draw()}
	other := newCall(firstID, 7, "", ago(time.Minute))
	other.Method, other.From = draw(), draw()
	definition := []byte(draw())
	s := &shelf{
		runs: []journal.Run{run}, calls: []journal.Call{call, failed, other},
		others: []journal.MethodCount{{From: draw(), Method: draw(), Count: 1}, {From: "server", Method: draw(), Count: 1}},
		gaps:   []journal.Gap{{Session: firstID, At: ago(0), From: draw(), Reason: draw(), Bytes: 1}},
		noise:  1,
		stats:  []journal.ToolStats{{Tool: draw(), Calls: 1, WorstSession: firstID, WorstSeq: 3}},
		cost:   journal.Cost{Tools: []journal.ToolCost{{Tool: draw(), WorstSession: firstID, WorstSeq: 3}}},
		went:   []journal.DestinationCount{{Kind: draw(), Name: draw(), Calls: 1}},
		tools: []journal.Tool{
			{Label: draw(), Name: draw(), ChangedAt: 1, PreviousDefinition: definition, Definition: []byte(draw())},
			{Label: draw(), Name: draw(), ChangedAt: 1, PreviousDefinition: jsonOf(draw()), Definition: jsonOf(draw())},
		},
		found: journal.Found{Calls: []journal.Call{failed}},
	}
	detail := func() *entry.Detail {
		return &entry.Detail{
			ID: text(draw()), Method: text("tools/call"), Tool: text(draw()), Error: text(draw()), Target: text(draw()),
			Peer:  &entry.Peer{Name: text(draw()), Version: text(draw()), Protocol: text(draw())},
			Shape: []entry.Field{{Name: draw(), Type: draw()}},
			Args:  text("needle" + draw()), Preview: text(draw()), ErrorText: text(draw()),
			Destinations: &entry.Destinations{Hosts: []string{draw()}, Emails: []string{draw()}, IPs: []string{draw()}, Content: map[string]int64{draw(): 1}},
			Redacted:     map[string]int64{draw(): 1}, Command: []string{draw()}, Label: draw(),
		}
	}
	s.write(entry.Entry{Kind: entry.KindSession, Session: firstID}, detail())
	for seq := int64(3); seq <= 5; seq += 2 {
		s.write(entry.Entry{Kind: entry.KindRequest, Session: firstID, Seq: seq, From: "client", Flags: []string{draw()}, Body: entry.Hash{1}}, detail())
	}
	s.write(entry.Entry{Kind: entry.Kind(draw()), Session: firstID, Seq: 6, Call: 5, From: draw()}, detail())
	s.write(entry.Entry{Kind: entry.KindResponse, Session: firstID, Seq: 7, Call: 5, From: "server", Outcome: entry.OutcomeToolError}, detail())
	s.write(entry.Entry{Kind: entry.KindGap, Session: firstID, Seq: 8, From: draw(), Reason: draw()}, nil)
	s.write(entry.Entry{Kind: entry.KindEnd, Session: firstID, Seq: 9, Reason: draw(), ExitCode: 3}, nil)
	s.bodies = map[int64]body{1: {data: []byte(draw())}, 2: {data: []byte(draw())}}
	return s
}

// jsonOf is a definition with a text in its every place.
func jsonOf(text string) []byte {
	raw, _ := json.Marshal(map[string]any{"description": text, text: map[string]string{text: text}}) // strings can always be written
	return raw
}

// answersAbout renders every answer there is about such a journal.
func answersAbout(t *rapid.T, draw func() string) (texts []string, documents [][]byte) {
	s := wireJournal(t, draw)
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
	lines := func(write func(to *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil && !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b.Bytes()) {
			documents = append(documents, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	add(last, err)
	runs, err := report.ListRuns(t.Context(), s, view.Clock, 0, 5)
	add(runs, err)
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.5")
	add(story, err)
	stats, err := report.ToolFigures(t.Context(), s, view.Clock, report.Scope{}, false)
	add(stats, err)
	cost, err := report.ToolCost(t.Context(), s, s, view.Clock, report.CostQuery{BytesPerToken: 4})
	add(cost, err)
	tools, err := report.ListTools(t.Context(), s, view.Clock, report.ToolsQuery{})
	add(tools, err)
	search, err := report.SearchCalls(t.Context(), s, view.Clock, report.SearchQuery{Text: rapid.SampledFrom([]string{"needle", draw()}).Draw(t, "wanted"), Limit: 3})
	add(search, err)
	disk, err := report.DiskUse(t.Context(), s, view.Clock, journal.Usage{BodyCount: 1, Sessions: []journal.SessionUsage{{Session: firstID}}})
	add(disk, err)
	erasing, err := report.FindErasing(t.Context(), s, view.Clock, report.EraseTarget{Call: "6d4e47f7.5"}, false)
	add(&report.Erased{Erasing: erasing, Erasure: journal.Erasure{Entries: 1, What: draw(), Records: []int64{1}}}, err)
	verified := journal.VerifyReport{
		Path: draw(), Origin: draw(), VerifierKey: draw(), Found: 1, Findings: []journal.Finding{{N: 1, What: draw()}},
		ErasureEntries: 1, Erasures: []journal.ErasureEntry{{Scope: draw(), What: draw()}},
	}
	add(&report.Verification{Report: verified}, nil)

	tail, err := report.TailCalls(t.Context(), s, view.Clock, report.TailQuery{Limit: 9, All: true})
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, tail.Text(view))
	before := len(documents)
	lines(func(to *bytes.Buffer) error { return report.WriteJSONLines(to, tail.Documents()) })
	if got := len(documents) - before; got != len(tail.Documents()) {
		t.Fatalf("%d documents became %d lines", len(tail.Documents()), got)
	}
	lines(func(to *bytes.Buffer) error {
		_, err := report.Export(t.Context(), s, view.Clock, report.ExportQuery{Bodies: true, Version: draw()}, to)
		return err
	})
	stop := func(context.Context) error { return errStop }
	query := report.WatchQuery{Scope: report.Scope{Since: -1}, JSON: true}
	lines(func(to *bytes.Buffer) error { return report.Watch(t.Context(), s, view, query, to, stop) })
	var watched bytes.Buffer
	query.JSON = false
	if err := report.Watch(t.Context(), s, view, query, &watched, stop); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return append(texts, watched.String()), documents
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
