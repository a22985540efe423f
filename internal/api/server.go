package api

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// Options say how the surface behaves. The zero Options are usable.
type Options struct {
	// Site is where the server is reached from outside; links for people begin
	// with it.
	Site view.Site
	// Pages is where people look at actions and contracts; empty where there are no
	// pages, so that no link leads nowhere.
	Pages view.Site
	// Version is the program's, for the description of the API.
	Version string
	// Pace limits each principal; zero does not.
	Pace Pace
	// Timeout is how long a request may take, its body included; zero is 30 s.
	Timeout time.Duration
	// Observe is told how each request ended, after its answer; nil is nobody. It
	// is the only place where a fault of the server is told.
	Observe func(context.Context, Event)
	// Remote is the network address that a request came from, by which wrong
	// credentials are slowed down; nil takes the connection's.
	Remote func(*http.Request) string
	// Now and Random are the clock and the dice; nil takes those of the system.
	Now    func() value.Instant
	Random io.Reader
}

// Event is how a request ended.
type Event struct {
	RequestID string
	Method    string
	Route     string // of the table, such as "GET /v1/actions/{ref}"; empty for none
	Status    int
	Bytes     int // of the answer's body
	Took      time.Duration
	Remote    string
	Workspace access.WorkspaceID
	Actor     access.Actor
	Code      access.Code // of an error
	Gone      bool        // whoever asked did not wait for the answer
	// Err is a fault of the server, never answered; Stack is where, if it was a
	// panic.
	Err   error
	Stack []byte
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	services Services
	options  Options
	mux      *http.ServeMux
	pacer    *pacer
	heavy    *heavy
	table    []endpoint
	// openAPI is made when it is first asked for: it takes longer than a start should.
	openAPI func() ([]byte, error)
}

const (
	usualTimeout    = 30 * time.Second
	requestIDHeader = "Deed-Request-Id"
	retrySoon       = 2 // seconds until an unavailable server is asked again
)

// New makes the surface over its services.
func New(services Services, o Options) *Server {
	if o.Timeout <= 0 {
		o.Timeout = usualTimeout
	}
	if o.Observe == nil {
		o.Observe = func(context.Context, Event) {}
	}
	if o.Remote == nil {
		o.Remote = remoteHost
	}
	if o.Now == nil {
		o.Now = func() value.Instant { return value.FromTime(time.Now()) }
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	s := &Server{services: services, options: o, mux: http.NewServeMux(), pacer: newPacer(o.Pace), heavy: newHeavy(), table: table()}
	s.openAPI = sync.OnceValues(func() ([]byte, error) { return openAPI(s.table, o.Version) })
	s.route()
	return s
}

// route gives every path of the table one handler, which finds the method: so that
// another method is answered with those that there are.
func (s *Server) route() {
	byPath := map[string][]*endpoint{}
	for i := range s.table {
		byPath[s.table[i].path] = append(byPath[s.table[i].path], &s.table[i])
	}
	for pattern, endpoints := range byPath {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, endpoints) })
	}
	s.mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) {
		exchangeOf(r).err = &NotFoundError{What: "such endpoint; see /docs"}
	})
}

// exchange is what becomes of one request, kept in its context so that handlers
// only return.
type exchange struct {
	event Event
	reply reply
	err   error
	page  bool // the reply is written already
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// ServeHTTP answers a request, whatever happens.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	x := &exchange{event: Event{RequestID: s.requestID(), Method: r.Method, Remote: s.options.Remote(r)}}
	ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), exchangeKey{}, x), s.options.Timeout)
	defer cancel()
	r = r.WithContext(ctx)
	h := w.Header()
	h.Set(requestIDHeader, x.event.RequestID)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	s.handle(w, r, x)
	if !x.page {
		s.write(w, r, x)
	}
	x.event.Took = time.Since(began)
	s.options.Observe(context.WithoutCancel(ctx), x.event)
}

// handle finds the endpoint and serves it. A panic becomes a fault of the server.
func (s *Server) handle(w http.ResponseWriter, r *http.Request, x *exchange) {
	defer func() {
		if v := recover(); v != nil {
			x.err = &panicError{value: v}
			x.event.Stack = debug.Stack()
		}
	}()
	// The multiplexer would redirect such a path to another one, and with it the
	// credential of whoever follows.
	if p := r.URL.EscapedPath(); p != path.Clean(p) || !printable(r.URL.Path) {
		x.err = &NotFoundError{What: "such endpoint; see /docs"}
		return
	}
	s.mux.ServeHTTP(w, r)
}

// panicError is what a handler did instead of returning.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// dispatch finds the endpoint of a path by method and serves it.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request, endpoints []*endpoint) {
	x := exchangeOf(r)
	var allow []string
	for _, e := range endpoints {
		if e.method == r.Method || e.method == http.MethodGet && r.Method == http.MethodHead {
			x.event.Route = e.route()
			x.reply, x.err = s.serve(w, r, e, x)
			return
		}
		allow = append(allow, e.method)
		if e.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	x.err = &methodError{allow: strings.Join(allow, ", ")}
}

// serve does what all endpoints need, in this order: who is it, may they, what do
// they ask for, is the body one that can be read. The body itself is read by the
// handler, at the very end.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, e *endpoint, x *exchange) (reply, error) {
	c := &call{Server: s, ctx: r.Context(), writer: w, endpoint: e, request: r, at: s.options.Now(), remote: x.event.Remote}
	if e.need.credential {
		text, err := credentialOf(r.Header)
		if err != nil {
			return reply{}, err
		}
		c.credential = account.Credential{Text: text, Address: c.remote}
		if c.principal, err = s.services.Authenticate(c.ctx, c.credential, access.REST); err != nil {
			return reply{}, err
		}
		x.event.Workspace, x.event.Actor = c.principal.Workspace(), c.principal.Actor()
		if err := s.pacer.take(c.principal, c.at.Time()); err != nil {
			return reply{}, err
		}
		if err := e.need.admit(c); err != nil {
			return reply{}, err
		}
	}
	var err error
	if c.query, err = parseQuery(r.URL.RawQuery, e.query); err != nil {
		return reply{}, err
	}
	if err := s.bound(w, r, e); err != nil {
		return reply{}, err
	}
	if e.page {
		x.page = true
		return reply{}, s.writePage(w, r, e, x)
	}
	if e.heavy {
		leave, err := s.heavy.enter(c.ctx, c.principal.Workspace())
		if err != nil {
			return reply{}, err
		}
		defer leave()
	}
	return e.serve(c)
}

// bound refuses a body that cannot be right before a byte of it is read.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, e *endpoint) error {
	if !e.takesBody() {
		if r.ContentLength > 0 || r.ContentLength < 0 {
			return &RequestError{Message: "this takes no body"}
		}
		return nil
	}
	if err := checkMedia(r.Header); err != nil {
		return err
	}
	if r.ContentLength > e.body.limitBytes {
		w.Header().Set("Connection", "close")
		return &sizeError{limitBytes: e.body.limitBytes}
	}
	// A body that arrives a byte at a time must not hold a connection for ever.
	// What cannot be set is the affair of the server around it.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.options.Timeout))
	r.Body = http.MaxBytesReader(w, r.Body, e.body.limitBytes)
	return nil
}

// write sends the answer in one piece.
func (s *Server) write(w http.ResponseWriter, r *http.Request, x *exchange) {
	status := max(x.reply.status, http.StatusOK)
	content := x.reply.content
	var text []byte
	err := x.err
	if err == nil && content != nil {
		if text, err = encode(content); err != nil {
			err = fmt.Errorf("write the answer: %w", err)
		}
	}
	if err != nil {
		f := faultOf(err)
		status, x.event.Code, x.event.Err = f.status, f.Code, f.cause
		s.challenge(w.Header(), f)
		text, _ = encode(faultBody{f}) // texts and numbers, which always can be written
	} else if x.reply.location != "" {
		w.Header().Set("Location", x.reply.location)
	}
	x.event.Status, x.event.Bytes = status, len(text)
	// It is written all the same: a body that did not arrive in time looks like
	// this too, and an answer that is not written would be a 200.
	x.event.Gone = errors.Is(r.Context().Err(), context.Canceled)
	if text != nil {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // whoever does not read it any more needs no error
	}
}

// challenge sets the headers that go with an error.
func (s *Server) challenge(h http.Header, f *fault) {
	switch {
	case f.status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case f.stepUp:
		h.Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, scope=%q", f.Code, f.RequiredScope))
	}
	if f.RetryAfter > 0 {
		h.Set("Retry-After", fmt.Sprint(f.RetryAfter))
	}
}

// encode writes an answer: members in their order, maps by name, and a line end,
// for whoever looks at it in a terminal.
func encode(content any) ([]byte, error) {
	text, err := json.Marshal(content, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}

var requestIDs = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// requestID names a request in the logs. It is no secret and proves nothing.
func (s *Server) requestID() string {
	var raw [10]byte
	if _, err := io.ReadFull(s.options.Random, raw[:]); err != nil {
		return "req_unknown"
	}
	return "req_" + requestIDs.EncodeToString(raw[:])
}

func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
