//go:build unix

package wiretest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"
	"time"
)

// tool is the name of the nth call, so that each can be told from the others.
func tool(n int) string { return fmt.Sprintf("tool-%06d", n) }

// mustHaveAll fails the test unless each of the calls is recorded once, with an
// answer that is not before it, and with its size on the wire.
func mustHaveAll(t tb, home string, total int) {
	t.Helper()
	calls := callsIn(t, home)
	if len(calls) != total {
		t.Fatalf("%d calls are recorded, want %d", len(calls), total)
	}
	named := byTool(t, calls)
	for n := range total {
		c, there := named[tool(n)]
		if !there {
			t.Fatalf("the call to %s is not recorded", tool(n))
		}
		sent, returned := int64(len(callTo(tool(n), fmt.Sprint(n)))), int64(len(answerFor(fmt.Sprint(n))))
		switch {
		case !c.answered():
			t.Fatalf("the answer to %s is not recorded: %+v", tool(n), c)
		case c.Outcome != "ok":
			t.Fatalf("the call to %s ended %q, want ok", tool(n), c.Outcome)
		case c.TookUS == nil || *c.TookUS < 0 || moment(t, *c.AnsweredAt).Before(moment(t, c.At)):
			t.Fatalf("the answer to %s is older than its question: %+v", tool(n), c)
		case c.SentBytes != sent || c.ReturnedBytes == nil || *c.ReturnedBytes != returned:
			t.Fatalf("the call to %s has other sizes than %d and %d bytes: %+v", tool(n), sent, returned, c)
		}
	}
	for n := 1; n < total; n++ {
		if before, after := named[tool(n-1)], named[tool(n)]; before.Seq >= after.Seq {
			t.Fatalf("the calls to %s and %s are recorded in the wrong order", tool(n-1), tool(n))
		}
	}
	mustVerify(t, home)
}

func TestTwentyThousandCallsWrittenInOneGoAreAllRecorded(t *testing.T) {
	t.Parallel()
	const total = 20000
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	var answers int64
	answering := s.server.start("Answer", struct{}{}, &answers)
	var asked, want bytes.Buffer
	for n := range total {
		asked.Write(callTo(tool(n), fmt.Sprint(n)))
		want.Write(answerFor(fmt.Sprint(n)))
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := s.client.tryWrite(asked.Bytes())
		wrote <- err
	}()
	s.client.mustRead(want.Bytes())
	if err := <-wrote; err != nil {
		t.Fatalf("write the calls: %v", err)
	}
	s.client.closeInput()
	answering.must()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	mustHaveAll(t, home, total)
	got := lastRun(t, home)
	if got.Calls != total || got.Failed != 0 || got.Unanswered != 0 || got.Open != 0 || len(got.Gaps) != 0 || got.ReturnedBytes != int64(want.Len()) {
		t.Errorf("deed last counts %+v, want %d calls, no failure, no gap and %d bytes", got, total, want.Len())
	}
	if got.State != "ended" || got.ExitCode == nil || *got.ExitCode != 0 {
		t.Errorf("deed last says %+v about the session, want that it ended with 0", got)
	}
}

func TestFiveThousandCallsOneAfterTheOtherAreAllRecorded(t *testing.T) {
	t.Parallel()
	const total = 5000
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	askInTurn(t, s, 0, total)
	s.client.closeInput()
	s.client.mustExit(0, patience)
	mustHaveAll(t, home, total)
}

// askInTurn makes calls, each after the answer to the one before it, to a
// server that answers at once and ends with 0 when the client closes. It
// returns how long each took.
func askInTurn(t tb, s *stage, from, to int) []time.Duration {
	t.Helper()
	var answers int64
	answering := s.server.start("Answer", struct{}{}, &answers)
	go func() {
		if answering.done() == nil {
			s.server.start("Exit", 0, new(struct{}))
		}
	}()
	took := make([]time.Duration, 0, to-from)
	in := bufio.NewReader(s.client.out)
	for n := from; n < to; n++ {
		began := time.Now()
		s.client.write(callTo(tool(n), fmt.Sprint(n)))
		line, err := readLine(s.client, in)
		if err != nil {
			t.Fatalf("read the answer to %s: %v", tool(n), err)
		}
		took = append(took, time.Since(began))
		if want := answerFor(fmt.Sprint(n)); !bytes.Equal(line, want) {
			t.Fatalf("got %q, want %q", clip(line), want)
		}
	}
	return took
}

func TestWhatIsUnansweredUnparseableOrNoiseIsRecorded(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home, "--label", "odd one"), setup{})
	toServer := "" +
		string(callTo("fine", "1")) +
		string(callTo("hung", "2")) +
		string(callTo("refused", "3")) +
		string(callTo("failed", "4")) +
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"lone \ud800","arguments":{}}}` + "\n" +
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":{"an":"object"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":["a list"]}` + "\n" +
		`[{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"batched"}},{"jsonrpc":"2.0","id":9,"method":"ping"}]` + "\n" +
		"this is no message\n"
	toClient := "" +
		"Server ready\n" +
		string(answerFor("1")) +
		`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"no"}}` + "\n" +
		`{"jsonrpc":"2.0","id":4,"result":{"isError":true,"content":[]}}` + "\n" +
		`{"jsonrpc":"2.0","id":9,"result":{}}` + "\n" +
		"{\"jsonrpc\":\"2.0\",\"id\":1,\n" // breaks off
	s.client.write([]byte(toServer))
	s.server.mustRead([]byte(toServer))
	s.server.write([]byte(toClient))
	s.client.mustRead([]byte(toClient))
	s.server.complain([]byte("twelve bytes"))
	s.server.exit(7)
	s.client.mustSeeEnd()
	s.client.mustExit(7, patience)

	got := lastRun(t, home)
	if got.Label != "odd one" || got.ExitCode == nil || *got.ExitCode != 7 {
		t.Errorf("deed last says %+v about the session, want label odd one and exit code 7", got)
	}
	// Eight tools/call: fine, hung, refused, failed, the three odd ones and
	// the one in the batch. Four of the eight got no answer beside hung: the
	// three odd ones and the batched one.
	if got.Calls != 8 || got.Failed != 2 || got.Unanswered != 5 || got.Open != 0 {
		t.Errorf("deed last counts %d calls, %d failed, %d unanswered and %d open, want 8, 2, 5 and 0", got.Calls, got.Failed, got.Unanswered, got.Open)
	}
	if len(got.OtherRequests) != 1 || got.OtherRequests[0].Method != "ping" || got.OtherRequests[0].Count != 1 {
		t.Errorf("other requests are %+v, want one ping", got.OtherRequests)
	}
	// The text of the client, the banner, and the answer that breaks off
	// (which may count as a message gone wrong instead).
	if got.NoiseLines < 2 || got.NoiseLines > 3 {
		t.Errorf("%d lines of noise are recorded, want the two that were written and at most the broken one", got.NoiseLines)
	}
	if got.StderrBytes != int64(len("twelve bytes")) {
		t.Errorf("%d bytes of stderr are recorded, want %d", got.StderrBytes, len("twelve bytes"))
	}
	calls := callsIn(t, home)
	if len(calls) != 9 {
		t.Errorf("%d requests are recorded, want 9", len(calls))
	}
	for _, want := range []struct{ tool, outcome, code string }{
		{"fine", "ok", ""}, {"hung", "unanswered", ""}, {"refused", "error", "-32602"}, {"failed", "tool_error", ""}, {"batched", "unanswered", ""},
	} {
		if count(calls, func(c call) bool {
			return c.Tool == want.tool && c.Outcome == want.outcome && (want.code == "") == (c.ErrorCode == nil) && (c.ErrorCode == nil || *c.ErrorCode == want.code)
		}) != 1 {
			t.Errorf("no call to %s with outcome %s %s in %+v", want.tool, want.outcome, want.code, calls)
		}
	}
	mustVerify(t, home)
}

func TestACallThatKillsTheServerIsRecordedAsUnanswered(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	s.client.write(callTo("deadly", "1"))
	s.server.mustRead(callTo("deadly", "1"))
	s.server.exit(139)
	s.client.mustExit(139, patience)
	if got := lastRun(t, home); got.Calls != 1 || got.Unanswered != 1 {
		t.Errorf("deed last counts %d calls and %d unanswered, want 1 and 1", got.Calls, got.Unanswered)
	}
}

func TestLateLargeAnswersAreRecordedToTheLast(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	const total = 60
	filler := bytes.Repeat([]byte("x"), 900<<10)
	for n := range total {
		s.client.write(callTo(tool(n), fmt.Sprint(n)))
		s.server.mustRead(callTo(tool(n), fmt.Sprint(n)))
	}
	answering := make(chan error, 1)
	go func() {
		for n := range total {
			var wrote int64
			answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"text":"%s"}}`+"\n", n, filler)
			if err := s.server.start("Write", Chunk{To: 1, Data: answer}, &wrote).done(); err != nil {
				answering <- err
				return
			}
		}
		s.server.start("Exit", 0, new(struct{}))
		answering <- nil
	}()
	if _, err := io.Copy(io.Discard, s.client.out); err != nil {
		t.Fatalf("read the answers: %v", err)
	}
	if err := <-answering; err != nil {
		t.Fatalf("write the answers: %v", err)
	}
	s.client.mustExit(0, patience)
	calls, gaps := recordedIn(t, home)
	if answered := count(calls, call.answered); answered != total || len(gaps) != 0 {
		t.Errorf("%d of %d answers are recorded, gaps: %q", answered, total, gaps)
	}
	mustVerify(t, home)
}
