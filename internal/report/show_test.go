package report_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
)

func text(s string) *entry.Text { return &entry.Text{Whole: s} }

// told is a call with its progress and its answer, as records.
func told(outcome entry.Outcome) *shelf {
	s := busy()
	asked := ago(9*time.Minute + 48*time.Second)
	request := journal.Record{
		N: 4312, Leaf: []byte(`{"at":1,"kind":"request"}`),
		Entry: entry.Entry{
			Kind: entry.KindRequest, Session: firstID, Seq: 9, At: asked, Began: asked - 12_000, From: "client",
			Bytes: 5 << 10, Framing: 2, Wire: entry.Hash{0xab, 0xcd}, Call: -1, Took: -1, Flags: []string{"batch", "duplicate_keys", "of_the_future"},
		},
		Detail: &entry.Detail{
			ID: text(`"a-7"`), Method: text("tools/call"), Tool: text("refund"),
			Shape: []entry.Field{
				{Name: "amount", Type: "number", Bytes: 6},
				{Name: "items", Type: "array", Bytes: 120, Count: 3},
				{Name: "items[].sku", Type: "string", Bytes: 14},
				{Name: "to", Type: "object", Bytes: 40, Count: 1},
				{Name: "note\x1b[2J", Type: "string", Bytes: 5000},
			},
		},
	}
	progress := journal.Record{
		N: 4313, Leaf: []byte(`{"at":2}`),
		Entry:  entry.Entry{Kind: entry.KindNotification, Session: firstID, Seq: 10, At: asked + 400_000, From: "server", Bytes: 99, Call: 9, Took: -1},
		Detail: &entry.Detail{Method: text("notifications/progress"), Target: text("p1")},
	}
	answer := journal.Record{
		N: 4320, Leaf: []byte(`{"at":3}`),
		Entry: entry.Entry{
			Kind: entry.KindResponse, Session: firstID, Seq: 11, At: asked + 2_000_000, From: "server", Bytes: 300,
			Call: 9, Took: 2_000_000, Outcome: outcome,
		},
		Detail: &entry.Detail{
			ID: text(`"a-7"`), Method: text("tools/call"), Tool: text("refund"),
			Shape: []entry.Field{{Name: "content", Type: "array", Bytes: 200, Count: 1}, {Name: "isError", Type: "boolean", Bytes: 4}},
		},
	}
	if outcome == entry.OutcomeError {
		answer.Detail.Error = &entry.Text{Cut: true, Bytes: 2048, Head: "-326020000"}
		answer.Detail.Shape = []entry.Field{{Name: "", Type: "string", Bytes: 12}}
	}
	s.records = map[int64][]journal.Record{9: {request, progress, answer}}
	return s
}

func TestShowTellsEverythingOfOneCall(t *testing.T) {
	t.Parallel()
	for _, outcome := range []entry.Outcome{entry.OutcomeOK, entry.OutcomeError, entry.OutcomeToolError} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			story, err := report.ShowCall(t.Context(), told(outcome), view.Clock, "6D4E.9")
			goldenAnswer(t, "show-"+string(outcome), story, err)
		})
	}
}

func TestShowOfACallWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	s.records[9] = s.records[9][:1]
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	goldenAnswer(t, "show-unanswered", story, err)
}

func TestShowOfACallWhoseNamesWereErased(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	for i := range s.records[9] {
		s.records[9][i].Detail, s.records[9][i].Erased = nil, true
	}
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	goldenAnswer(t, "show-erased", story, err)
}

func TestShowOfACallWithMuchProgressStillEndsInItsAnswer(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	records := s.records[9]
	many := []journal.Record{records[0]}
	for range 500 {
		many = append(many, records[1])
	}
	s.records[9] = append(many, records[2])
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	if err != nil {
		t.Fatal(err)
	}
	shown := []byte(story.Text(view))
	if got := bytes.Count(shown, []byte("notification  server -> client")); got != 19 {
		t.Errorf("%d notifications are shown", got)
	}
	for _, want := range []string{"response  server -> client", "502 records in all; every one of them: deed show --json 6d4e47f7.9"} {
		if !bytes.Contains(shown, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
}

// full is a call of which everything was kept that can be.
func full() *shelf {
	s := told(entry.OutcomeToolError)
	request, answer := &s.records[9][0], &s.records[9][2]
	request.Detail.Args = text(`{"amount":"180.00","items":[1,2,3],"to":{"card":"<redacted:card_number>"},"note":"line one\n` + strings.Repeat("and so on ", 20) + `"}`)
	request.Detail.Destinations = &entry.Destinations{
		Hosts: []string{"api.orders.example"}, Emails: []string{"jo@acme.example"}, IPs: []string{"192.0.2.7"}, Content: map[string]int64{"emails": 2, "hosts": 1},
	}
	request.Detail.Redacted = map[string]int64{"card_number": 1, "key_name": 2, "github_token": 1}
	request.Entry.Body, request.Entry.Kept = entry.Hash{7}, 5<<10
	answer.Detail.ErrorText = text("no such order: \x1b[31m4711")
	answer.Detail.Preview = text(`{"content":[{"type":"text","text":"no such order"}],"isError":true}`)
	answer.Entry.Body, answer.Entry.Kept, answer.Entry.Omitted, answer.Entry.Head = entry.Hash{8}, 320<<10, 9<<20, 256<<10
	return s
}

func TestShowHasWhatWasKeptOfACall(t *testing.T) {
	t.Parallel()
	story, err := report.ShowCall(t.Context(), full(), view.Clock, "6d4e47f7.9")
	goldenAnswer(t, "show-full", story, err)
}

func TestShowOfVeryLongArgumentsSaysHowMuchIsLeftOut(t *testing.T) {
	t.Parallel()
	s := full()
	s.records[9][0].Detail.Args = text(strings.Repeat("0123456789", 800))
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	if err != nil {
		t.Fatal(err)
	}
	if got := story.Text(view); !strings.Contains(got, "    … and 50 more lines: add --json\n") {
		t.Errorf("it reads:\n%s", got)
	}
}

func TestShowOfACallTellsWhatWasNotSeenWhileItWasOpen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		at   time.Duration // after the request, which was answered after 2 s
		want bool
	}{
		{"before it", -time.Second, false},
		{"while it was open", time.Second, true},
		{"after its answer", 3 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := told(entry.OutcomeOK)
			asked := s.records[9][0].Entry.At
			s.gaps = []journal.Gap{{Session: firstID, At: asked + test.at.Microseconds(), From: "server", Bytes: 5, Reason: "observer_behind"}}
			story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(story.Text(view), "NOT SEEN"); got != test.want {
				t.Errorf("told: %v", got)
			}
		})
	}
}

func TestTheNewestCallHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	s.records[40] = s.records[9] // the newest call of this journal
	story, err := report.ShowCall(t.Context(), s, view.Clock, "last")
	if err != nil {
		t.Fatal(err)
	}
	if got := story.Document().(report.StoryDocument).Call; got != "6d4e47f7.40" {
		t.Errorf("it shows %s", got)
	}
	if _, err := report.ShowCall(t.Context(), &shelf{}, view.Clock, "last"); !errors.Is(err, report.ErrNothingRecorded) {
		t.Errorf("of an empty journal: %v", err)
	}
}

func readBody(t *testing.T, story *report.Story, bodies report.Bodies, message report.Message) (string, error) {
	t.Helper()
	stream, _, err := story.Body(t.Context(), bodies, message)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	data, err := io.ReadAll(stream)
	return string(data), err
}

func TestOfAMessageInABatchTheMessageAloneIsShown(t *testing.T) {
	t.Parallel()
	const message = `{"id":7,"list":[1,[2, 3]]}`
	for _, test := range []struct {
		name, kept string
		omitted    int64
		want       string
	}{
		{"the first of a batch", " [ " + message + " , ", 0, message},
		{"one in the middle, with its comma before it", "," + message, 0, message},
		{"the last of a batch", message + " ]\n", 0, message},
		{"the only one", "[" + message + "]\n", 0, message},
		{"one of which the middle was left out", "[" + message + ",", 900, message},
		{"one whose framing is white space for the most part", "[" + strings.Repeat(" ", 9_000) + message + "]", 0, message},
	} {
		s := told(entry.OutcomeOK)
		entry := &s.records[9][0].Entry
		entry.Kept, entry.Omitted = int64(len(test.kept)), test.omitted
		entry.Bytes, entry.Framing = int64(len(message))+test.omitted, int64(len(test.kept)-len(message))
		s.bodies = map[int64]body{4312: {data: []byte(test.kept)}}
		story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readBody(t, story, s, report.MessageRequest); err != nil || got != test.want {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
		// What is behind the message is still compared with the log.
		altered := errors.New("altered")
		s.bodies[4312] = body{data: []byte(test.kept), end: altered}
		if _, err := readBody(t, story, s, report.MessageRequest); !errors.Is(err, altered) {
			t.Errorf("%s: of an altered body it says %v", test.name, err)
		}
	}
}

func TestABodyThatWasKeptWithoutItsBatchIsShownAsItIs(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK) // its request has 5 KiB and 2 bytes of framing
	s.records[9][0].Entry.Kept = 40
	const kept = `[ "redacted, and so of another length" ]`
	s.bodies = map[int64]body{4312: {data: []byte(kept)}}
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readBody(t, story, s, report.MessageRequest); err != nil || got != kept {
		t.Errorf("%q, %v", got, err)
	}
}

func TestACancelledCallIsCalledSo(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	request := s.records[9][0]
	for from, want := range map[string]string{"client": "cancelled by the client after 400 ms, and not answered", "server": "never answered"} {
		notice := journal.Record{
			N: 4313, Leaf: []byte(`{"at":2}`),
			Entry:  entry.Entry{Kind: entry.KindNotification, Session: firstID, Seq: 10, At: request.Entry.At + 400_000, From: from, Bytes: 99, Call: 9, Took: -1},
			Detail: &entry.Detail{Method: text("notifications/cancelled")},
		}
		s.records[9] = []journal.Record{request, notice}
		story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
		if err != nil {
			t.Fatal(err)
		}
		if got := story.Text(view); !strings.Contains(got, want) {
			t.Errorf("of one that the %s told to be over it says:\n%s", from, got)
		}
	}
}

func TestTheMessagesOfACallStandInTheLog(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	if err != nil {
		t.Fatal(err)
	}
	s.bodies = map[int64]body{4312: {data: []byte(`{"id":7}`)}, 4320: {data: []byte("{\n}")}}
	for message, want := range map[report.Message]string{report.MessageRequest: `{"id":7}`, report.MessageResult: "{\n}"} {
		if got, err := readBody(t, story, s, message); err != nil || got != want {
			t.Errorf("%s: %q, %v", message, got, err)
		}
	}
	s.records[9] = s.records[9][:1]
	story, err = report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	if err != nil {
		t.Fatal(err)
	}
	var open *report.NoAnswerError
	if _, err := readBody(t, story, s, report.MessageResult); !errors.As(err, &open) {
		t.Errorf("of a call without an answer: %v", err)
	}
}
