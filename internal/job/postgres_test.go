package job

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

// Three instances start at once on an empty database. Each round of a task runs in
// one of them, and when that one stops the others go on.
func TestInstancesShareTheRoundsOfATask(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	var running, most, rounds atomic.Int32
	round := make(chan struct{}, 100)
	task := Task{Name: "work", Every: 250 * time.Millisecond, Limit: time.Minute, Run: func(context.Context) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		rounds.Add(1)
		select {
		case round <- struct{}{}:
		default:
		}
		return nil
	}}
	var starting sync.WaitGroup
	queues := make([]*Queue, 3)
	for i := range queues {
		starting.Go(func() {
			q, err := OnPostgres(t.Context(), url, []Task{task}, silent())
			if err != nil {
				t.Error(err)
			}
			queues[i] = q
		})
	}
	starting.Wait()
	if t.Failed() {
		return
	}
	for range 3 {
		soon(t, "a round", round)
	}
	for _, q := range queues[:2] { // one of which may lead
		ended(t, q)
	}
	for len(round) > 0 {
		<-round
	}
	soon(t, "a round of the one that is left", round)
	ended(t, queues[2])
	if n := most.Load(); n != 1 {
		t.Errorf("%d rounds ran at once", n)
	}
}

func TestARoleThatMayNotMakeTheSchemaIsToldTheRight(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, "CREATE ROLE poor LOGIN", "CREATE DATABASE others")
	task := Task{Name: "work", Every: time.Hour, Limit: time.Hour, Run: func(context.Context) error { return nil }}
	_, err := OnPostgres(t.Context(), cluster.URL("others", "poor"), []Task{task}, silent())
	_, grant, found := strings.Cut(fmt.Sprint(err), "let a superuser run: ")
	if !found {
		t.Fatalf("%v", err)
	}
	cluster.Exec(t, grant) // and it is enough
	q, err := OnPostgres(t.Context(), cluster.URL("others", "poor"), []Task{task}, silent())
	if err != nil {
		t.Fatal(err)
	}
	ended(t, q)
}
