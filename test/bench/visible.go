package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// measureLatency times how long a fact that decides a verdict takes to be seen,
// while agents declare and a connector tells at half of what the server can take.
func measureLatency(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "From a deciding fact to the verdict that shows it",
		header: []string{"Database", "Load, actions and facts a second", "n", "Median", "p99", "Worst"},
	}
	if b.deed == "" {
		s.remark("Nothing is measured without deed.")
		return s, nil
	}
	b.onBoth(ctx, s, b.latencyOn)
	s.remark("First %d clients declare as fast as they can for %s. Then the load is half of that: each refund is declared, and stripe tells of it a moment later, in batches of what came "+
		"together. Beside it one more refund at a time is declared; stripe says that it failed, which decides it; and it is read every %s until it is FAIL. The time begins before that fact is sent.",
		b.dose.clients, b.dose.turn, pollEvery)
	return s, nil
}

// pollEvery is how often the probe is read.
const pollEvery = 5 * time.Millisecond

func (b *bench) latencyOn(ctx context.Context, s *section, where serving) error {
	site, err := b.open(ctx, where)
	if err != nil {
		return err
	}
	defer site.end(s)
	var r refunds
	full := &contest{}
	if err := site.enterDeclarers(ctx, full, &r, b.dose.clients); err != nil {
		return err
	}
	if err := full.run(1, b.dose.turn); err != nil {
		return err
	}
	if err := site.idle(ctx, &r); err != nil {
		return err
	}
	for _, share := range []float64{0, 0.5} {
		rate := full.total[0].perSecond() * share
		took, reached, err := b.probe(ctx, site, &r, rate)
		if err != nil {
			return err
		}
		s.row(where.name, perSecond(reached), fmt.Sprint(len(took)), millis(took.median()), millis(took.p99()), millis(took.worst()))
		if share > 0 {
			s.figures = append(s.figures, figure{
				what: "from a deciding fact to its verdict at half of the load, p99, on " + where.name, target: "< 1 s",
				value: millis(took.p99()), met: took.p99() < time.Second,
			})
		}
	}
	return nil
}

// idle waits until everything is evaluated: a probe is seen quickly.
func (s *site) idle(ctx context.Context, r *refunds) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	p, err := s.openProbe()
	if err != nil {
		return err
	}
	defer p.close()
	for quick := 0; quick < 3; {
		took, err := p.once(ctx, r.next.Add(1))
		if err != nil {
			return fmt.Errorf("wait until all is evaluated: %w", err)
		}
		quick++
		if took > 200*time.Millisecond {
			quick = 0
		}
	}
	return nil
}

// probe times facts under a load of so many actions a second, and says how many
// there were.
func (b *bench) probe(ctx context.Context, site *site, r *refunds, rate float64) (took sample, reached float64, err error) {
	p, err := site.openProbe()
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	loadCtx, stop := context.WithCancel(ctx)
	defer stop()
	var working sync.WaitGroup
	var done int64
	var failed error
	began := time.Now()
	if rate > 0 {
		working.Go(func() { done, failed = site.load(loadCtx, r, rate, b.dose.clients) })
	}
	for range b.dose.probes {
		one, err := p.once(ctx, r.next.Add(1))
		if err != nil {
			return nil, 0, err
		}
		took = append(took, one)
	}
	stop()
	working.Wait()
	if failed != nil {
		return nil, 0, fmt.Errorf("load the server: %w", failed)
	}
	return took, float64(done) / time.Since(began).Seconds(), nil
}

// load declares so many actions a second until the context ends, and tells of each.
func (s *site) load(ctx context.Context, r *refunds, rate float64, clients int) (int64, error) {
	due := make(chan struct{}, clients)
	happened := make(chan int64, 100_000)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	peers, done, err := s.dialAll(clients+1, s.agent)
	if err != nil {
		return 0, err
	}
	defer done()
	teller, err := s.dial(s.stripe)
	if err != nil {
		return 0, err
	}
	defer teller.conn.Close()
	var working sync.WaitGroup
	errs := make(chan error, clients+1)
	declared := make([]int64, clients)
	for client := range clients {
		working.Go(func() {
			var body []byte
			for range due {
				var n int64
				body, n = r.declaration(body[:0])
				if _, err := peers[client].must(http.StatusCreated, http.MethodPost, "/v1/actions", body); err != nil {
					errs <- err
					stop()
					return
				}
				declared[client]++
				happened <- n
			}
		})
	}
	var telling sync.WaitGroup
	telling.Go(func() {
		if err := tell(teller, happened); err != nil {
			errs <- err
			stop()
		}
	})
	pace(ctx, rate, due)
	close(due)
	working.Wait()
	close(happened)
	telling.Wait()
	total := int64(0)
	for _, n := range declared {
		total += n
	}
	select {
	case err := <-errs:
		return total, err
	default:
		return total, nil
	}
}

// pace lets something be done so often a second. What a slow server lets pass is not
// made up for.
func pace(ctx context.Context, rate float64, due chan<- struct{}) {
	const every = 5 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	owed := 0.0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for owed = min(owed+rate*every.Seconds(), rate); owed >= 1; owed-- {
			select {
			case due <- struct{}{}:
				continue
			case <-ctx.Done():
				return
			}
		}
	}
}

// tell tells of what happened, as much at a time as came together.
func tell(p *peer, happened <-chan int64) error {
	var body []byte
	for first := range happened {
		body = appendFact(append(body[:0], `{"facts":[`...), "succeeded", first, time.Now())
		for n := 1; n < factsInBatch && len(happened) > 0; n++ {
			body = appendFact(append(body, ','), "succeeded", <-happened, time.Now())
		}
		body = append(body, "]}"...)
		if _, err := p.must(http.StatusOK, http.MethodPost, "/v1/facts", body); err != nil {
			return err
		}
	}
	return nil
}

// prober declares a refund, lets it fail, and watches.
type prober struct{ agent, stripe, owner *peer }

func (s *site) openProbe() (*prober, error) {
	var p prober
	for _, one := range []struct {
		peer       **peer
		credential string
	}{{&p.agent, s.agent}, {&p.stripe, s.stripe}, {&p.owner, s.owner}} {
		opened, err := s.dial(one.credential)
		if err != nil {
			return nil, err
		}
		*one.peer = opened
	}
	return &p, nil
}

func (p *prober) close() {
	for _, peer := range []*peer{p.agent, p.stripe, p.owner} {
		peer.conn.Close()
	}
}

// once does it with refund n.
func (p *prober) once(ctx context.Context, n int64) (time.Duration, error) {
	if _, err := p.agent.must(http.StatusCreated, http.MethodPost, "/v1/actions", appendDeclaration(nil, n, time.Now())); err != nil {
		return 0, err
	}
	told := facts(nil, "failed", n, 1, time.Now())
	began := time.Now()
	if _, err := p.stripe.must(http.StatusOK, http.MethodPost, "/v1/facts", told); err != nil {
		return 0, err
	}
	again := time.NewTicker(pollEvery)
	defer again.Stop()
	path := fmt.Sprintf("/v1/actions/refund-o-%d", n)
	for time.Since(began) < time.Minute {
		answer, err := p.owner.must(http.StatusOK, http.MethodGet, path, nil)
		if err != nil {
			return 0, err
		}
		if bytes.Contains(answer, []byte(`"badge":"FAIL"`)) {
			return time.Since(began), nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return 0, errors.New("a fact was not seen in its verdict within a minute")
}
