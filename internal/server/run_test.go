package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// events is what happened, in order.
type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) add(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, name)
}

func (e *events) list() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.all)
}

// subject is a server under test.
type subject struct {
	stop  context.CancelFunc // tells it to end
	ended chan error
	url   string
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// begin runs a server on a free port and waits until it is ready.
func begin(t *testing.T, app *App, change func(*Options)) *subject {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	started := make(chan string, 1)
	o := Options{
		Listen: "127.0.0.1:0", ShutdownLimit: time.Minute, Log: quiet(), Meter: NewMeter(Build{}),
		Started: func(_, url string) { started <- url },
	}
	if change != nil {
		change(&o)
	}
	if app.Close == nil {
		app.Close = func() error { return nil }
	}
	s := &subject{stop: stop, ended: make(chan error, 1)}
	go func() {
		s.ended <- Run(ctx, o, func(context.Context, string) (*App, error) { return app, nil })
	}()
	select {
	case s.url = <-started:
	case err := <-s.ended:
		t.Fatalf("the server did not start: %v", err)
	}
	return s
}

func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestAServerIsAliveBeforeItIsOpenAndReadyOnlyAfterwards(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	at, goOn, ready, ended := make(chan string, 1), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Listen: "127.0.0.1:0", ShutdownLimit: time.Minute, Log: quiet(), Meter: NewMeter(Build{}),
			Started: func(_, _ string) { close(ready) },
		}, func(_ context.Context, url string) (*App, error) {
			at <- url
			<-goOn
			hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
			return &App{Handler: hello, Close: func() error { return nil }}, nil
		})
	}()
	url := <-at
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/v1/actions": 503, "/metrics": 200} {
		if code, body := fetch(t, url+path); code != want {
			t.Errorf("before it is open %s answers %d %s, want %d", path, code, body, want)
		}
	}
	close(goOn)
	<-ready
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/actions": 200} {
		if code, body := fetch(t, url+path); code != want {
			t.Errorf("after it is open %s answers %d %s, want %d", path, code, body, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestARequestThatHasBegunIsAnsweredAfterTheEndWasOrdered(t *testing.T) {
	t.Parallel()
	inside, goOn := make(chan struct{}), make(chan struct{})
	var happened events
	s := begin(t, &App{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(inside)
			<-goOn
			happened.add("answered")
			_, _ = io.WriteString(w, "done")
		}),
		Workers: []Worker{{Name: "evaluator", Run: func(ctx context.Context) error {
			<-ctx.Done()
			happened.add("unit finished")
			return nil
		}}},
		Close: func() error { happened.add("closed"); return nil },
	}, nil)
	answered := make(chan string, 1)
	go func() {
		answer, err := http.Get(s.url)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		answered <- string(body)
	}()
	<-inside
	s.stop()
	refusesConnections(t, s.url)
	close(goOn)
	if got := <-answered; got != "done" {
		t.Errorf("the request got %q", got)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if want := []string{"answered", "unit finished", "closed"}; !slices.Equal(happened.list(), want) {
		t.Errorf("happened %v, want %v", happened.list(), want)
	}
}

// refusesConnections waits until nobody listens any more.
func refusesConnections(t *testing.T, url string) {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	limit := time.After(2 * time.Minute)
	for {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		connection.Close()
		select {
		case <-again.C:
		case <-limit:
			t.Fatal("connections are accepted after the end was ordered")
		}
	}
}

func TestARequestThatTakesTooLongIsCutOffAndThatIsSaid(t *testing.T) {
	t.Parallel()
	inside, closed := make(chan struct{}), make(chan struct{})
	s := begin(t, &App{
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(inside)
			<-r.Context().Done() // its connection is closed
		}),
		Close: func() error { close(closed); return nil },
	}, func(o *Options) { o.ShutdownLimit = time.Millisecond })
	go func() {
		if answer, err := http.Get(s.url); err == nil {
			answer.Body.Close()
		}
	}()
	<-inside
	s.stop()
	if err := <-s.ended; !errors.As(err, new(*CutOffError)) {
		t.Errorf("it ended with %v, want a CutOffError", err)
	}
	<-closed
}

func TestWhatKeepsAServerFromOpeningEndsIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is of another program")
	err := Run(t.Context(), Options{Listen: "127.0.0.1:0", ShutdownLimit: time.Minute, Log: quiet(), Meter: NewMeter(Build{})},
		func(context.Context, string) (*App, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestAnEndDuringTheOpeningIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	err := Run(ctx, Options{Listen: "127.0.0.1:0", ShutdownLimit: time.Minute, Log: quiet(), Meter: NewMeter(Build{})},
		func(ctx context.Context, _ string) (*App, error) {
			stop()
			return nil, ctx.Err()
		})
	if err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAnAddressThatIsTakenIsToldWithAnotherToTry(t *testing.T) {
	t.Parallel()
	s := begin(t, &App{Handler: http.NotFoundHandler()}, nil)
	err := Run(t.Context(), Options{Listen: strings.TrimPrefix(s.url, "http://"), Log: quiet(), Meter: NewMeter(Build{})}, nil)
	var hint *terminal.Hint
	if !errors.As(err, &hint) || !strings.Contains(hint.Next, "--listen") {
		t.Errorf("got %v", err)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// addresses takes the other address out of what is logged, as it is listened at.
type addresses chan string

func (a addresses) Write(line []byte) (int, error) {
	if _, address, found := strings.Cut(string(line), "msg=metrics address="); found {
		a <- strings.TrimSpace(address)
	}
	return len(line), nil
}

func TestTheOtherAddressHasMetricsAndHealthAndTheMainOneNoMetrics(t *testing.T) {
	t.Parallel()
	told := make(addresses, 10)
	s := begin(t, &App{Handler: http.NotFoundHandler()}, func(o *Options) {
		o.MetricsListen, o.Log = "127.0.0.1:0", slog.New(slog.NewTextHandler(told, nil))
	})
	side := <-told
	if code, body := fetch(t, "http://"+side+"/metrics"); code != 200 || !strings.Contains(body, "deed_build_info") {
		t.Errorf("the other address answers %d", code)
	}
	if code, _ := fetch(t, "http://"+side+"/readyz"); code != 200 {
		t.Errorf("its /readyz answers %d", code)
	}
	if code, _ := fetch(t, "http://"+side+"/v1/actions"); code != 404 {
		t.Errorf("its API answers %d", code)
	}
	if code, _ := fetch(t, s.url+"/metrics"); code != 404 {
		t.Errorf("the main address answers /metrics with %d", code)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

func TestTheSystemIsToldWhenTheServerIsReadyAndWhenItEnds(t *testing.T) {
	dir, err := os.MkdirTemp("", "deed") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Skipf("NOT TESTED: this system has no datagram sockets in files: %v", err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	s := begin(t, &App{Handler: http.NotFoundHandler()}, nil)
	told := func() string {
		buffer := make([]byte, 100)
		_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := socket.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		return string(buffer[:n])
	}
	if got := told(); got != "READY=1" {
		t.Errorf("told %q", got)
	}
	s.stop()
	if got := told(); got != "STOPPING=1" {
		t.Errorf("told %q", got)
	}
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

func TestTLSIsServedAndARenewedCertificateIsShownWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writePair(t, certFile, keyFile, 1)
	certificate, err := LoadCertificate(certFile, keyFile, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, &App{Handler: http.NotFoundHandler()}, func(o *Options) { o.Certificate = certificate })
	if !strings.HasPrefix(s.url, "https://") {
		t.Errorf("the URL is %s", s.url)
	}
	if got := shown(t, s.url); got != first {
		t.Errorf("shows %s, want %s", got, first)
	}
	second := writePair(t, certFile, keyFile, 2)
	if err := certificate.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, s.url); got != second {
		t.Errorf("shows %s after the renewal, want %s", got, second)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Error(err)
	}
}

// shown is the serial number of the certificate that a server shows.
func shown(t *testing.T, url string) string {
	t.Helper()
	connection, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func TestAnOpeningThatDoesNotNoticeTheEndIsLeftBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		never := make(chan struct{})
		defer close(never)
		time.AfterFunc(time.Hour, stop)
		begun := time.Now()
		_, err := opened(ctx, "", func(context.Context, string) (*App, error) {
			<-never
			return nil, nil
		})
		if took := time.Since(begun); !errors.Is(err, context.Canceled) || took != time.Hour+openLimit {
			t.Errorf("it ended after %s with %v, want %s after it was told", took, err, openLimit)
		}
	})
}
