//go:build unix

package attack

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADamagedDatabaseEndsTheStartWithAWord(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	if err := os.Mkdir(n.path("data"), 0o700); err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 8192)
	_, _ = rand.Read(noise)
	if err := os.WriteFile(n.path("data", "deed.db"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	if output, code := n.run("serve", "--data", "data", "--listen", "127.0.0.1:0"); code != 1 || !strings.HasPrefix(output, "deed: ") {
		t.Errorf("the exit code is %d (-1: it went on for ever), and it said %q", code, output)
	}
}

func TestAFolderThatHoldsOtherThingsKeepsItsRights(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	shared := n.path("shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "of others"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	// It may also refuse the folder: then it ends by itself, at this or another error.
	n.launch("serve", "--data", shared, "--listen", "127.0.0.1:0")
	at, err := os.Stat(shared)
	if err != nil {
		t.Fatal(err)
	}
	if at.Mode().Perm() != 0o755 {
		t.Errorf("a folder with other things in it was 0755 and is %#o: with --data /tmp nobody could use /tmp any more", at.Mode().Perm())
	}
}

func TestALostSecretIsNotReplacedByANewOne(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	n.serve("--data", "data").end()
	secret := n.path("data", "secret")
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	output, code := n.run("serve", "--data", "data", "--listen", "127.0.0.1:0")
	if code != 1 {
		t.Errorf("exit code %d: %s", code, output)
	}
	if _, err := os.Stat(secret); !os.IsNotExist(err) {
		t.Error("a secret was made that opens nothing, where somebody will find it and keep it as the right one")
	}
}

func TestEveryFileInTheDataFolderIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	n.serve("--data", "data")
	n.await(n.path("data", "jobs.db")) // the last one that is made
	files, err := os.ReadDir(n.path("data"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		about, err := file.Info()
		if err != nil {
			continue // gone meanwhile
		}
		if about.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %#o", file.Name(), about.Mode().Perm())
		}
	}
}

func TestTheSettingsAreShownThoughTheyCannotWork(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t, "DEED_DATABASE=postgres://deed:s3cret-word@127.0.0.1:1/deed")
	output, _ := n.run("serve", "--print-config")
	if strings.Contains(output, "s3cret-word") {
		t.Error("the password is in it")
	}
	if !strings.Contains(output, "listen") || !strings.Contains(output, "127.0.0.1:7373") {
		t.Errorf("the error says to look at --print-config, which says the same error:\n%s", output)
	}
}

func TestWhatADatabaseSaysIsPrintedInLines(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t, "DEED_DATABASE=postgres://deed:s3cret-word@127.0.0.1:1/deed")
	if output, code := n.run("secret", "new", "deed.secret"); code != 0 {
		t.Fatal(output)
	}
	output, code := n.run("serve", "--secret-file", "deed.secret", "--listen", "127.0.0.1:0")
	if code != 1 || strings.Contains(output, "s3cret-word") {
		t.Errorf("exit code %d: %s", code, output)
	}
	if strings.Contains(output, `\n`) || strings.Contains(output, `\t`) {
		t.Errorf("line ends are printed as backslashes:\n%s", output)
	}
}

func TestEveryActionIDThatIsTakenCanBeReadBack(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	server := n.serve("--data", "data")
	at := server.url
	status, text := ask(t, http.MethodPost, at+"/v1/session", "", `{"link":"`+server.link+`"}`)
	var in struct{ Token string }
	if err := json.Unmarshal([]byte(text), &in); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	for _, id := range []string{"a/b", "a%2Fb", "../../v1/keys", " ", "pending", ".", ".."} {
		body, err := json.Marshal(map[string]string{"action_id": id, "action_type": "refund_order"})
		if err != nil {
			t.Fatal(err)
		}
		if status, text := ask(t, http.MethodPost, at+"/v1/actions", in.Token, string(body)); status == http.StatusBadRequest {
			continue // an id that no path can name may be refused
		} else if status != http.StatusCreated {
			t.Fatalf("%q: %d %s", id, status, text)
		}
		status, text := ask(t, http.MethodGet, at+"/v1/actions/"+url.PathEscape(id), in.Token, "")
		var got struct {
			Action struct {
				ID string `json:"action_id"`
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK || got.Action.ID != id {
			t.Errorf("the action %q was taken and cannot be read: %d %.80s", id, status, text)
		}
	}
}
