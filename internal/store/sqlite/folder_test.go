package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// folderWith makes a folder with empty files in it.
func folderWith(t *testing.T, rights os.FileMode, names ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, rights); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestOnlyAFolderWithNothingElseInItIsMadePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the permissions of Windows are not those of files here")
	}
	for _, one := range []struct {
		name    string
		rights  os.FileMode
		files   []string
		refused string
		after   os.FileMode
	}{
		{"empty", 0o755, nil, "", 0o700},
		{"begun", 0o750, []string{databaseFile, databaseFile + "-wal", lockName, "jobs.db", "secret"}, "", 0o700},
		{"a secret put there before a restore", 0o755, []string{"secret"}, "", 0o700},
		{"private, with other things", 0o700, []string{"deed.yaml"}, "", 0o700},
		{"used by others", 0o755, []string{"deed.yaml"}, "other things are in it", 0o755},
		{"begun, with other things", 0o755, []string{databaseFile, "deed.yaml"}, "", 0o755},
		{"for anybody", os.ModeSticky | 0o777, []string{databaseFile, "of others"}, "anybody may change", os.ModeSticky | 0o777},
		{"a name that only begins like one of ours", 0o755, []string{"secrets of others"}, "other things are in it", 0o755},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			folder := folderWith(t, one.rights, one.files...)
			err := prepareFolder(folder)
			if one.refused == "" && err != nil {
				t.Error(err)
			}
			if problem, is := errors.AsType[*FolderError](err); one.refused != "" && (!is || !strings.Contains(problem.Problem, one.refused)) {
				t.Errorf("%v, want %q", err, one.refused)
			}
			about, err := os.Stat(folder)
			if err != nil {
				t.Fatal(err)
			}
			if got := about.Mode() &^ os.ModeDir; got != one.after {
				t.Errorf("it is %v afterwards, want %v", got, one.after)
			}
		})
	}
}

func TestAFileIsNoFolderForData(t *testing.T) {
	t.Parallel()
	file := filepath.Join(folderWith(t, 0o700, "file"), "file")
	if _, err := Open(t.Context(), file); !errors.As(err, new(*FolderError)) {
		t.Errorf("%v", err)
	}
}

// Not only is it told: the store that was half open closes again, and frees the folder.
func TestADamagedDatabaseIsToldAndTheFolderIsFreeAgain(t *testing.T) {
	t.Parallel()
	folder := folderWith(t, 0o700)
	noise := []byte(strings.Repeat("this is no database ", 500))
	if err := os.WriteFile(filepath.Join(folder, databaseFile), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one is not told that the folder is in use
		if _, err := Open(t.Context(), folder); !errors.As(err, new(*DamagedError)) {
			t.Errorf("open: %v", err)
		}
	}
	if _, err := Look(t.Context(), folder); !errors.As(err, new(*DamagedError)) {
		t.Errorf("look: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(folder, databaseFile)); err != nil || string(now) != string(noise) {
		t.Errorf("what could have been saved of it was changed: %v", err)
	}
}

func TestDamageBehindTheBeginningIsDamage(t *testing.T) {
	t.Parallel()
	s, folder := served(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, databaseFile)
	db, err := sql.Open("sqlite", source(path))
	if err != nil {
		t.Fatal(err)
	}
	var page, root int64
	err = db.QueryRowContext(t.Context(), "SELECT page_size, (SELECT rootpage FROM sqlite_master WHERE name = 'deed_migrations') FROM pragma_page_size").Scan(&page, &root)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt([]byte(strings.Repeat("\xff", int(page))), (root-1)*page)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), folder); !errors.As(err, new(*DamagedError)) {
		t.Errorf("%v", err)
	}
}

func TestFilesThatWereCopiedForAllAreClosedToOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the permissions of Windows are not those of files here")
	}
	folder := folderWith(t, 0o700, databaseFile, databaseFile+"-wal")
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		if err := os.Chmod(filepath.Join(folder, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := private(filepath.Join(folder, databaseFile)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		about, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if about.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", name, about.Mode())
		}
	}
}
