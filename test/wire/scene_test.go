//go:build unix

package wiretest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"
)

// scene is what crosses the wire in one session: all of toServer, then all of
// toClient, then stderr, then the client closes and the server ends.
type scene struct {
	toServer, toClient, stderr []byte
	code                       int
	// mayTell allows lines of the program's own on stderr: it says once that
	// there was noise.
	mayTell  bool
	patience time.Duration
}

// trace is what both ends saw.
type trace struct {
	atServer, atClient, stderr []byte // nil when large
	atServerSum, atClientSum   [sha256.Size]byte
	own                        []string // lines of the program's own
	code                       int
}

// play plays a scene over a route. Each side must have everything before the
// other moves on: what is held back for a newline never comes, and the scene
// fails for it.
func play(t tb, r route, sc scene) trace {
	t.Helper()
	s := open(t, r, setup{patience: sc.patience})
	var tr trace

	var got Got
	reading := s.server.start("Read", int64(len(sc.toServer)), &got)
	if n, err := s.client.tryWrite(sc.toServer); err != nil {
		t.Fatalf("%s: the client wrote %d of %d bytes: %v", r.name, n, len(sc.toServer), err)
	}
	if err := reading.done(); err != nil {
		t.Fatalf("%s: the server read its %d bytes: %v", r.name, len(sc.toServer), err)
	}
	tr.atServer, tr.atServerSum = got.Data, got.Sum

	var wrote int64
	writing := s.server.start("Write", Chunk{To: 1, Data: sc.toClient}, &wrote)
	got, err := s.client.take(int64(len(sc.toClient)))
	if err != nil {
		t.Fatalf("%s: the client read %d of %d bytes: %v", r.name, got.Size, len(sc.toClient), err)
	}
	writing.must()
	tr.atClient, tr.atClientSum = got.Data, got.Sum
	s.server.complain(sc.stderr)

	s.client.closeInput()
	var rest Got
	if err := s.server.start("Read", int64(-1), &rest).done(); err != nil {
		t.Fatalf("%s: the server waited for the end: %v", r.name, err)
	}
	if rest.Size != 0 {
		t.Fatalf("%s: the server got %d bytes more than were written: %q", r.name, rest.Size, clip(rest.Data))
	}
	s.server.exit(sc.code)
	after, err := s.client.take(-1)
	if err != nil {
		t.Fatalf("%s: the client waited for the end: %v", r.name, err)
	}
	if after.Size != 0 {
		t.Fatalf("%s: the client got %d bytes more than were written: %q", r.name, after.Size, clip(after.Data))
	}
	tr.code = s.client.wait(s.patience)
	tr.own, tr.stderr = ownLines(s.client.stderr())
	return tr
}

// sameAsDirect plays a scene directly and over a route, and fails unless both
// ends saw the very same, which is also what was written.
func sameAsDirect(t tb, r route, sc scene) trace {
	t.Helper()
	want := play(t, direct(), sc)
	if err := want.is(sc); err != nil {
		t.Fatalf("the harness itself is wrong: directly, %v", err)
	}
	got := play(t, r, sc)
	if err := got.is(sc); err != nil {
		t.Fatalf("%s, %v", r.name, err)
	}
	return got
}

// is compares a trace with what the scene put on the wire.
func (tr trace) is(sc scene) error {
	if tr.atServerSum != sha256.Sum256(sc.toServer) {
		return fmt.Errorf("the server got other bytes: %s", difference(tr.atServer, sc.toServer))
	}
	if tr.atClientSum != sha256.Sum256(sc.toClient) {
		return fmt.Errorf("the client got other bytes: %s", difference(tr.atClient, sc.toClient))
	}
	if string(tr.stderr) != string(sc.stderr) && !tr.brokeALine(sc) {
		return fmt.Errorf("stderr differs: %s", difference(tr.stderr, sc.stderr))
	}
	if tr.code != sc.code {
		return fmt.Errorf("the exit code is %d, want %d", tr.code, sc.code)
	}
	if len(tr.own) > 0 && !sc.mayTell {
		return fmt.Errorf("there are lines on stderr that nobody asked for: %q", tr.own)
	}
	return nil
}

// brokeALine says that the only difference on stderr is a newline which the
// program put between a server's unfinished line and one of its own.
func (tr trace) brokeALine(sc scene) bool {
	return len(tr.own) > 0 && !bytes.HasSuffix(sc.stderr, []byte("\n")) && string(tr.stderr) == string(sc.stderr)+"\n"
}

// difference shows where two byte strings part.
func difference(got, want []byte) string {
	if got == nil && len(want) > keepLimit {
		return "too large to show"
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	from := max(0, at-20)
	return fmt.Sprintf("at byte %d got %q, want %q (%d bytes, want %d)", at, clip(got[from:]), clip(want[from:]), len(got), len(want))
}
