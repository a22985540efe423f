//go:build unix

package wiretest

import (
	"bytes"
	"syscall"
	"testing"
	"time"
)

// slack is how late something timed may come on a machine that is not busy.
const slack = 4 * time.Second

// mustTake fails the test unless something took at least that long, and not
// much longer. The time begins before the program can begin to count it, so that
// it is never shorter than the program's.
func mustTake(t tb, what string, from, to time.Time, least time.Duration, late func() time.Duration) {
	t.Helper()
	took := to.Sub(from)
	t.Logf("%s after %v", what, took.Round(time.Millisecond))
	// The end is read, the time passes, the signal is sent and taken, and the test
	// hears of it: for each of these the processors may be taken.
	if most := least + slack + 5*late(); took < least || took > most {
		t.Fatalf("%s after %v, want %v and little more, %v at most", what, took, least, most)
	}
}

func TestTheClientsEndReachesTheServerAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	late := lateness(t)
	closed := s.client.closeInput()
	s.server.mustSeeEnd()
	// Three processes have to run for it, and each may find the processors taken.
	if took := time.Since(closed); took > time.Second+3*late() {
		t.Errorf("the end took %v to reach the server", took)
	}
	s.server.exit(0)
	s.client.mustExit(0, patience)
}

func TestAServerThatIgnoresTheEndIsTerminatedAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	s := open(t, throughDeed(newHome(t)), setup{})
	closed := s.client.closeInput()
	gone := s.server.mustGo(patience)
	mustTake(t, "the server was terminated", closed, gone, 2*time.Second, late)
	s.client.mustExit(128+int(syscall.SIGTERM), patience)
}

func TestAServerThatIgnoresTermAsWellIsKilledAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	s := open(t, throughDeed(newHome(t)), setup{})
	s.server.ignore(syscall.SIGTERM)
	closed := s.client.closeInput()
	if which, err := s.server.await(); err != nil || which != syscall.SIGTERM {
		t.Fatalf("the server got signal %v (%v), want TERM first", which, err)
	}
	mustTake(t, "TERM came", closed, time.Now(), 2*time.Second, late)
	gone := s.server.mustGo(patience)
	mustTake(t, "the server was killed", closed, gone, 5*time.Second, late)
	s.client.mustExit(128+int(syscall.SIGKILL), patience)
}

func TestAServerThatTidiesUpOnTermKeepsItsExitCode(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	s.server.exitOn(syscall.SIGTERM, 42)
	s.client.closeInput()
	s.client.mustExit(42, patience)
}

// npx starts npm, which starts sh, which starts node: all of them have to go.
func TestAWholeTreeThatIgnoresEverythingIsKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		held bool
	}{{"a tree that shares the server's pipes", true}, {"a tree without pipes", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			late := lateness(t)
			s := open(t, throughDeed(newHome(t)), setup{})
			child := s.spawn(s.server, c.held)
			grandchild := s.spawn(child, c.held)
			for _, v := range []*server{s.server, child, grandchild} {
				v.ignore(syscall.SIGTERM)
			}
			closed := s.client.closeInput()
			for _, v := range []*server{s.server, child, grandchild} {
				mustTake(t, "one of the tree was killed", closed, v.mustGo(patience), 5*time.Second, late)
			}
			s.client.mustExit(128+int(syscall.SIGKILL), patience)
		})
	}
}

// The server obeys and leaves a grandchild behind.
func TestAGrandchildThatOutlivesTheServerIsEndedToo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		held bool
		deaf bool
	}{
		{"holding stdout", true, false},
		{"holding stdout and deaf to TERM", true, true},
		{"holding nothing", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, throughDeed(newHome(t)), setup{})
			child := s.spawn(s.server, c.held)
			if c.deaf {
				child.ignore(syscall.SIGTERM)
			}
			s.server.write([]byte("last words"))
			late := lateness(t)
			began := time.Now()
			s.server.exit(5) // while the client still holds everything open
			s.client.mustRead([]byte("last words"))
			ended := s.client.mustExit(5, patience)
			if took, most := ended.Sub(began), 5*time.Second+2*slack+5*late(); took > most {
				t.Errorf("the session ended %v after its server, more than %v", took, most)
			}
			if went, most := child.mustGo(patience).Sub(ended), slack+5*late(); went > most {
				t.Errorf("the grandchild went %v after the session, more than %v", went, most)
			}
			s.client.mustSeeEnd()
		})
	}
}

func TestAnswersThatAreOwedArriveAfterTheClientsEnd(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	asked := append(callTo("slow", "1"), callTo("slow", `"1"`)...)
	s.client.write(asked)
	s.client.closeInput()
	s.server.mustRead(asked)
	s.server.mustSeeEnd()
	s.server.mustStay(3 * time.Second) // longer than a server that owes nothing may live
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	s.server.mustStay(3 * time.Second) // the other one is still owed
	s.server.write(answerFor(`"1"`))
	s.client.mustRead(answerFor(`"1"`))
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	if got := count(callsIn(t, home), call.answered); got != 2 {
		t.Errorf("%d calls are recorded with their answer, want 2", got)
	}
}

func TestOnceTheLastOwedAnswerCameTheUsualTimesHold(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	s := open(t, throughDeed(newHome(t)), setup{})
	s.client.write(callTo("slow", "1"))
	s.client.closeInput()
	s.server.mustRead(callTo("slow", "1"))
	s.server.mustStay(3 * time.Second)
	answered := time.Now()
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	mustTake(t, "the server was ended", answered, s.server.mustGo(patience), 2*time.Second, late)
	s.client.mustExit(128+int(syscall.SIGTERM), patience)
}

// A notification owes no answer, and neither does a call that has its answer.
func TestNothingIsOwedForNotificationsAndAnsweredCalls(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	s := open(t, throughDeed(newHome(t)), setup{})
	note := []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	s.client.write(append(bytes.Clone(note), callTo("a", "1")...))
	s.server.mustRead(append(bytes.Clone(note), callTo("a", "1")...))
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	closed := s.client.closeInput()
	mustTake(t, "the server was terminated", closed, s.server.mustGo(patience), 2*time.Second, late)
}

func TestACallThatIsNeverAnsweredIsWaitedForNoLongerThanLinger(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	late := lateness(t)
	s := open(t, throughDeed(home, "--linger", "1s"), setup{})
	s.client.write(callTo("hung", "1"))
	s.server.mustRead(callTo("hung", "1"))
	closed := s.client.closeInput()
	gone := s.server.mustGo(patience)
	if took, most := gone.Sub(closed), 3*time.Second+slack+5*late(); took < time.Second || took > most {
		t.Errorf("the server was ended after %v, want one second of linger and the usual times, %v at most", took, most)
	}
	s.client.mustExit(128+int(syscall.SIGTERM), patience)
	calls := callsIn(t, home)
	if len(calls) != 1 || calls[0].answered() {
		t.Errorf("recorded %+v, want one call without an answer", calls)
	}
}

func TestNothingIsWaitedForOnceTheClientIsDeaf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		writes bool
	}{{"and the server has written to it", true}, {"even before anything is written to it", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			late := lateness(t)
			s := open(t, throughDeed(newHome(t)), setup{})
			s.client.write(append(callTo("a", "1"), callTo("hung", "2")...))
			s.server.mustRead(append(callTo("a", "1"), callTo("hung", "2")...))
			closed := time.Now() // it may notice before the end comes
			s.client.closeOutput()
			s.client.closeInput()
			if c.writes {
				var n int64
				_ = s.server.start("Write", Chunk{To: 1, Data: answerFor("1")}, &n).done() // may find the pipe broken
			}
			mustTake(t, "the server was terminated", closed, s.server.mustGo(patience), 2*time.Second, late)
			s.client.mustExit(128+int(syscall.SIGTERM), patience)
		})
	}
}
