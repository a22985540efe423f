//go:build unix

package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// load is what agents and a connector do to a server, and what was acknowledged.
type load struct {
	w *workspace
	// budget has something for each action that may be declared; nil is no limit. A
	// server that dies early again and again evaluates nothing of what it is told.
	budget chan struct{}

	mu       sync.Mutex
	queue    []object          // facts that happened and are not reported
	late     []lateFact        // facts that the connector overlooked at first
	declared map[string]string // action id to the server's id, once acknowledged
	reported map[string]int    // external id to the number of its revisions
	serial   int
	answers  atomic.Int64 // that were acknowledgements
	began    time.Time
}

type lateFact struct {
	fact object
	due  time.Time
}

func newLoad(w *workspace) *load {
	return &load{w: w, began: time.Now(), declared: map[string]string{}, reported: map[string]int{}}
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// run declares with some agents and reports with one connector until the context
// ends, and then finishes what has begun.
func (l *load) run(ctx context.Context, agents int, seed uint64) error {
	var working sync.WaitGroup
	failed := make(chan error, agents+1)
	for n := range agents {
		working.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(n)))
			for l.may(ctx) {
				if err := l.act(context.WithoutCancel(ctx), random, fmt.Sprintf("agent-%d", n)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	quiet := make(chan struct{})
	connected := make(chan error, 1)
	go func() { connected <- l.connect(context.WithoutCancel(ctx), quiet) }()
	working.Wait()
	close(quiet)
	if err := <-connected; err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// may waits until another action may be declared, and says whether one shall.
func (l *load) may(ctx context.Context) bool {
	if l.budget != nil {
		select {
		case <-l.budget:
		case <-ctx.Done():
		}
	}
	return ctx.Err() == nil
}

// grant lets n more actions be declared, and fewer where some are left.
func (l *load) grant(n int) {
	for range n {
		select {
		case l.budget <- struct{}{}:
		default:
			return
		}
	}
}

// act declares one action, and lets happen what the agent then did.
func (l *load) act(ctx context.Context, random *rand.Rand, agent string) error {
	l.mu.Lock()
	l.serial++
	n := l.serial
	l.mu.Unlock()
	kind := random.IntN(16)
	id, order := fmt.Sprintf("refund-%d", n), fmt.Sprintf("o-%d", n)
	amount := fmt.Sprintf("%d.%02d", 1+random.IntN(200), random.IntN(100))
	body := object{
		"action_id": id, "contract_id": "refund_workflow", "action_type": "refund_order",
		"subject_id": order, "subject_kind": "order", "agent_id": agent, "requested_at": stamp(time.Now()),
		"params": object{"amount": json.Number(amount), "currency": "usd"},
	}
	switch kind {
	case 0: // more than allowed
		amount = "300.00"
		body["params"] = object{"amount": json.Number(amount), "currency": "usd"}
	case 1: // an order that was refunded already, if there is one
		order = "o-1"
		body["subject_id"] = order
	case 2: // by no contract
		body["contract_id"] = "refund_workflw"
	case 3: // without what is required
		body["params"] = object{"currency": "usd"}
		body["agent_id"] = agent + "-hasty" // what its total comes to nobody knows
	}
	if err := l.declare(ctx, id, body, random.IntN(3) == 0); err != nil {
		return err
	}
	if kind == 4 { // another amount than before
		body["params"] = object{"amount": json.Number("1.00"), "currency": "usd"}
		if err := l.declare(ctx, id, body, false); err != nil {
			return err
		}
	}
	l.happen(kind, id, order, amount, n)
	return nil
}

// declare goes on until it is acknowledged, once or in a batch.
func (l *load) declare(ctx context.Context, id string, body object, inBatch bool) error {
	type declared struct {
		Action struct {
			ID string `json:"id"`
		} `json:"action"`
	}
	var one declared
	if inBatch {
		var many struct {
			Results []declared `json:"results"`
		}
		if err := l.w.agent.ask(ctx, http.MethodPost, "/v1/actions:batch", object{"actions": []object{body}}, &many); err != nil {
			return err
		}
		if len(many.Results) != 1 {
			return fmt.Errorf("a batch of one has %d results", len(many.Results))
		}
		one = many.Results[0]
	} else if err := l.w.agent.ask(ctx, http.MethodPost, "/v1/actions", body, &one); err != nil {
		return err
	}
	l.answers.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, known := l.declared[id]; known && before != one.Action.ID {
		return fmt.Errorf("%s was acknowledged as %s and as %s", id, before, one.Action.ID)
	}
	l.declared[id] = one.Action.ID
	return nil
}

// happen is what the payment system does then.
func (l *load) happen(kind int, id, order, amount string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	moved := func(external, amount string) object {
		return object{
			"source": "stripe", "external_id": external, "type": "refund.succeeded", "subject_id": order, "subject_kind": "order",
			"refs": object{"idempotency_key": id, "refund": external}, "attrs": object{"amount": object{"amount": amount, "currency": "USD"}, "currency": "usd"},
			"occurred_at": stamp(now),
		}
	}
	first := moved(fmt.Sprintf("re_%d", n), amount)
	switch kind {
	case 5: // nothing
		return
	case 6: // another amount
		first = moved(fmt.Sprintf("re_%d", n), "0.01")
	case 7: // twice
		l.queue = append(l.queue, moved(fmt.Sprintf("re_%d_again", n), amount))
	case 8: // and taken back by the bank
		failed := moved(fmt.Sprintf("rf_%d", n), amount)
		failed["type"] = "refund.failed"
		l.queue = append(l.queue, failed)
	case 9: // the source takes its word back
		first["revision"] = 1
		back := moved(fmt.Sprintf("re_%d", n), amount)
		back["revision"], back["retracted"] = 2, true
		l.queue = append(l.queue, first, back)
		return
	case 10: // without the key, so that only the order tells
		first["refs"] = object{"refund": fmt.Sprintf("re_%d", n)}
	case 11: // overlooked until the verdict was settled
		l.late = append(l.late, lateFact{fact: first, due: now.Add(6 * time.Second)})
		return
	}
	l.queue = append(l.queue, first)
}

// connect reports what happened, and up to when that is all, until it is quiet and
// nothing is left.
func (l *load) connect(ctx context.Context, quiet <-chan struct{}) error {
	round := time.NewTicker(20 * time.Millisecond)
	defer round.Stop()
	for {
		facts, complete, left := l.take()
		if err := l.report(ctx, facts); err != nil {
			return err
		}
		marks := object{"refund.succeeded": complete, "refund.failed": complete}
		if err := l.w.connector.ask(ctx, http.MethodPut, "/v1/sources/stripe/watermark", object{"watermarks": marks}, nil); err != nil {
			return err
		}
		select {
		case <-quiet:
			if left == 0 && len(facts) == 0 {
				return nil
			}
		default:
		}
		<-round.C
	}
}

// take takes what happened so far, with the time up to which that is all but what
// was overlooked, and says how much was.
func (l *load) take() (facts []object, complete string, left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	facts, l.queue = l.queue, nil
	var later []lateFact
	for _, one := range l.late {
		if one.due.After(now) {
			later = append(later, one)
		} else {
			facts = append(facts, one.fact)
		}
	}
	l.late = later
	return facts, stamp(now.Add(-time.Millisecond)), len(later)
}

// report goes on until the facts are acknowledged. Half of them are sent once more,
// as a connector does that does not know how far it was.
func (l *load) report(ctx context.Context, facts []object) error {
	for len(facts) > 0 {
		part := facts[:min(len(facts), 200)]
		facts = facts[len(part):]
		for _, sent := range [][]object{part, part[:len(part)/2]} {
			if len(sent) == 0 {
				continue
			}
			if err := l.w.connector.ask(ctx, http.MethodPost, "/v1/facts", object{"facts": sent}, nil); err != nil {
				return err
			}
		}
		l.answers.Add(1)
		l.mu.Lock()
		for _, one := range part {
			l.reported[one["external_id"].(string)]++
		}
		l.mu.Unlock()
	}
	return nil
}
