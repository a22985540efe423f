package journal

import (
	"errors"
	"testing"
)

func TestARunOfNoiseCountsByItsLines(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	r.append(&Entry{Kind: KindNoise, From: "server", Bytes: 90, Messages: 9, Flags: []string{"not_json"}}, nil)
	r.append(&Entry{Kind: KindNoise, From: "server", Bytes: 5, Flags: []string{"not_json"}}, nil)
	one := &Entry{Kind: KindNoise, Session: r.session, Seq: r.seq, At: r.at, From: "server", Bytes: 5, Messages: 1}
	if err := j.Append(testContext(t), one, nil); !errors.As(err, new(*EntryError)) {
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
	d.add(&Entry{Kind: KindNoise, From: "server", Bytes: 90, Messages: 9})
	d.add(&Entry{Kind: KindNoise, From: "server", Bytes: 5})
	if want := (DroppedSide{Entries: 2, Bytes: 95, Messages: 10}); d.Server != want {
		t.Errorf("given up is %+v, want %+v", d.Server, want)
	}
}
