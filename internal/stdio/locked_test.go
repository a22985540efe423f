package stdio

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/process"
	"github.com/deed-dev/deed/internal/tap"
	"github.com/deed-dev/deed/internal/wire"
)

// locked is a journal whose lock another program holds until a time.
type locked struct {
	notebook
	until     time.Time
	abandoned bool
}

func (l *locked) Progress() journal.Progress {
	return journal.Progress{Locked: time.Now().Before(l.until)}
}

func (l *locked) Close(ctx context.Context) error {
	timer := time.NewTimer(time.Until(l.until))
	defer timer.Stop()
	select {
	case <-timer.C:
		return l.notebook.Close(ctx)
	case <-ctx.Done():
		return &journal.UnwrittenError{Entries: len(l.kinds()), Err: lockedError()}
	}
}

func (l *locked) Abandon() (journal.Dropped, error) {
	l.abandoned = true
	var d journal.Dropped
	for _, e := range l.entries[1:] {
		d.Session, d.First, d.Entries = e.Session, 1, d.Entries+1
		if e.Kind == entry.KindRequest {
			d.Client.Entries, d.Client.Messages, d.Client.Bytes = d.Client.Entries+1, d.Client.Messages+1, d.Client.Bytes+e.Bytes
		}
	}
	l.entries, l.details, l.bodies = l.entries[:1], l.details[:1], l.bodies[:1]
	return d, nil
}

func lockedError() error {
	return &journal.LockedError{Path: "/home/ann/.deed/journal.lock", Waited: time.Second}
}

// brief is a session of so many requests that is over when recording begins.
// Its server is not there, so that the clock is a bubble's.
func brief(t *testing.T, requests int, open func() (Journal, error)) (told string, id string) {
	t.Helper()
	out := &writer{}
	s := &session{buf: tap.New(tap.DefaultLimit), reason: "client_closed", stderr: newRelay(out), Options: Options{
		Open:    func(func(error)) (Journal, error) { return open() },
		Explain: func(err error) string { return err.Error() },
	}}
	s.obs = observer.New(s.buf, observer.Session{Transport: "stdio"}, s.tells())
	go s.stderr.write()
	r := s.startRecording()
	for range requests {
		s.buf.Settle(s.buf.Offer(wire.FromClient, []byte(request)), len(request))
	}
	s.buf.Close(wire.FromClient, 0)
	s.buf.Close(wire.FromServer, 0)
	s.buf.Shut()
	s.finish(r, process.Exit{})
	return out.String(), s.obs.ID()
}

func TestALockThatIsGivenBackLateCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &locked{until: time.Now().Add(20 * time.Second)}
		told, _ := brief(t, 3, func() (Journal, error) { return j, nil })
		if told != "" || j.abandoned || !j.closed || len(j.kinds()) != 5 { // session, three requests, end
			t.Errorf("told %q; abandoned %v, closed %v, entries %v", told, j.abandoned, j.closed, j.kinds())
		}
	})
}

func TestALockThatIsNeverGivenBackIsToldWithWhatItCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		j := &locked{until: began.Add(time.Hour)}
		told, id := brief(t, 3, func() (Journal, error) { return j, nil })
		want := "deed: 3 messages of session " + id + " were not kept: another program has held /home/ann/.deed/journal.lock"
		if !strings.HasPrefix(told, want) || strings.Count(told, "\n") != 1 {
			t.Errorf("told %q, want one line that begins with %q", told, want)
		}
		if took := time.Since(began); took < 20*time.Second || took > time.Minute {
			t.Errorf("it was waited for %v", took)
		}
	})
}

// A slow machine writes one entry after the other, however many wait.
func TestAJournalThatGetsOnIsWaitedForToTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{hook: func(ctx context.Context, _ *entry.Entry) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Second / 50):
				return nil
			}
		}}
		const requests = 6000 // two minutes' worth
		told, _ := brief(t, requests, func() (Journal, error) { return n, nil })
		if kinds := n.kinds(); told != "" || len(kinds) != requests+2 || !n.closed { // session and end
			t.Errorf("told %q; %d entries, closed %v", told, len(kinds), n.closed)
		}
	})
}

// A journal that is yet to be made cannot be opened while the lock is held.
func TestAJournalThatCannotBeMadeYetIsTriedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{}
		free := time.Now().Add(15 * time.Second)
		told, _ := brief(t, 3, func() (Journal, error) {
			time.Sleep(2 * time.Second) // of the bubble's clock, as opening waits
			if time.Now().Before(free) {
				return nil, lockedError()
			}
			return n, nil
		})
		if kinds := n.kinds(); len(kinds) != 5 || !n.closed {
			t.Errorf("recorded are %v", kinds)
		}
		if !strings.HasPrefix(told, "deed: nothing is recorded yet") || strings.Count(told, "\n") != 1 {
			t.Errorf("told %q, want it told once", told)
		}
	})
}

func TestAJournalThatCanNeverBeMadeIsToldWithWhatItCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, id := brief(t, 4, func() (Journal, error) {
			time.Sleep(2 * time.Second)
			return nil, lockedError()
		})
		lines := strings.Split(strings.TrimSuffix(told, "\n"), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[1], "deed: 4 messages of session "+id+" were not kept: another program has held ") {
			t.Errorf("told %q", told)
		}
	})
}

func TestWhatWasNotKeptIsToldInOneLine(t *testing.T) {
	t.Parallel()
	s := &session{buf: tap.New(tap.DefaultLimit)}
	s.obs = observer.New(s.buf, observer.Session{}, observer.Options{})
	err := s.incomplete(observer.ErrIncomplete, &journal.UnwrittenError{Entries: 2, Err: lockedError()})
	if text := err.Error(); strings.Contains(text, "\n") || !errors.Is(err, observer.ErrIncomplete) {
		t.Errorf("told is %q", text)
	}
}
