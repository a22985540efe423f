//go:build unix

package wiretest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// session is an ordinary one: what is on the wire when the record fails.
func session() scene {
	var toServer, toClient bytes.Buffer
	for n := range 100 {
		toServer.Write(callTo(tool(n), fmt.Sprint(n)))
		toClient.Write(answerFor(fmt.Sprint(n)))
	}
	return scene{toServer: toServer.Bytes(), toClient: toClient.Bytes(), stderr: []byte("server: ready\n"), code: 7, mayTell: true}
}

// mustTellOnce fails the test unless the program said one line, about this.
func mustTellOnce(t *testing.T, own []string, about string) {
	t.Helper()
	if len(own) != 1 {
		t.Errorf("the program said %d lines, want exactly one: %q", len(own), own)
		return
	}
	t.Logf("it says: %s", own[0])
	mustReadWell(t, own[0])
	if !regexp.MustCompile(about).MatchString(own[0]) {
		t.Errorf("the line says nothing about %q: %q", about, own[0])
	}
}

// mustReadWell checks the rules of what users read, as far as a program can.
func mustReadWell(t *testing.T, line string) {
	t.Helper()
	if strings.HasSuffix(line, ".") {
		t.Errorf("the line ends in a full stop: %q", line)
	}
	for _, word := range []string{"panic", "goroutine", "0x", "%!", "<nil>", "context deadline exceeded"} {
		if strings.Contains(line, word) {
			t.Errorf("the line speaks of the program's insides (%q): %q", word, line)
		}
	}
}

func TestAHomeThatIsAFileLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := sameAsDirect(t, throughDeed(home), session())
	mustTellOnce(t, tr.own, regexp.QuoteMeta(home))
	if got, err := os.ReadFile(home); err != nil || string(got) != "in the way" {
		t.Errorf("the file in the way was changed to %q (%v)", got, err)
	}
}

func TestAHomeThatCannotBeWrittenLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home := "/proc/deed-home" // not even root can make a folder here
	if _, err := os.Stat("/proc/self"); err != nil {
		home = filepath.Join(t.TempDir(), "closed", "home")
		if err := os.Mkdir(filepath.Dir(home), 0o500); err != nil {
			t.Fatal(err)
		}
	}
	tr := sameAsDirect(t, throughDeed(home), session())
	mustTellOnce(t, tr.own, regexp.QuoteMeta(home))
}

// filled makes a home with one whole session in it and returns its journal.
func filled(t *testing.T) (home, journal string) {
	t.Helper()
	home = newHome(t)
	sameAsDirect(t, throughDeed(home), session())
	mustVerify(t, home)
	err := filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		head := make([]byte, 16)
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if n, _ := file.Read(head); n == 16 && string(head) == "SQLite format 3\x00" {
			journal = path
		}
		return nil
	})
	if err != nil || journal == "" {
		t.Fatalf("find the journal in %s: %v", home, err)
	}
	return home, journal
}

func TestAJournalOfGarbageLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
	garbage := randomBytes(64 << 10)
	if err := os.WriteFile(journal, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"-wal", "-shm"} {
		_ = os.Remove(journal + tail)
	}
	tr := sameAsDirect(t, throughDeed(home), session())
	mustTellOnce(t, tr.own, `journal|database`)
	if got, err := os.ReadFile(journal); err != nil || !bytes.Equal(got, garbage) {
		t.Errorf("a journal that could not be read was written to (%v)", err)
	}
	if got := deed(t, home, "verify"); got.code == 0 {
		t.Errorf("deed verify takes garbage for an intact journal:\n%s", got.stdout)
	}
}

func TestAJournalWithADamagedMiddleLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[4096:], randomBytes(len(whole)-4096)) // all but the first page
	if err := os.WriteFile(journal, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := sameAsDirect(t, throughDeed(home), session())
	mustTellOnce(t, tr.own, `journal|database|record`)
	if got := deed(t, home, "verify"); got.code == 0 {
		t.Errorf("deed verify takes a damaged journal for an intact one:\n%s", got.stdout)
	}
}

func TestAJournalOfANewerVersionLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
	execute(t, journal, "PRAGMA user_version = 9999")
	tr := sameAsDirect(t, throughDeed(home), session())
	mustTellOnce(t, tr.own, `newer|version|upgrade|update`)
	if got := deed(t, home, "verify"); got.code == 0 {
		t.Errorf("deed verify vouches for a format that it does not know:\n%s", got.stdout)
	}
	execute(t, journal, "PRAGMA user_version = 9999") // still a database
}

func execute(t *testing.T, journal, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+journal+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Another program holds the database for the whole session. The wire must not
// wait for it, not even at the end for long.
func TestALockedJournalLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home, journal := filled(t)
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
	if _, err := held.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	tr := sameAsDirect(t, throughDeed(home), session())
	// The trouble is told when it comes, and at the end what it cost.
	if len(tr.own) > 2 {
		t.Errorf("the program said %d lines, want the trouble and perhaps what it cost: %q", len(tr.own), tr.own)
	}
	t.Logf("it says: %q", tr.own)
	for _, line := range tr.own {
		mustReadWell(t, line)
	}
	if _, err := held.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, home)
	calls, gaps := recordedIn(t, home)
	if len(calls) < 200 && len(gaps) == 0 && len(tr.own) == 0 {
		t.Errorf("%d of 200 calls are recorded, and neither a gap nor a line on stderr tells of the others", len(calls))
	}
}
