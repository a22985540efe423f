package redact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/redact"
)

func TestValueKeepsEverythingButTheSecret(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"a secret by its name", `{"to":"jo@acme.example", "apiKey" :"tops3cret"}`, `{"to":"jo@acme.example", "apiKey" :"<redacted:key_name>"}`},
		{"numbers, order and duplicates", `{"b":180.0,"a":12345678901234567890,"b":1E400,"pin":"1234"}`, `{"b":180.0,"a":12345678901234567890,"b":1E400,"pin":"<redacted:key_name>"}`},
		{"a number under a secret name becomes a string", `{"password":123456,"n":1}`, `{"password":"<redacted:key_name>","n":1}`},
		{"a container under a secret name goes whole", `{"credentials":{"user":"a","x":[1,{"y":2}]},"n":1}`, `{"credentials":"<redacted:key_name>","n":1}`},
		{"null, booleans and nothing stay", `{"password":null,"secret":true,"token":""}`, `{"password":null,"secret":true,"token":""}`},
		{"a key written in escapes", `{"pass\u0077ord":"hunter2"}`, `{"pass\u0077ord":"<redacted:key_name>"}`},
		{"JSON in a string", `{"text":"{\"password\":\"hunter2\",\"n\":1}"}`, `{"text":"{\"password\":\"<redacted:key_name>\",\"n\":1}"}`},
		{"a number in JSON in a string gets quotes of its own", `{"text":"{\"password\":1234}"}`, `{"text":"{\"password\":\"<redacted:key_name>\"}"}`},
		{"and so two strings deep", `{"text":"{\"a\":\"{\\\"password\\\":1234}\"}"}`, `{"text":"{\"a\":\"{\\\"password\\\":\\\"<redacted:key_name>\\\"}\"}"}`},
		{"JSON after prose in a string", `{"text":"Result:\n{\"password\": \"hunter2\"}"}`, `{"text":"Result:\n{\"password\": \"<redacted:key_name>\"}"}`},
		{"a URL keeps its host and user", `["postgres://app:hunter2@db.internal:5432/x"]`, `["postgres://app:<redacted:url_password>@db.internal:5432/x"]`},
		{"a name and its value in two members", `{"env":[{"name":"DB_PASSWORD","value":"hunter2"},{"value":"hunter2","name":"DB_PASSWORD"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"<redacted:key_name>"},{"value":"<redacted:key_name>","name":"DB_PASSWORD"}]}`},
		{"a flag and its value in two elements", `["mysql","--password","hunter2","--port","3306"]`, `["mysql","--password","<redacted:key_name>","--port","3306"]`},
		{"a header and its value in two elements", `[["Authorization","Bearer abcdef123456"]]`, `[["Authorization","Bearer <redacted:key_name>"]]`},
		{"a list under a header's name", `{"authorization":["Bearer abcdef123456"]}`, `{"authorization":["Bearer <redacted:key_name>"]}`},
		{"a schema describes a password and has none", `{"password":{"type":"string","minLength":8}}`, `{"password":{"type":"string","minLength":8}}`},
		{"but its default is one", `{"password":{"type":"string","default":"hunter2"}}`, `{"password":{"type":"string","default":"<redacted:key_name>"}}`},
		{"what only looks like a placeholder is replaced", `{"password":"<redacted:nonsense>","secret":"<redacted:jwt>x"}`, `{"password":"<redacted:key_name>","secret":"<redacted:key_name>"}`},
		{"invalid UTF-8 and lone surrogates", "{\"a\":\"\xff\\ud800\",\"password\":\"\xff\\ud800\"}", "{\"a\":\"\xff\\ud800\",\"password\":\"<redacted:key_name>\"}"},
		{"a cut value", `{"password":"hunt`, `{"password":"<redacted:key_name>`},
		{"a cut container", `{"secrets":{"a":"b`, `{"secrets":"<redacted:key_name>"`},
		{"text after JSON", `{"a":1} password=hunter2`, `{"a":1} password=<redacted:key_name>`},
		{"JSON without quotes", `{"a":1,"password":hunter2}`, `{"a":1,"password":<redacted:key_name>}`},
		{"no JSON at all", "password: hunter2\n", "password: <redacted:key_name>\n"},
		{"a page token is no secret", `{"nextPageToken":"x8Kq2LmP9wRt4VzY7bNc3JhG"}`, `{"nextPageToken":"x8Kq2LmP9wRt4VzY7bNc3JhG"}`},
		{"a count is no secret", `{"token":5,"max_tokens":5}`, `{"token":5,"max_tokens":5}`},
		{"a card number by its name", `{"cardNumber":4111111111111111,"pan":"5555-5555-5555-4444"}`, `{"cardNumber":"<redacted:card_number>","pan":"<redacted:card_number>"}`},
		{"a number with a wrong check digit is no card", `{"cardNumber":"4111111111111112"}`, `{"cardNumber":"4111111111111112"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _ := redact.Value([]byte(tt.in))
			if diff := cmp.Diff(tt.want, string(out)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTextKeepsEverythingButTheSecret(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"a header", "Authorization: Bearer abc\nHost: x", "Authorization: Bearer <redacted:key_name>\nHost: x"},
		{"a header in a command", `curl -H "Authorization: Token abc123" https://x.example`, `curl -H "Authorization: Token <redacted:key_name>" https://x.example`},
		{"a cookie", "Cookie: a=b; c=d\nHost: x", "Cookie: <redacted:cookie>\nHost: x"},
		{"a YAML block", "password: |\n  hunter2\n  more\nuser: x", "password: |\n  <redacted:key_name>\nuser: x"},
		{"a password with blanks on its own line", "password: correct horse battery\nuser: x", "password: <redacted:key_name>\nuser: x"},
		{"a sentence about passwords", "Password: it must have at least eight letters", "Password: it must have at least eight letters"},
		{"a password in a sentence", "log in as bob, password: hunter2, then", "log in as bob, password: <redacted:key_name>, then"},
		{"an XML element", "<password>hunter2</password>", "<password><redacted:key_name></password>"},
		{"a Go data source", "root:hunter2@tcp(localhost:3306)/x", "root:<redacted:url_password>@tcp(localhost:3306)/x"},
		{"a password with a slash in a database URL", "mysql://root:a/b@host/x", "mysql://root:<redacted:url_password>@host/x"},
		{"an @ in a web path", "https://host:8080/a@b", "https://host:8080/a@b"},
		{"a user and password of curl", "curl -u bob:hunter2 https://x.example", "curl -u bob:<redacted:key_name> https://x.example"},
		{"a flag", "deploy --api-key hunter2! --dry-run", "deploy --api-key <redacted:key_name> --dry-run"},
		{"a working directory", "PWD=/home/jo", "PWD=/home/jo"},
		{"a database connection", "Server=x;Uid=app;Pwd=hunter2;", "Server=x;Uid=app;Pwd=<redacted:key_name>;"},
		{"a key behind an escape", `say "\nglpat-` + "aB3dE6gH9jK2mN5pQ8sT" + `\n"`, `say "\n<redacted:gitlab_token>\n"`},
		{"a random key behind an escape", `say "\naB3dE6gH9jK2mN5pQ8sT1vW4yZ7"`, `say "\n<redacted:high_entropy>"`},
		{"names in Go templates and shells", "password: {{ .Values.db }} token=$TOKEN secret=${SECRET}", "password: {{ .Values.db }} token=$TOKEN secret=${SECRET}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, _ := redact.Text(tt.in)
			if diff := cmp.Diff(tt.want, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		in, want []string
	}{
		{"two arguments", []string{"srv", "--api-key", "hunter2", "--port", "1"}, []string{"srv", "--api-key", "<redacted:key_name>", "--port", "1"}},
		{"one argument", []string{"srv", "--api-key=hunter2"}, []string{"srv", "--api-key=<redacted:key_name>"}},
		{"a flag follows a flag", []string{"srv", "--token", "--verbose"}, []string{"srv", "--token", "--verbose"}},
		{"a file of a key", []string{"srv", "--key-file", "/etc/key.pem"}, []string{"srv", "--key-file", "/etc/key.pem"}},
		{"a user", []string{"curl", "-u", "bob:hunter2"}, []string{"curl", "-u", "bob:<redacted:key_name>"}},
		{"user and group ids", []string{"docker", "run", "-u", "1000:1000"}, []string{"docker", "run", "-u", "1000:1000"}},
		{"mysql's own way", []string{"/usr/bin/mysql", "-uroot", "-phunter2"}, []string{"/usr/bin/mysql", "-uroot", "-p<redacted:key_name>"}},
		{"a port for another program", []string{"docker", "run", "-p8080:80"}, []string{"docker", "run", "-p8080:80"}},
		{"a header", []string{"mcp-remote", "https://x.example", "--header", "Authorization: Bearer abc"}, []string{"mcp-remote", "https://x.example", "--header", "Authorization: Bearer <redacted:key_name>"}},
		{"an environment variable of docker", []string{"docker", "run", "-e", "API_KEY=hunter2"}, []string{"docker", "run", "-e", "API_KEY=<redacted:key_name>"}},
		{"a shell's command", []string{"sh", "-c", "PGPASSWORD=hunter2 psql"}, []string{"sh", "-c", "PGPASSWORD=<redacted:key_name> psql"}},
		{"nothing", []string{"npx", "-y", "@modelcontextprotocol/server-everything"}, []string{"npx", "-y", "@modelcontextprotocol/server-everything"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := redact.CommandLine(tt.in)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	in := []string{"PATH=/usr/bin:/bin", "OPENAI_API_KEY=abc", "PWD=/home/jo", "DATABASE_URL=postgres://a:b@c/d", "EMPTY=", "odd", "PIN=1234"}
	want := []string{"PATH=/usr/bin:/bin", "OPENAI_API_KEY=<redacted:key_name>", "PWD=/home/jo", "DATABASE_URL=postgres://a:<redacted:url_password>@c/d", "EMPTY=", "odd", "PIN=<redacted:key_name>"}
	got, report := redact.Environ(in)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(redact.Report{redact.KeyName: 2, redact.URLPassword: 1}, report); diff != "" {
		t.Error(diff)
	}
}

func TestPreviewNeverCutsAPlaceholder(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"a":"é","password":"hunter2","b":"ü"}`)
	whole, _ := redact.Value(raw)
	for limit := range len(whole) + 2 {
		got, _ := redact.Preview(raw, limit, 0)
		if len(got) > limit || !strings.HasPrefix(string(whole), got) {
			t.Errorf("limit %d: %q", limit, got)
		}
		if i := strings.LastIndex(got, "<"); i >= 0 && !strings.Contains(got[i:], ">") {
			t.Errorf("limit %d cuts a placeholder: %q", limit, got)
		}
		if !strings.Contains(got, "\ufffd") && strings.ToValidUTF8(got, "?") != got {
			t.Errorf("limit %d cuts a rune: %q", limit, got)
		}
	}
}

// TestACutSecretDoesNotLeak cuts every sample of the corpus inside its secret.
func TestACutSecretDoesNotLeak(t *testing.T) {
	t.Parallel()
	cuts, leaks := 0, 0
	for _, s := range secretSamples(t) {
		if s.mode == "argv" || strings.Contains(s.pieces[0], " ") {
			continue
		}
		piece := s.pieces[len(s.pieces)-1]
		at := strings.Index(s.text, piece)
		if at < 0 || len(piece) < 8 {
			continue
		}
		for _, part := range []int{8, 12, len(piece) / 2, len(piece) - 1} {
			if part > len(piece) {
				continue
			}
			cuts++
			head := s.text[:at+part]
			out, _ := redact.Fragment([]byte(head), redact.CutTail)
			if leak := (sample{pieces: []string{piece[:part]}}).leaks(string(out)); leak != "" {
				leaks++
				t.Logf("%s in %s cut after %d: %s", s.kind, s.context, part, lastOf(out))
			}
			tail := s.text[at+len(piece)-part:]
			out, _ = redact.Fragment([]byte(tail), redact.CutHead)
			if leak := (sample{pieces: []string{piece[len(piece)-part:]}}).leaks(string(out)); leak != "" {
				leaks++
				t.Logf("%s in %s cut before its last %d: %.80s", s.kind, s.context, part, out)
			}
		}
	}
	if share := 1 - float64(leaks)/float64(2*cuts); share < cutFloor {
		t.Errorf("%d of %d cuts leak, want a share of %v that do not", leaks, 2*cuts, cutFloor)
	}
}

func lastOf(out []byte) string { return string(out[max(0, len(out)-80):]) }
