package report_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

// sound is a report in which nothing was found.
func sound() journal.VerifyReport {
	return journal.VerifyReport{
		Path: "/home/ann/.deed/journal-v1.db", Origin: "deed.dev/journal/00ff", VerifierKey: "deed.dev/journal/00ff+12345678+AbCd",
		Checkpoint: []byte("deed.dev/journal/00ff\n1234\n…\n"), Root: journal.Hash{0xfe},
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
	broken.Root = journal.Hash{}
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
