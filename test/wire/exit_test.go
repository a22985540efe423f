//go:build unix

package wiretest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestTheExitCodeIsTheServers(t *testing.T) {
	t.Parallel()
	for _, code := range []int{0, 1, 2, 7, 80, 126, 127, 130, 143, 255} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			sameAsDirect(t, throughDeed(newHome(t)), scene{toClient: []byte("{}\n"), code: code, mayTell: true})
		})
	}
}

func TestAServerEndedByASignalGives128AndItsNumber(t *testing.T) {
	t.Parallel()
	for _, which := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(which.String(), func(t *testing.T) {
			t.Parallel()
			s := open(t, throughDeed(newHome(t)), setup{})
			s.server.write([]byte("last words"))
			s.server.die(which)
			s.client.mustRead([]byte("last words"))
			s.client.mustExit(128+int(which), patience)
		})
	}
}

// A server in Go turns these into an exit code, so a shell stands in.
func TestACrashGives128AndTheSignalsNumber(t *testing.T) {
	t.Parallel()
	for _, which := range []syscall.Signal{syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGPIPE, syscall.SIGUSR1} {
		t.Run(which.String(), func(t *testing.T) {
			t.Parallel()
			got := deed(t, newHome(t), "run", "--", "sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$", int(which)))
			if got.code != 128+int(which) {
				t.Errorf("exit code %d, want %d\n%s", got.code, 128+int(which), got.stderr)
			}
		})
	}
}

func TestTheServersEndEndsTheSessionThoughTheClientHoldsItsInputOpen(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	s.client.write(callTo("deadly", "1"))
	s.server.mustRead(callTo("deadly", "1"))
	late := lateness(t)
	s.server.exit(7)
	gone := s.server.conn.goneAt
	s.client.mustSeeEnd()
	ended := s.client.mustExit(7, patience)
	if took := ended.Sub(gone); took > 2*time.Second+3*late() {
		t.Errorf("the session ended %v after its server", took)
	}
}

// A dead server leaves the client's writes nowhere to go; that is no reason
// to fail, or to lose what the server said.
func TestAServerThatReadsNoMoreIsStillHeard(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	s.server.call("Puppet.Close", 0, new(struct{}))
	piece := bytes.Repeat([]byte("{}\n"), 1<<15)
	for range 4 { // into a pipe that nobody reads any more
		if _, err := s.client.tryWrite(piece); err != nil {
			break // the client is told as it would be without a recorder
		}
	}
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	s.server.exit(3)
	s.client.mustSeeEnd()
	s.client.mustExit(3, patience)
}

func TestAServerThatClosesItsOutputStillGetsWhatTheClientSays(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	s.server.call("Puppet.Close", 1, new(struct{}))
	s.client.write(callTo("a", "1"))
	s.server.mustRead(callTo("a", "1"))
	s.client.mustSeeEnd()
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(4)
	s.client.mustExit(4, patience)
}

func TestASignalReachesTheTreeAndItsCodeComesBack(t *testing.T) {
	t.Parallel()
	for _, which := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(which.String()+" ends a server that does nothing about it", func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			s := open(t, throughDeed(home), setup{})
			child := s.spawn(s.server, true)
			s.client.signal(which)
			s.server.mustGo(patience)
			child.mustGo(patience)
			s.client.mustExit(128+int(which), patience)
			mustVerify(t, home)
		})
		t.Run(which.String()+" lets a server tidy up", func(t *testing.T) {
			t.Parallel()
			s := open(t, throughDeed(newHome(t)), setup{})
			s.server.exitOn(which, 9)
			s.client.signal(which)
			s.client.mustExit(9, patience)
		})
		t.Run(which.String()+" to a server that ignores every signal ends in KILL", func(t *testing.T) {
			t.Parallel()
			s := open(t, throughDeed(newHome(t)), setup{})
			for _, ignored := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
				s.server.ignore(ignored)
			}
			sent := time.Now()
			s.client.signal(which)
			if got, err := s.server.await(); err != nil || got != which {
				t.Errorf("the server got %v (%v) first, want %v", got, err, which)
			}
			s.server.mustGo(patience)
			s.client.mustExit(128+int(syscall.SIGKILL), patience)
			t.Logf("ended %v after the signal", time.Since(sent).Round(time.Millisecond))
		})
	}
}

func TestASignalLosesNothingThatTheServerSaysAsItEnds(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	s.server.ignore(syscall.SIGTERM)
	s.client.signal(syscall.SIGTERM)
	if got, err := s.server.await(); err != nil || got != syscall.SIGTERM {
		t.Fatalf("the server got %v (%v), want TERM", got, err)
	}
	s.server.write([]byte("tidied up"))
	s.server.exit(0)
	s.client.mustRead([]byte("tidied up"))
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
}

// Nobody can tidy up after a KILL, so the tree has to notice by itself.
func TestNoTreeSurvivesTheRecordersKill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		start func(s *stage) []*server
	}{
		{"a server that ignores its end", func(s *stage) []*server { return []*server{s.server} }},
		{"a server that ignores its end, TERM, HUP and INT", func(s *stage) []*server {
			for _, which := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
				s.server.ignore(which)
			}
			return []*server{s.server}
		}},
		{"a tree of three that ignores its end", func(s *stage) []*server {
			child := s.spawn(s.server, true)
			return []*server{s.server, child, s.spawn(child, true)}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t, throughDeed(newHome(t)), setup{})
			tree := c.start(s)
			awaitGuard(t, s.server.hello.PID)
			late := lateness(t)
			killed := time.Now()
			s.client.signal(syscall.SIGKILL)
			for i, v := range tree {
				took, limit := v.mustGo(patience).Sub(killed), 6*time.Second+slack+4*late()
				if took > limit {
					t.Errorf("process %d of %d went %v after the recorder was killed, more than %v", i+1, len(tree), took, limit)
				}
			}
		})
	}
}

// awaitGuard waits until the small process runs that ends a server's group when its
// recorder no longer can. It is started behind the server, and without it only TERM is
// sent; where there is no list of processes to look into, it is hoped for.
func awaitGuard(t tb, group int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return
	}
	end := fmt.Sprintf("\x00deed-guard\x00%d\x00", group)
	waitFor(t, "the guard of the server", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return slices.ContainsFunc(files, func(file string) bool {
			line, err := os.ReadFile(file)
			return err == nil && strings.HasSuffix(string(line), end)
		})
	})
}

func TestArgumentsFolderAndEnvironmentReachTheServerAsTheyAre(t *testing.T) {
	args := []string{"--label", "x", "--home=/nowhere", "-y", "a b", `"q"`, "$HOME", "%PATH%", "^", "*", "", "--", "é\xff", "line\nbreak"}
	t.Setenv("WIRETEST_ODD", "a=b c\n\xff")
	s := open(t, throughDeed(newHome(t)), setup{args: args})
	if got := s.server.hello.Args[1:]; !slices.Equal(got, asJSON(args)) {
		t.Errorf("arguments %q, want %q", got, args)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.server.hello.Dir; !samePlace(t, got, here) {
		t.Errorf("folder %q, want %q", got, here)
	}
	if want := asJSON([]string{"WIRETEST_ODD=a=b c\n\xff"})[0]; !slices.Contains(s.server.hello.Env, want) {
		t.Errorf("the environment lacks %q", want)
	}
}

// asJSON does to texts what their way through JSON did.
func asJSON(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = strings.ToValidUTF8(text, "\uFFFD")
	}
	return out
}

func samePlace(t *testing.T, a, b string) bool {
	t.Helper()
	a, errA := filepath.EvalSymlinks(a)
	b, errB := filepath.EvalSymlinks(b)
	return errA == nil && errB == nil && a == b
}
