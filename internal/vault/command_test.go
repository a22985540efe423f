//go:build unix

package vault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACommandGivesTheSecretThatAFileWould(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	kept, err := LoadOrMake(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := kept.Seal("ws_1", "a", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	v, err := Run(t.Context(), "echo unlocked >&2; cat "+path, &said)
	if err != nil {
		t.Fatal(err)
	}
	if opened, err := v.Open("ws_1", "a", sealed); err != nil || string(opened) != "secret" {
		t.Errorf("it opens %q, %v", opened, err)
	}
	if said.String() != "unlocked\n" {
		t.Errorf("the command said %q", said.String())
	}
}

func TestACommandThatGivesNoSecretIsToldWithoutWhatItPrinted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte(strings.Repeat("# c2VjcmV0\n", maxFileBytes/8)), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, says := range map[string]string{
		"true":                          "it printed nothing",
		"echo c2VjcmV0":                 "line 1 is no key",
		"echo c2VjcmV0; exit 3":         "it ended with exit status 3",
		"cat " + file:                   "it printed more than a secret",
		"deed-test-no-such-program-c2V": "it ended with exit status 127",
	} {
		_, err := Run(t.Context(), command, io.Discard)
		if !errors.As(err, new(*CommandError)) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", command, err, says)
			continue
		}
		if strings.Contains(err.Error(), "c2V") {
			t.Errorf("%s: it tells too much: %v", command, err)
		}
	}
}

func TestACommandIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Run(ctx, "echo begun >&2; exec sleep 1000", once(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// once does something when it is written to.
type once func()

func (do once) Write(p []byte) (int, error) {
	do()
	return len(p), nil
}
