//go:build unix

package servertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

func TestNothingIsLostOrDoubledWhenTheServerDiesAtEachStep(t *testing.T) {
	t.Parallel()
	dieAtEachStep(t, newSite(t, nil, "--data", dataFolder(t)))
}

func TestNothingIsLostOrDoubledOnPostgreSQLWhenTheServerDiesAtEachStep(t *testing.T) {
	t.Parallel()
	dieAtEachStep(t, postgresSites(t, pgtest.Start(t), 1)[0])
}

// dieAtEachStep has a server die at each step of its work under load, once at least,
// and a third as often as a torture kills.
func dieAtEachStep(t *testing.T, s *site) {
	t.Helper()
	s.program = os.Executable
	ctx := t.Context()
	l := prepare(t, s, s.url)
	random := rand.New(rand.NewPCG(seed(t), 2))
	l.budget = make(chan struct{}, 12)
	stopLoad, done := l.begin(ctx, seed(t))
	s.kill()
	for _, at := range deaths(random, killPoints(t)/3) {
		// In another moment of its work each time: early ones find all that the death
		// before left behind.
		doomed := doomAt(at, 1+random.IntN(4), time.Duration(random.IntN(2000))*time.Microsecond)
		p, err := s.launch(doomed)
		if err != nil {
			t.Fatal(err)
		}
		if !l.supply(p.ended) {
			t.Fatalf("the server never came to the step %q\n%s", at, s.tail())
		}
		if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("at the step %q the server ended with %v\n%s", at, p.err, s.tail())
		}
	}
	if _, err := s.start(); err != nil {
		t.Fatal(err)
	}
	stopLoad()
	l.finish(ctx, t, done, s)
	if err := s.end(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, s.tail())
	}
	checkFolder(t, s)
	checkOutput(t, l.w, s)
	checkSteps(t, s)
}

// supply lets the load go on until something ended, and no faster than a slow machine
// bears it. It says whether that came.
func (l *load) supply(ended <-chan struct{}) bool {
	l.grant(cap(l.budget))
	more := time.NewTicker(200 * time.Millisecond)
	defer more.Stop()
	limit := time.After(patience)
	for {
		select {
		case <-ended:
			return true
		case <-more.C:
			l.grant(1)
		case <-limit:
			return false
		}
	}
}

// deaths are the steps to die at: all of them in some order, and again, until there
// are n, or each was there once.
func deaths(random *rand.Rand, n int) []step {
	var all []step
	for len(all) < max(n, len(steps)) {
		for _, i := range random.Perm(len(steps)) {
			all = append(all, steps[i])
		}
	}
	return all[:max(n, len(steps))]
}

// checkSteps counts by what the processes wrote where they died.
func checkSteps(t *testing.T, s *site) {
	t.Helper()
	died := map[string]int{}
	for line := range strings.Lines(s.written()) {
		if at, found := strings.CutPrefix(strings.TrimSpace(line), lastWord); found {
			died[at]++
		}
	}
	table := ""
	for _, at := range steps {
		n := died[at.String()]
		if n == 0 {
			t.Errorf("no server died at the step %q", at)
		}
		table += fmt.Sprintf("\n%6d  %s", n, at)
	}
	t.Logf("where servers died:%s", table)
}
