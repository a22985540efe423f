package report_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
	"github.com/google/go-cmp/cmp"
)

func TestWhatIsErasedIsFoundBeforeAnythingGoes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		target     report.EraseTarget
		bodiesOnly bool
		want       journal.EraseRequest
		plan       string
	}{
		{
			"a call",
			report.EraseTarget{Call: "6D4E.9"},
			false,
			journal.EraseRequest{Session: firstID, Seq: 9},
			"3 details of call 6d4e47f7.9 (refund, 2026-11-30 13:55:21) would go for good, 2.0 KiB: names, arguments, results, errors and destinations; sizes, times and hashes stay, and deed verify still checks them\n",
		},
		{
			"a session",
			report.EraseTarget{Session: "0b5c"},
			false,
			journal.EraseRequest{Session: thirdID},
			"3 details of session 0b5c91d2 (files, 2026-11-28 12:05:09) would go for good, 2.0 KiB: ",
		},
		{
			"bodies before a time",
			report.EraseTarget{Before: ago(time.Hour)},
			true,
			journal.EraseRequest{Before: ago(time.Hour), BodiesOnly: true},
			"3 details of everything before 2026-11-30 13:05:09 would go for good, 2.0 KiB: ",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			erasing, err := report.FindErasing(t.Context(), told(entry.OutcomeOK), view.Clock, test.target, test.bodiesOnly)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, erasing.Request); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if got := erasing.Plan(journal.Erasure{What: entry.ErasedAll, Entries: 3, Details: 3, Bytes: 2048}); !strings.HasPrefix(got, test.plan) {
				t.Errorf("the plan reads %q", got)
			}
		})
	}
}

func TestTheNewestCallMustBeNamedToBeErased(t *testing.T) {
	t.Parallel()
	_, err := report.FindErasing(t.Context(), told(entry.OutcomeOK), view.Clock, report.EraseTarget{Call: "last"}, false)
	var noID *report.CallIDError
	if !errors.As(err, &noID) {
		t.Errorf("error %v", err)
	}
}

func TestWhatWasErasedIsToldWithTheEntryThatSaysSo(t *testing.T) {
	t.Parallel()
	s := told(entry.OutcomeOK)
	erasing, err := report.FindErasing(t.Context(), s, view.Clock, report.EraseTarget{Call: "6d4e47f7.9"}, false)
	if err != nil {
		t.Fatal(err)
	}
	gone := journal.Erasure{Scope: entry.ScopeCall, What: entry.ErasedAll, Entries: 3, Details: 3, Bodies: 1, Bytes: 5 << 20, First: 4312, Last: 4320, Records: []int64{4400}, Lingering: true}
	goldenAnswer(t, "erased", &report.Erased{Erasing: erasing, Erasure: gone}, nil)
	none := journal.Erasure{Scope: entry.ScopeCall, What: entry.ErasedAll, First: -1, Last: -1}
	goldenAnswer(t, "erased-nothing", &report.Erased{Erasing: erasing, Erasure: none}, nil)
	long := gone
	long.Records, long.Lingering = []int64{1, 2, 3, 4, 5, 6, 7}, false
	if got := (&report.Erased{Erasing: erasing, Erasure: long}).Text(view); !strings.Contains(got, "entries 1, 2, 3, 4, 5, and 2 more of the log say so") {
		t.Errorf("it reads:\n%s", got)
	}
}

func TestVerifySaysWhatWasErasedByWhichEntryAndHowMuchIsExact(t *testing.T) {
	t.Parallel()
	found := journal.VerifyReport{
		Path: "journal-v1.db", Origin: "deed/x", VerifierKey: "key", Root: entry.Hash{1},
		Entries: 900, Sessions: 3, Details: 700, Erased: 150, Bodies: 12, BodyBytes: 9000, ErasedBodies: 3, SeenBytes: 2048, ExactBytes: 1024, UnseenBytes: 2048, Gaps: 1,
		ErasureEntries: 2, Erasures: []journal.ErasureEntry{
			{N: 812, At: ago(time.Hour), Scope: entry.ScopeCall, What: entry.ErasedAll, Count: 3, First: 5, Last: 9},
			{N: 850, At: ago(50 * time.Hour), Scope: entry.ScopeRetention, What: entry.ErasedBodies, Count: 1, First: 12, Last: 12},
		},
	}
	goldenAnswer(t, "verify-erased", &report.Verification{Report: found, Against: true}, nil)
}

func TestDiskUseSaysWhatTakesRoomAndWhatGoesNext(t *testing.T) {
	t.Parallel()
	usage := journal.Usage{
		Database: 64 << 20, File: 63 << 20, WAL: 4 << 20, Entries: 10 << 20, Details: 20 << 20, Bodies: 30 << 20, Other: 3 << 20, Free: 1 << 20,
		BodyCount: 412, BodyOriginal: 90 << 20, BodyStored: 28 << 20,
		Sessions: []journal.SessionUsage{{Session: firstID, Bodies: 400, Original: 88 << 20, Stored: 27 << 20}, {Session: thirdID, Bodies: 12, Original: 2 << 20, Stored: 1 << 20}},
		Policy:   journal.Policy{MaxAge: 30 * 24 * time.Hour, MaxBytes: 5 << 30},
		Over:     journal.OverLimit{Bodies: 3, Stored: 9000}, Next: journal.NextLimit{N: 77, At: ago(-24 * time.Hour)},
	}
	disk, err := report.DiskUse(t.Context(), busy(), view.Clock, usage)
	goldenAnswer(t, "du", disk, err)
}

func TestDiskUseWithoutBodiesPromisesNoRemoval(t *testing.T) {
	t.Parallel()
	usage := journal.Usage{Database: 4096, File: 4096, Entries: 4096, Policy: journal.Policy{MaxAge: -1, MaxBytes: -1}, Next: journal.NextLimit{N: -1}}
	disk, err := report.DiskUse(t.Context(), busy(), view.Clock, usage)
	goldenAnswer(t, "du-empty", disk, err)
}
