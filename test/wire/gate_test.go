//go:build unix

package wiretest

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// manners are the ways in which the server behaves that actions are declared
// to. None of them may show on the wire, but in time.
var manners = []struct {
	name   string
	answer func(int, http.ResponseWriter, *http.Request) bool
	flags  []string
}{
	{"fast", nil, nil},
	{"slow", func(int, http.ResponseWriter, *http.Request) bool { <-time.After(20 * time.Millisecond); return true }, nil},
	{"hanging", hangs, []string{"--timeout", "0.3"}},
	{"failing", fails(500, `{"error":{"code":"internal"}}`), nil},
	{"flapping", flaps, nil},
	{"refusing", fails(400, `{"error":{"code":"invalid_request","message":"no"}}`), nil},
	{"hanging up", hangsUp, nil},
	{"redirecting", func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Location", "http://127.0.0.1:1/v1/actions")
		w.WriteHeader(http.StatusTemporaryRedirect)
		return false
	}, nil},
}

// crossGate writes data to a server, whose lines are held, and then the rest of
// the last line, which goes on when the client closes.
func crossGate(t *testing.T, r route, toServer, toClient []byte) {
	t.Helper()
	s := open(t, r, setup{})
	var got Got
	reading := s.server.start("Read", int64(-1), &got)
	writing := make(chan error, 1)
	go func() { _, err := s.client.tryWrite(toServer); writing <- err }()
	// The other direction never waits for the gate.
	var wrote int64
	answering := s.server.start("Write", Chunk{To: 1, Data: toClient}, &wrote)
	s.client.mustRead(toClient)
	answering.must()
	if err := <-writing; err != nil {
		t.Fatalf("the client wrote: %v", err)
	}
	s.client.closeInput()
	if err := reading.done(); err != nil {
		t.Fatalf("the server read: %v", err)
	}
	if !bytes.Equal(got.Data, toServer) {
		t.Fatalf("the server got other bytes: %s", difference(got.Data, toServer))
	}
	s.server.exit(7)
	s.client.mustSeeEnd()
	s.client.mustExit(7, patience)
}

func TestUnderAGateEveryHostileByteArrives(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	t.Run("scenes", func(t *testing.T) {
		for i, c := range hostile {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				data := append([]byte(nil), charge("1", fmt.Sprint("first of ", i))...)
				data = append(append(data, lines(c.data, 1000)...), '\n')
				data = append(append(data, charge("2", fmt.Sprint("second of ", i))...), `{"half":`...)
				crossGate(t, throughGate(a, home), data, otherWay(c.data))
			})
		}
	})
	mustVerify(t, home)
	a.mustBeConsistent()
	if got := len(a.actions()); got != 2*len(hostile) {
		t.Errorf("%d actions are declared, want two of each of %d scenes", got, len(hostile))
	}
}

func TestUnderAGateBytesAndTheirOrderAreTheSameHoweverTheServerBehaves(t *testing.T) {
	t.Parallel()
	for _, m := range manners {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			a, home := newAPI(t), newHome(t)
			a.says(m.answer)
			var sent bytes.Buffer
			for n := range 40 {
				sent.Write(callTo("list", fmt.Sprint("1", n)))
				if n%4 == 0 {
					sent.Write(charge(fmt.Sprint("2", n), fmt.Sprint("o", n)))
				}
				if n%10 == 0 {
					fmt.Fprintf(&sent, "[%s,%s]\r\n", bytes.TrimSpace(charge(fmt.Sprint("3", n), fmt.Sprint("b", n))), bytes.TrimSpace(callTo("list", "9")))
					sent.WriteString("noise\n\n")
				}
			}
			crossGate(t, throughGate(a, home, m.flags...), sent.Bytes(), []byte("{}\n"))
			a.mustBeConsistent()
			// Nothing is lost: what was not declared is in the outbox, and is
			// declared when the server comes to itself.
			a.says(nil)
			waiting, undeliverable := flush(t, a, home)
			if len(waiting) > 0 {
				t.Errorf("still waiting: %q", waiting)
			}
			if total := len(a.actions()) + len(undeliverable); total != 14 {
				t.Errorf("%d actions are declared and %d are undeliverable, want 14 together", len(a.actions()), len(undeliverable))
			}
			if m.name == "refusing" != (len(undeliverable) == 14) {
				t.Errorf("undeliverable: %q", undeliverable)
			}
			a.mustBeConsistent()
			mustVerify(t, home)
		})
	}
}

// The journal has the intent before the server is asked, and the server has
// answered before the call goes on.
func TestACallReachesItsServerAfterItsDeclarationAndThatAfterTheJournal(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	asked, let := make(chan struct{}), make(chan struct{})
	a.says(func(int, http.ResponseWriter, *http.Request) bool { close(asked); <-let; return true })
	s := open(t, throughGate(a, home, "--timeout", "50"), setup{})
	first, behind := charge("1", "o1"), callTo("list", "2")
	s.client.write(append(slices.Clone(first), behind...))
	<-asked
	if got := deedWith(t, gateEnv(a, home), "flush", "--list", "--json"); !strings.Contains(got.stdout, `"charge:o1"`) {
		t.Errorf("the server is asked, and the outbox has not the intent: %s", got.stdout)
	}
	// Nothing has gone on, and the other direction does not wait.
	s.server.write([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"))
	s.client.mustRead([]byte("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"))
	var got Got
	reading := s.server.start("Read", int64(len(first)+len(behind)), &got)
	select {
	case <-reading.call.Done:
		t.Fatalf("the server has %q before the declaration was taken", got.Data)
	case <-time.After(100 * time.Millisecond):
	}
	close(let)
	reading.must()
	if want := string(first) + string(behind); string(got.Data) != want {
		t.Errorf("the server got %q, want %q", got.Data, want)
	}
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	s.client.closeInput()
	s.server.exit(0)
	s.client.mustExit(0, patience)
	own, _ := ownLines(s.client.stderr())
	if want := "deed: recorded charge:o1 → tool result isError=false"; !slices.Equal(own, []string{want}) {
		t.Errorf("told %q, want %q", own, want)
	}
	if waiting, undeliverable := flush(t, a, home); len(waiting)+len(undeliverable) > 0 {
		t.Errorf("left in the outbox: %q %q", waiting, undeliverable)
	}
	mustVerify(t, home)
}

func TestARequiredCallIsRefusedBetweenTwoLinesOfTheServer(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	a.says(fails(403, `{"error":{"code":"forbidden","message":"not this contract"}}`))
	s := open(t, throughGate(a, home, "--no-fail-open"), setup{})
	half, rest := []byte(`{"jsonrpc":"2.0","method":"half`), []byte("\"}\n")
	s.server.write(half)
	s.client.mustRead(half)
	s.client.write(slices.Concat(callTo("list", "1"), charge(`"x"`, "o1"), callTo("list", "2")))
	s.server.mustRead(slices.Concat(callTo("list", "1"), callTo("list", "2"))) // and nothing of the one between
	s.server.write(rest)
	s.client.mustRead(slices.Concat(rest, refusalOf(`"x"`, "HTTP 403 forbidden: not this contract")))
	s.server.write(slices.Concat(answerFor("1"), answerFor("2")))
	s.client.mustRead(slices.Concat(answerFor("1"), answerFor("2")))

	// The client is owed nothing for it, and it is not declared later: it never happened.
	late := lateness(t)
	closed := s.client.closeInput()
	s.server.mustSeeEnd()
	if ended := s.client.mustExit(143, patience); ended.Sub(closed) > 20*time.Second+5*late() {
		t.Errorf("it waited %v for an answer that the client had", ended.Sub(closed))
	}
	a.says(nil)
	if waiting, undeliverable := flush(t, a, home); len(waiting)+len(undeliverable)+len(a.actions()) > 0 {
		t.Errorf("declared %q, left in the outbox %q %q", a.actions(), waiting, undeliverable)
	}
	if got := deed(t, home, "last"); !strings.Contains(got.stdout, "actions: 1 refused") || !strings.Contains(got.stdout, "error -32000: Deed recording failed") {
		t.Errorf("deed last says\n%s", got.stdout)
	}
	mustVerify(t, home)
}

// A hanging server of declarations costs a call its time-out and nothing else.
func TestOtherTrafficDoesNotWaitForADeclaration(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	a.says(hangs)
	s := open(t, throughGate(a, home, "--timeout", "1"), setup{})
	s.server.start("Answer", struct{}{}, new(int64))
	in := bufio.NewReader(s.client.out)
	ask := func(line, want []byte) time.Duration {
		began := time.Now()
		s.client.write(line)
		if got, err := readLine(s.client, in); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %q, %v", got, err)
		}
		return time.Since(began)
	}
	for range 3 {
		ask(callTo("list", "1"), answerFor("1"))
	}
	late := lateness(t)
	if took := ask(charge("2", "o"), answerFor("2")); took < time.Second || took > 15*time.Second+5*late() {
		t.Errorf("a mapped call took %v, want its time-out of a second", took)
	}
	ask(callTo("list", "3"), answerFor("3"))
}

func TestAFurtherRoundOfACallStaysOneAction(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	s := open(t, throughGate(a, home, "--no-fail-open"), setup{})
	round := func(id, more string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"refund","arguments":{"order":"o1","amount":180.0}%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`+"\n", id, more)
	}
	first := round("7", "")
	s.client.write(first)
	s.server.mustRead(first)
	asks := []byte(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{}}},"requestState":"s1"}}` + "\n")
	s.server.write(asks)
	s.client.mustRead(asks)
	second := round("8", `,"inputResponses":{"a":{"action":"accept"}},"requestState":"s1"`)
	s.client.write(second)
	s.server.mustRead(second)
	s.server.write(answerFor("8"))
	s.client.mustRead(answerFor("8"))
	// Once more under the id that was used: a replay, and the same action.
	s.client.write(first)
	s.server.mustRead(first)
	s.server.write(answerFor("7"))
	s.client.mustRead(answerFor("7"))
	s.client.closeInput()
	s.server.exit(0)
	s.client.mustExit(0, patience)
	if got := a.actions(); len(got) != 1 || !strings.HasPrefix(got[0], "mcp:refund:") || !strings.HasSuffix(got[0], ":7") {
		t.Errorf("declared %q, want one action", got)
	}
	own, _ := ownLines(s.client.stderr())
	if told := ownBegin(own, "deed: recorded "); len(told) != 2 { // of the call, and of the one that was asked once more
		t.Errorf("told %q", own)
	}
	mustVerify(t, home)
}

// Two sessions whose requests have the same ids are two actions.
func TestSessionsNeverShareAnAction(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"refund","arguments":{"order":"o1"}}}` + "\n")
	for range 2 {
		s := open(t, throughGate(a, home), setup{})
		s.client.write(line)
		s.server.mustRead(line)
		s.client.closeInput()
		s.server.exit(0)
		s.client.mustExit(0, patience)
	}
	if got := a.actions(); len(got) != 2 {
		t.Errorf("declared %q, want two actions", got)
	}
}

func TestWithAMappingAndWritingAheadNoByteChanges(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	data := slices.Concat(charge("1", "o"), callTo("a", "2"), longLine(3<<20), charge("3", "p"), []byte("{\"half\":"))
	crossGateLarge(t, throughGate(a, home, "--write-ahead"), data)
	if got := a.actions(); !slices.Equal(got, []string{"charge:o", "charge:p"}) && !slices.Equal(got, []string{"charge:p", "charge:o"}) {
		t.Errorf("declared %q", got)
	}
	mustVerify(t, home)
}

// crossGateLarge is crossGate towards the server, of more than is kept.
func crossGateLarge(t *testing.T, r route, toServer []byte) {
	t.Helper()
	s := open(t, r, setup{})
	var got Got
	reading := s.server.start("Read", int64(-1), &got)
	s.client.write(toServer)
	s.client.closeInput()
	reading.must()
	if got.Size != int64(len(toServer)) {
		t.Fatalf("the server got %d bytes, want %d", got.Size, len(toServer))
	}
	s.server.exit(0)
	s.client.mustExit(0, patience)
}

func TestACallAboveTheLimitIsForwardedAndOnRecordAsUndeclarable(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	long := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"charge","arguments":{"note":"` + strings.Repeat("x", 65<<20) + `","order":"o"}}}` + "\n")
	crossGateLarge(t, throughGate(a, home), append(long, charge("2", "p")...))
	if got := a.actions(); !slices.Equal(got, []string{"charge:p"}) {
		t.Errorf("declared %q", got)
	}
	if got := deed(t, home, "last"); !strings.Contains(got.stdout, "its line is longer than 64 MiB") {
		t.Errorf("deed last says\n%s", got.stdout)
	}
	mustVerify(t, home)
}

// Without a key and a server there is one warning, and then the wire is as it
// is without a mapping: not even a partial line is held.
func TestWithoutAKeyTheTrafficPassesAndIsRecorded(t *testing.T) {
	t.Parallel()
	home, mapping := newHome(t), gateMapping(t)
	r := route{"without a key", func(t tb, server []string) ([]string, []string) {
		return append([]string{deedPath(t), "recorder", "--map", mapping, "--no-fail-open", "--"}, server...),
			[]string{"DEED_HOME=" + home, "DEED_API_KEY=", "DEED_API_URL=", "COMMITLAYER_API_KEY=", "COMMITLAYER_API_URL="}
	}}
	sc := scene{toServer: []byte(string(charge("1", "o")) + `{"half":`), toClient: answerFor("1"), mayTell: true}
	tr := play(t, r, sc)
	if err := tr.is(sc); err != nil {
		t.Error(err)
	}
	if len(tr.own) != 1 || !strings.HasPrefix(tr.own[0], "deed: DEED_API_KEY and DEED_API_URL are not set: nothing is declared") {
		t.Errorf("told %q, want one warning", tr.own)
	}
	mustVerify(t, home)
}

// The names that people have in their configurations are read where ours are
// not set.
func TestTheNamesOfAnotherRecorderAreRead(t *testing.T) {
	t.Parallel()
	a, home, mapping := newAPI(t), newHome(t), gateMapping(t)
	r := route{"under other names", func(t tb, server []string) ([]string, []string) {
		return append([]string{deedPath(t), "recorder", "--agent-id", "other", "--workflow-id", "w", "--timeout", "5", "--"}, server...), []string{
			"DEED_HOME=" + home, "DEED_API_KEY=", "DEED_API_URL=", "DEED_RECORDER_MAP=",
			"COMMITLAYER_API_KEY=" + gateKey, "COMMITLAYER_API_URL=http://" + a.address + "/", "COMMITLAYER_RECORDER_MAP=" + mapping,
		}
	}}
	crossGate(t, r, charge("1", "o"), []byte("{}\n"))
	if got := a.actions(); !slices.Equal(got, []string{"charge:o"}) {
		t.Errorf("declared %q", got)
	}
	if body := a.bodies["charge:o"][0]; !strings.Contains(body, `"agent_id":"other","workflow_id":"w"`) {
		t.Errorf("declared %s", body)
	}
}

func TestTheKeyIsNowhereButInTheRequest(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	a.says(func(n int, w http.ResponseWriter, r *http.Request) bool {
		return fails(400, `{"error":{"code":"invalid_request","message":"bad key `+r.Header.Get("X-Api-Key")+`"}}`)(n, w, r)
	})
	s := open(t, throughGate(a, home), setup{})
	commandLine, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.client.cmd.Process.Pid))
	if err != nil {
		t.Logf("no process list to look into: %v", err)
	}
	line := charge("1", "o")
	s.client.write(line)
	s.server.mustRead(line)
	s.client.closeInput()
	s.server.exit(0)
	s.client.mustExit(0, patience)
	for _, variable := range s.server.hello.Env {
		if strings.Contains(variable, gateKey) {
			t.Errorf("the wrapped server has %s", strings.SplitN(variable, "=", 2)[0])
		}
	}
	seen := map[string][]byte{"the command line": commandLine, "stderr": s.client.stderr()}
	files, err := filepath.Glob(filepath.Join(home, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if seen[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	flushed := deedWith(t, gateEnv(a, home), "flush", "--retry", "--json")
	seen["deed flush"] = []byte(flushed.stdout + flushed.stderr)
	for where, data := range seen {
		if bytes.Contains(data, []byte(gateKey)) {
			t.Errorf("the key is in %s", where)
		}
	}
	if own, _ := ownLines(seen["stderr"]); len(own) != 1 || !strings.Contains(own[0], "<redacted:api_key>") {
		t.Errorf("told %q", own)
	}
}

// What the server is down for is sent by the recorder itself when it is back.
func TestARunningRecorderSendsWhatWaitsWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	a, home := newAPI(t), newHome(t)
	a.stop()
	s := open(t, throughGate(a, home), setup{})
	line := charge("1", "o")
	s.client.write(line)
	s.server.mustRead(line)
	taken := make(chan struct{})
	a.says(func(int, http.ResponseWriter, *http.Request) bool { close(taken); return true })
	a.start()
	select {
	case <-taken:
	case <-time.After(patience):
		t.Fatal("it was not sent again")
	}
	waitFor(t, "the line about it", func() bool {
		return strings.Contains(string(s.client.stderrSoFar()), "deed: declared charge:o late, ")
	})
	s.client.closeInput()
	s.server.exit(0)
	s.client.mustExit(0, patience)
	if waiting, undeliverable := flush(t, a, home); len(waiting)+len(undeliverable) > 0 {
		t.Errorf("left in the outbox: %q %q", waiting, undeliverable)
	}
	if got := deed(t, home, "show", "last"); !strings.Contains(got.stdout, "the server has it") {
		t.Errorf("deed show says\n%s", got.stdout)
	}
	a.mustBeConsistent()
	mustVerify(t, home)
}

// waitFor looks until something is so, for as long as the machine may take.
func waitFor(t tb, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s did not come within %v", what, patience)
		}
	}
}
