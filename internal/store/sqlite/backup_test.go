package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

const workspace access.WorkspaceID = "ws_a"

// served is a store in a folder, with a source in it.
func served(t *testing.T) (*sqlstore.Store, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := connect(t, s, "stripe"); err != nil {
		t.Fatal(err)
	}
	return s, folder
}

// connect adds a source.
func connect(t *testing.T, s store.Store, name string) error {
	t.Helper()
	return s.Do(t.Context(), workspace, func(tx store.Tx) error {
		source := store.SourceState{CreatedBy: "ada@example.com"}
		source.Name, source.Trust = name, evidence.Asserted
		tx.PutSource(source)
		return nil
	})
}

// sources counts them.
func sources(t *testing.T, s store.Store) int {
	t.Helper()
	n := 0
	err := s.View(t.Context(), workspace, func(tx store.Tx) error {
		found, err := tx.SourceStates()
		n = len(found)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// asItIs prepares nothing.
func asItIs(string) error { return nil }

func TestABackupHasWhatStoodThereAndNothingThatCameAfterIt(t *testing.T) {
	t.Parallel()
	s, folder := served(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(t.Context(), folder, copied); err != nil {
		t.Fatal(err)
	}
	if err := connect(t, s, "zendesk"); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if err := Restore(t.Context(), copied, restored, asItIs); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), restored)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := sources(t, again); n != 1 {
		t.Errorf("the backup has %d, want 1", n)
	}
	if n := sources(t, s); n != 2 {
		t.Errorf("what is served has %d, want 2", n)
	}
}

func TestABackupIsForNobodyElseToRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not in modes there")
	}
	_, folder := served(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	restored := filepath.Join(t.TempDir(), "restored")
	if err := errors.Join(Backup(t.Context(), folder, copied), Restore(t.Context(), copied, restored, asItIs)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{copied, filepath.Join(restored, databaseFile)} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
		}
	}
}

func TestNeitherABackupNorARestorationOverwrites(t *testing.T) {
	t.Parallel()
	s, folder := served(t)
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(t.Context(), folder, there); !errors.Is(err, fs.ErrExist) {
		t.Errorf("backing up over a file: %v", err)
	}
	if text, _ := os.ReadFile(there); string(text) != "mine" {
		t.Errorf("the file holds %q now", text)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(t.Context(), folder, copied); err != nil {
		t.Fatal(err)
	}
	if err := Restore(t.Context(), copied, folder, asItIs); !errors.Is(err, fs.ErrExist) {
		t.Errorf("restoring over a database: %v", err)
	}
	if n := sources(t, s); n != 1 {
		t.Errorf("what was there has %d", n)
	}
}

func TestABackupThatFailsLeavesNoFile(t *testing.T) {
	t.Parallel()
	_, folder := served(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Backup(ctx, folder, copied); err == nil {
		t.Fatal("it did not fail")
	}
	if _, err := os.Stat(copied); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is there: %v", err)
	}
}

func TestADamagedBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	_, folder := served(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(t.Context(), folder, copied); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	for at := 4096; at < len(text); at += 512 { // behind the first page
		text[at] ^= 0xff
	}
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if err := Restore(t.Context(), copied, restored, asItIs); err == nil {
		t.Error("it was restored")
	}
	if _, err := os.Stat(filepath.Join(restored, databaseFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a database is there: %v", err)
	}
}

func TestLookingReadsBesideTheServerAndWritesNothing(t *testing.T) {
	t.Parallel()
	s, folder := served(t)
	looking, err := Look(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if n := sources(t, looking); n != 1 {
		t.Errorf("it has %d sources", n)
	}
	if err := connect(t, s, "zendesk"); err != nil {
		t.Fatal(err)
	}
	if n := sources(t, looking); n != 2 {
		t.Errorf("after another unit it has %d sources", n)
	}
	if err := connect(t, looking, "shopify"); err == nil {
		t.Error("it wrote")
	}
	if err := looking.Close(); err != nil {
		t.Error(err)
	}
	if n := sources(t, s); n != 2 {
		t.Errorf("what is served has %d", n)
	}
}

func TestLookingMakesNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := Look(t.Context(), folder); !errors.Is(err, ErrNoData) {
		t.Errorf("got %v", err)
	}
	if err := Backup(t.Context(), folder, filepath.Join(t.TempDir(), "copy.db")); !errors.Is(err, ErrNoData) {
		t.Errorf("backing up nothing: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is in the folder (%v)", left, err)
	}
}

func TestTheTablesOfAnotherReleaseAreNotLookedAt(t *testing.T) {
	t.Parallel()
	_, folder := served(t)
	db, err := openThere(filepath.Join(folder, databaseFile), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO deed_migrations (version_id, is_applied) VALUES (99999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Look(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "later release") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsPreparedIsRestoredAndWhatCannotBePreparedIsNot(t *testing.T) {
	t.Parallel()
	_, folder := served(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := Backup(t.Context(), folder, copied); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	broken := errors.New("broken")
	if err := Restore(t.Context(), copied, restored, func(string) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(restored); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	err := Restore(t.Context(), copied, restored, func(meanwhile string) error {
		s, err := Open(t.Context(), meanwhile)
		if err != nil {
			return err
		}
		return errors.Join(connect(t, s, "zendesk"), s.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(restored); err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v), want the database alone", left, err)
	}
	again, err := Open(t.Context(), restored)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := sources(t, again); n != 2 {
		t.Errorf("there are %d sources, want 2", n)
	}
}
