package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// checkJournal asks deed to verify what it recorded while it was measured: a
// recorder that is fast because it records nothing must not look good.
func (b *bench) checkJournal(ctx context.Context, ways []way, s *section) error {
	for _, way := range ways {
		if way.home == "" {
			continue
		}
		result, err := b.deedCommand(ctx, way.home, "verify", "--json")
		if err != nil {
			return err
		}
		var journal struct {
			Intact         bool    `json:"intact"`
			Entries        int64   `json:"entries"`
			CoveredPercent float64 `json:"covered_percent"`
			Gaps           int64   `json:"gaps"`
		}
		if err := json.Unmarshal([]byte(result.said), &journal); err != nil {
			return fmt.Errorf("deed verify said %q, exit code %d: %w", result.said, result.code, err)
		}
		state := "intact"
		if !journal.Intact || result.code != 0 {
			state = "**NOT INTACT**"
		}
		s.remark("What deed recorded of it: %d entries, %s, %.2f %% of the bytes covered, %d gaps.",
			journal.Entries, state, journal.CoveredPercent, journal.Gaps)
	}
	return nil
}

// outcome is what a deed command said and what it cost.
type outcome struct {
	said   string // all of its output
	code   int
	took   time.Duration
	worked time.Duration // on the processor; less than took on a busy machine
	memory int64         // peak, in bytes; 0 where the system does not tell
}

// deedCommand runs one of deed's commands that look at a journal.
func (b *bench) deedCommand(ctx context.Context, home string, command ...string) (outcome, error) {
	var output strings.Builder
	cmd := exec.CommandContext(ctx, b.deed, command...)
	cmd.Env = append(os.Environ(), "DEED_HOME="+home)
	cmd.Stdout, cmd.Stderr = &output, &output
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, fmt.Errorf("start deed %s: %w", command[0], err)
	}
	watched := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	took := time.Since(began)
	if cmd.ProcessState == nil {
		return outcome{}, fmt.Errorf("run deed %s: %w", command[0], err)
	}
	return outcome{
		said: output.String(),
		code: cmd.ProcessState.ExitCode(), took: took,
		worked: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), memory: watched(),
	}, nil
}

// watchMemory looks at a process until the returned function is called, which
// answers the most memory that it was seen to hold.
func watchMemory(pid int) func() int64 {
	const every = 5 * time.Millisecond
	stop, result := make(chan struct{}), make(chan int64, 1)
	go func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		var most int64
		for {
			if peak, found := peakMemory(pid); found {
				most = max(most, peak)
			}
			select {
			case <-ticker.C:
			case <-stop:
				result <- most
				return
			}
		}
	}()
	return func() int64 { close(stop); return <-result }
}
