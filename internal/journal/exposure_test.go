package journal

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestWhatOthersCanReachIsTold(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no modes")
	}
	home := sampleHome(t)
	for _, one := range []struct {
		name, mend string
		mode       os.FileMode
	}{
		{"", "chmod 700 ", 0o777},
		{keyName, "chmod 600 ", 0o640},
		{databaseName, "chmod 600 ", 0o604},
	} {
		copied := copyHome(t, home)
		for _, plain := range []struct {
			path string
			mode os.FileMode
		}{{copied, 0o755}, {filepath.Join(copied, keyName), 0o600}, {filepath.Join(copied, databaseName), 0o600}} {
			if err := os.Chmod(plain.path, plain.mode); err != nil {
				t.Fatal(err)
			}
		}
		if found := Exposures(copied); len(found) != 0 {
			t.Fatalf("a home that nobody else can write is told: %v", found[0])
		}
		path := filepath.Join(copied, one.name)
		if err := os.Chmod(path, one.mode); err != nil {
			t.Fatal(err)
		}
		found := Exposures(copied)
		if len(found) != 1 || found[0].Path != path || found[0].Mend != one.mend+path {
			t.Errorf("%q with mode %o: told %v", one.name, one.mode, found)
		}
		if report := verify(t, copied, VerifyOptions{}); !report.Intact() || len(report.Exposures) != 1 {
			t.Errorf("%q with mode %o: verify finds %+v and tells %v", one.name, one.mode, report.Findings, report.Exposures)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	symlink(t, home, link)
	if found := Exposures(link); len(found) == 0 || !strings.Contains(found[0].What, "is a link to") || found[0].Mend != "" {
		t.Errorf("a home that is a link is told as %v", found)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func TestAFileOfTheHomeThatLeadsElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a right there")
	}
	home := sampleHome(t)
	for _, name := range []string{keyName, databaseName, databaseName + "-wal", databaseName + "-shm", lockName} {
		for _, dangling := range []bool{true, false} {
			copied := copyHome(t, home)
			path, target := filepath.Join(copied, name), filepath.Join(t.TempDir(), "target")
			if dangling {
				os.Remove(path) // which may not be there
			} else if err := os.Rename(path, target); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			} else if err != nil {
				continue
			}
			symlink(t, target, path)
			j, err := Open(copied, Options{})
			if err == nil {
				closeJournal(t, j)
			}
			if !errors.As(err, new(*HomeError)) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s as a link (dangling: %v) gives %v", name, dangling, err)
			}
			if _, err := os.Lstat(target); dangling && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("opening made the target of the link %s: %v", name, err)
			}
		}
	}
	copied := copyHome(t, home)
	if err := os.Rename(filepath.Join(copied, keyName), filepath.Join(copied, "other")); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(copied, "other"), filepath.Join(copied, keyName))
	if report := verify(t, copied, VerifyOptions{}); report.Intact() {
		t.Error("verify takes a key that is a link, which a recorder refuses")
	}
}

func TestAHomeThatIsNoFolderIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, home := range []string{path, os.DevNull} {
		_, err := Open(home, Options{})
		if !errors.As(err, new(*HomeError)) || !strings.Contains(err.Error(), "it is not a folder") {
			t.Errorf("home %s: %v", home, err)
		}
		if _, err := os.Stat(home); err != nil {
			t.Errorf("home %s is gone: %v", home, err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
		t.Errorf("the file has %q, %v", content, err)
	}
}

func TestAWriterRefusesADatabaseWithSomethingForeignInIt(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	for _, test := range []struct{ change, kind, name string }{
		{"CREATE TRIGGER spy AFTER INSERT ON entries BEGIN UPDATE details SET data = x'7b7d' WHERE n = NEW.n; END", "trigger", "spy"},
		{"CREATE VIEW v AS SELECT 1", "view", "v"},
		{"CREATE TABLE mine (x)", "table", "mine"},
		{"CREATE TABLE sqliteX (x)", "table", "sqliteX"},
		{"PRAGMA writable_schema = on; INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_x', 'entries', 0, 'CREATE TRIGGER sqlite_x AFTER INSERT ON entries BEGIN DELETE FROM stale; END')", "trigger", "sqlite_x"},
		{"ALTER TABLE definitions RENAME TO other; CREATE VIEW definitions AS SELECT sha256, data FROM other", "", ""},
	} {
		copied := copyHome(t, home)
		tamper(t, copied, func(db *sql.DB) error { _, err := db.Exec(test.change); return err })
		j, err := Open(copied, Options{})
		if err == nil {
			closeJournal(t, j)
		}
		var foreign *ForeignError
		if !errors.As(err, &foreign) || test.kind != "" && (foreign.Kind != test.kind || foreign.Name != test.name) {
			t.Errorf("after %s: %v", test.change, err)
		}
		if _, err := Erase(testContext(t), copied, EraseRequest{All: true}); !errors.As(err, &foreign) {
			t.Errorf("erasing after %s: %v", test.change, err)
		}
	}
	copied := copyHome(t, home)
	tamper(t, copied, func(db *sql.DB) error { _, err := db.Exec("CREATE INDEX my_own ON entries (at)"); return err })
	closeJournal(t, openJournal(t, copied, Options{}))
}

// A trigger that comes while a session runs must not run with its next entry.
func TestATriggerThatComesLaterIsRefusedTooAndMissesNothingOnceItIsGone(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	troubles := make(chan error, 10)
	j := openJournal(t, home, Options{OnTrouble: func(err error) { troubles <- err }})
	r := record(t, j, newSession())
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	tamper(t, home, func(db *sql.DB) error {
		_, err := db.Exec("CREATE TRIGGER spy AFTER INSERT ON details BEGIN UPDATE entries SET tool = 'lie' WHERE n = NEW.n; END")
		return err
	})
	r.answer(r.request("refund", 100), entry.OutcomeOK, 10, 10)
	if err := <-troubles; !errors.As(err, new(*ForeignError)) {
		t.Errorf("trouble is %v", err)
	}
	tamper(t, home, func(db *sql.DB) error { _, err := db.Exec("DROP TRIGGER spy"); return err })
	r.end(0)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 4 {
		t.Errorf("%d entries, %+v", report.Entries, report.Findings)
	}
}

func TestAKeyThatIsNoneIsAnErrorAndNotAFinding(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	for _, key := range []string{"x", "a+b+c", "deed.dev/journal/x+00000000+AAAA"} {
		if _, err := Verify(testContext(t), home, VerifyOptions{Key: key}); !errors.As(err, new(*BadKeyError)) {
			t.Errorf("the key %q gives %v", key, err)
		}
	}
	report := verify(t, home, VerifyOptions{Key: verify(t, home, VerifyOptions{}).VerifierKey})
	if !report.Intact() {
		t.Errorf("the right key gives %+v", report.Findings)
	}
}

func TestAJournalThatCannotBeMadeForTheLockSaysWhoKeepsIt(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	holder, err := openLock(filepath.Join(home, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer holder.close()
	if err := holder.acquire(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(home, Options{})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Waited < createWait || !strings.Contains(err.Error(), lockName) {
		t.Errorf("opening gives %v", err)
	}
	if err := holder.release(); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, openJournal(t, home, Options{}))
}
