package span

import (
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/terminal"
)

const (
	// newsEvery is how often a trouble that comes and goes is told at most.
	newsEvery = time.Minute
	// messageMost is how much of a collector's message goes into the log.
	messageMost = 300
)

// news tells the log when sending begins to fail and when it is well again, and not
// of every try.
type news struct {
	log     *slog.Logger
	secrets []string // which a collector might repeat

	mu    sync.Mutex
	fails bool
	told  bool      // of this failing
	at    time.Time // when a trouble was told last
}

func newNews(log *slog.Logger, headers map[string]string) *news {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	n := &news{log: log}
	for _, value := range headers {
		n.secrets = append(n.secrets, value)
		n.secrets = append(n.secrets, strings.Fields(value)...) // "Bearer" and what follows it
	}
	return n
}

func (n *news) bad() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fails
}

// failed says that a try failed.
func (n *news) failed(reason string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails = true
	if !n.told && n.due() {
		n.told = true
		n.log.Warn("traces cannot be sent; what finds no place in the queue is dropped, and all else goes on", "reason", n.clean(reason))
	}
}

// went says that a batch was taken, and what the collector said of it.
func (n *news) went(t taken) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.told {
		n.log.Info("traces are sent again")
	}
	n.fails, n.told = false, false
	if (t.rejected > 0 || t.message != "") && n.due() {
		n.log.Warn("the collector has something to say of the traces", "refused", t.rejected, "message", n.clean(t.message))
	}
}

// due says whether a trouble may be told, and remembers that it was.
func (n *news) due() bool {
	if !n.at.IsZero() && time.Since(n.at) < newsEvery {
		return false
	}
	n.at = time.Now()
	return true
}

// clean takes out of a text what does not belong into a log.
func (n *news) clean(text string) string {
	for _, secret := range n.secrets {
		if len(secret) >= 4 { // anything shorter is no secret, and would tear words apart
			text = strings.ReplaceAll(text, secret, "HIDDEN")
		}
	}
	if len(text) > messageMost {
		text = text[:messageMost]
		for !utf8.ValidString(text) && len(text) > messageMost-utf8.UTFMax {
			text = text[:len(text)-1]
		}
		text += "…"
	}
	return terminal.Clean(text)
}
