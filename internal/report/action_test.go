package report_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
)

func TestLastSaysWhatBecameOfActionsAndWhySomeCallsHaveNone(t *testing.T) {
	t.Parallel()
	s := busy()
	s.intents = journal.IntentTotals{Begun: 1204, Declared: 1200, Failed: 3, Waiting: 2, Undeliverable: 1, Refused: 1, Undeclarable: 4}
	s.not = []journal.Undeclared{
		{Tool: "refund", Why: "subject_absent", Path: "arguments.order_id", Count: 3, Last: 9, Session: firstID},
		{Tool: "charge\x1b[2J", Why: "a_word_of_the_future", Refused: true, Count: 1, Last: -1, Session: firstID},
	}
	last, err := report.LastRun(t.Context(), s, view.Clock, "6d4e47f7a0")
	goldenAnswer(t, "last-actions", last, err)
}

func TestShowTellsWhatBecameOfTheActionOfACall(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	records := s.records[9]
	asked := records[0].Entry.At
	intent := func(n, seq int64, reason string, d entry.Declaration) journal.Record {
		return journal.Record{
			N: n, Leaf: []byte(`{"at":4}`),
			Entry:  entry.Entry{Kind: entry.KindIntent, Session: firstID, Seq: seq, At: asked + n, Call: 9, Took: -1, Reason: reason},
			Detail: &entry.Detail{Tool: text("refund"), Declaration: &d},
		}
	}
	begun := intent(4314, 11, entry.IntentDeclaring, entry.Declaration{
		Action: "refund:o-1\x1b[2J", Contract: "refund_workflow", Subject: "o-1", API: "https://deed.example.com", Key: "0011223344556677",
	})
	begun.Entry.Body, begun.Entry.Kept = entry.Hash{1}, 200
	s.records[9] = append(records[:1:1], begun,
		intent(4315, 12, entry.IntentFailed, entry.Declaration{Status: 503, Why: "HTTP 503 unavailable: stopping", Again: asked + 5_000_000}),
		intent(4316, 13, entry.IntentUndeclarable, entry.Declaration{Why: "not_scalar", Path: "arguments.order"}),
		intent(4317, 14, "dreamt", entry.Declaration{}),
		records[2],
		intent(4400, 2, entry.IntentDeclared, entry.Declaration{Status: 201, Recorded: "new"}))
	story, err := report.ShowCall(t.Context(), s, view.Clock, "6d4e47f7.9")
	goldenAnswer(t, "show-action", story, err)
}

func TestTheOutboxSaysWhatWasSentAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	letter := func(n int64, action, state, said string) journal.Letter {
		return journal.Letter{
			N: n, Session: firstID, Seq: n - 4300, At: ago(3600e9), Tool: "refund", State: state, Tries: 3, Due: ago(-60e9), Said: said, Bytes: 210,
			Declaration: entry.Declaration{Action: action, Contract: "refund_workflow", Subject: "o-1", API: "https://deed.example.com"},
		}
	}
	for name, o := range map[string]*report.Outbox{
		"outbox": {
			Letters: []journal.Letter{
				letter(4314, "refund:o-1", journal.StateWaiting, "HTTP 503 unavailable"),
				letter(4320, "refund:o-2\x1b[2J", journal.StateUndeliverable, "HTTP 400 invalid_request\nsecond line"),
				letter(4330, "", journal.StateWaiting, ""),
			},
			Sent: &report.Sent{Declared: 2, Undeliverable: 1, Others: 1, Stopped: "HTTP 503 unavailable: stopping"},
		},
		"outbox-empty": {Sent: &report.Sent{Declared: 1}},
		"outbox-shown": {},
	} {
		goldenAnswer(t, name, o, nil)
	}
}
