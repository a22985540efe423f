package terminal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/deed-dev/deed/internal/terminal"
)

func TestAFileIsNeverColoured(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := terminal.StyleFor(f).Bad("x"); got != "x" {
		t.Errorf("got %q", got)
	}
}
