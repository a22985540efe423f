//go:build unix

package wiretest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// relayWithFault is a recorder that nobody should use: a pipe copier with one
// fault of the field built in. The harness must catch each of them.
func relayWithFault(fault string, argv []string) int {
	_ = os.Unsetenv(relayVariable)
	cmd := exec.Command(argv[0], argv[1:]...)
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	errs, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		return 127
	}
	go func() {
		copyWith(fault+" to server", in, os.Stdin)
		if fault != "keeps the end to itself" {
			_ = in.Close()
		}
	}()
	said := make(chan struct{})
	go func() {
		defer close(said)
		if fault == "swallows stderr" {
			_, _ = io.Copy(io.Discard, errs)
			return
		}
		_, _ = io.Copy(os.Stderr, errs)
	}()
	copyWith(fault+" to client", os.Stdout, out)
	<-said
	_ = cmd.Wait()
	if fault == "forgets the exit code" {
		return 0
	}
	return shellCode(cmd.ProcessState)
}

func copyWith(fault string, to io.Writer, from io.Reader) {
	chunk := make([]byte, 64<<10)
	var held []byte
	for {
		n, err := from.Read(chunk)
		data := chunk[:n]
		switch fault {
		case "drops carriage returns to server", "drops carriage returns to client":
			data = bytes.ReplaceAll(data, []byte("\r"), nil)
		case "replaces invalid UTF-8 to server":
			data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
		case "flips one bit to client":
			data = bytes.Replace(data, []byte("e"), []byte("d"), 1)
		case "holds partial lines to server", "holds partial lines to client":
			held = append(held, data...)
			end := bytes.LastIndexByte(held, '\n') + 1
			if err != nil {
				end = len(held)
			}
			data, held = held[:end:end], held[end:]
		case "drops blank lines to client":
			data = bytes.ReplaceAll(data, []byte("\n\n"), []byte("\n"))
		case "ends the last line to client":
			if err != nil {
				data = append(data, '\n')
			}
		}
		if _, werr := to.Write(data); werr != nil || err != nil {
			return
		}
	}
}

// throughRelay puts a relay with a fault between the two.
func throughRelay(fault string) route {
	return route{"through a relay that " + fault, func(t tb, server []string) ([]string, []string) {
		self, err := os.Executable()
		if err != nil {
			t.Fatalf("find the test binary: %v", err)
		}
		return append([]string{self}, server...), []string{relayVariable + "=" + fault}
	}}
}

// selfTestScene has something in it for each fault to spoil.
var selfTestScene = scene{
	toServer: []byte("{\"a\":1}\r\n\xff\xfe\r\n half a line"),
	toClient: []byte("hello\r\n\r\n\n\n{\"b\":2}\r\n  half a line"),
	stderr:   []byte("server: ready\nno end of line"),
	code:     7,
}

func TestTheHarnessFindsNoDifferenceBetweenDirectAndDirect(t *testing.T) {
	t.Parallel()
	sameAsDirect(t, direct(), selfTestScene)
}

func TestTheHarnessFindsNoDifferenceThroughAFaultlessRelay(t *testing.T) {
	t.Parallel()
	sameAsDirect(t, throughRelay("has no fault"), selfTestScene)
}

func TestTheHarnessCatchesARelayThat(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{
		"drops carriage returns",
		"replaces invalid UTF-8",
		"flips one bit",
		"holds partial lines",
		"drops blank lines",
		"ends the last line",
		"swallows stderr",
		"forgets the exit code",
		"keeps the end to itself",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			complaint := complaintOf(func(p tb) {
				sc := selfTestScene
				began := time.Now()
				if err := play(p, direct(), sc).is(sc); err != nil {
					p.Fatalf("the harness itself is wrong: directly, %v", err)
				}
				// What is held back never comes: how long that is waited for is
				// measured by how long this machine takes without a relay.
				sc.patience = max(8*time.Second, 20*time.Since(began))
				relayed := throughRelay(fault)
				if err := play(p, relayed, sc).is(sc); err != nil {
					p.Fatalf("%s, %v", relayed.name, err)
				}
			})
			if complaint == "" {
				t.Fatalf("the harness found nothing wrong with a relay that %s", fault)
			}
			if !strings.Contains(complaint, "through a relay") {
				t.Fatalf("the harness complained about something else: %s", complaint)
			}
		})
	}
}

// probe is a test that may fail.
type probe struct {
	complaint string
	cleanups  []func()
}

func (p *probe) Helper()             {}
func (p *probe) Logf(string, ...any) {}
func (p *probe) Cleanup(f func())    { p.cleanups = append(p.cleanups, f) }
func (p *probe) Fatalf(format string, args ...any) {
	p.complaint = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// complaintOf runs a check and returns what it failed with, or nothing.
func complaintOf(check func(tb)) string {
	p := &probe{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := len(p.cleanups) - 1; i >= 0; i-- {
				p.cleanups[i]()
			}
		}()
		check(p)
	}()
	<-done
	return p.complaint
}
