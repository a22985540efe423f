//go:build unix

package wiretest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tellTime is how old an answer must be at the kill to be in the journal of a
// recorder that does not write ahead. It promises the last few milliseconds
// at worst; the rest is room for a disk and two busy cores. What the machine
// itself keeps a process waiting for comes on top, as lateness measures it.
const tellTime = 250 * time.Millisecond

// lateness measures how much later than it should this machine lets a process
// run, and how long it lets one wait for its disk, until the test ends. What it
// returns says the worst of both so far, added up.
func lateness(t tb) (worst func() time.Duration) {
	t.Helper()
	const beat = 5 * time.Millisecond
	file, err := os.CreateTemp("", "wt")
	if err != nil {
		t.Fatalf("make a file to measure the disk with: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var measuring sync.WaitGroup
	t.Cleanup(func() {
		stop()
		measuring.Wait()
		_ = file.Close()
		_ = os.Remove(file.Name())
	})
	every := func(pause time.Duration, each func()) {
		ticker := time.NewTicker(pause)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				each()
			}
		}
	}
	var processor, disk longest
	measuring.Go(func() {
		processor.begin()
		every(beat, func() { processor.end(); processor.begin() })
	})
	measuring.Go(func() {
		every(20*beat, func() {
			disk.begin()
			_, _ = file.WriteAt(make([]byte, 4096), 0)
			_ = file.Sync() // how long it takes is what counts
			disk.end()
		})
	})
	return func() time.Duration { return max(0, processor.soFar()-beat) + disk.soFar() }
}

// longest is the longest of several times, that which has not ended included.
type longest struct {
	mu    sync.Mutex
	most  time.Duration
	begun time.Time
}

func (l *longest) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = time.Now()
}

func (l *longest) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most, l.begun = max(l.most, time.Since(l.begun)), time.Time{}
}

func (l *longest) soFar() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun.IsZero() {
		return l.most
	}
	return max(l.most, time.Since(l.begun))
}

// reached is an answer that reached the client.
type reached struct {
	tool string
	at   time.Time
}

// All recorders share one home, so that a journal that was torn once is written
// again, and torn again.
func TestAKilledRecorderLeavesAnIntactJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flags []string
		ahead bool
	}{{"writing ahead", []string{"--write-ahead"}, true}, {"not writing ahead", nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kills := number(t, "DEED_KILL_POINTS", 20)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			home := newHome(t)
			var all, lost int
			var oldestLost time.Duration // of all kills
			next, wasEmpty := 0, true
			late := lateness(t)
			within := 400 * time.Millisecond
			for kill := 0; kill < kills || all == 0; kill++ {
				// Half of them die early, where files are made.
				after := time.Duration(random.Int64N(int64(within)))
				if kill%2 == 0 {
					after = time.Duration(random.Int64N(int64(30 * time.Millisecond)))
				}
				answers, killedAt := askUntilKilled(t, throughDeed(home, c.flags...), next, after)
				next += len(answers) + 1
				empty := mustVerifyWhatIsThere(t, home)
				if empty && !wasEmpty {
					t.Fatalf("kill %d emptied the journal", kill)
				}
				wasEmpty = empty
				recorded := make(map[string]bool)
				if !empty {
					for _, r := range callsIn(t, home) {
						recorded[r.Tool] = true
					}
				}
				missing := slices.DeleteFunc(slices.Clone(answers), func(a reached) bool { return recorded[a.tool] })
				all, lost = all+len(answers), lost+len(missing)
				if all == 0 {
					if within *= 2; within > patience { // a slow machine needs longer for a first answer
						t.Fatal("no recorder lived long enough for one answer")
					}
				}
				if len(missing) == 0 {
					continue
				}
				oldest := killedAt.Sub(missing[0].at)
				oldestLost = max(oldestLost, oldest)
				if c.ahead {
					t.Errorf("kill %d, %v after the start: %d of %d calls are not recorded though the client has their answers, the first of them (%s) since %v",
						kill, after, len(missing), len(answers), missing[0].tool, oldest)
				}
			}
			// The recorder hands an answer on four times before it is in the
			// journal, and each of them may find the processors taken.
			if room := tellTime + 4*late(); oldestLost > room {
				t.Errorf("answers that reached the client %v before a kill are not recorded, more than %v", oldestLost, room)
			}
			t.Logf("%d kills, %d answers reached a client, %d of their calls were lost, the oldest %v before the kill", kills, all, lost, oldestLost)
		})
	}
}

// mustVerifyWhatIsThere fails the test unless the journal is intact, and says
// whether there is none yet: a recorder can die before its first entry.
func mustVerifyWhatIsThere(t tb, home string) (empty bool) {
	t.Helper()
	got := deed(t, home, "verify")
	if got.code == 2 && strings.Contains(got.stderr, "nothing recorded") {
		return true
	}
	if got.code != 0 {
		t.Fatalf("deed verify: exit code %d, want 0\n%s%s", got.code, got.stdout, got.stderr)
	}
	return false
}

// askUntilKilled makes calls one after the other until the recorder is killed,
// and returns the answers that reached the client.
func askUntilKilled(t tb, r route, from int, after time.Duration) ([]reached, time.Time) {
	t.Helper()
	s := open(t, r, setup{})
	s.server.start("Answer", struct{}{}, new(int64))
	killed := make(chan time.Time, 1)
	time.AfterFunc(after, func() {
		now := time.Now()
		_ = s.client.cmd.Process.Signal(syscall.SIGKILL)
		killed <- now
	})
	var answers []reached
	in := bufio.NewReader(s.client.out)
	for n := from; ; n++ {
		if _, err := s.client.tryWrite(callTo(tool(n), fmt.Sprint(n))); err != nil {
			break
		}
		line, err := readLine(s.client, in)
		if err != nil {
			break
		}
		if !bytes.Equal(line, answerFor(fmt.Sprint(n))) {
			t.Fatalf("got %q as answer %d", clip(line), n)
		}
		answers = append(answers, reached{tool(n), time.Now()})
	}
	at := <-killed
	s.client.wait(patience)
	s.server.mustGo(patience)
	return answers, at
}

// A call's question that was written ahead is on record before the server has
// seen the end of it.
func TestWritingAheadRecordsACallBeforeItsServerHasIt(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home, "--write-ahead"), setup{})
	for n := range 10 {
		asked := callTo(tool(n), fmt.Sprint(n))
		s.client.write(asked)
		s.server.mustRead(asked)
		if recorded := len(callsIn(t, home)); recorded != n+1 {
			t.Fatalf("the server has %d calls and the journal %d", n+1, recorded)
		}
	}
	s.client.signal(syscall.SIGKILL)
	s.client.wait(patience)
	mustVerify(t, home)
	if recorded := len(callsIn(t, home)); recorded != 10 {
		t.Errorf("after the kill %d calls are recorded, want 10", recorded)
	}
}

func TestWritingAheadChangesNoByte(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	data := []byte("\xef\xbb\xbf" + string(callTo("a", "1")) + "\r\n\n noise \xff\n" + string(longLine(3<<20)) + "[" + "{}" + "]\n{\"half\":")
	sameAsDirect(t, throughDeed(home, "--write-ahead"), scene{toServer: data[:len(data)-len(`{"half":`)], toClient: data, mayTell: true, code: 7})
	mustVerify(t, home)
}
