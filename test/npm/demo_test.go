package npmtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheDemoCallsOnlyWhatIsSafeOfAPublicServer is what somebody types first
// after deed demo, without npx fetching anything.
func TestTheDemoCallsOnlyWhatIsSafeOfAPublicServer(t *testing.T) {
	t.Parallel()
	needsNPM(t)
	cmd := exec.Command(deed, "demo", "--", "node", filepath.Join(folder, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"))
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("deed demo: %v\n%s", err, out.String())
	}
	t.Logf("took %v", time.Since(began))
	shown := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"Echo: example",
		"The sum of 1 and 1 is 2.",
		`get-env its answer may hold secrets ("env")`,
		"gzip-file-as-resource it does not say that it only reads",
		"7 calls, 0 failed",
		"intact",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the output does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
