package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, remote, header string
		behindProxy          bool
		want                 int
	}{
		{name: "from this machine", remote: "127.0.0.1:5", want: 200},
		{name: "from this machine by IPv6", remote: "[::1]:5", want: 200},
		{name: "from another machine", remote: "10.1.2.3:5", want: 404},
		{name: "through a proxy on this machine that says so", remote: "127.0.0.1:5", header: "X-Forwarded-For", want: 404},
		{name: "through a proxy that says Forwarded", remote: "127.0.0.1:5", header: "Forwarded", want: 404},
		{name: "behind a proxy, whatever it says", remote: "127.0.0.1:5", behindProxy: true, want: 404},
		{name: "from nowhere", remote: "@", want: 404},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			s := &serving{o: Options{BehindProxy: one.behindProxy, Meter: NewMeter(Build{})}, health: newHealth()}
			r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
			r.RemoteAddr = one.remote
			if one.header != "" {
				r.Header.Set(one.header, "10.9.9.9")
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != one.want {
				t.Errorf("got %d, want %d", w.Code, one.want)
			}
		})
	}
}

func TestTheDatabaseIsAskedAtMostOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var down error
		h := newHealth()
		h.begin(func(context.Context) error { asked++; return down })
		for range 100 {
			h.waits(t.Context())
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		down = errors.New("gone")
		time.Sleep(pingEvery)
		if got := h.waits(t.Context()); got != stateDatabase || asked != 2 {
			t.Errorf("waits for %q after asking %d times", got, asked)
		}
		down = nil
		time.Sleep(pingEvery)
		if got := h.waits(t.Context()); got != "" {
			t.Errorf("waits for %q with the database back", got)
		}
		h.end()
		if got := h.waits(t.Context()); got != stateEnding {
			t.Errorf("waits for %q at the end", got)
		}
	})
}

func TestTheCallerIsTheLastAddressThatNoTrustedProxyHas(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, one := range []struct {
		name, remote, forwarded string
		direct                  bool
		want                    string
	}{
		{name: "no proxy, and a header that lies", remote: "203.0.113.9:1", forwarded: "1.2.3.4", direct: true, want: "203.0.113.9"},
		{name: "a stranger with a header", remote: "203.0.113.9:1", forwarded: "1.2.3.4", want: "203.0.113.9"},
		{name: "one proxy", remote: "127.0.0.1:1", forwarded: "203.0.113.9", want: "203.0.113.9"},
		{name: "two proxies", remote: "127.0.0.1:1", forwarded: "203.0.113.9, 10.0.0.7", want: "203.0.113.9"},
		{name: "what the stranger wrote in front", remote: "127.0.0.1:1", forwarded: "1.1.1.1, 203.0.113.9", want: "203.0.113.9"},
		{name: "several headers", remote: "127.0.0.1:1", forwarded: "1.1.1.1\n203.0.113.9\n10.0.0.7", want: "203.0.113.9"},
		{name: "with a port", remote: "127.0.0.1:1", forwarded: "203.0.113.9:4711", want: "203.0.113.9"},
		{name: "IPv6 in brackets", remote: "[2001:db8::1]:1", forwarded: "[2a00::9]:4711", want: "2a00::9"},
		{name: "IPv4 in IPv6", remote: "[::ffff:127.0.0.1]:1", forwarded: "::ffff:203.0.113.9", want: "203.0.113.9"},
		{name: "nonsense is the proxy's own", remote: "127.0.0.1:1", forwarded: "unknown", want: "127.0.0.1"},
		{name: "nothing is the proxy's own", remote: "127.0.0.1:1", want: "127.0.0.1"},
		{name: "only proxies", remote: "127.0.0.1:1", forwarded: "10.0.0.8, 10.0.0.7", want: "10.0.0.8"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = one.remote
			for line := range strings.SplitSeq(one.forwarded, "\n") {
				if line != "" {
					r.Header.Add("X-Forwarded-For", line)
				}
			}
			if got := NewCaller(!one.direct, trusted).Address(r); got.String() != one.want {
				t.Errorf("got %s, want %s", got, one.want)
			}
		})
	}
}

func TestTheSignInPageRunsNothingAndKeepsNothing(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	SignInPage().ServeHTTP(w, httptest.NewRequest(http.MethodGet, SignInPath, nil))
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "deed login") {
		t.Fatalf("got %d", w.Code)
	}
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "script") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "style=") {
		t.Error("the page has a script or a style that the policy forbids")
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers %v", w.Header())
	}
	w = httptest.NewRecorder()
	SignInPage().ServeHTTP(w, httptest.NewRequest(http.MethodPost, SignInPath, nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST is answered with %d", w.Code)
	}
}
