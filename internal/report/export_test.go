package report_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
)

// logged is a log of two sessions with a call, a gap and bodies.
func logged() *shelf {
	at := ago(time.Minute)
	s := &shelf{
		runs: []journal.Run{ended(newRun(thirdID, "files", ago(50*time.Hour)), time.Second, 0, "client_closed"), newRun(firstID, "orders", at)},
		gaps: []journal.Gap{{Session: firstID, At: at + 5, From: "server", Reason: "observer_behind", Bytes: 9, Messages: 1}},
	}
	s.write(entry.Entry{Kind: entry.KindSession, Session: thirdID, At: ago(50 * time.Hour)}, &entry.Detail{Label: "files"})
	s.write(entry.Entry{Kind: entry.KindEnd, Session: thirdID, Seq: 1, At: ago(50*time.Hour) + 1e6}, nil)
	s.write(entry.Entry{Kind: entry.KindSession, Session: firstID, At: at}, &entry.Detail{Label: "orders"})
	s.write(entry.Entry{Kind: entry.KindRequest, Session: firstID, Seq: 1, At: at + 1, From: "client", Bytes: 90, Body: entry.Hash{1}, Kept: 90}, &entry.Detail{Tool: text("refund")})
	s.write(entry.Entry{Kind: entry.KindResponse, Session: firstID, Seq: 2, At: at + 4, From: "server", Bytes: 700, Call: 1, Took: 3, Outcome: "ok", Body: entry.Hash{2}, Kept: 8, Omitted: 692, Head: 4}, &entry.Detail{Tool: text("refund")})
	s.write(entry.Entry{Kind: entry.KindGap, Session: firstID, Seq: 3, At: at + 5, From: "server", Bytes: 9, Messages: 1, Reason: "observer_behind"}, nil)
	s.bodies = map[int64]body{3: {data: []byte(`{"jsonrpc":"2.0"}`)}, 4: {data: []byte{'{', 0xff, 0, '}'}}}
	return s
}

func export(t testing.TB, s *shelf, query report.ExportQuery) (string, report.ExportEnd) {
	t.Helper()
	var out bytes.Buffer
	end, err := report.Export(t.Context(), s, view.Clock, query, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), end
}

func TestAnExportHasEverythingInTheOrderOfTheLog(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		query report.ExportQuery
	}{
		{"export", report.ExportQuery{Version: "0.1.0"}},
		{"export-bodies", report.ExportQuery{Version: "0.1.0", Bodies: true}},
		{"export-session", report.ExportQuery{Version: "0.1.0", Bodies: true, Scope: report.Scope{Session: "0b5c"}}},
		{"export-since", report.ExportQuery{Version: "0.1.0", Scope: report.Scope{Since: ago(time.Hour)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, _ := export(t, logged(), test.query)
			golden(t, test.name+".jsonl", got)
		})
	}
}

func TestAnExportSaysInItsLastLineHowMuchItHas(t *testing.T) {
	t.Parallel()
	got, end := export(t, logged(), report.ExportQuery{Bodies: true})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	counted := map[string]int64{}
	for _, line := range lines {
		var document struct{ Kind string }
		if err := json.Unmarshal([]byte(line), &document); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		counted[document.Kind]++
	}
	if counted["export"] != 1 || counted["export_end"] != 1 || !strings.Contains(lines[len(lines)-1], `"kind":"export_end"`) {
		t.Errorf("the lines are %v", counted)
	}
	if counted["session"] != end.Sessions || counted["gap"] != end.Gaps || counted["entry"] != end.Entries || counted["body"] != end.Bodies {
		t.Errorf("the lines are %v, the end says %+v", counted, end)
	}
	if want := "6 entries of 2 sessions, 2 bodies, 1 gap"; end.Text() != want {
		t.Errorf("in words: %s", end.Text())
	}
}

func TestAnExportLeavesSaltsInTheJournal(t *testing.T) {
	t.Parallel()
	if got, _ := export(t, logged(), report.ExportQuery{Bodies: true}); strings.Contains(got, "salt") {
		t.Errorf("a salt is exported:\n%s", got)
	}
}

func TestABodyThatIsGoneOrAlteredIsToldAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		body body
		want string
	}{
		{"erased before", body{err: journal.ErrErased}, `"erased":true,"altered":false,"encoding":null,"data":null`},
		{"erased while it was read", body{data: []byte("abc"), end: journal.ErrErased}, `"erased":true,"altered":false,"encoding":null,"data":null`},
		{"altered", body{data: []byte("abc"), end: journal.ErrBodyAltered}, `"erased":false,"altered":true,"encoding":null,"data":null`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := logged()
			s.bodies[3] = test.body
			got, end := export(t, s, report.ExportQuery{Bodies: true})
			if !strings.Contains(got, test.want) || end.Entries != 6 || strings.Contains(got, `"abc"`) {
				t.Errorf("exported:\n%s", got)
			}
		})
	}
}

func TestAnExportThatFailsHasNoEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	s := logged()
	s.bodies[4] = body{data: []byte("abc"), end: broken}
	var out bytes.Buffer
	_, err := report.Export(t.Context(), s, view.Clock, report.ExportQuery{Bodies: true}, &out)
	if !errors.Is(err, broken) || strings.Contains(out.String(), `"kind":"export_end"`) {
		t.Errorf("error %v, exported:\n%s", err, out.String())
	}
}

// However a body is cut into pieces, its pieces are its bytes again, and a
// text that is UTF-8 is written as text in every piece.
func TestThePiecesOfABodyAreItsBytes(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"é", "漢", "🙂", "\xff", "\xe6\xbc"} {
		for lead := range 4 {
			t.Run(fmt.Sprintf("%q behind %d bytes", letter, lead), func(t *testing.T) {
				t.Parallel()
				const piece = 1 << 20
				data := []byte(strings.Repeat("x", piece-2+lead) + strings.Repeat(letter, 3) + strings.Repeat("y", piece))
				checkPieces(t, data)
			})
		}
	}
	t.Run("nothing at all", func(t *testing.T) { t.Parallel(); checkPieces(t, []byte{}) })
}

func checkPieces(t *testing.T, data []byte) {
	t.Helper()
	s := logged()
	s.log[3].Entry.Kept = int64(len(data))
	s.bodies[3] = body{data: data}
	got, _ := export(t, s, report.ExportQuery{Bodies: true})
	whole, pieces := []byte{}, 0
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, `{"kind":"body","log_position":3,`) {
			continue
		}
		var piece report.BodyLine
		if err := json.Unmarshal([]byte(line), &piece); err != nil {
			t.Fatal(err)
		}
		if piece.Offset != int64(len(whole)) {
			t.Fatalf("a piece stands at %d, not %d", piece.Offset, len(whole))
		}
		raw := []byte(*piece.Data)
		if *piece.Encoding == "base64" {
			if utf8.Valid(data) {
				t.Fatal("a text is written as Base64")
			}
			var err error
			if raw, err = base64.StdEncoding.DecodeString(*piece.Data); err != nil {
				t.Fatal(err)
			}
		}
		whole = append(whole, raw...)
		pieces++
	}
	if !bytes.Equal(whole, data) {
		t.Errorf("%d bytes came back as %d others", len(data), len(whole))
	}
	if want := max(1, (len(data)+1<<20-1)>>20); pieces != want {
		t.Errorf("%d pieces, want %d", pieces, want)
	}
}
