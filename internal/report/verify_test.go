package report_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
)

// sound is a report in which nothing was found.
func sound() journal.VerifyReport {
	return journal.VerifyReport{
		Path: "/home/ann/.deed/journal-v1.db", Origin: "deed.dev/journal/00ff", VerifierKey: "deed.dev/journal/00ff+12345678+AbCd",
		Checkpoint: []byte("deed.dev/journal/00ff\n1234\n…\n"), Root: entry.Hash{0xfe},
		Entries: 1234, Sessions: 3, OpenSessions: 1, Details: 1100, Erased: 12, Checkpoints: 4, SeenBytes: 12_900_000,
	}
}

func TestVerifySaysWhatHoldsAndHowFar(t *testing.T) {
	t.Parallel()
	anchored := sound()
	anchored.Anchored = 1000
	anchored.UnseenBytes, anchored.Gaps = 1, 1
	whole := sound()
	whole.Anchored = whole.Entries
	broken := sound()
	broken.Root = entry.Hash{}
	broken.Found = 23
	broken.Findings = []journal.Finding{
		{N: 7, What: "the column tool does not say what its detail says"},
		{N: -1, What: "session 6d4e\x1b[2J is listed and has no entries"},
	}
	refused := sound()
	refused.Found, refused.Findings = 1, []journal.Finding{{N: -1, What: "the checkpoint that was given is not of this journal"}}
	for _, test := range []struct {
		name string
		v    report.Verification
	}{
		{"verify-unanchored", report.Verification{Report: sound()}},
		{"verify-anchored", report.Verification{Report: anchored, Against: true}},
		{"verify-all-anchored", report.Verification{Report: whole, Against: true}},
		{"verify-broken", report.Verification{Report: broken}},
		{"verify-refused", report.Verification{Report: refused, Against: true}},
		{"verify-empty", report.Verification{Report: journal.VerifyReport{Path: "j"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			goldenAnswer(t, test.name, &test.v, nil)
		})
	}
}

func TestTheFirstLineSaysThatNothingOutsideVouchesForTheJournal(t *testing.T) {
	t.Parallel()
	for _, found := range []int64{0, 1} {
		r := sound()
		r.Found = found
		first, _, _ := strings.Cut((&report.Verification{Report: r}).Text(view), "\n")
		if !strings.Contains(first, "whoever can write this folder could have rewritten all of it") {
			t.Errorf("with %d findings the first line is %q", found, first)
		}
	}
}

func TestAllIsNotSaidWhereASessionHasNoEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		open, seen, unseen int64
		want               string
	}{
		{"every session has ended", 0, 2_000, 0, "all of the 2.0 KiB that crossed it are covered, no gaps"},
		{"one has not", 1, 2_000, 0, "the 2.0 KiB that are known to have crossed it are covered, no gaps; 1 session has no end: what crossed it after its last entry is not known"},
		{"several have not", 12, 2_000, 0, "12 sessions have no end: what crossed them after their last entries is not known"},
		{"one has not and nothing crossed it", 1, 0, 0, "nothing is known to have crossed it; 1 session has no end"},
		{"one has not and there is a gap", 1, 2_048, 2_048, "50.00 % of the 4.0 KiB that are known to have crossed it are covered; NOT SEEN: 2.0 KiB in 1 gap; 1 session has no end"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := sound()
			r.OpenSessions, r.SeenBytes, r.UnseenBytes = test.open, test.seen, test.unseen
			if test.unseen > 0 {
				r.Gaps = 1
			}
			v := report.Verification{Report: r}
			text := v.Text(view)
			if !strings.Contains(text, test.want) {
				t.Errorf("it does not say %q:\n%s", test.want, text)
			}
			if test.open > 0 && strings.Contains(text, "all of the") {
				t.Errorf("it says all:\n%s", text)
			}
			if got := v.Document().(report.VerifyDocument).OpenSessions; got != test.open {
				t.Errorf("the document says %d sessions without an end, want %d", got, test.open)
			}
		})
	}
}

func TestAHundredPercentMeansThatNothingIsMissing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seen, unseen int64
		want         float64
	}{
		{0, 0, 100}, {5, 0, 100}, {1 << 50, 1, 99.99}, {999, 1, 99.9}, {2, 1, 66.66}, {0, 7, 0},
	} {
		r := sound()
		r.SeenBytes, r.UnseenBytes = test.seen, test.unseen
		v := report.Verification{Report: r}
		if got := v.Document().(report.VerifyDocument).CoveredPercent; got != test.want {
			t.Errorf("%d seen and %d not: %v %%, want %v", test.seen, test.unseen, got, test.want)
		}
	}
}
