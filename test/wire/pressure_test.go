//go:build unix

package wiretest

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// randomBytes are the same on each run.
func randomBytes(size int) []byte {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // never fails
	return data
}

func TestASlowReaderGetsAllOfFourMegabytes(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	data := randomBytes(4 << 20)
	writing := s.server.start("Write", Chunk{To: 1, Data: data}, new(int64))
	// The server ends as soon as its last byte is in the pipe.
	go func() {
		if writing.done() == nil {
			s.server.start("Exit", 0, new(struct{}))
		}
	}()
	var got bytes.Buffer
	pace := time.NewTicker(time.Millisecond) // what makes this reader slow
	defer pace.Stop()
	for {
		<-pace.C
		if _, err := io.CopyN(&got, s.client.out, 4096); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("read after %d bytes: %v", got.Len(), err)
		}
	}
	if !bytes.Equal(got.Bytes(), data) {
		t.Errorf("got %d bytes, want the %d that were written", got.Len(), len(data))
	}
	s.client.mustExit(0, patience)
	mustVerify(t, home)
}

// The server is gone long before its client reads. A limit on how long a
// grandchild may hold the pipe must not cut what a slow client still gets.
func TestNothingIsCutWhenTheClientReadsLongAfterTheServersEnd(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	data := randomBytes(150 << 10) // more than one pipe holds, less than two
	s.server.write(data)
	s.server.exit(6)
	select {
	case <-s.client.exited:
		t.Fatal("the session ended before its client had everything")
	case <-time.After(8 * time.Second): // longer than any limit on a drain may be
	}
	s.client.mustRead(data)
	s.client.mustSeeEnd()
	s.client.mustExit(6, patience)
}

func TestTheServersEndDoesNotCutItsLastPipeful(t *testing.T) {
	t.Parallel()
	for range 20 {
		home := newHome(t)
		s := open(t, throughDeed(home), setup{})
		data := randomBytes(64 << 10)
		s.server.write(data)
		s.server.exit(0)
		s.client.mustRead(data)
		s.client.mustSeeEnd()
		s.client.mustExit(0, patience)
	}
}

func TestASlowServerSlowsItsClientAndGetsEverything(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	data := randomBytes(4 << 20)
	wrote := make(chan error, 1)
	go func() {
		_, err := s.client.tryWrite(data)
		wrote <- err
	}()
	// What the server has not read must be waiting in the client, not
	// pile up in the recorder.
	select {
	case err := <-wrote:
		t.Fatalf("4 MiB were taken from the client while the server read nothing (%v)", err)
	case <-time.After(500 * time.Millisecond):
	}
	// The other direction is free all the while.
	s.server.write([]byte("{}\n"))
	s.client.mustRead([]byte("{}\n"))
	if got := s.server.read(len(data)); got.Sum != sha256.Sum256(data) {
		t.Errorf("the server got other bytes")
	}
	if err := <-wrote; err != nil {
		t.Fatalf("the client's write: %v", err)
	}
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustExit(0, patience)
}

// Each side fills its pipe before it reads: a recorder that waits for one
// direction before it serves the other hangs here, as would no recorder.
func TestBothSidesWriteBeforeTheyReadAndNothingHangs(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	data := randomBytes(2 << 20)
	writing := s.server.start("Write", Chunk{To: 1, Data: data}, new(int64))
	wrote := make(chan error, 1)
	go func() {
		_, err := s.client.tryWrite(data)
		wrote <- err
	}()
	var got Got
	reading := s.server.start("Read", int64(len(data)), &got)
	s.client.mustRead(data)
	reading.must()
	writing.must()
	if err := <-wrote; err != nil {
		t.Fatalf("the client's write: %v", err)
	}
	if got.Sum != sha256.Sum256(data) {
		t.Error("the server got other bytes")
	}
}

func TestAClientThatGoesAwayDoesNotCrashTheRecorder(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{})
	s.client.write(callTo("a", "1"))
	s.server.mustRead(callTo("a", "1"))
	s.client.closeOutput()
	var n int64
	// The server is told as it would be without a recorder, by a broken
	// pipe, or its bytes are drained; it must not hang.
	_ = s.server.start("Write", Chunk{To: 1, Data: []byte("{}\n"), Repeat: 100000}, &n).done()
	s.server.exit(9)
	s.client.mustExit(9, patience)
	mustVerify(t, home)
	if got := lastRun(t, home); got.Calls != 1 {
		t.Errorf("deed last counts %d calls, want 1", got.Calls)
	}
}

func TestAFloodOnStderrThatNobodyReadsDoesNotStopTheAnswer(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{rawStderr: true})
	s.client.write(callTo("chatty", "1"))
	s.server.mustRead(callTo("chatty", "1"))
	s.server.complain(bytes.Repeat([]byte("still working\n"), 1<<20/14))
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	if got := count(callsIn(t, home), call.answered); got != 1 {
		t.Errorf("%d answered calls are recorded, want 1", got)
	}
}

func TestStderrIsRelayedByteForByte(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{})
	data := randomBytes(1 << 20)
	s.server.complain(data)
	s.server.exit(0)
	s.client.mustExit(0, patience)
	if got := s.client.stderr(); !bytes.Equal(got, data) {
		t.Errorf("stderr differs: %s", difference(got, data))
	}
}

func TestStderrWithoutANewlineIsRelayedAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, throughDeed(newHome(t)), setup{rawStderr: true})
	s.server.complain([]byte("password: "))
	if err := s.client.err.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len("password: "))
	if _, err := io.ReadFull(s.client.err, got); err != nil || string(got) != "password: " {
		t.Errorf("stderr gave %q (%v), want the prompt", got, err)
	}
}

func TestABrokenStderrHarmsNothing(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	s := open(t, throughDeed(home), setup{rawStderr: true})
	if err := s.client.err.Close(); err != nil {
		t.Fatal(err)
	}
	var n int64
	_ = s.server.start("Write", Chunk{To: 2, Data: randomBytes(1 << 20)}, &n).done()
	s.server.write([]byte("noise that wants to be told on stderr\n"))
	s.client.mustRead([]byte("noise that wants to be told on stderr\n"))
	s.client.write(callTo("a", "1"))
	s.server.mustRead(callTo("a", "1"))
	s.server.write(answerFor("1"))
	s.client.mustRead(answerFor("1"))
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
	mustVerify(t, home)
}
