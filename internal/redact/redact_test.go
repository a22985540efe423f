package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/redact"
	"github.com/deed-dev/deed/internal/redact/lexer"
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
	t.Logf("%d of %d cuts leak", leaks, 2*cuts)
}

func lastOf(out []byte) string { return string(out[max(0, len(out)-80):]) }

// hostile are texts made to make a search slow, deep or large.
var hostile = map[string]func(n int) string{
	"nesting":            func(n int) string { return strings.Repeat("[", n) },
	"nested objects":     func(n int) string { return strings.Repeat(`{"a":`, n/5) },
	"nested secrets":     func(n int) string { return strings.Repeat(`{"password":`, n/12) },
	"nested schemas":     func(n int) string { return strings.Repeat(`{"type":"object","password":`, n/28) },
	"web tokens":         func(n int) string { return strings.Repeat("eyJ", n/3) },
	"web tokens, dashes": func(n int) string { return strings.Repeat("eyJ-", n/4) },
	"web tokens, dots":   func(n int) string { return strings.Repeat("eyJ.", n/4) },
	"key beginnings":     func(n int) string { return strings.Repeat("sk-ant-", n/7) },
	"short key starts":   func(n int) string { return strings.Repeat("xoxe.dp.st.", n/11) },
	"private keys":       func(n int) string { return strings.Repeat("BEGIN PRIVATE KEY ", n/18) },
	"ends of keys":       func(n int) string { return strings.Repeat("-END PRIVATE KEY-", n/17) },
	"URLs":               func(n int) string { return strings.Repeat("://", n/3) },
	"database URLs":      func(n int) string { return strings.Repeat("a://b:c/", n/8) },
	"users":              func(n int) string { return "x://" + strings.Repeat("a:", n/2) },
	"quotes":             func(n int) string { return strings.Repeat(`password:"`, n/10) },
	"open quotes":        func(n int) string { return strings.Repeat(`password:'password:"password=`+"`", n/30) },
	"more backslashes":   func(n int) string { return strings.Repeat(`password:\"a\\"`, n/14) },
	"separators":         func(n int) string { return strings.Repeat("a=b:", n/4) },
	"only separators":    func(n int) string { return strings.Repeat("=", n) },
	"colons":             func(n int) string { return strings.Repeat(":", n) },
	"names":              func(n int) string { return strings.Repeat("a", n/2) + strings.Repeat("=", n/2) },
	"backslashes":        func(n int) string { return strings.Repeat(`\`, n) },
	"quoted backslashes": func(n int) string { return `"` + strings.Repeat(`\`, n) + `"` },
	"escapes":            func(n int) string { return `"` + strings.Repeat(`\u005c`, n/6) + `"` },
	"braces":             func(n int) string { return strings.Repeat(`{"`, n/2) },
	"text with braces":   func(n int) string { return "x" + strings.Repeat(`{"a":{`, n/6) },
	"braces in strings":  func(n int) string { return `"` + strings.Repeat(`{\"a\":\"`, n/8) + `"` },
	"digits in groups":   func(n int) string { return strings.Repeat("4111 ", n/5) },
	"digits":             func(n int) string { return strings.Repeat("4", n) },
	"elements":           func(n int) string { return strings.Repeat("</password>", n/11) },
	"text of elements":   func(n int) string { return strings.Repeat("a", n/2) + strings.Repeat("</password>", n/22) },
	"flags":              func(n int) string { return strings.Repeat(" --password", n/11) },
	"lines":              func(n int) string { return strings.Repeat("password: |\n", n/12) },
	"one long line":      func(n int) string { return strings.Repeat("password: a b c d e ", n/20) },
	"headers":            func(n int) string { return strings.Repeat("cookie: a ", n/10) },
	"authorization":      func(n int) string { return strings.Repeat("authorization: a ", n/17) },
	"data sources":       func(n int) string { return strings.Repeat("a:b@tcp(", n/8) },
	"random runs":        func(n int) string { return strings.Repeat("aB3dE6gH9jK2mN5pQ8sT1vW4y ", n/26) },
	"one random run":     func(n int) string { return strings.Repeat("aB3dE6gH9jK2mN5pQ8sT1vW4y", n/25) },
	"slashes":            func(n int) string { return strings.Repeat("aB3/", n/4) },
	"base64 of base64":   func(n int) string { return strings.Repeat("YUIzZEU2Z0g5aksybU41cFE4c1QxdlcieSI6 ", n/37) },
	"wallet keys": func(n int) string {
		return strings.Repeat("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ ", n/52)
	},
	"placeholders":         func(n int) string { return strings.Repeat("<redacted:", n/10) },
	"password holders":     func(n int) string { return "password=" + strings.Repeat("<redacted:jwt>", n/14) },
	"name and value":       func(n int) string { return strings.Repeat("name: password value: ", n/22) },
	"fields of one object": func(n int) string { return "{" + strings.Repeat(`"name":"password","value":"a",`, n/30) },
}

// TestHostileTextsTakeLinearTime would take minutes, not seconds, were one of
// the searches quadratic.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	const size = 256 << 10
	for name, text := range hostile {
		raw := []byte(text(size))
		begun := time.Now()
		out, _ := redact.Value(raw)
		redact.Fragment(raw, redact.CutHead|redact.CutTail)
		redact.Value([]byte(`{"text":` + quote(string(raw)) + `}`))
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s: three searches of 256 KiB took %v", name, took)
		} else if took > 500*time.Millisecond {
			t.Logf("%s: %v", name, took)
		}
		if len(out) > 8*len(raw) {
			t.Errorf("%s: %d bytes became %d", name, len(raw), len(out))
		}
	}
}

// checkValue holds for every text.
func checkValue(t interface{ Fatalf(string, ...any) }, raw []byte) {
	before := bytes.Clone(raw)
	out, report := redact.Value(raw)
	if !bytes.Equal(raw, before) {
		t.Fatalf("the input was changed: %q became %q", before, raw)
	}
	if (report.Total() == 0) != bytes.Equal(raw, out) && report.Total() == 0 {
		t.Fatalf("%q became %q and nothing is reported", raw, out)
	}
	if json.Valid(raw) && !json.Valid(out) {
		t.Fatalf("valid %q became %q", raw, out)
	}
	again, second := redact.Value(out)
	if !bytes.Equal(again, out) {
		t.Fatalf("%q became %q, and then %q %v", raw, out, again, second)
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range secretSamples(f) {
		f.Add([]byte(s.text))
	}
	for _, s := range innocentSamples(f) {
		f.Add([]byte(s.text))
	}
	for _, text := range hostile {
		f.Add([]byte(text(120)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkValue(t, raw) })
}

func FuzzFragment(f *testing.F) {
	for _, s := range secretSamples(f) {
		f.Add([]byte(s.text[:len(s.text)/2]), byte(2))
		f.Add([]byte(s.text[len(s.text)/2:]), byte(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, missing byte) {
		out, _ := redact.Fragment(raw, redact.Ends(missing&3))
		again, _ := redact.Fragment(out, redact.Ends(missing&3))
		if !bytes.Equal(again, out) {
			t.Fatalf("%q became %q, and then %q", raw, out, again)
		}
		redact.Preview(raw, int(missing), redact.Ends(missing&3))
	})
}

// jsonish draws texts that are nearly JSON and nearly free of secrets.
func jsonish(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `"`, `:`, `,`, `\`, `\"`, `\u0070`, `\/`, ` `, "\n", `=`, `&`, `?`, `@`, `://`, `'`, `-`, `--`, `<`, `>`, `</`, `.`, `/`,
		`"password"`, `password`, `token`, `"name"`, `"value"`, `api_key`, `hunter2`, `Bearer `, `Authorization`, `Cookie`, `null`, `12`, `4111 1111 1111 1111`,
		`sk-ant-`, `aB3dE6gH9jK2mN5pQ8sT1vW4y`, `-----BEGIN PRIVATE KEY-----`, `-----END PRIVATE KEY-----`, `<redacted:jwt>`, `<redacted:key_name>`, `eyJhbGciOiJI`, `é`, "\xff", `{"a":`, `\\\"`,
		`mysql://a:b`, `@tcp(`, `|`, `$`, `ghp_`, `code=`, `sig`, `;`, `://hooks.slack.com/services/`, `-u `, `a:b`,
	})
	return strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), "")
}

func TestAnyTextIsServed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkValue(t, []byte(jsonish(t))) })
}

func TestValidJSONStaysValidAndInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(drawJSON(t, 4))
		checkValue(t, raw)
		out, _ := redact.Value(raw)
		if diff := cmp.Diff(skeleton(raw), skeleton(out)); diff != "" && !strings.Contains(string(out), `":"<redacted:`) && !strings.Contains(string(out), `"<redacted:key_name>"`) {
			t.Fatalf("%s became %s: %s", raw, out, diff)
		}
	})
}

// skeleton is all of a JSON text but its strings.
func skeleton(raw []byte) string {
	var l lexer.Lexer
	l.Reset(raw)
	var b strings.Builder
	for {
		token := l.Next()
		switch token.Kind {
		case lexer.End, lexer.Broken:
			return b.String()
		case lexer.String, lexer.Key:
			b.WriteString(`""`)
		default:
			b.Write(raw[token.Start:token.End])
		}
	}
}

func drawJSON(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "0", "-1.50", "1E400", "12345678901234567890"}).Draw(t, "literal")
	case 1, 2, 3:
		return quote(jsonish(t))
	case 4:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		var parts []string
		for range n {
			parts = append(parts, drawJSON(t, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	default:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		var parts []string
		for range n {
			key := rapid.SampledFrom([]string{"a", "password", "name", "value", "token", "auth", "credentials", "pin", "type", "default", "text", "cookie"}).Draw(t, "key")
			parts = append(parts, quote(key)+":"+drawJSON(t, depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
}

// escapeAtWill writes a text as the inside of a JSON string, with escapes
// where none is needed.
func escapeAtWill(t *rapid.T, text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch n := rapid.IntRange(0, 3).Draw(t, "escape"); {
		case n == 0 && c < 0x80:
			fmt.Fprintf(&b, `\u%04x`, c)
		case n == 1 && c == '/':
			b.WriteString(`\/`)
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// TestNoEscapeHidesASecret plants every kind of secret that needs no name, in
// escapes drawn at will, up to three strings deep.
func TestNoEscapeHidesASecret(t *testing.T) {
	t.Parallel()
	var bare []sample
	for _, s := range secretSamples(t) {
		if s.context == "array" || s.context == "argument" {
			bare = append(bare, s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.SampledFrom(bare).Draw(t, "sample")
		var parts []any
		if err := json.Unmarshal([]byte(s.text), &parts); err != nil {
			var object struct{ Arguments struct{ Note string } }
			if err := json.Unmarshal([]byte(s.text), &object); err != nil {
				t.Fatalf("%s: %v", s.text, err)
			}
			parts = []any{"", object.Arguments.Note}
		}
		text := parts[1].(string)
		depth := rapid.IntRange(1, 3).Draw(t, "depth")
		for range depth {
			text = `{"x":"` + escapeAtWill(t, text) + `"}`
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("the test wrote %s", text)
		}
		out, _ := redact.Value([]byte(text))
		meaning := string(out)
		for range depth + 1 {
			if leak := s.leaks(meaning); leak != "" {
				t.Fatalf("%s in %s leaves %s in %s", s.kind, text, leak, out)
			}
			var outer struct{ X string }
			if json.Unmarshal([]byte(meaning), &outer) != nil {
				break
			}
			meaning = outer.X
		}
	})
}
