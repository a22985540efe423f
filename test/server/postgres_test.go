//go:build unix

package servertest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

// newPostgresSite is a site whose server keeps everything in a database, with the
// secret that all servers of it share.
func newPostgresSite(t *testing.T, database, secret string) *site {
	t.Helper()
	return newSite(t, []string{"DEED_DATABASE=" + database}, "--secret-file", secret)
}

// postgresSites are servers of one database, none of which runs.
func postgresSites(t *testing.T, c *pgtest.Cluster, n int) []*site {
	t.Helper()
	database := c.Database(t)
	secret := secretFile(t, newSite(t, nil))
	var sites []*site
	for range n {
		sites = append(sites, newPostgresSite(t, database, secret))
	}
	return sites
}

func TestNothingIsLostOrDoubledOnPostgreSQLWhenTheServerIsKilledAtAnyPoint(t *testing.T) {
	t.Parallel()
	torture(t, postgresSites(t, pgtest.Start(t), 1)[0], killPoints(t))
}

func TestNothingIsLostOrDoubledWhenOneOfTwoServersIsKilled(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	sites := postgresSites(t, pgtest.Start(t), 2)
	l := prepare(t, sites[0], turns(sites...))
	if _, err := sites[1].start(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed(t), 1))
	stopLoad, done := l.begin(ctx, seed(t))
	for n := range max(1, killPoints(t)/4) {
		l.progress(t, random.Int64N(30))
		wait(t, time.Duration(random.IntN(30_000))*time.Microsecond)
		victim := sites[n%2]
		victim.kill()
		if _, err := victim.start(); err != nil {
			t.Fatal(err)
		}
	}
	stopLoad()
	l.finish(ctx, t, done, sites...)
	for _, s := range sites {
		if err := s.end(); err != nil {
			t.Errorf("a server ended with %v\n%s", err, s.tail())
		}
	}
	checkFolder(t, sites[0])
	checkOutput(t, l.w, sites...)
}

func TestNothingIsLostOrDoubledWhenTheDatabaseCrashesUnderLoad(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	// What was committed has to survive, so that this server does sync.
	c := pgtest.StartOwn(t, "fsync=on", "full_page_writes=on")
	sites := postgresSites(t, c, 2)
	l := prepare(t, sites[0], turns(sites...))
	if _, err := sites[1].start(); err != nil {
		t.Fatal(err)
	}
	stopLoad, done := l.begin(ctx, seed(t))
	for range max(1, killPoints(t)/10) {
		l.progress(t, 20)
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		wait(t, 300*time.Millisecond)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	l.progress(t, 20)
	stopLoad()
	l.finish(ctx, t, done, sites...)
	for _, s := range sites {
		if err := s.end(); err != nil {
			t.Errorf("a server ended with %v\n%s", err, s.tail())
		}
	}
	checkFolder(t, sites[0])
	checkOutput(t, l.w, sites...)
}

func TestAServerWithAnotherSecretDoesNotStart(t *testing.T) {
	t.Parallel()
	c := pgtest.Start(t)
	database := c.Database(t)
	first := newPostgresSite(t, database, secretFile(t, newSite(t, nil)))
	if _, err := first.start(); err != nil {
		t.Fatal(err)
	}
	second := newPostgresSite(t, database, secretFile(t, newSite(t, nil)))
	p, err := second.launch()
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if code := p.command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("the exit code is %d\n%s", code, second.tail())
	}
	if err := first.end(); err != nil {
		t.Error(err)
	}
}

func TestManyServersThatStartAtOnceMakeOneWorkspaceAndOneLink(t *testing.T) {
	t.Parallel()
	sites := postgresSites(t, pgtest.Start(t), 4)
	var processes []*process
	for _, s := range sites {
		p, err := s.launch()
		if err != nil {
			t.Fatal(err)
		}
		processes = append(processes, p)
	}
	for i, s := range sites {
		if err := s.awaitReady(processes[i]); err != nil {
			t.Fatal(err)
		}
	}
	links := 0
	for _, s := range sites {
		if err := s.end(); err != nil {
			t.Errorf("%v\n%s", err, s.tail())
		}
	}
	for _, p := range processes {
		if _, err := p.link(); err == nil {
			links++
		}
	}
	if links != 1 {
		t.Errorf("%d links were printed", links)
	}
}
