//go:build unix

package servertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
)

// agents is how many declare at once.
const agents = 6

func TestNothingIsLostOrDoubledWhenTheServerIsKilledAtAnyPoint(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, "--data", dataFolder(t))
	torture(t, s, killPoints(t))
}

// torture kills a server under load, checks what is left, and what it printed.
func torture(t *testing.T, s *site, kills int) {
	t.Helper()
	ctx := t.Context()
	l := prepare(t, s, s.url)
	random := rand.New(rand.NewPCG(seed(t), 0))
	stopLoad, done := l.begin(ctx, seed(t))
	for n := range kills {
		if n%3 > 0 {
			l.progress(t, random.Int64N(40))
		}
		wait(t, time.Duration(random.IntN(30_000))*time.Microsecond)
		s.kill()
		p, err := s.launch()
		if err != nil {
			t.Fatal(err)
		}
		if n%3 < 2 { // every third time it is killed while it starts
			if err := s.awaitReady(p); err != nil {
				t.Fatal(err)
			}
		} else {
			wait(t, time.Duration(random.IntN(300))*time.Millisecond)
		}
	}
	stopLoad()
	l.finish(ctx, t, done, s)
	if err := s.end(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, s.tail())
	}
	checkFolder(t, s)
	checkOutput(t, l.w, s)
}

// progress waits until the load got further by some acknowledgements.
func (l *load) progress(t *testing.T, n int64) {
	t.Helper()
	goal := l.answers.Load() + n
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for l.answers.Load() < goal {
		select {
		case <-again.C:
		case <-limit:
			t.Fatal("the load gets no further")
		}
	}
}

// prepare starts a server in an empty place and makes a workspace in it.
func prepare(t *testing.T, s *site, urls func() string) *load {
	t.Helper()
	p, err := s.start()
	if err != nil {
		t.Fatal(err)
	}
	link, err := p.link()
	if err != nil {
		t.Fatal(err)
	}
	w, err := furnish(t.Context(), urls, link)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.tail())
	}
	return newLoad(w)
}

// begin loads the server until it is told to stop. What ended the load comes
// through the channel.
func (l *load) begin(ctx context.Context, seed uint64) (stop context.CancelFunc, done <-chan error) {
	ctx, stop = context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- l.run(ctx, agents, seed) }()
	return stop, ended
}

// finish waits for the end of the load and of everything that it began, and checks.
func (l *load) finish(ctx context.Context, t *testing.T, done <-chan error, sites ...*site) {
	t.Helper()
	began := time.Now()
	if err := <-done; err != nil {
		t.Fatalf("the load ended with %v", err)
	}
	drained := time.Now()
	if err := l.settled(ctx); err != nil {
		for _, s := range sites {
			t.Log(s.tail())
		}
		t.Fatal(err)
	}
	settled := time.Now()
	l.check(ctx, t)
	t.Logf("loaded for %v, drained in %v, settled in %v, checked in %v", began.Sub(l.began).Round(time.Millisecond),
		drained.Sub(began).Round(time.Millisecond), settled.Sub(drained).Round(time.Millisecond), time.Since(settled).Round(time.Millisecond))
}

// wait lets time pass under load.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

// turns takes the sites' addresses in turn.
func turns(sites ...*site) func() string {
	var n atomic.Uint64
	return func() string { return sites[n.Add(1)%uint64(len(sites))].url() }
}

// secretFile has the program make the secret that servers of one database share.
func secretFile(t *testing.T, s *site) string {
	t.Helper()
	name := fmt.Sprintf("%s/deed.secret", t.TempDir())
	if output, err := s.run("secret", "new", name); err != nil {
		t.Fatalf("deed secret new: %v\n%s", err, output)
	}
	return name
}
