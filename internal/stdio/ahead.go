package stdio

import (
	"context"
	"sync"

	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/wire"
)

// ahead is the gate that keeps a client's line until it is durably in the
// journal. It refuses nothing: when the journal cannot keep up, the line goes
// on after a bounded time and a person is told, once.
type ahead struct {
	obs  *observer.Observer
	warn func(string)

	mu      sync.Mutex
	waiting []asking
	serving bool
	late    bool // the last line was not durable in time
	told    bool
}

type asking struct {
	place  wire.Place
	answer chan<- wire.Decision
}

func newAhead(obs *observer.Observer, warn func(string)) *ahead {
	return &ahead{obs: obs, warn: warn}
}

// Pass implements [wire.Gate].
func (a *ahead) Pass(line *wire.Line) <-chan wire.Decision {
	answer := make(chan wire.Decision, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = append(a.waiting, asking{line.Place(), answer})
	if !a.serving {
		a.serving = true
		go a.serve()
	}
	return answer
}

// serve makes durable what waits, all of it at once, until nothing waits:
// lines that come in a burst share one write to the disk.
func (a *ahead) serve() {
	for {
		a.mu.Lock()
		batch := a.waiting
		a.waiting = nil
		a.serving = len(batch) > 0
		a.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		a.await(batch[len(batch)-1].place)
		for _, x := range batch {
			x.answer <- wire.Decision{}
		}
	}
}

func (a *ahead) await(place wire.Place) {
	limit := aheadTime
	if a.late {
		limit = aheadRetry
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := a.obs.AwaitDurable(ctx, place)
	a.late = err != nil
	if err == nil || a.told {
		return
	}
	a.told = true
	a.warn("the journal could not keep a line ahead of its delivery: " + err.Error() + "; the traffic goes on")
}
