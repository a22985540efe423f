package job

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

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

func TestARoleThatMayNotMakeTheSchemaIsTold(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, `CREATE ROLE "poor-1" LOGIN`, "CREATE DATABASE one", "CREATE DATABASE two")
	task := Task{Name: "work", Every: time.Hour, Limit: time.Hour, Run: func(context.Context) error { return nil }}
	for database, remedy := range map[string]string{
		"one": `GRANT CREATE ON DATABASE one TO "poor-1"`,
		"two": `CREATE SCHEMA deed_jobs AUTHORIZATION "poor-1"`,
	} {
		url := cluster.URL(database, "poor-1")
		for what, try := range map[string]func() error{
			"preparing": func() error { return PreparePostgres(t.Context(), url, silent()) },
			"running": func() error {
				_, err := OnPostgres(t.Context(), url, []Task{task}, silent())
				return err
			},
		} {
			rights, is := errors.AsType[*RightsError](try())
			if !is || rights.Role != `"poor-1"` || rights.Database != `"`+database+`"` {
				t.Fatalf("%s: %v", what, rights)
			}
		}
		admin, err := pgx.Connect(t.Context(), cluster.URL(database, "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = admin.Exec(t.Context(), remedy) // and it is enough
		if err := errors.Join(err, admin.Close(t.Context()), PreparePostgres(t.Context(), url, silent())); err != nil {
			t.Fatal(err)
		}
		q, err := OnPostgres(t.Context(), url, []Task{task}, silent())
		if err != nil {
			t.Fatal(err)
		}
		ended(t, q)
	}
}
