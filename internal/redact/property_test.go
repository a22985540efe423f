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
	const size, part = 256 << 10, 16
	for name, text := range hostile {
		search := func(raw []byte) (out []byte, took time.Duration) {
			begun := time.Now()
			out, _ = redact.Value(raw)
			redact.Fragment(raw, redact.CutHead|redact.CutTail)
			redact.Value([]byte(`{"text":` + quote(string(raw)) + `}`))
			return out, time.Since(begun)
		}
		_, short := search([]byte(text(size / part)))
		raw := []byte(text(size))
		out, took := search(raw)
		// Sixteen times the text takes sixteen times as long here, and took 256 times
		// as long were a search quadratic.
		if took > 5*time.Second+3*part*short {
			t.Errorf("%s: three searches of 256 KiB took %v, of 16 KiB %v", name, took, short)
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
