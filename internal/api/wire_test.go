package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// wire is a raw connection to a server that listens.
func wire(t *testing.T, s *Server) (*bufio.Reader, net.Conn) {
	t.Helper()
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	conn, err := net.Dial("tcp", listening.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn), conn
}

func answerOf(t *testing.T, from *bufio.Reader) (*http.Response, string) {
	t.Helper()
	r, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, string(text)
}

func TestABodyThatSaysThatItIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	from, to := wire(t, New(fakes(), Options{}))
	// Not one byte of the body is ever sent.
	fmt.Fprintf(to, "POST /v1/actions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer full-key\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", 1<<40)
	r, text := answerOf(t, from)
	if r.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(text, `"limit_bytes":262144`) {
		t.Errorf("the answer is %d %s", r.StatusCode, text)
	}
	if _, err := from.ReadByte(); err == nil {
		t.Error("the connection stays open for the rest of the body")
	}
}

func TestABodyWithoutALengthIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	from, to := wire(t, New(fakes(), Options{}))
	fmt.Fprint(to, "POST /v1/actions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer full-key\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat(" ", 64<<10))
	go func() {
		for range 1000 { // 64 MB, unless the other side hangs up
			if _, err := io.WriteString(to, chunk); err != nil {
				return
			}
		}
	}()
	r, text := answerOf(t, from)
	if r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("the answer is %d %s", r.StatusCode, text)
	}
}

func TestWhoMayNotIsToldBeforeSendingTheBody(t *testing.T) {
	t.Parallel()
	from, to := wire(t, New(fakes(), Options{}))
	fmt.Fprint(to, "POST /v1/actions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer viewer\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if r, text := answerOf(t, from); r.StatusCode != http.StatusForbidden {
		t.Errorf("the first answer is %d %s", r.StatusCode, text)
	}
}

func TestABodyThatDoesNotArriveHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	from, to := wire(t, New(fakes(), Options{Timeout: 100 * time.Millisecond}))
	fmt.Fprint(to, "POST /v1/actions HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer full-key\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{")
	if r, text := answerOf(t, from); r.StatusCode != http.StatusBadRequest {
		t.Errorf("the answer is %d %s", r.StatusCode, text)
	}
}

// slow asks a store that answers when the request is given up.
type slow struct{ Workspaces }

func (slow) Workspace(ctx context.Context, _ access.Principal) (*store.Workspace, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestARequestThatTakesTooLongIsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	services := fakes()
	services.Workspaces = slow{}
	from, to := wire(t, New(services, Options{Timeout: 50 * time.Millisecond}))
	fmt.Fprint(to, "GET /v1/workspace HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer viewer\r\n\r\n")
	r, text := answerOf(t, from)
	if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "2" {
		t.Errorf("the answer is %d %s", r.StatusCode, text)
	}
	// The connection serves the next request as if nothing had been.
	fmt.Fprint(to, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
	if r, text := answerOf(t, from); r.StatusCode != http.StatusOK {
		t.Errorf("the next answer is %d %s", r.StatusCode, text)
	}
}

func TestEachPrincipalHasAPaceOfItsOwn(t *testing.T) {
	t.Parallel()
	now := testNow
	s := start(t, fakes(), func(o *Options) {
		o.Pace = Pace{PerSecond: 0.5, Burst: 2}
		o.Now = func() (at value.Instant) { return now }
	})
	asked := ask{method: get, path: "/v1/workspace", credential: "viewer"}
	for range 2 {
		if g := s.do(asked); g.status != http.StatusOK {
			t.Fatalf("a request of the burst is answered with %d", g.status)
		}
	}
	g := s.do(asked)
	if g.status != http.StatusTooManyRequests || g.error.RetryAfter != 2 {
		t.Errorf("the third is answered with %d %s", g.status, g.body)
	}
	other := asked
	other.credential = "full-key"
	if g := s.do(other); g.status != http.StatusOK {
		t.Errorf("somebody else is answered with %d", g.status)
	}
	now = now.Add(time.Duration(g.error.RetryAfter) * time.Second)
	if g := s.do(asked); g.status != http.StatusOK {
		t.Errorf("at the time that was told the answer is %d %s", g.status, g.body)
	}
	now = now.Add(2 * time.Minute)
	s.do(other)
	if n := len(s.server.pacer.byActor); n != 1 {
		t.Errorf("%d principals are remembered, though one has been quiet", n)
	}
}
