package remote

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

func TestACredentialGoesToNoOtherAddress(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if got := r.Header.Get("Authorization"); got != "Bearer "+secret {
				t.Errorf("the credential is %q", got)
			}
			http.Redirect(w, r, other.URL+"/v1/actions", status)
		}))
		c, err := Open(server.URL, secret, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Call(t.Context(), http.MethodPost, "/v1/actions", nil, map[string]string{}, nil)
		if said, is := errors.AsType[*Error](err); !is || said.Status != status || !strings.Contains(err.Error(), "a redirect, which is not followed") || asked != 1 {
			t.Errorf("%d: %d requests, %v", status, asked, err)
		}
		server.Close()
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests went to where redirects lead", n)
	}
}

func TestAClientsOwnWayWithRedirectsDoesNotCount(t *testing.T) {
	t.Parallel()
	followed := false
	client := &http.Client{
		Transport:     &wire{answers: []func(*http.Request) (*http.Response, error){answer(302, "", "Location", "https://elsewhere.example/")}},
		CheckRedirect: func(*http.Request, []*http.Request) error { followed = true; return nil },
	}
	c, err := Open("https://deed.example.com", secret, Options{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, nil); err == nil || followed {
		t.Errorf("it was followed: %v, %v", followed, err)
	}
	if client.CheckRedirect == nil || client.CheckRedirect(nil, nil) != nil {
		t.Error("the client that was given has changed")
	}
}

func TestNoErrorAndNoPrintShowsACredential(t *testing.T) {
	t.Parallel()
	const password = "geheim-0815"
	hidden := []string{secret, password, "tok_query"}
	shows := func(what, text string) {
		t.Helper()
		for _, one := range hidden {
			if strings.Contains(text, one) {
				t.Errorf("%s shows it: %s", what, text)
			}
		}
	}
	for _, address := range []string{
		"https://ada:" + password + "@deed.example.com", "https://ada:" + password + "@", "https://ada:" + password + "@deed example.com",
		"https://deed.example.com?token=tok_query", "https://deed.example.com/#tok_query",
	} {
		_, err := Open(address, secret, Options{})
		if err == nil {
			t.Errorf("%s is taken", address)
			continue
		}
		shows("an address", err.Error())
	}
	for _, key := range []string{secret + "\n", `"` + secret + `é`, secret + " " + secret} {
		_, err := Open("https://deed.example.com", key, Options{})
		if err == nil {
			t.Errorf("the key %q is taken", key)
			continue
		}
		shows("a key that is none", err.Error())
	}
	c, _ := dial(t, broken)
	_, err := c.Once().Call(t.Context(), http.MethodGet, "/v1/actions", url.Values{"cursor": {"tok_query"}}, nil, nil)
	if !errors.As(err, new(*UnreachableError)) {
		t.Fatalf("%v", err)
	}
	shows("a network that breaks", fmt.Sprintf("%v %+v", err, err))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		shows(verb, fmt.Sprintf(verb, c))
	}
}

func TestAnAddressIsHTTPSBeyondThisMachine(t *testing.T) {
	t.Parallel()
	for address, taken := range map[string]bool{
		"https://deed.example.com": true, "https://deed.example.com/under/a/path/": true, "http://localhost:7373": true, "http://127.0.0.1:7373": true, "http://[::1]:7373": true,
		"http://deed.example.com": false, "http://127.0.0.1.example.com": false, "http://localhost.example.com": false, "ftp://deed.example.com": false, "deed.example.com": false, "": false, "https://": false,
	} {
		if _, err := Open(address, secret, Options{}); (err == nil) != taken {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestAnAnswerHasALimit(t *testing.T) {
	t.Parallel()
	endless := func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(zeros{}), Request: r}, nil
	}
	for what, one := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		taken  bool
	}{
		"as much as may be": {answer(200, strings.Repeat(" ", 998)+"{}"), true},
		"a byte more":       {answer(200, strings.Repeat(" ", 999)+"{}"), false},
		"without an end":    {endless, false},
	} {
		c, w := dial(t, one.answer)
		if c.most != maxAnswer {
			t.Fatalf("an answer has %d bytes at most", c.most)
		}
		c.most = 1000
		var raw []byte
		_, err := c.Call(t.Context(), http.MethodGet, "/v1/actions", nil, nil, &raw)
		if (err == nil) != one.taken || len(w.bodies) != 1 {
			t.Errorf("%s: %d requests, %v", what, len(w.bodies), err)
		}
		if one.taken != (len(raw) == 1000) {
			t.Errorf("%s: %d bytes", what, len(raw))
		}
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestAnAnswerThatBreaksOffIsNone(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.Header().Set("Content-Length", "100")
		}
		_, _ = io.WriteString(w, `{"recorded":"new"}`)
	}))
	defer server.Close()
	c, err := Open(server.URL, secret, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Recorded string }
	if _, err := c.Call(t.Context(), http.MethodPost, "/v1/actions", nil, map[string]string{}, &out); err != nil || out.Recorded != "new" || asked != 2 {
		t.Errorf("%d requests, %+v, %v", asked, out, err)
	}
}
