package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"time"
)

// measureGrowth compares a server with few actions to one with many: what one more
// costs, and how long it takes to read one.
func measureGrowth(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "With few actions stored and with many",
		header: []string{"Database", "Actions", "What", "Clients", "n", "A second", "To the few", "Median", "p99", "On the processor, each"},
	}
	if b.deed == "" {
		s.remark("Nothing is measured without deed.")
		return s, nil
	}
	b.onBoth(ctx, s, b.growthOn)
	s.remark("Both servers run at the same time and take turns. What is stored was declared by the code that the server runs, in batches of %d and not over HTTP, as requested over %s: "+
		"none of it is settled. Actions that are read are chosen at random.", seedBatch, seededOver)
	return s, nil
}

func (b *bench) growthOn(ctx context.Context, s *section, many serving) error {
	folder, err := os.MkdirTemp(b.dir, "serve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	few := serving{name: many.name, folder: folder}
	if many.base != nil {
		if few.base, err = b.newDatabase(ctx); err != nil {
			return err
		}
		defer func() { _ = few.base.drop(context.WithoutCancel(ctx)) }()
	}
	var ofFew, ofMany refunds
	small, err := b.openFull(ctx, few, &ofFew, b.dose.small)
	if err != nil {
		return err
	}
	defer small.end(s)
	large, err := b.openFull(ctx, many, &ofMany, b.dose.many)
	if err != nil {
		return err
	}
	defer large.end(s)
	if err := b.compareDeclaring(ctx, s, small, large, &ofFew, &ofMany); err != nil {
		return err
	}
	return b.compareReading(ctx, s, small, large)
}

func (b *bench) compareDeclaring(ctx context.Context, s *section, small, large *site, ofFew, ofMany *refunds) error {
	for _, clients := range []int{1, b.dose.clients} {
		c := &contest{}
		if err := small.enterDeclarers(ctx, c, ofFew, clients); err != nil {
			return err
		}
		if err := large.enterDeclarers(ctx, c, ofMany, clients); err != nil {
			return err
		}
		if err := c.run(b.dose.turns, b.dose.turn); err != nil {
			return err
		}
		c.compare(s, small.name, "declare", []int{b.dose.small, b.dose.many})
		if clients == 1 {
			continue
		}
		less := c.total[1].perSecond() / max(1, c.total[0].perSecond())
		s.figures = append(s.figures, figure{
			what:   fmt.Sprintf("declared actions a second with %d stored, to %d, on %s", b.dose.many, b.dose.small, small.name),
			target: "≥ 0.8×", value: fmt.Sprintf("%.2f×", less), met: less >= 0.8,
		})
	}
	return nil
}

// compare prints the ways, one for each number of actions.
func (c *contest) compare(s *section, database, what string, stored []int) {
	for i := range c.ways {
		t := &c.total[i]
		each := "–"
		if t.done > 0 && c.spent[i] > 0 {
			each = micros(c.spent[i] / time.Duration(t.done))
		}
		s.row(database, fmt.Sprint(stored[i]), what, fmt.Sprint(c.clients[i]), fmt.Sprint(t.done), perSecond(t.perSecond()),
			ratio(t.perSecond(), c.total[0].perSecond()), millis(t.answers.median()), millis(t.answers.p99()), each)
	}
}

// reads are what is asked, one after the other, and how often less than for an action.
var reads = []struct {
	what  string
	fewer int
	path  func(random *rand.Rand, stored int) string
}{
	{"read one", 1, func(random *rand.Rand, stored int) string {
		return fmt.Sprintf("/v1/actions/refund-o-%d", 1+random.IntN(stored))
	}},
	{"list 50", 10, func(*rand.Rand, int) string { return "/v1/actions?limit=50" }},
	{"list 50 that are pending", 10, func(*rand.Rand, int) string { return "/v1/actions/pending?limit=50" }},
	{"count a week", 100, func(*rand.Rand, int) string { return "/v1/summary?period=last%207%20days" }},
}

// compareReading reads from both, and takes the figure of the first kind of reading.
func (b *bench) compareReading(ctx context.Context, s *section, small, large *site) error {
	for n := range reads {
		median, err := b.compareRead(ctx, s, small, large, n)
		if err != nil {
			return err
		}
		if n > 0 {
			continue
		}
		s.figures = append(s.figures, figure{
			what:   fmt.Sprintf("reading an action over REST with %d stored, median, on %s", b.dose.many, small.name),
			target: "< 10 ms", value: millis(median), met: median < 10*time.Millisecond,
		})
	}
	return nil
}

func (b *bench) compareRead(ctx context.Context, s *section, small, large *site, n int) (median time.Duration, err error) {
	read := reads[n]
	c := &contest{}
	stored := []int{b.dose.small, b.dose.many}
	for i, one := range []*site{small, large} {
		p, err := one.dial(one.owner)
		if err != nil {
			return 0, err
		}
		defer p.conn.Close()
		random := rand.New(rand.NewPCG(1, uint64(i)))
		c.enter(read.what, 1, one.spent, func(time.Duration) (crowding, error) {
			var took crowding
			for range max(1, b.dose.asked/b.dose.turns/read.fewer) {
				path := read.path(random, stored[i])
				began := time.Now()
				if _, err := p.must(http.StatusOK, http.MethodGet, path, nil); err != nil {
					return took, err
				}
				took.add(crowding{done: 1, took: time.Since(began), answers: sample{time.Since(began)}})
			}
			return took, ctx.Err()
		})
	}
	if err := c.run(b.dose.turns, b.dose.turn); err != nil {
		return 0, err
	}
	c.compare(s, small.name, read.what, stored)
	return c.total[1].answers.median(), nil
}
