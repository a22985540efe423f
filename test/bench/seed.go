package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/value"
)

const (
	// seededOver is over what time the stored actions were requested: all of them are
	// still to settle, which is the most that a database of so many can have to do.
	seededOver = 48 * time.Hour
	seedBatch  = 500
)

// seed declares refunds the way the server does, but in this process and in large
// batches: what is stored of each is what the server stores. Nobody evaluates them
// again, so that the wakes for that are taken away.
func (b *bench) seed(ctx context.Context, s *site, where serving, r *refunds, n int) error {
	kept, err := openSeeded(ctx, where)
	if err != nil {
		return err
	}
	defer kept.Close()
	now := func() value.Instant { return value.FromTime(time.Now()) }
	accounts, err := account.New(kept, now)
	if err != nil {
		return err
	}
	agent, err := accounts.Authenticate(ctx, account.Credential{Text: s.agent}, access.REST)
	if err != nil {
		return fmt.Errorf("use the agent's key: %w", err)
	}
	actions := action.NewService(kept, action.Options{Random: rand.Reader})
	began := time.Now()
	from := began.Add(-seededOver)
	for done := 0; done < n; done += seedBatch {
		size := min(seedBatch, n-done)
		body := []byte(`{"actions":[`)
		for i := range size {
			if i > 0 {
				body = append(body, ',')
			}
			at := from.Add(time.Duration(float64(seededOver) * float64(done+i) / float64(n)))
			body = appendDeclaration(body, r.next.Add(1), at)
		}
		all, err := action.ParseBatch(append(body, "]}"...))
		if err != nil {
			return fmt.Errorf("read a batch: %w", err)
		}
		if _, err := actions.DeclareAll(ctx, agent, all); err != nil {
			return fmt.Errorf("declare a batch: %w", err)
		}
		if done%(100*seedBatch) == 0 && done > 0 {
			fmt.Fprintf(b.progress, "bench: %d of %d actions stored on %s, %.0f a second\n", done, n, where.name, float64(done)/time.Since(began).Seconds())
		}
	}
	return forget(ctx, kept, agent.Workspace())
}

// openSeeded opens the store of a server that is stopped. Nothing that is stored has
// to survive a loss of power before all of it is there.
func openSeeded(ctx context.Context, where serving) (store.Store, error) {
	if where.base == nil {
		return sqlite.Open(ctx, where.folder)
	}
	mark := "?"
	if strings.Contains(where.base.url, "?") {
		mark = "&"
	}
	return postgres.Open(ctx, where.base.url+mark+"synchronous_commit=off")
}

// forget takes the wakes that are due.
func forget(ctx context.Context, s store.Store, w access.WorkspaceID) error {
	for {
		claimed := 0
		err := s.Do(ctx, w, func(tx store.Tx) error {
			wakes, err := tx.Claim(10_000)
			claimed = len(wakes)
			return err
		})
		if err != nil {
			return fmt.Errorf("take away the wakes: %w", err)
		}
		if claimed == 0 {
			return nil
		}
	}
}

// openFull starts a server in which so many actions are stored.
func (b *bench) openFull(ctx context.Context, where serving, r *refunds, n int) (_ *site, err error) {
	s, err := b.open(ctx, where)
	if err != nil {
		return nil, err
	}
	if err := s.close(); err != nil {
		return nil, err
	}
	if err := b.seed(ctx, s, where, r, n); err != nil {
		return nil, fmt.Errorf("store %d actions: %w", n, err)
	}
	if where.base != nil {
		if err := execute(ctx, where.base.url, "CHECKPOINT"); err != nil {
			return nil, err
		}
	}
	if _, err := s.start(ctx, b, where, false); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return s, nil
}
