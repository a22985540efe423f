package journal

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEverythingInAHomeIsClosedToOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no modes; the profile folder is closed by its access list")
	}
	home := filepath.Join(t.TempDir(), "a", "home")
	j := openJournal(t, home, Options{})
	record(t, j, newSession()).end(0)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	openReader(t, home)
	if info, err := os.Stat(home); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the home has mode %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", file.Name(), info.Mode(), err)
		}
	}
	want := []string{"journal-v1.db", "journal-v1.db-shm", "journal-v1.db-wal", "journal.key", "journal.lock"}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("files are %v, not %v", names, want)
	}
	closeJournal(t, j)
}

func TestFilesThatOthersCanReadAreMended(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no modes")
	}
	home := sampleHome(t)
	for _, name := range []string{databaseName, keyName, lockName} {
		if err := os.Chmod(filepath.Join(home, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, openJournal(t, home, Options{}))
	for _, name := range []string{databaseName, keyName, lockName} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestAHomeThatCannotBeUsedIsRefusedWithAdvice(t *testing.T) {
	t.Parallel()
	write := func(name, content string) func(testing.TB, string) {
		return func(t testing.TB, home string) {
			if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(query string) func(testing.TB, string) {
		return func(t testing.TB, home string) {
			tamper(t, home, func(db *sql.DB) error { _, err := db.Exec(query); return err })
		}
	}
	remove := func(name string) func(testing.TB, string) {
		return func(t testing.TB, home string) {
			if err := os.Remove(filepath.Join(home, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		before func(testing.TB, string)
		is     any // of the writer's error
		reader bool
		says   string
	}{
		{"a database that is no database", write(databaseName, strings.Repeat("no database at all\n", 1_000)), new(*CorruptError), true, "move it aside"},
		{"a journal of a newer deed", change("PRAGMA user_version = 2"), new(*NewerFormatError), true, "update deed"},
		{"a newer journal beside ours", write("journal-v2.db", "x"), new(*NewerFormatError), true, "update deed"},
		{"a negative format", change("PRAGMA user_version = -1"), new(*CorruptError), true, "damaged"},
		{"the database of another program", change("PRAGMA user_version = 0"), new(*CorruptError), true, "another program"},
		{"tables that are missing", change("DROP TABLE details"), nil, false, "no such table"},
		{"a key that is missing", remove(keyName), new(*KeyMissingError), false, "restore it"},
		{"a key that is damaged", write(keyName, "x"), nil, false, "restore it from a backup"},
		{"a head that our key did not sign", change("UPDATE head SET size = size - 1, peaks = zeroblob(32)"), new(*AlteredError), false, "deed verify"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := sampleHome(t)
			test.before(t, home)
			_, err := Open(home, Options{})
			if err == nil || (test.is != nil && !errors.As(err, test.is)) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("open gives %v, which is not a %T that says %q", err, test.is, test.says)
			}
			r, err := OpenReader(home)
			if err == nil {
				r.Close()
			}
			if test.reader && !errors.As(err, test.is) {
				t.Errorf("open for reading gives %v, which is not a %T", err, test.is)
			}
			if !test.reader && err != nil {
				t.Errorf("what is there cannot even be read: %v", err)
			}
		})
	}
}

func TestAHomeThatIsAFileIsRefused(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(home, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(home, Options{}); !errors.As(err, new(*HomeError)) {
		t.Errorf("open gives %v", err)
	}
	if _, err := OpenReader(home); !errors.As(err, new(*HomeError)) {
		t.Errorf("open for reading gives %v", err)
	}
}

func TestAReaderMakesNothing(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	for range 2 {
		if _, err := OpenReader(home); !errors.Is(err, ErrNoJournal) {
			t.Errorf("a home without a journal gives %v", err)
		}
		if _, err := Verify(testContext(t), home, VerifyOptions{}); !errors.Is(err, ErrNoJournal) {
			t.Errorf("to verify a home without a journal gives %v", err)
		}
	}
	if _, err := os.Stat(home); !errors.Is(err, os.ErrNotExist) {
		t.Error("reading made the home")
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReader(home); !errors.Is(err, ErrNoJournal) {
		t.Errorf("an empty home gives %v", err)
	}
	if files, err := os.ReadDir(home); err != nil || len(files) != 0 {
		t.Errorf("reading left %v, %v", files, err)
	}
}

func TestAHomeWithOddCharactersInItsName(t *testing.T) {
	t.Parallel()
	name := "a b%41?c#d&e=f'é"
	if runtime.GOOS == "windows" {
		name = "a b%41#d&e=f'é"
	}
	home := filepath.Join(t.TempDir(), name)
	j := openJournal(t, home, Options{})
	record(t, j, newSession()).end(0)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); report.Entries != 2 || !report.Intact() {
		t.Errorf("report is %+v", report)
	}
	if _, err := os.Stat(filepath.Join(home, databaseName)); err != nil {
		t.Errorf("the database is elsewhere: %v", err)
	}
}

func TestManyWhoMakeOneHomeAtOnceAllSucceed(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			j, err := Open(home, Options{})
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			r := record(t, j, newSession())
			r.request("x", 5)
			r.end(1)
			closeJournal(t, j)
		})
	}
	wait.Wait()
	report := verify(t, home, VerifyOptions{})
	if !report.Intact() || report.Entries != 24 || report.Sessions != 8 {
		t.Errorf("report is %+v", report)
	}
}

func TestACreationThatBrokeOffIsFinished(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]string{"an empty database": databaseName, "a lock": lockName} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, leave), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(home, Options{})
		if err != nil {
			t.Errorf("%s left behind: %v", name, err)
			continue
		}
		closeJournal(t, j)
	}
}

func TestAJournalInAHomeThatCannotBeWrittenIsRead(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere; run as another user to see this")
	}
	home := sampleHome(t)
	if err := os.Chmod(home, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(home, 0o700)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

// What it takes to open is held against what the database alone takes, which a slow
// machine or a busy disk makes longer too.
func TestAnExistingJournalOpensFast(t *testing.T) {
	home := sampleHome(t)
	whole, alone := time.Hour, time.Hour
	for range 20 {
		began := time.Now()
		j := openJournal(t, home, Options{})
		whole = min(whole, time.Since(began))
		closeJournal(t, j)
		began = time.Now()
		tamper(t, home, func(db *sql.DB) error {
			var tables int
			return db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables)
		})
		alone = min(alone, time.Since(began))
	}
	t.Logf("best of 20: %v, of the database alone %v", whole, alone)
	if whole > 50*time.Millisecond+20*alone { // ten times the target
		t.Errorf("the best of 20 openings took %v, of the database alone %v", whole, alone)
	}
}

// Whoever waits for a journal looks again and again, and may look in any moment of its
// making.
func TestAJournalThatIsBeingMadeIsNotThereYetOrWhole(t *testing.T) {
	t.Parallel()
	for range 50 {
		home := filepath.Join(t.TempDir(), "home")
		var making sync.WaitGroup
		making.Go(func() {
			j, err := Open(home, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			closeJournal(t, j)
		})
		for t.Context().Err() == nil {
			r, err := OpenReader(home)
			if err == nil {
				_ = r.Close()
				break
			}
			if !errors.Is(err, ErrNoJournal) {
				t.Errorf("while it is being made: %v", err)
				break
			}
		}
		making.Wait()
	}
}
