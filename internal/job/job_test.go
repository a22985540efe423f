package job

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A process that is killed in the middle of a task is this one, run again.
const dieIn = "DEED_TEST_JOB_DIE_IN"

func TestMain(m *testing.M) {
	if where := os.Getenv(dieIn); where != "" {
		dieInTheMiddle(where)
	}
	os.Exit(m.Run())
}

// dieInTheMiddle runs a task that never ends, and says when it runs.
func dieInTheMiddle(where string) {
	hang := Task{Name: "work", Every: time.Hour, Limit: time.Hour, Run: func(ctx context.Context) error {
		fmt.Println("it runs")
		<-ctx.Done()
		return ctx.Err()
	}}
	if _, err := OnSQLite(context.Background(), where, []Task{hang}, silent()); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	select {}
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// begun runs tasks on SQLite until the test ends.
func begun(t *testing.T, folder string, log *slog.Logger, tasks ...Task) *Queue {
	t.Helper()
	q, err := OnSQLite(t.Context(), folder, tasks, log)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func ended(t *testing.T, q *Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// soon waits for a signal, and fails the test where none comes for long.
func soon[T any](t *testing.T, what string, signal <-chan T) T {
	t.Helper()
	select {
	case got := <-signal:
		return got
	case <-time.After(3 * time.Minute):
		t.Fatalf("%s does not happen", what)
		panic("unreachable")
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestATaskRunsAtTheStartAndComesRoundEvenIfItFails(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	third := make(chan struct{})
	log := &lines{}
	q := begun(t, t.TempDir(), slog.New(slog.NewTextHandler(log, nil)), Task{
		Name: "work", Every: 200 * time.Millisecond, Limit: time.Minute, Run: func(context.Context) error {
			switch n.Add(1) {
			case 1:
				return errors.New("the first goes wrong")
			case 2:
				panic("the second panics")
			case 3:
				close(third)
			}
			return nil
		},
	})
	soon(t, "the third round", third)
	ended(t, q)
	for _, want := range []string{"work: the first goes wrong", "work: panic: the second panics"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not tell %q:\n%s", want, log)
		}
	}
}

func TestOneRoundOfATaskRunsAtATime(t *testing.T) {
	t.Parallel()
	var slow, quick atomic.Int32
	slowBegun, enough, free := make(chan struct{}), make(chan struct{}), make(chan struct{})
	q := begun(t, t.TempDir(), silent(),
		Task{Name: "slow", Every: 100 * time.Millisecond, Limit: time.Minute, Run: func(context.Context) error {
			if slow.Add(1) == 1 {
				close(slowBegun)
			}
			<-free
			return nil
		}},
		Task{Name: "quick", Every: 100 * time.Millisecond, Limit: time.Minute, Run: func(context.Context) error {
			<-slowBegun // whichever of the two a busy machine starts first
			if quick.Add(1) == 4 {
				close(enough)
			}
			return nil
		}},
	)
	soon(t, "the fourth round of the other", enough)
	if n := slow.Load(); n != 1 {
		t.Errorf("%d rounds of one task run at once", n)
	}
	close(free)
	ended(t, q)
}

func TestStoppingWaitsForWhatRunsAndCancelsItInTheEnd(t *testing.T) {
	t.Parallel()
	runs, over := make(chan struct{}), make(chan error, 1)
	q := begun(t, t.TempDir(), silent(), Task{Name: "work", Every: time.Hour, Limit: time.Minute, Run: func(ctx context.Context) error {
		close(runs)
		<-ctx.Done()
		over <- ctx.Err()
		return ctx.Err()
	}})
	soon(t, "the task", runs)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := q.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it stopped with %v", err)
	}
	if err := soon(t, "the end of the task", over); !errors.Is(err, context.Canceled) {
		t.Errorf("the task ended with %v", err)
	}
}

func TestTheWorkOfAKilledProcessIsDoneByAnother(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), dieIn+"="+folder)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil || string(line[:n]) != "it runs\n" {
		t.Fatalf("the child says %q, %v", line[:n], err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	// Its time is up an hour later, for which the test does not wait.
	if rows := aged(t, folder, "running"); rows != 1 {
		t.Fatalf("%d rows say that somebody runs it", rows)
	}
	again := make(chan struct{}, 1)
	q := begun(t, folder, silent(), Task{Name: "work", Every: 300 * time.Millisecond, Limit: time.Minute, Run: func(context.Context) error {
		select {
		case again <- struct{}{}:
		default:
		}
		return nil
	}})
	soon(t, "the next round", again)
	ended(t, q)
}

// aged makes rows older than they are, and says how many there are in a state.
func aged(t *testing.T, folder, state string) int64 {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(folder, sqliteFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done, err := db.ExecContext(t.Context(), "UPDATE river_job SET attempted_at = datetime('now', '-3 hours') WHERE state = ?", state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DELETE FROM river_leader"); err != nil { // whose term would last for seconds
		t.Fatal(err)
	}
	n, err := done.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTasksThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	run := func(context.Context) error { return nil }
	good := Task{Name: "work", Every: time.Minute, Limit: time.Minute, Run: run}
	for what, tasks := range map[string][]Task{
		"no name":    {{Every: time.Minute, Limit: time.Minute, Run: run}},
		"a space":    {{Name: "a b", Every: time.Minute, Limit: time.Minute, Run: run}},
		"two of one": {good, good},
		"never":      {{Name: "work", Limit: time.Minute, Run: run}},
		"no limit":   {{Name: "work", Every: time.Minute, Run: run}},
		"nothing":    {{Name: "work", Every: time.Minute, Limit: time.Minute}},
	} {
		if q, err := OnSQLite(t.Context(), t.TempDir(), tasks, silent()); err == nil {
			t.Errorf("%s: it runs", what)
			ended(t, q)
		}
	}
	_, err := OnPostgres(t.Context(), "postgres://deed:hush@[", []Task{good}, silent())
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("an address that is none: %v", err)
	}
}

func TestNobodyElseCanReadTheJobs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the permissions of Windows are not those of files here")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, sqliteFile), nil, 0o644); err != nil { // of before
		t.Fatal(err)
	}
	q := begun(t, folder, silent(), Task{Name: "nothing", Every: time.Hour, Limit: time.Hour, Run: func(context.Context) error { return nil }})
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 2 { // the database and its log
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		about, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		if about.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", file.Name(), about.Mode())
		}
	}
	ended(t, q)
}
