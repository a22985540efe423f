// Command bench measures what deed costs. The recorder is measured beside two other
// ways over the same wire: the server started directly, and a bare copier that moves
// bytes both ways and does nothing else; where socat is installed, it is a third. The
// server is measured beside the database that it keeps everything in: what pgbench and
// a bare loop insert into the same one.
//
// All ways are measured in one run and take turns, so that a busy machine
// slows them alike. Bench prints figures and whether they meet their targets;
// it never fails because of a figure, and it must not be used to decide a
// build. Servers, copiers and sources are this program run again.
//
// # Life of a figure
//
// The round-trip measure starts one server of each way. It makes fifty calls
// of the first, then of the second, and so on, round after round with the
// order rotated. All times of a way make one sample; its median and 99th
// percentile become a row, and the ratio of two medians a figure with its
// target. With -runs 5 the whole is done five times, and a target counts as
// met when three runs met it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == childWord {
		os.Exit(childMain(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// bench is what every measure needs to know.
type bench struct {
	self     string // this program, to be run again
	deed     string // the binary that is measured; empty measures the others only
	socat    string // empty where it is not installed
	dir      string // for journals
	dose     dose
	progress io.Writer

	postgresURL string // URL of PostgreSQL; empty: one is started when it is needed first
	on          string // the database to measure on; empty: both
	noServer    error
	databases   int // made in it
}

// dose is how much of each measure is done.
type dose struct {
	calls      []callDose
	block      int   // calls that one way makes before the next has its turn
	streamed   int64 // bytes of the long stream, and of the long line
	streams    int   // how often each way carries it
	starts     int
	appended   int64 // entries
	verified   int64 // entries
	recorders  int
	paced      int // calls that each of them makes
	paceMicros int // from one of its calls to its next
	gated      int // calls that pass a gate, mapped ones a tenth of it
	evaluated  int
	declared   int // past declarations behind a rolling limit

	clients     int           // that declare at the same time
	turns       int           // that each way of using a server has
	turn        time.Duration // how long each of them is
	probes      int           // facts whose verdict is waited for
	small, many int           // actions stored in the two servers that are compared
	asked       int           // questions to each of them
}

type callDose struct {
	answerBytes int
	count       int
}

var fullDose = dose{
	calls:    []callDose{{200, 5000}, {20_000, 2000}, {500_000, 400}},
	block:    50,
	streamed: 1 << 30, streams: 3,
	starts:   60,
	appended: 300_000, verified: 1_000_000,
	recorders: 20, paced: 300, paceMicros: 20_000,
	gated:     5_000,
	evaluated: 300_000, declared: 1_000_000,
	clients: 16, turns: 3, turn: 10 * time.Second, probes: 200,
	small: 10_000, many: 1_000_000, asked: 3000,
}

// quickDose shows that everything works; its figures mean little.
var quickDose = dose{
	calls:    []callDose{{200, 200}, {20_000, 100}, {500_000, 20}},
	block:    10,
	streamed: 64 << 20, streams: 1,
	starts:   5,
	appended: 10_000, verified: 20_000,
	recorders: 4, paced: 20, paceMicros: 5_000,
	gated:     200,
	evaluated: 5_000, declared: 20_000,
	clients: 16, turns: 1, turn: 2 * time.Second, probes: 10,
	small: 1_000, many: 5_000, asked: 100,
}

// measure is one thing that bench can do.
type measure struct {
	name string
	take func(ctx context.Context, b *bench) (*section, error)
}

var measures = []measure{
	{"roundtrip", measureRoundTrip},
	{"stream", measureStream},
	{"memory", measureMemory},
	{"startup", measureStartup},
	{"gate", measureGate},
	{"crowd", measureCrowd},
	{"append", measureAppend},
	{"verify", measureVerify},
	{"verdict", measureVerdict},
	{"server", measureServer},
	{"facts", measureFacts},
	{"latency", measureLatency},
	{"growth", measureGrowth},
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	deed := flags.String("deed", "bin/deed", "the `binary` to measure; empty measures the other ways only")
	only := flags.String("only", "", "comma-separated `measures`; empty does all: "+measureNames())
	runs := flags.Int("runs", 1, "how often the whole is done")
	stored := flags.Int("stored", 0, "`actions` in the larger database of growth (default 1000000)")
	on := flags.String("on", "", "`database` to measure the server on, sqlite or postgresql; empty does both")
	turn := flags.Duration("turn", 0, "how `long` each way of using a server has its turn (default 10s)")
	server := flags.String("postgres", "", "`URL` of a PostgreSQL to measure on, as a user who may make databases (default: one of its own)")
	quick := flags.Bool("quick", false, "small doses, to see that everything works")
	dir := flags.String("dir", "", "`folder` for journals (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	b, clean, err := newBench(*deed, *dir, stderr)
	if err != nil {
		return err
	}
	defer clean()
	b.postgresURL, b.on, b.dose = *server, *on, fullDose
	if *quick {
		b.dose = quickDose
	}
	if *turn > 0 {
		b.dose.turn = *turn
	}
	if *stored > 0 {
		b.dose.many = *stored
	}
	fmt.Fprintf(stdout, "%s\n\nCommand: `bench %s`\n", machine(b), strings.Join(args, " "))
	var tally tally
	var failures []error
	for number := 1; number <= *runs; number++ {
		if *runs > 1 {
			fmt.Fprintf(stdout, "\n## Run %d\n", number)
		}
		for _, m := range chosen {
			fmt.Fprintf(stderr, "bench: run %d of %d: %s\n", number, *runs, m.name)
			section, err := takeInTime(ctx, m, b)
			if err != nil {
				// The others are measured all the same.
				failures = append(failures, fmt.Errorf("measure %s: %w", m.name, err))
				fmt.Fprintf(stdout, "\n**Not measured:** %s: %v\n", m.name, err)
				if ctx.Err() != nil {
					return errors.Join(failures...)
				}
				continue
			}
			section.print(stdout)
			tally.add(section.figures)
			for _, failure := range section.failures {
				failures = append(failures, fmt.Errorf("measure %s: %s", m.name, failure))
			}
		}
	}
	tally.print(stdout)
	return errors.Join(failures...)
}

// takeInTime ends the children of a measure that hangs, as it would when a way
// lost an answer.
func takeInTime(ctx context.Context, m measure, b *bench) (*section, error) {
	limit := 20 * time.Minute
	if m.name == "growth" { // which first stores what it measures with
		limit = 30*time.Minute + time.Duration(b.dose.many)*20*time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return m.take(ctx, b)
}

func measureNames() string {
	names := make([]string, len(measures))
	for i, m := range measures {
		names[i] = m.name
	}
	return strings.Join(names, ", ")
}

func choose(only string) ([]measure, error) {
	if only == "" {
		return measures, nil
	}
	var chosen []measure
	for _, name := range strings.Split(only, ",") {
		at := slices.IndexFunc(measures, func(m measure) bool { return m.name == strings.TrimSpace(name) })
		if at < 0 {
			return nil, fmt.Errorf("no measure is called %q; there are %s", name, measureNames())
		}
		chosen = append(chosen, measures[at])
	}
	return chosen, nil
}

func newBench(deed, dir string, progress io.Writer) (*bench, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	if deed != "" {
		if deed, err = filepath.Abs(deed); err != nil {
			return nil, nil, err
		}
		if _, err := os.Stat(deed); err != nil {
			return nil, nil, fmt.Errorf("find deed (make build makes it): %w", err)
		}
	}
	socat, err := exec.LookPath("socat")
	if err != nil && !errors.Is(err, exec.ErrNotFound) {
		return nil, nil, fmt.Errorf("find socat: %w", err)
	}
	temporary, err := os.MkdirTemp(dir, "deed-bench-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for journals: %w", err)
	}
	b := &bench{self: self, deed: deed, socat: socat, dir: temporary, progress: progress}
	return b, func() { os.RemoveAll(temporary) }, nil
}
