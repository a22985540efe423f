package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/deed-dev/deed/internal/access"
)

// Pace is how many requests a principal may make: Burst at once, and PerSecond in
// the long run. The zero Pace does not limit.
type Pace struct {
	PerSecond float64
	Burst     int
}

// pacer keeps the pace of each principal, in bounded memory. It forgets those who
// have been quiet so long that they may make a whole burst again, since that is
// what a new one may too.
type pacer struct {
	pace Pace

	mu      sync.Mutex
	byActor map[paced]*rate.Limiter
	swept   time.Time
}

// paced is who is limited: a key, a member or a client, in one workspace.
type paced struct {
	workspace access.WorkspaceID
	actor     access.Actor
}

// mostPaced is how many principals are told apart before the quiet ones are
// forgotten sooner than once a minute.
const mostPaced = 100_000

func newPacer(p Pace) *pacer { return &pacer{pace: p, byActor: map[paced]*rate.Limiter{}} }

// take counts a request: nil, or an [access.ThrottleError] that says when the next
// may come.
func (p *pacer) take(who access.Principal, now time.Time) error {
	if p.pace.PerSecond <= 0 {
		return nil
	}
	limiter := p.limiter(paced{who.Workspace(), who.Actor()}, now)
	if limiter.AllowN(now, 1) {
		return nil
	}
	missing := 1 - limiter.TokensAt(now)
	return &access.ThrottleError{RetryAfter: max(time.Second, time.Duration(missing/p.pace.PerSecond*float64(time.Second)))}
}

func (p *pacer) limiter(who paced, now time.Time) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.swept) > time.Minute || len(p.byActor) >= mostPaced && now.Sub(p.swept) > time.Second {
		p.sweep(now)
	}
	limiter := p.byActor[who]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Limit(p.pace.PerSecond), max(p.pace.Burst, 1))
		p.byActor[who] = limiter
	}
	return limiter
}

func (p *pacer) sweep(now time.Time) {
	p.swept = now
	for who, limiter := range p.byActor {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(p.byActor, who)
		}
	}
}
