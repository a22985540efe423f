//go:build unix

package wiretest

import (
	"bytes"
	"strings"
	"testing"
)

func TestABannerOnStdoutIsToldExactlyOnce(t *testing.T) {
	t.Parallel()
	banner := []byte("Server v1.2\nlistening on stdio\n> ready\n")
	tr := sameAsDirect(t, throughDeed(newHome(t)), scene{toClient: banner, mayTell: true})
	mustTellOnce(t, tr.own, "stdout|standard output")
}

// What a server names its tools is not to be trusted with a terminal.
func TestEchoTellsCallsOnStderrAndNeverARawEscape(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t), "--echo"), setup{})
	asked := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"evil\u001b]0;title\u0007","arguments":{}}}` + "\n" +
		string(callTo("plain", "2")))
	answer := append(answerFor("1"), answerFor("2")...)
	s.client.write(asked)
	s.server.mustRead(asked)
	s.server.write(answer)
	s.client.mustRead(answer)
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	said := s.client.stderr()
	if !bytes.Contains(said, []byte("plain")) {
		t.Errorf("stderr does not name the call: %q", said)
	}
	if bytes.ContainsAny(said, "\x1b\a") {
		t.Errorf("stderr has a raw terminal escape: %q", said)
	}
	for line := range strings.Lines(string(said)) {
		if !strings.HasPrefix(line, "deed: ") {
			t.Errorf("a line of the program's own does not say so: %q", line)
		}
	}
}

// Echoing is for a person who may not be there to read it.
func TestEchoThatNobodyReadsDoesNotStopTheAnswers(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home, "--echo"), setup{rawStderr: true})
	askInTurn(t, s, 0, 3000)
	s.client.closeInput()
	s.client.mustExit(0, patience)
	mustHaveAll(t, home, 3000)
}
