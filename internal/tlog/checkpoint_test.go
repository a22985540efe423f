package tlog

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	formats "github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"
)

func newKey(t testing.TB, name string) *Key {
	t.Helper()
	key, err := CreateKey(filepath.Join(t.TempDir(), "key"), name)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func signed(t testing.TB, key *Key, size int64) []byte {
	t.Helper()
	msg, err := Checkpoint{Origin: key.Name(), Size: size, Root: LeafHash([]byte("root"))}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func TestACheckpointIsReadByTheReferenceImplementation(t *testing.T) {
	t.Parallel()
	key := newKey(t, "example.com/log")
	c, rest, _, err := formats.ParseCheckpoint(signed(t, key, 1_234), key.Name(), key.Verifier())
	if err != nil {
		t.Fatal(err)
	}
	root := LeafHash([]byte("root"))
	if c.Origin != "example.com/log" || c.Size != 1_234 || string(c.Hash) != string(root[:]) || len(rest) != 0 {
		t.Errorf("read %+v and %d more bytes", c, len(rest))
	}
}

func TestACheckpointComesBackAsItWas(t *testing.T) {
	t.Parallel()
	key := newKey(t, "example.com/log")
	rapid.Check(t, func(t *rapid.T) {
		c := Checkpoint{
			Origin: "example.com/log",
			Size:   rapid.Int64Range(0, 1<<62).Draw(t, "size"),
			Root:   Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "root")),
		}
		msg, err := c.Sign(key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := OpenCheckpoint(msg, key.Verifier())
		if err != nil || got != c {
			t.Fatalf("got %+v, %v, want %+v", got, err, c)
		}
		unsigned, err := ParseSigned(msg)
		if err != nil || unsigned != c {
			t.Fatalf("without its signature got %+v, %v, want %+v", unsigned, err, c)
		}
		at := rapid.IntRange(0, len(msg)-1).Draw(t, "at")
		msg[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if changed, err := OpenCheckpoint(msg, key.Verifier()); err == nil && changed != c {
			t.Fatalf("a changed bit made it %+v", changed)
		}
	})
}

func TestACheckpointOfAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	ours, theirs := newKey(t, "example.com/log"), newKey(t, "example.com/log")
	if _, err := OpenCheckpoint(signed(t, theirs, 1), ours.Verifier()); !errors.Is(err, ErrBadSignature) {
		t.Errorf("got %v", err)
	}
}

func TestACosignedCheckpointIsStillOurs(t *testing.T) {
	t.Parallel()
	ours, witness := newKey(t, "example.com/log"), newKey(t, "example.com/witness")
	c := Checkpoint{Origin: "example.com/log", Size: 7, Root: Empty}
	msg, err := note.Sign(&note.Note{Text: c.Text()}, ours, witness)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := OpenCheckpoint(msg, ours.Verifier()); err != nil || got != c {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestBodiesThatAreNoCheckpointAreRefused(t *testing.T) {
	t.Parallel()
	good := Checkpoint{Origin: "o", Size: 12, Root: Empty}.Text()
	if _, err := ParseCheckpoint(good + "extension\n"); err != nil {
		t.Errorf("an extension line is refused: %v", err)
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"no root":               "o\n12\n",
		"no end of line":        strings.TrimSuffix(good, "\n"),
		"an empty line":         good + "\n",
		"no origin":             strings.TrimPrefix(good, "o"),
		"a leading zero":        strings.Replace(good, "12", "012", 1),
		"a negative size":       strings.Replace(good, "12", "-12", 1),
		"a plus":                strings.Replace(good, "12", "+12", 1),
		"a size above 2^63":     strings.Replace(good, "12", "99999999999999999999", 1),
		"a short root":          "o\n12\nAAAA\n",
		"a root in other words": "o\n12\nhello\n",
	} {
		if c, err := ParseCheckpoint(text); err == nil {
			t.Errorf("%s: read as %+v", name, c)
		}
	}
}

func TestAKeyIsReadBackAndClosedToOthers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	made, err := CreateKey(path, "example.com/log")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.VerifierKey() != made.VerifierKey() {
		t.Errorf("the verifier key changed from %s to %s", made.VerifierKey(), loaded.VerifierKey())
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
	if _, err := OpenCheckpoint(signed(t, loaded, 3), made.Verifier()); err != nil {
		t.Errorf("what the loaded key signs does not verify: %v", err)
	}
	if text, err := ReadVerifierKey(path); err != nil || text != made.VerifierKey() {
		t.Errorf("the public half reads as %q, %v", text, err)
	}
}

func TestOfManyWhoMakeAKeyAtOnceOneWins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	var wait sync.WaitGroup
	made := make(chan *Key, 8)
	for range 8 {
		wait.Go(func() {
			key, err := CreateKey(path, "example.com/log")
			if err == nil {
				made <- key
			} else if !errors.Is(err, os.ErrExist) {
				t.Errorf("the others get %v", err)
			}
		})
	}
	wait.Wait()
	close(made)
	if len(made) != 1 {
		t.Fatalf("%d keys were made", len(made))
	}
	loaded, err := LoadKey(path)
	if err != nil || loaded.VerifierKey() != (<-made).VerifierKey() {
		t.Errorf("the file holds another key, or none: %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
}

func TestADamagedOrMissingKeyFileSaysSo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	if _, err := LoadKey(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing key gives %v", err)
	}
	if err := os.WriteFile(path, []byte("PRIVATE+KEY+x+12345678+AAAA\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(path); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged key gives %v", err)
	}
}

func FuzzOpenCheckpoint(f *testing.F) {
	key := newKey(f, "example.com/log")
	f.Add(signed(f, key, 1))
	f.Add([]byte("o\n1\nAAAA\n\n— o AAAA\n"))
	f.Fuzz(func(t *testing.T, msg []byte) {
		c, err := OpenCheckpoint(msg, key.Verifier())
		if err == nil && (c.Size != 1 || c.Origin != "example.com/log") {
			t.Errorf("a checkpoint that nobody signed was read: %+v", c)
		}
		if c, err := ParseSigned(msg); err == nil {
			if again, err := ParseCheckpoint(c.Text()); err != nil || again != c {
				t.Errorf("%+v does not come back: %+v, %v", c, again, err)
			}
		}
	})
}
