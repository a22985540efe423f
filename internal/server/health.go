package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// health says whether the process lives and whether it is ready.
type health struct {
	mu     sync.Mutex
	state  string // empty: ready
	ping   func(context.Context) error
	at     time.Time // of the last ping
	answer error
}

const (
	stateStarting = "the server is starting"
	stateEnding   = "the server is ending"
	stateDatabase = "the database does not answer"

	pingLimit = 2 * time.Second
	// pingEvery keeps an impatient prober from being the database's main load.
	pingEvery = time.Second
)

func newHealth() *health { return &health{state: stateStarting} }

func (h *health) begin(ping func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ping == nil {
		ping = noPing
	}
	h.state, h.ping = "", ping
}

func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = stateEnding
}

// alive answers 200 for as long as the process answers at all: a database that is
// gone is no reason to start the process anew.
func (h *health) alive(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, `{"status":"ok"}`)
}

func (h *health) ready(w http.ResponseWriter, r *http.Request) {
	if waits := h.waits(r.Context()); waits != "" {
		unavailable(w, waits)
		return
	}
	answer(w, http.StatusOK, `{"status":"ready"}`)
}

// waits is what the server waits for, empty if it is ready.
func (h *health) waits(ctx context.Context) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != "" {
		return h.state
	}
	if now := time.Now(); now.Sub(h.at) >= pingEvery {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
		h.answer = h.ping(limit)
		cancel()
		h.at = now
	}
	if h.answer != nil {
		return stateDatabase
	}
	return ""
}

func answer(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body + "\n"))
}

// unavailable answers in the form of the API's errors.
func unavailable(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", "1")
	answer(w, http.StatusServiceUnavailable, `{"error":{"code":"unavailable","message":"`+why+`","retry_after":1}}`)
}
