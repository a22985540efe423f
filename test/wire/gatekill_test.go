//go:build unix

package wiretest

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"
)

// A recorder that is killed at any step of a declaration leaves it to be sent
// later, or done; never lost, never another one.
func TestARecorderKilledAmidADeclarationLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	for _, step := range []struct {
		name  string
		taken bool // the server has taken it when the recorder is killed
	}{
		{"before the server has taken it", false},
		{"between the server's taking it and its answer", true},
	} {
		t.Run(step.name, func(t *testing.T) {
			t.Parallel()
			a, home := newAPI(t), newHome(t)
			asked, let := make(chan struct{}), make(chan struct{})
			defer close(let)
			a.says(func(int, http.ResponseWriter, *http.Request) bool {
				if step.taken {
					a.take("charge:o")
				}
				close(asked)
				<-let
				return false
			})
			s := open(t, throughGate(a, home), setup{})
			s.client.write(charge("1", "o"))
			<-asked
			s.client.signal(syscall.SIGKILL)
			s.client.wait(patience)
			s.server.mustGo(patience)
			mustVerify(t, home)
			a.says(nil)
			if waiting, undeliverable := flush(t, a, home); len(waiting)+len(undeliverable) > 0 {
				t.Errorf("left in the outbox: %q %q", waiting, undeliverable)
			}
			if got := a.actions(); !slices.Equal(got, []string{"charge:o"}) {
				t.Errorf("declared %q", got)
			}
			if got := len(a.bodies["charge:o"]); got != 2 {
				t.Errorf("it was sent %d times, want twice", got)
			}
			a.mustBeConsistent()
			mustVerify(t, home)
		})
	}
}

// All recorders share one home, and the server of declarations fails, hangs up,
// and goes away and comes back under them.
func TestNoCallThatWasAnsweredGoesUndeclaredWhateverIsKilled(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var reached []string
	next := 0
	kills, within := number(t, "DEED_KILL_POINTS", 12), 250*time.Millisecond
	for kill := 0; kill < kills || len(reached) == 0; kill++ {
		if kill > 0 && len(reached) == 0 {
			if within *= 2; within > patience { // a slow machine needs longer for a first answer
				t.Fatal("no recorder lived long enough for one answer")
			}
		}
		a.says(func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n % 5 {
			case 3:
				return fails(503, `{"error":{"code":"unavailable"}}`)(n, w, r)
			case 4:
				return hangsUp(n, w, r)
			}
			return true
		})
		s := open(t, throughGate(a, home), setup{})
		s.server.start("Answer", struct{}{}, new(int64))
		if kill%3 == 1 {
			a.stop() // amid the calls, and back amid them
		}
		back := make(chan struct{})
		time.AfterFunc(time.Duration(random.Int64N(int64(60*time.Millisecond))), func() {
			defer close(back)
			if kill%3 == 1 {
				a.start()
			}
		})
		killed := make(chan struct{})
		time.AfterFunc(time.Duration(random.Int64N(int64(within))), func() {
			_ = s.client.cmd.Process.Signal(syscall.SIGKILL)
			close(killed)
		})
		in := bufio.NewReader(s.client.out)
		for ; ; next++ {
			id := fmt.Sprint(next)
			if _, err := s.client.tryWrite(charge(id, id)); err != nil {
				break
			}
			line, err := readLine(s.client, in)
			if err != nil {
				break
			}
			if !bytes.Equal(line, answerFor(id)) {
				t.Fatalf("got %q as answer %s", clip(line), id)
			}
			reached = append(reached, "charge:"+id)
		}
		next++
		<-killed
		s.client.wait(patience)
		s.server.mustGo(patience)
		<-back
		mustVerifyWhatIsThere(t, home)
	}
	a.says(nil)
	waiting, undeliverable := flush(t, a, home)
	if len(waiting)+len(undeliverable) > 0 {
		t.Errorf("left in the outbox: %q %q", waiting, undeliverable)
	}
	declared := a.actions()
	for _, action := range reached {
		if !slices.Contains(declared, action) {
			t.Errorf("the answer to %s reached the client, and nobody declared it", action)
		}
	}
	a.mustBeConsistent()
	mustVerify(t, home)
	t.Logf("%d answers reached a client, %d actions are declared", len(reached), len(declared))
}
