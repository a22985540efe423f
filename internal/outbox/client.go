package outbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"
)

// Client declares actions at one address with one key. It may be used by many
// goroutines.
type Client struct {
	endpoint    string // of the actions
	api         string
	key         string
	fingerprint string
	http        *http.Client
}

// connections is how many stay open to the server between calls.
const connections = 16

// AddressError says that something is no address of a server. It does not
// repeat one that has a password in it.
type AddressError struct{ Reason string }

func (e *AddressError) Error() string { return "the address of the server " + e.Reason }

// KeyError says that something cannot be a key. It does not repeat it.
type KeyError struct{ Reason string }

func (e *KeyError) Error() string { return "the key " + e.Reason }

// NewClient returns a client for the server at api, such as
// https://deed.example.com. Errors: *AddressError, *KeyError, and those of
// reading SSL_CERT_FILE.
func NewClient(api, key, version string) (*Client, error) {
	address, err := readAddress(api)
	if err != nil {
		return nil, err
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, &KeyError{"is empty"}
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return nil, &KeyError{"has characters that no key has"}
		}
	}
	transport, err := newTransport()
	if err != nil {
		return nil, err
	}
	api = strings.TrimSuffix(address.String(), "/")
	sum := sha256.Sum256([]byte("deed outbox\n" + api + "\n" + key))
	return &Client{
		endpoint: api + "/v1/actions", api: api, key: key, fingerprint: hex.EncodeToString(sum[:8]),
		http: &http.Client{
			Transport: &named{transport, "deed/" + version},
			// The key is for one address. Whoever answers there must not be able
			// to have it sent to another one.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// API is the address, without anything that must not be kept.
func (c *Client) API() string { return c.api }

// Fingerprint tells keys and addresses apart without saying anything of them.
func (c *Client) Fingerprint() string { return c.fingerprint }

// PlainTo is the host that a key would go to without encryption, empty where it
// does not leave this machine so.
func (c *Client) PlainTo() string {
	address, err := url.Parse(c.api)
	if err != nil || address.Scheme != "http" {
		return ""
	}
	host := address.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	return host
}

func readAddress(api string) (*url.URL, error) {
	address, err := url.Parse(strings.TrimSpace(api))
	switch {
	case err != nil:
		return nil, &AddressError{"cannot be read as a URL"} // its own error repeats a password
	case address.Scheme != "https" && address.Scheme != "http":
		return nil, &AddressError{"must begin with https:// or http://"}
	case address.Host == "" || address.Opaque != "":
		return nil, &AddressError{"names no host"}
	case address.User != nil:
		return nil, &AddressError{"has a user or a password in it; give the key by DEED_API_KEY"}
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		return nil, &AddressError{"has something behind ? or #, which no address of a server has"}
	}
	return address, nil
}

// newTransport keeps connections open, and goes to the server and nowhere
// else: a proxy that somebody set for other programs does not get the key.
func newTransport() (*http.Transport, error) {
	roots, err := extraRoots()
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                 nil,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          connections,
		MaxIdleConnsPerHost:   connections,
		IdleConnTimeout:       5 * time.Minute,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}, nil
}

// extraRoots reads SSL_CERT_FILE where the system's own verifier does not.
func extraRoots() (*x509.CertPool, error) {
	path := os.Getenv("SSL_CERT_FILE")
	if path == "" || (runtime.GOOS != "darwin" && runtime.GOOS != "windows") {
		return nil, nil
	}
	certificates, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read SSL_CERT_FILE: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(certificates) {
		return nil, errors.New("read SSL_CERT_FILE: it has no certificate in it")
	}
	return roots, nil
}

// named says who asks.
type named struct {
	next  http.RoundTripper
	agent string
}

func (n *named) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", n.agent) // the request is our own, made a moment ago
	return n.next.RoundTrip(r)
}

// longestAnswer is how much of an answer is read.
const longestAnswer = 1 << 20

// Declare sends a declaration and says how that went. It never waits longer
// than ctx.
func (c *Client) Declare(ctx context.Context, body []byte) Result {
	began := time.Now()
	r := c.declare(ctx, body, began)
	r.Why = c.clean(r.Why)
	r.Class = c.clean(r.Class)
	return r
}

func (c *Client) declare(ctx context.Context, body []byte, began time.Time) Result {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return Result{Class: "unreachable", Why: "unreachable: " + line(err.Error())}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("X-Api-Key", c.key)
	// Nothing is sent of this. It lets a connection that the server has closed
	// while it was idle be replaced: to declare twice is to declare once.
	request.Header["Idempotency-Key"] = nil
	response, err := c.http.Do(request)
	if err != nil {
		return unanswered(withoutAddress(err), time.Since(began))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil && response.StatusCode != http.StatusCreated {
		return unanswered(withoutAddress(err), time.Since(began))
	}
	return answered(response.StatusCode, response.Header, text)
}

// withoutAddress takes off what every line would repeat.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// clean takes the key out of what a server, or anything else, may have said.
func (c *Client) clean(s string) string {
	return strings.ReplaceAll(s, c.key, "<redacted:api_key>")
}
