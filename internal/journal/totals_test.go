package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

func TestGapsAreThoseOfTheSessionAndTimeAskedFor(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	var want []Gap
	for range 2 {
		r := record(t, j, newSession())
		at := r.at
		r.append(&entry.Entry{Kind: entry.KindGap, From: "client", Bytes: 33, Messages: 4, Reason: "observer_behind"}, nil)
		want = append(want, Gap{Session: r.session, At: at, From: "client", Reason: "observer_behind", Bytes: 33, Messages: 4})
		r.at += rollup.HourUS
		at = r.at
		r.append(&entry.Entry{Kind: entry.KindGap, From: "server", Bytes: 5, Messages: 1, Reason: "observer_failed"}, nil)
		want = append(want, Gap{Session: r.session, At: at, From: "server", Reason: "observer_failed", Bytes: 5, Messages: 1})
		r.end(0)
	}
	closeJournal(t, j)
	r := openReader(t, home)
	for name, test := range map[string]struct {
		session string
		since   int64
		want    []Gap
	}{
		"all":                       {"", 0, want},
		"since a time":              {"", want[1].At, []Gap{want[1], want[3]}},
		"of a session":              {want[2].Session, 0, want[2:]},
		"of a session since a time": {want[0].Session, want[0].At + 1, want[1:2]},
		"of a session that is not":  {newSession(), 0, nil},
	} {
		gaps, err := r.Gaps(testContext(t), test.session, test.since)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, gaps); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
