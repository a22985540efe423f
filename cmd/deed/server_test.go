package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/terminal"
)

// TestEveryRefusalSaysWhatToDoNext gives commands each answer that a server may
// refuse with. It changes the environment, so that it is not parallel.
func TestEveryRefusalSaysWhatToDoNext(t *testing.T) {
	for name, one := range map[string]struct {
		status     int
		body       string
		code       int
		says, next string
	}{
		"a member who has to confirm": {403, `{"error":{"code":"confirmation_required","message":"confirm again"}}`, 1, "confirm again", "deed confirm"},
		"a scope":                     {403, `{"error":{"code":"insufficient_scope","message":"no","required_scope":"actions:record"}}`, 1, "no", "--preset recorder"},
		"another plan":                {402, `{"error":{"code":"plan_required","message":"the plan small does not include drafts; the plan team does","upgrade_to":"team"}}`, 1, "the plan team does", "deed host plan"},
		"a role":                      {403, `{"error":{"code":"forbidden","message":"no"}}`, 1, "no", "deed whoami"},
		"a bad request":               {400, `{"error":{"code":"invalid_request","message":"is too long","field":"name"}}`, 2, "is too long (name)", "put that right"},
		"nothing there":               {404, `{"error":{"code":"not_found","message":"no such thing"}}`, 2, "no such thing", "deed key list"},
		"taken already":               {409, `{"error":{"code":"conflict","message":"taken"}}`, 2, "taken", "nothing was changed"},
		"too often":                   {429, `{"error":{"code":"rate_limited","message":"slowly","retry_after":7}}`, 1, "slowly", "wait 7s"},
		"a server in trouble":         {500, `{"error":{"code":"internal","message":"sorry"}}`, 1, "sorry", "req_1"},
		"no server of ours":           {502, `<html>`, 1, "in no form of Deed", "request req_1"},
		"a redirect":                  {302, ``, 1, "a redirect, which is not followed", ""},
		"what a terminal acts on":     {404, `{"error":{"code":"not_found","message":"\u001b[2Jgone"}}`, 2, `gone`, "deed key list"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Deed-Request-Id", "req_1")
				w.WriteHeader(one.status)
				fmt.Fprint(w, one.body)
			}))
			defer server.Close()
			t.Setenv("DEED_API_URL", server.URL)
			t.Setenv("DEED_API_KEY", "spk_secret")
			var out, told bytes.Buffer
			w := &world{stdin: strings.NewReader(""), stdout: &out, stderr: &told, clock: terminal.SystemClock(), progress: &terminal.Progress{}}
			code := execute(context.Background(), []string{"--home", t.TempDir(), "key", "create", "agent", "--preset", "recorder"}, w)
			first, rest, _ := strings.Cut(told.String(), "\n")
			if code != one.code || !strings.HasPrefix(first, "deed: the server answered: ") || !strings.Contains(first, one.says) || !strings.Contains(rest, one.next) || rest == "" {
				t.Errorf("exit code %d, want %d; it says\n%s", code, one.code, told.String())
			}
			if shown := out.String() + told.String(); strings.Contains(shown, "spk_secret") || strings.Contains(shown, "\x1b") {
				t.Errorf("it shows %q", shown)
			}
			// A request that makes a key must not be sent again by itself: there would be two.
			if asked != 1 {
				t.Errorf("the server was asked %d times to make one key", asked)
			}
		})
	}
}
