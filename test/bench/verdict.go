package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// measureVerdict times evaluations and rolling limits. Each is done by a child
// of its own with one processor, and what counts is the child's time on the
// processor: an evaluation waits for nothing.
func measureVerdict(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Verdicts",
		header: []string{"What", "n", "Measured"},
	}
	var idle, busy evaluations
	// A child that evaluates once does everything else that the other does.
	began, err := b.childOnOneProcessor(ctx, &idle, "evaluate", 1)
	if err != nil {
		return nil, err
	}
	worked, err := b.childOnOneProcessor(ctx, &busy, "evaluate", b.dose.evaluated)
	if err != nil {
		return nil, err
	}
	n := fmt.Sprint(b.dose.evaluated)
	spent := max(worked-began, time.Microsecond) // a small dose is lost in the noise
	each := spent / time.Duration(b.dose.evaluated)
	rate := float64(b.dose.evaluated) / spent.Seconds()
	s.row("evaluations a second on one core, with the digests of case and verdict", n, fmt.Sprintf("%.0f", rate))
	s.row("of one evaluation, on the processor", n, micros(each))
	s.row("memory asked for by one evaluation", n, fmt.Sprintf("%d B in %d pieces", busy.Bytes, busy.Pieces))
	s.row("memory that a case takes, its contract shared", "10000", fmt.Sprintf("%d B", busy.Held))
	s.row("the case in its canonical form, without the contract's text", "1", fmt.Sprintf("%d B", busy.Canonical))
	s.figures = append(s.figures, figure{
		what:   "evaluations a second on one core",
		target: "≥ 50,000", value: fmt.Sprintf("%.0f", rate), met: rate >= 50_000,
	})

	var limits rollings
	if _, err := b.childOnOneProcessor(ctx, &limits, "limit", b.dose.declared); err != nil {
		return nil, err
	}
	for _, q := range limits.Queries {
		s.row(fmt.Sprintf("a rolling limit of one agent over %s, of %d declarations", q.Over, b.dose.declared), fmt.Sprint(q.N),
			fmt.Sprintf("median %s, p99 %s; %d declarations counted", micros(q.Median), micros(q.P99), q.Counted))
	}
	s.row(fmt.Sprintf("memory that %d declarations take", b.dose.declared), "1", bytesText(limits.Held))
	longest := limits.Queries[len(limits.Queries)-1]
	s.figures = append(s.figures, figure{
		what:   fmt.Sprintf("a rolling limit over %d past actions, at the median", longest.Counted),
		target: "< 1 ms", value: micros(longest.Median), met: longest.Median < time.Millisecond,
	})
	s.remark("The case is a refund of three facts under a contract of nine checks, settled. The limit's times are taken in the child and grow with the machine's load; evaluations are counted by time on the processor.")
	return s, nil
}

// childOnOneProcessor runs a part of this program that reports in JSON, and
// says how long it was on the processor.
func (b *bench) childOnOneProcessor(ctx context.Context, report any, part string, n int) (time.Duration, error) {
	var out, told strings.Builder
	cmd := exec.CommandContext(ctx, b.self, childWord, part, fmt.Sprint(n))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("run %s: %w: %s", part, err, told.String())
	}
	if err := readReport(out.String(), report); err != nil {
		return 0, fmt.Errorf("read what %s measured: %w", part, err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
