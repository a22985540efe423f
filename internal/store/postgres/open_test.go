package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

const w access.WorkspaceID = "ws_one"

func open(tb testing.TB, url string) *sqlstore.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func connect(tb testing.TB, url string, first ...string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, statement := range first {
		if _, err := conn.Exec(tb.Context(), statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
	return conn
}

func wake(tb testing.TB, s store.Store, in access.WorkspaceID, ref store.Ref) {
	tb.Helper()
	if err := s.Do(tb.Context(), in, func(tx store.Tx) error {
		tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref})
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
}

func count(tb testing.TB, conn *pgx.Conn, query string) int {
	tb.Helper()
	n := -1
	if err := conn.QueryRow(tb.Context(), query).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestTheDatabaseItselfShowsOneWorkspaceOnly(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s := open(t, url)
	wake(t, s, "ws_one", "act_1")
	wake(t, s, "ws_two", "act_2")
	wake(t, s, "ws_two", "act_3")
	conn := connect(t, url, "SET ROLE deed_runtime")
	for workspace, want := range map[string]int{"": 0, "ws_one": 1, "ws_two": 2, "ws_": 0} {
		if _, err := conn.Exec(t.Context(), "SELECT set_config('deed.workspace', $1, false)", workspace); err != nil {
			t.Fatal(err)
		}
		if got := count(t, conn, "SELECT count(*) FROM wakes"); got != want {
			t.Errorf("in the workspace %q there are %d wakes, want %d", workspace, got, want)
		}
	}
	if got := count(t, connect(t, url, "SET ROLE deed_runtime"), "SELECT count(*) FROM wakes"); got != 0 {
		t.Errorf("without a workspace there are %d wakes", got)
	}
	if _, err := conn.Exec(t.Context(), `INSERT INTO fact_moves (workspace_id, source, value, identity) VALUES ('ws_other', '', '', '')`); !isCode(err, "42501") {
		t.Errorf("a row of another workspace: %v", err)
	}
}

// The owner of the tables may take the role, and still sees nothing without it.
func TestTheOverviewShowsWhereSomethingWaitsAndNothingElse(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, "CREATE ROLE maker LOGIN CREATEROLE", "CREATE DATABASE made OWNER maker")
	url := cluster.URL("made", "maker")
	s := open(t, url)
	wake(t, s, "ws_one", "act_1")
	wake(t, s, "ws_two", "act_2")
	if got := count(t, connect(t, url), "SELECT count(*) FROM wakes"); got != 0 {
		t.Errorf("the tables' owner sees %d wakes without a workspace", got)
	}
	conn := connect(t, url, "SET ROLE deed_overview")
	if got := count(t, conn, "SELECT count(workspace_id) FROM wakes"); got != 2 {
		t.Errorf("the overview shows %d wakes, want 2", got)
	}
	for _, statement := range []string{
		"SELECT ref FROM wakes", "SELECT digest FROM leaves", "SELECT workspace_id FROM facts", "SELECT name FROM workspaces",
		"DELETE FROM wakes", "UPDATE leaves SET number = 1", "INSERT INTO workspaces (workspace_id) VALUES ('x')",
	} {
		if _, err := conn.Exec(t.Context(), statement); !isCode(err, "42501") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := s.Directory().Due(t.Context()); err != nil {
		t.Errorf("the store cannot look: %v", err)
	}
}

func TestEveryTableOfAWorkspaceIsGuardedAgainstItsOwnerToo(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	open(t, url)
	conn := connect(t, url)
	known := map[string]bool{}
	for _, table := range sqlstore.Tables() {
		known[table.Name] = true
		var secured, forced bool
		var policies int
		err := conn.QueryRow(t.Context(), `SELECT relrowsecurity, relforcerowsecurity, (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid)
			FROM pg_class c WHERE oid = to_regclass($1)`, table.Name).Scan(&secured, &forced, &policies)
		most := 1
		if table.Overview != "" {
			most = 2
		}
		if want := !table.Directory; err != nil || secured != want || forced != want || (policies == most) != want {
			t.Errorf("%s: enabled %v, forced %v, %d policies, %v; want all: %v", table.Name, secured, forced, policies, err, want)
		}
	}
	rows, err := conn.Query(t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !known[name] && name != "deed_migrations" && !strings.HasPrefix(name, "turn_") && !strings.HasPrefix(name, "evaluating_") {
			t.Errorf("the table %s is not in the list of tables", name)
		}
	}
}

func TestWhatIsKeptForEverCannotBeChanged(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	open(t, url)
	conn := connect(t, url, "SET ROLE deed_runtime", "SELECT set_config('deed.workspace', 'ws_one', false)")
	for _, table := range sqlstore.Tables() {
		if table.May != "INSERT" {
			continue
		}
		statements := []string{"DELETE FROM " + table.Name, "TRUNCATE " + table.Name, "DROP TABLE " + table.Name}
		if !table.Directory {
			statements = append(statements, "UPDATE "+table.Name+" SET workspace_id = workspace_id")
		}
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); !isCode(err, "42501") {
				t.Errorf("%s: %v", statement, err)
			}
		}
	}
}

func isCode(err error, code string) bool {
	failure, is := errors.AsType[*pgconn.PgError](err)
	return is && failure.Code == code
}

// An operator may give Deed a user that can make tables in its database and nothing
// else. Row-level security then still binds it, because it is forced.
func TestAUserThatMayNotMakeRolesIsEnough(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, "CREATE ROLE plain LOGIN", "CREATE DATABASE plain OWNER plain")
	url := cluster.URL("plain", "plain")
	s := open(t, url)
	wake(t, s, "ws_one", "act_1")
	if got := count(t, connect(t, url), "SELECT count(*) FROM wakes"); got != 0 {
		t.Errorf("the tables' owner sees %d wakes without a workspace", got)
	}
	if _, err := s.Directory().Due(t.Context()); !errors.Is(err, store.ErrNoOverview) {
		t.Errorf("a look over all workspaces: %v", err)
	}
	if err := s.Do(t.Context(), "ws_one", func(tx store.Tx) error {
		claimed, err := tx.Claim(5)
		if len(claimed) != 1 {
			t.Errorf("%d wakes are claimed, want 1", len(claimed))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSeveralInstancesStartOnAnEmptyDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), url)
			if err != nil {
				t.Error(err)
				return
			}
			_ = s.Close()
		})
	}
	all.Wait()
}

func TestAnErrorAboutTheURLHoldsNoPassword(t *testing.T) {
	t.Parallel()
	_, err := postgres.Open(t.Context(), "postgres://deed:geheim@localhost:notaport/deed")
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v", err)
	}
}

// JSON texts may hold a NUL, and PostgreSQL's may not.
func TestATextWithANulComesBackAsItWas(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Start(t).Database(t))
	id := evidence.Identity{Source: "a\x00b", Family: "\x01", ExternalID: "\x01\x02\x00"}
	if err := s.Do(t.Context(), w, func(tx store.Tx) error {
		tx.Wake(store.Wake{Kind: store.WakeFact, Fact: id})
		claimed, err := tx.Claim(1)
		if len(claimed) != 1 || claimed[0].Fact != id {
			t.Errorf("%+v comes back, want %+v", claimed, id)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAWakeIsHeardByTheOtherInstance(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	here, there := open(t, url), open(t, url)
	deadline := time.After(3 * time.Minute)
	for {
		wake(t, here, w, "act_1") // again, because the other one may not listen yet
		select {
		case got := <-there.Woken():
			if got != w {
				t.Errorf("it hears of %q, want %q", got, w)
			}
			return
		case <-here.Woken():
		case <-deadline:
			t.Fatal("the other instance never heard of it")
		}
	}
}

func TestAUnitWhoseConnectionIsKilledRunsAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s := open(t, url)
	killer := connect(t, url)
	runs := 0
	if err := s.Do(t.Context(), w, func(tx store.Tx) error {
		runs++
		tx.Now() // it has begun
		if runs == 1 {
			if _, err := killer.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
				WHERE datname = current_database() AND state = 'idle in transaction'`); err != nil {
				return err
			}
		}
		tx.Wake(store.Wake{Kind: store.WakeAction, Ref: "act_1"})
		_, err := tx.NextDue()
		return err
	}); err != nil || runs != 2 {
		t.Fatalf("it ran %d times: %v", runs, err)
	}
	if got := count(t, killer, "SELECT count(*) FROM wakes"); got != 1 {
		t.Errorf("there are %d wakes, want 1", got)
	}
}

func TestADatabaseThatRestartsUnderLoadLosesNothing(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t)
	s := open(t, cluster.URL("postgres", "postgres"))
	var all sync.WaitGroup
	var sure, unsure, down atomic.Int64
	stop := make(chan struct{})
	for range 4 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := s.Do(t.Context(), w, func(tx store.Tx) error {
					tx.Wake(store.Wake{Kind: store.WakeAction, Ref: "act_1"})
					return nil
				})
				_, unavailable := errors.AsType[*store.UnavailableError](err)
				switch {
				case err == nil:
					sure.Add(1)
				case unavailable && strings.Contains(err.Error(), "run commit"):
					unsure.Add(1) // it may have been kept
				case unavailable:
					down.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	reaches := func(n *atomic.Int64, more int64) {
		t.Helper()
		deadline := time.Now().Add(3 * time.Minute)
		for from := n.Load(); n.Load() < from+more; {
			if time.Now().After(deadline) {
				t.Fatal("nothing happens any more")
			}
			if err := s.Ping(t.Context()); err == nil {
				continue // it takes its time
			}
		}
	}
	reaches(&sure, 50)
	if err := cluster.Stop(); err != nil {
		t.Fatal(err)
	}
	reaches(&down, 3)
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	reaches(&sure, 50)
	close(stop)
	all.Wait()
	kept := int64(count(t, connect(t, cluster.URL("postgres", "postgres")), "SELECT count(*) FROM wakes"))
	if kept < sure.Load() || kept > sure.Load()+unsure.Load() {
		t.Errorf("%d units were committed for sure and %d perhaps, and %d were kept", sure.Load(), unsure.Load(), kept)
	}
}

func TestTheTimeIsTheDatabases(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s, conn := open(t, url), connect(t, url)
	clock := func() (at value.Instant) {
		if err := conn.QueryRow(t.Context(), "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan((*int64)(&at)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	before := clock()
	if err := s.View(t.Context(), w, func(tx store.Tx) error {
		if now, after := tx.Now(), clock(); now < before || now > after {
			t.Errorf("it is %d, and the database's clock went from %d to %d", now, before, after)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
