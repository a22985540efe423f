package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

const w access.WorkspaceID = "ws_one"

func open(tb testing.TB, folder string) *sqlstore.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), folder)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func TestASecondProcessFindsTheFolderInUse(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := open(t, folder)
	_, err := sqlite.Open(t.Context(), folder)
	if _, is := errors.AsType[*sqlite.InUseError](err); !is {
		t.Fatalf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, folder) // it is free again
}

func TestNobodyElseCanReadTheFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the permissions of Windows are not those of files here")
	}
	folder := filepath.Join(t.TempDir(), "data")
	s := open(t, folder)
	if err := s.Do(t.Context(), w, func(tx store.Tx) error {
		tx.PutWatermark("stripe", "refund.succeeded", 1, "ada@example.com")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 3 { // the database, its log, the lock
		t.Fatalf("%v, %v", files, err)
	}
	for _, entry := range append(files, nil) {
		path, want := folder, os.FileMode(0o700)
		if entry != nil {
			path, want = filepath.Join(folder, entry.Name()), 0o600
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", filepath.Base(path), got, want)
		}
	}
}

func TestWhatWasCommittedIsThereWhenTheFolderIsOpenedAgain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := open(t, folder)
	if err := s.Do(t.Context(), w, func(tx store.Tx) error {
		tx.Wake(store.Wake{Kind: store.WakeAction, Ref: "act_1", Due: 7})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, folder).View(t.Context(), w, func(tx store.Tx) error {
		due, err := tx.NextDue()
		if due != 7 {
			t.Errorf("the wake is due at %d, want 7", due)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderNamedLikeAQueryIsAFolder(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a b?mode=memory#%41")
	if runtime.GOOS == "windows" {
		folder = filepath.Join(t.TempDir(), "a b#%41")
	}
	open(t, folder)
	if _, err := os.Stat(filepath.Join(folder, "deed.db")); err != nil {
		t.Error(err)
	}
}

func TestAClosedStoreSaysThatItDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := s.Do(t.Context(), w, func(store.Tx) error { return nil })
	if _, is := errors.AsType[*store.UnavailableError](err); !is {
		t.Errorf("%v", err)
	}
}
