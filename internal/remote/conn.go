package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of one request and of trying again.
const (
	maxAnswer     = 64 << 20
	DefaultTries  = 6
	firstPause    = 100 * time.Millisecond
	longestPause  = 10 * time.Second
	longestDemand = 5 * time.Minute // of a server that asks to wait
)

// Conn is a server's address with a credential. It is safe for many goroutines.
type Conn struct {
	base  *url.URL
	key   string
	http  *http.Client
	tries int
	agent string
	most  int64 // bytes of an answer
}

// Options of a connection; the zero value is right for most.
type Options struct {
	// Client is used for its transport and time-out; its CheckRedirect is not.
	Client *http.Client
	// Tries is how often one request is sent at most; 0 is [DefaultTries].
	Tries int
	// Agent is the User-Agent.
	Agent string
}

// Open checks an address and a credential, and connects to nothing yet. An
// address that is not on this machine needs https, since the credential goes
// there.
func Open(address, key string, o Options) (*Conn, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case (err != nil || base.Host == "") && strings.Contains(address, "@"): // a password may stand before it
		return nil, errors.New("the server's address is no URL such as https://deed.example.com")
	case err != nil || base.Host == "":
		return nil, fmt.Errorf("the server's address %q is no URL such as https://deed.example.com", address)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the server's address has a user, a query or a fragment, which it must not have")
	case base.Scheme == "http" && !loopback(base.Hostname()):
		return nil, fmt.Errorf("the server's address %q would send the credential in the clear: use https", address)
	case base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("the server's address %q is neither https nor http", address)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the credential has characters that none has; was it copied whole, without quotes?")
	}
	client := http.Client{Timeout: 30 * time.Second}
	if o.Client != nil {
		client = *o.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	tries := o.Tries
	if tries == 0 {
		tries = DefaultTries
	}
	return &Conn{base: base, key: key, http: &client, tries: tries, agent: o.Agent, most: maxAnswer}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Once is the same connection, which sends each request at most once: for those
// that the server would not take as a replay.
func (c *Conn) Once() *Conn {
	once := *c
	once.tries = 1
	return &once
}

// Address is the server's, without a slash at its end.
func (c *Conn) Address() string { return c.base.String() }

// String is the address; the credential never shows.
func (c *Conn) String() string { return c.Address() }

// GoString is String.
func (c *Conn) GoString() string { return c.Address() }

// Call sends a request until it is answered, and reads the answer into out (nil:
// not at all; *[]byte: as it came). The path's parts are escaped already. A body
// of nil is none, of []byte is sent as it is. Errors: [Error] with what the server
// said, [UnreachableError], the context's.
func (c *Conn) Call(ctx context.Context, method, path string, query url.Values, body, out any) (status int, err error) {
	text, raw := body.([]byte)
	if body != nil && !raw {
		if text, err = json.Marshal(body); err != nil {
			return 0, fmt.Errorf("write the body of %s %s: %w", method, path, err)
		}
	}
	pause := firstPause
	for try := 1; ; try++ {
		status, after, err := c.once(ctx, method, path, query, text, out)
		if err == nil || !again(err) {
			return status, err
		}
		if try == c.tries {
			return status, err
		}
		wait := max(after, pause/2+rand.N(pause/2+1))
		pause = min(2*pause, longestPause)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return status, err // it would be over before: say what the server said
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return status, fmt.Errorf("%w; the last try: %w", context.Cause(ctx), err)
		case <-timer.C:
		}
	}
}

// once sends a request once. after is how long the server wants to be left alone.
func (c *Conn) once(ctx context.Context, method, path string, query url.Values, body []byte, out any) (status int, after time.Duration, err error) {
	address := c.base.String() + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return 0, 0, fmt.Errorf("make the request %s %s: %w", method, path, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.agent != "" {
		request.Header.Set("User-Agent", c.agent)
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return 0, 0, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, c.most+1))
	if err != nil {
		return response.StatusCode, 0, c.unreachable(ctx, err)
	}
	if int64(len(text)) > c.most {
		return response.StatusCode, 0, fmt.Errorf("the answer to %s %s has more than %d bytes", method, path, c.most)
	}
	if response.StatusCode >= 300 {
		fault := readFault(response, text)
		return response.StatusCode, fault.RetryAfter, fault
	}
	switch into := out.(type) {
	case nil:
	case *[]byte:
		*into = text
	default:
		if err := json.Unmarshal(text, out); err != nil {
			return response.StatusCode, 0, fmt.Errorf("read the answer to %s %s: %w", method, path, err)
		}
	}
	return response.StatusCode, 0, nil
}

func (c *Conn) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the URL, whose query may tell something
	}
	return &UnreachableError{Address: c.Address(), Err: err}
}

// again says whether the same request may be answered otherwise later.
func again(err error) bool {
	if fault, ok := errors.AsType[*Error](err); ok {
		return fault.Status == http.StatusTooManyRequests || fault.Status >= 500
	}
	return errors.As(err, new(*UnreachableError))
}

// retryAfter reads the header of that name: seconds or a date, see RFC 9110, 10.2.3.
func retryAfter(text string) time.Duration {
	if at, err := http.ParseTime(text); err == nil {
		return demand(time.Until(at).Seconds())
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return demand(n)
}

// demand is how long a server may ask to be left alone.
func demand(seconds float64) time.Duration {
	switch {
	case !(seconds > 0): // nor is it a number, perhaps
		return 0
	case seconds >= longestDemand.Seconds():
		return longestDemand
	}
	return time.Duration(seconds * float64(time.Second))
}
