package postgres

import (
	"context"
	"net/url"
	"strings"
	"time"
)

// backoff waits longer each time, up to five seconds.
type backoff struct{ next time.Duration }

func (b *backoff) pause(ctx context.Context) {
	b.next = min(max(2*b.next, 50*time.Millisecond), 5*time.Second)
	timer := time.NewTimer(b.next)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// givesConns says whether a URL or a list of settings says how many connections
// there may be.
func givesConns(text string) bool {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" {
		return u.Query().Has("pool_max_conns")
	}
	return strings.Contains(text, "pool_max_conns")
}
