//go:build unix

package wiretest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"testing"
)

// The journal is held by another program while more passes than the recorder
// may keep in memory. The wire does not wait for it, and afterwards each line
// is either recorded or counted as unseen: silence is never a record.
func TestWhatCouldNotBeRecordedIsCounted(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
	before := len(callsIn(t, home))
	db, err := sql.Open("sqlite", "file:"+journal+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	held, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	s := open(t, throughDeed(home), setup{})
	s.client.write(callTo("first", "1"))
	s.server.mustRead(callTo("first", "1"))
	if _, err := held.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}

	const total, each = 150_000, 1 << 10
	filler := bytes.Repeat([]byte("x"), each)
	var reading Got
	server := s.server.start("Read", int64(-1), &reading)
	sent := 0
	for n := 0; n < total; n += 1000 {
		var lines bytes.Buffer
		for i := range 1000 {
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bulk","arguments":{"x":"%s"}}}`+"\n", n+i+2, filler)
		}
		s.client.write(lines.Bytes())
		sent += lines.Len()
	}
	if _, err := held.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	s.client.closeInput()
	server.must()
	if reading.Size != int64(sent) {
		t.Errorf("the server got %d bytes, want %d", reading.Size, sent)
	}
	s.server.exit(0)
	s.client.mustExit(0, patience)
	own, _ := ownLines(s.client.stderr())
	t.Logf("it says: %q", own)
	if len(own) > 1 {
		t.Errorf("the program said %d lines, want at most one: %q", len(own), own)
	}
	mustVerify(t, home)
	calls, gaps := recordedIn(t, home)
	unseen := 0
	for _, line := range gaps {
		var gap struct {
			From  string `json:"from"`
			Lines int    `json:"unseen_lines"`
			Bytes int64  `json:"unseen_bytes"`
		}
		if err := json.Unmarshal([]byte(line), &gap); err != nil {
			t.Fatalf("understand a gap %q: %v", line, err)
		}
		if gap.From == "client" {
			unseen += gap.Lines
		}
	}
	recorded := len(calls) - before
	t.Logf("of %d lines %d were recorded and %d counted as unseen in %d gaps", total+1, recorded, unseen, len(gaps))
	t.Logf("deed verify says:\n%s", deed(t, home, "verify").stdout)
	// A line that began before a gap and ended inside it may be both.
	if missing := total + 1 - recorded - unseen; missing > 0 || missing < -2*len(gaps) {
		t.Errorf("of %d lines %d were recorded and %d counted as unseen", total+1, recorded, unseen)
	}
}
