package outbox

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const theKey = "spk_secret_that_nobody_may_see_0123456789"

// TestMain is also a client in a process of its own, for what is read from the
// environment when a process starts.
func TestMain(m *testing.M) {
	if api := os.Getenv("OUTBOX_TEST_API"); api != "" {
		client, err := NewClient(api, theKey, "test")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		r := client.Declare(ctx, []byte(`{}`))
		fmt.Printf("declared %t %s\n", r.Declared, r.Why)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newClient(t testing.TB, api string) *Client {
	t.Helper()
	c, err := NewClient(api, theKey, "test")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serve answers every request the same way.
func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func declare(t testing.TB, c *Client) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return c.Declare(ctx, []byte(`{"action_id":"a:1"}`))
}

func TestADeclarationIsSentAsItIs(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "POST" || r.URL.Path != "/base/v1/actions" || r.Header.Get("X-Api-Key") != theKey ||
			r.Header.Get("Content-Type") != "application/json" || string(body) != `{"action_id":"a:1"}` || r.ContentLength != 19 ||
			r.Header["Idempotency-Key"] != nil || r.Header.Get("Authorization") != "" {
			t.Errorf("got %s %s %v %q", r.Method, r.URL, r.Header, body)
		}
		answer(201, `{"recorded":"new"}`)(w, r)
	})
	if r := declare(t, newClient(t, s.URL+"/base/")); !r.Declared || r.Recorded != "new" || r.Status != 201 {
		t.Errorf("result %+v", r)
	}
}

// What the page about the server's answers says, line by line.
func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	failure := func(code string) string {
		return `{"error":{"code":"` + code + `","message":"no such thing"}}`
	}
	for _, test := range []struct {
		name     string
		handler  http.HandlerFunc
		declared bool
		final    bool
		class    string
		after    time.Duration
	}{
		{"new", answer(201, `{"recorded":"new"}`), true, false, "", 0},
		{"created without a body", answer(201, ``), true, false, "", 0},
		{"replayed", answer(200, `{"recorded":"replayed"}`), true, false, "", 0},
		{"changed", answer(200, `{"recorded":"changed"}`), true, false, "", 0},
		{"some page", answer(200, `<html>Welcome to the hotel</html>`, "Content-Type", "text/html"), false, false, "HTTP 200 without a word that it is recorded", 0},
		{"something else", answer(200, `{"recorded":"perhaps"}`), false, false, "HTTP 200 without a word that it is recorded", 0},
		{"accepted", answer(202, `{"recorded":"new"}`), false, false, "HTTP 202 without a word that it is recorded", 0},
		{"invalid", answer(400, failure("invalid_request")), false, true, "HTTP 400 invalid_request", 0},
		{"no credential", answer(401, failure("unauthenticated")), false, true, "HTTP 401 unauthenticated", 0},
		{"no scope", answer(403, failure("insufficient_scope")), false, true, "HTTP 403 insufficient_scope", 0},
		{"conflict", answer(409, failure("conflict")), false, true, "HTTP 409 conflict", 0},
		{"too large", answer(413, failure("invalid_request")), false, true, "HTTP 413 invalid_request", 0},
		{"request timeout", answer(408, ``), false, false, "HTTP 408", 0},
		{"too many", answer(429, `{"error":{"code":"rate_limited","retry_after":12}}`), false, false, "HTTP 429 rate_limited", 12 * time.Second},
		{"too many by header", answer(429, ``, "Retry-After", "7"), false, false, "HTTP 429", 7 * time.Second},
		{"too many for ever", answer(429, ``, "Retry-After", "99999999999"), false, false, "HTTP 429", time.Hour},
		{"too many, of no time", answer(429, `{"error":{"retry_after":"NaN"}}`), false, false, "HTTP 429", 0},
		{"fault", answer(500, failure("internal")), false, false, "HTTP 500 internal", 0},
		{"unavailable", answer(503, `{"error":{"code":"unavailable","retry_after":3}}`), false, false, "HTTP 503 unavailable", 3 * time.Second},
		{"a gateway", answer(502, `<html>`, "Content-Type", "text/html"), false, false, "HTTP 502", 0},
		{"a code that is no word", answer(400, failure("Mr. Smith, 12 High Street")), false, true, "HTTP 400", 0},
		{"a moved page", answer(301, ``, "Location", "https://elsewhere.example/"), false, false, "HTTP 301", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := declare(t, newClient(t, serve(t, test.handler).URL))
			if r.Declared != test.declared || r.Final != test.final || r.Class != test.class || r.After != test.after {
				t.Errorf("result %+v", r)
			}
		})
	}
}

func TestAServerThatCannotBeReachedOrHangsIsToldApart(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	if r := declare(t, newClient(t, gone.URL)); r.Declared || r.Final || r.Class != "unreachable" || !strings.Contains(r.Why, "refused") {
		t.Errorf("result %+v", r)
	}
	hanging := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request) { <-hanging })
	defer close(hanging)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if r := newClient(t, s.URL).Declare(ctx, nil); r.Declared || r.Final || r.Class != "no answer in time" {
		t.Errorf("result %+v", r)
	}
}

// Whoever answers for the server must not be able to have the key sent on.
func TestTheKeyIsNotSentToWhereARedirectLeads(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var asked atomic.Int64
		elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
		s := serve(t, answer(status, "", "Location", elsewhere.URL+"/v1/actions"))
		if r := declare(t, newClient(t, s.URL)); r.Declared || r.Final || r.Status != status {
			t.Errorf("result %+v", r)
		}
		if asked.Load() != 0 {
			t.Errorf("a %d was followed", status)
		}
	}
}

func TestTheKeyIsInNothingThatIsReturned(t *testing.T) {
	t.Parallel()
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer(400, `{"error":{"code":"invalid_request","message":"bad key `+r.Header.Get("X-Api-Key")+`\u001b[31m\nsecond line"}}`)(w, r)
	})
	c := newClient(t, echo.URL)
	r := declare(t, c)
	said := fmt.Sprintf("%+v %+v %s %s", r, r.Said(), c.API(), c.Fingerprint())
	if strings.Contains(said, theKey) || strings.Contains(said, "secret_that") {
		t.Errorf("the key is in %s", said)
	}
	if !strings.Contains(r.Why, "<redacted:api_key>") || strings.ContainsAny(r.Why, "\n\x1b") {
		t.Errorf("a person would read %q", r.Why)
	}
	for _, bad := range []string{"", "  ", "a b", "a\nb", "a\x7fb", "ключ"} {
		_, err := NewClient("https://deed.example.com", bad, "test")
		var wrong *KeyError
		if !errors.As(err, &wrong) || strings.TrimSpace(bad) != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("of key %q: %v", bad, err)
		}
	}
}

func TestAnAddressIsOneAndHasNoSecretInIt(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "deed.example.com", "ftp://deed.example.com", "https://", "https:///v1", "https://user:hunter2@deed.example.com",
		"https://deed.example.com?key=hunter2", "https://deed.example.com#hunter2", "https://hunter2 @x", "mailto:a@b.c", "http://[::1",
	} {
		_, err := NewClient(bad, theKey, "test")
		var wrong *AddressError
		if !errors.As(err, &wrong) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("of address %q: %v", bad, err)
		}
	}
	for api, plain := range map[string]string{
		"https://deed.example.com": "", "http://localhost:8080": "", "http://127.0.0.1:1/x": "", "http://[::1]:1": "",
		"http://deed.example.com": "deed.example.com", "http://10.0.0.1": "10.0.0.1",
	} {
		if got := newClient(t, api).PlainTo(); got != plain {
			t.Errorf("the key goes in the clear to %q by %s, want %q", got, api, plain)
		}
	}
}

func TestConnectionsAreUsedAgainAndReplacedWhenTheServerClosedThem(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(answer(201, `{"recorded":"new"}`))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := newClient(t, s.URL)
	for range 5 {
		if r := declare(t, c); !r.Declared {
			t.Fatalf("result %+v", r)
		}
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections for five declarations, want one", opened.Load())
	}
	s.CloseClientConnections()
	for range 3 {
		if r := declare(t, c); !r.Declared {
			t.Errorf("after the server closed the connection: %+v", r)
		}
	}
}

// A proxy that is set for other programs is not asked, and a certificate that
// SSL_CERT_FILE names is believed. Both are read once in a process.
func TestTheEnvironmentOfAProcessSaysWhomToTrustAndNotWhomToAsk(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a certificate of a test server is refused for other reasons there")
	}
	var proxied atomic.Int64
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { proxied.Add(1) })
	s := httptest.NewTLSServer(answer(201, `{"recorded":"new"}`))
	defer s.Close()
	s.Config.ErrorLog = nil
	s.TLS.MinVersion = tls.VersionTLS12
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, api string
		variables []string
		declared  bool
	}{
		{"a certificate that is named", s.URL, []string{"SSL_CERT_FILE=" + file}, true},
		{"a certificate that is not", s.URL, nil, false},
		// One on this machine would not go through a proxy anyway.
		{"a proxy", "http://deed.invalid", []string{"HTTPS_PROXY=" + proxy.URL, "HTTP_PROXY=" + proxy.URL, "ALL_PROXY=" + proxy.URL, "NO_PROXY="}, false},
	} {
		child := exec.Command(os.Args[0])
		child.Env = append(append(os.Environ(), "OUTBOX_TEST_API="+test.api), test.variables...)
		out, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if want := fmt.Sprintf("declared %t", test.declared); !strings.HasPrefix(string(out), want) || strings.Contains(string(out), theKey) {
			t.Errorf("with %s it says %q", test.name, out)
		}
	}
	if proxied.Load() != 0 {
		t.Error("the proxy was asked")
	}
}
