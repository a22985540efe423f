//go:build unix

package servertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// manyFacts writes a file of n facts.
func manyFacts(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"source":"stripe","external_id":"re_%d","type":"refund.succeeded","subject_id":"o-%[1]d","refs":{"idempotency_key":"refund-%[1]d"},`+
			`"attrs":{"amount":{"amount":"180.00","currency":"USD"},"currency":"USD"},"occurred_at":"2026-11-02T12:00:00Z"}`+"\n", i)
	}
	path := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// importing is deed fact import in a process of its own.
func (s *site) importing(t *testing.T, key, file string, flags ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, append([]string{"fact", "import", file, "--json"}, flags...)...)
	command.Env = append([]string{"DEED_API_URL=" + s.url(), "DEED_API_KEY=" + key}, s.environ...)
	output := new(bytes.Buffer)
	command.Stdout, command.Stderr = output, output
	return command, output
}

// importAll imports to the end. A server that takes longer to start than the import
// tries is no loss: the same command goes on.
func (s *site) importAll(t *testing.T, key, file string) error {
	for tries := 0; ; tries++ {
		command, output := s.importing(t, key, file, "--part", "100")
		err := command.Run()
		if err == nil {
			return nil
		}
		if tries == 5 || !strings.Contains(output.String(), "run the same again to go on") {
			return fmt.Errorf("import: %w\n%s", err, output)
		}
	}
}

// noted waits until a file's note says that so many facts were sent.
func noted(t *testing.T, file string, atLeast int64) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		var note struct{ Facts int64 }
		text, err := os.ReadFile(file + ".progress")
		if err == nil && json.Unmarshal(text, &note) == nil && note.Facts >= atLeast {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("the import never noted %d facts: %v", atLeast, err)
		}
	}
}

// kept asks how many facts there are of the source that everything here is of.
func kept(t *testing.T, w *workspace) int64 {
	t.Helper()
	var answer struct {
		Source struct{ Facts int64 }
	}
	if err := w.owner.ask(t.Context(), http.MethodGet, "/v1/sources/stripe", nil, &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Source.Facts
}

// furnished starts a server and makes its workspace.
func furnished(t *testing.T) (*site, *workspace) {
	t.Helper()
	s := newSite(t, nil, "--data", dataFolder(t))
	p, err := s.start()
	if err != nil {
		t.Fatal(err)
	}
	link, err := p.link()
	if err != nil {
		t.Fatal(err)
	}
	w, err := furnish(t.Context(), s.url, link)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

func TestAnImportThatIsKilledGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	const n = 20_000
	s, w := furnished(t)
	file := manyFacts(t, n)

	first, _ := s.importing(t, w.connector.credential, file, "--part", "100")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	noted(t, file, 1000)
	_ = first.Process.Kill()
	if err := first.Wait(); err == nil {
		t.Fatal("the import was over before it was killed; it needs more facts")
	}
	before := kept(t, w)

	second, output := s.importing(t, w.connector.credential, file)
	begun := time.Now()
	if err := second.Run(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var sum struct{ Skipped, New, Known int64 }
	if err := json.Unmarshal(output.Bytes(), &sum); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	// The one part that may have been kept and not noted is known to the server.
	if sum.Skipped < 1000 || sum.Skipped+sum.New+sum.Known != n || sum.New != n-before || sum.Known > 100 {
		t.Errorf("of %d facts %d were there: %+v", n, before, sum)
	}
	if got := kept(t, w); got != n {
		t.Errorf("%d facts are kept, want %d", got, n)
	}
	t.Logf("%d facts in %s after %d before", sum.New, time.Since(begun).Round(time.Millisecond), before)
	if _, err := os.Stat(file + ".progress"); err == nil {
		t.Error("the note is still there")
	}
}

func TestAnImportGoesOnWhileTheServerIsKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	const n = 20_000
	s, w := furnished(t)
	file := manyFacts(t, n)
	begun := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- s.importAll(t, w.connector.credential, file) }()
	for kill := range 3 {
		noted(t, file, int64(kill*2000+1000))
		s.kill()
		if _, err := s.start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := kept(t, w); got != n {
		t.Errorf("%d facts are kept, want %d", got, n)
	}
	t.Logf("%d facts and 3 kills in %s", n, time.Since(begun).Round(time.Millisecond))
}

// A secret among the arguments could be read by everybody on the machine.
func TestNoSecretStandsAmongTheArgumentsOfAProcess(t *testing.T) {
	t.Parallel()
	s, w := furnished(t)
	command, _ := s.importing(t, w.connector.credential, manyFacts(t, 20_000), "--part", "10")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	}()
	for _, pid := range []int{command.Process.Pid, s.running.command.Process.Pid} {
		arguments, err := exec.Command("ps", "-o", "args=", "-p", fmt.Sprint(pid)).Output()
		if err != nil {
			t.Fatalf("list the process: %v", err)
		}
		for _, secret := range w.secrets {
			if strings.Contains(string(arguments), secret) {
				t.Errorf("a secret stands in %q", arguments)
			}
		}
	}
}
