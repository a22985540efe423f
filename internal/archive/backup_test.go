package archive

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)

// made is a finished backup.
func made(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, DatabaseFile), "rows")
	if _, err := Describe(folder, "1.2.0", "ab12", noon); err != nil {
		t.Fatal(err)
	}
	return folder
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestABackupIsReadAsItWasDescribed(t *testing.T) {
	t.Parallel()
	b, err := Read(made(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Backup{
		Format: 1, MadeAt: noon, Release: "1.2.0", Database: "deed.db", Bytes: 4, Secret: "ab12",
		SHA256: "bc51e9e65d79e1c90ba544ab2eae1044ccdf8c1af7a559ba375cba4276f7d99e", // of "rows"
	}
	if *b != want {
		t.Errorf("got %+v, want %+v", *b, want)
	}
}

func TestABackupThatIsNotWhatItWasIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(folder string) (string, string){
		"its database is longer":            func(string) (string, string) { return DatabaseFile, "rows and more" },
		"its database is another":           func(string) (string, string) { return DatabaseFile, "sour" },
		"its description is cut":            func(string) (string, string) { return descriptionFile, `{"format":1,` },
		"its description has other members": func(string) (string, string) { return descriptionFile, `{"format":1,"more":2}` },
		"its description names a file elsewhere": func(string) (string, string) {
			return descriptionFile, `{"format":1,"database":"../deed.db"}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := made(t)
			file, text := spoil(folder)
			write(t, filepath.Join(folder, file), text)
			if _, err := Read(folder); !errors.As(err, new(*DamageError)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestABackupThatWasBrokenOffIsNone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, DatabaseFile), "rows")
	if _, err := Read(folder); !errors.Is(err, ErrNoBackup) {
		t.Errorf("got %v", err)
	}
}

func TestABackupOfALaterFormatIsToldApartFromDamage(t *testing.T) {
	t.Parallel()
	folder := made(t)
	write(t, filepath.Join(folder, descriptionFile), `{"format":2,"database":"deed.db"}`)
	if _, err := Read(folder); err == nil || errors.As(err, new(*DamageError)) || !strings.Contains(err.Error(), "format is 2") {
		t.Errorf("got %v", err)
	}
}
