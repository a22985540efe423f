package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/deed-dev/deed/internal/store"
)

func TestTheFirstStartMakesASecretThatOthersCannotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	made, err := LoadOrMake(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	again, err := LoadOrMake(path)
	if err != nil || again.Fingerprint() != made.Fingerprint() {
		t.Errorf("the second start has another secret: %v", err)
	}
}

func TestOfManyFirstStartsAllHaveOneSecret(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	var all sync.WaitGroup
	prints := make([]string, 8)
	for i := range prints {
		all.Go(func() {
			if v, err := LoadOrMake(path); err != nil {
				t.Error(err)
			} else {
				prints[i] = v.Fingerprint()
			}
		})
	}
	all.Wait()
	for _, p := range prints {
		if p != prints[0] {
			t.Errorf("two secrets: %v", prints)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestASecretFileThatOthersCouldReadIsClosedToThem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	path := filepath.Join(t.TempDir(), "secret")
	if _, err := LoadOrMake(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

func TestASecretFileThatMustBeThereIsNotMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

func TestADamagedFileIsToldByLineAndNeverByContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for what, one := range map[string]struct{ text, says string }{
		"an empty file":  {"", "it has no key"},
		"comments alone": {"# nothing\n\n", "it has no key"},
		"a cut key":      {lineMark + "c2VjcmV0\n", "line 1 is no key"},
		"another text":   {"# one\nsk_live_abc\n", "line 2 is no key"},
		"a bent base64":  {lineMark + strings.Repeat("A", 42) + "B=\n", "line 1 is no key"},
	} {
		path := filepath.Join(dir, strings.ReplaceAll(what, " ", "-"))
		if err := os.WriteFile(path, []byte(one.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), one.says) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if strings.Contains(err.Error(), "c2VjcmV0") || strings.Contains(err.Error(), "sk_live") || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: it tells too much: %v", what, err)
		}
	}
}

func TestAnAddressIsNotTakenForAFile(t *testing.T) {
	t.Parallel()
	_, err := Load("awskms://alias/deed")
	if !errors.As(err, new(*NotFileError)) || err.Error() != "open the secret: a file is meant, and awskms:// is none" {
		t.Errorf("%v", err)
	}
}

func TestARotatedFileOpensWhatTheOldOneSealed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	before, err := LoadOrMake(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := before.Seal("ws_1", "a", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := Rotate(path)
	if err != nil || after.Fingerprint() == before.Fingerprint() {
		t.Fatalf("the key did not change: %v", err)
	}
	if got, err := after.Open("ws_1", "a", sealed); err != nil || string(got) != "secret" {
		t.Errorf("%q, %v", got, err)
	}
}

// registry is a directory's small values in memory.
type registry struct {
	mu     sync.Mutex
	values map[string]string
}

func (r *registry) Meta(_ context.Context, name string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.values[name]; ok {
		return v, nil
	}
	return "", store.ErrNotFound
}

func (r *registry) SetMeta(_ context.Context, name, value string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.values[name]; !there {
		r.values[name] = value
	}
	return r.values[name], nil
}

func TestAnInstanceWithAnotherSecretDoesNotStart(t *testing.T) {
	t.Parallel()
	r := &registry{values: map[string]string{}}
	first, other := vaultOf(t, oldSecret[:32]), vaultOf(t, newSecret[:32])
	for range 2 {
		if err := first.Admit(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	refused, is := errors.AsType[*OtherSecretError](other.Admit(t.Context(), r))
	if !is || refused.Wanted != first.Fingerprint() {
		t.Fatalf("another secret: %v", refused)
	}
	rotated := vaultOf(t, newSecret[:32], oldSecret[:32])
	for range 2 {
		if err := rotated.Admit(t.Context(), r); err != nil {
			t.Errorf("the rotated file: %v", err)
		}
	}
	if !errors.As(first.Admit(t.Context(), r), new(*OtherSecretError)) {
		t.Error("an instance with the old file alone starts, and could not open what the others seal")
	}
	if len(r.values) != 2 {
		t.Errorf("the database has %d fingerprints of 2 keys", len(r.values))
	}
}

func TestOnlyAnInstallationThatWasServedHasAKeyToLose(t *testing.T) {
	t.Parallel()
	r := &registry{values: map[string]string{}}
	if begun, err := Begun(t.Context(), r); err != nil || begun != "" {
		t.Errorf("before the first start: %q, %v", begun, err)
	}
	first := vaultOf(t, oldSecret[:32])
	if err := first.Admit(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if begun, err := Begun(t.Context(), r); err != nil || begun != first.Fingerprint() {
		t.Errorf("afterwards: %q, %v", begun, err)
	}
}
