package journal

import (
	"errors"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestARunOfNoiseCountsByItsLines(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 90, Messages: 9, Flags: []string{"not_json"}}, nil)
	r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 5, Flags: []string{"not_json"}}, nil)
	one := &entry.Entry{Kind: entry.KindNoise, Session: r.session, Seq: r.seq, At: r.at, From: "server", Bytes: 5, Messages: 1}
	if err := j.Append(testContext(t), one, nil); !errors.As(err, new(*entry.Error)) {
		t.Errorf("one line that says so is taken as another way to write it: %v", err)
	}
	r.end(0)
	closeJournal(t, j)
	totals, err := openReader(t, home).Totals(testContext(t), r.session, 0)
	if err != nil || totals.Noise != 10 {
		t.Errorf("%d lines of noise, %v; want 9 and 1", totals.Noise, err)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("%+v", report.Findings)
	}
}

func TestWhatIsGivenUpCountsTheLinesOfARunOfNoise(t *testing.T) {
	t.Parallel()
	var d Dropped
	d.add(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 90, Messages: 9})
	d.add(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 5})
	if want := (DroppedSide{Entries: 2, Bytes: 95, Messages: 10}); d.Server != want {
		t.Errorf("given up is %+v, want %+v", d.Server, want)
	}
}
