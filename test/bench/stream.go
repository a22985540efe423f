package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// streamLine is the size of one message in the long stream.
const streamLine = 64 << 10

// measureStream times one long stream from the server to the client.
func measureStream(ctx context.Context, b *bench) (*section, error) {
	ways, err := b.ways()
	if err != nil {
		return nil, err
	}
	samples := make([]sample, len(ways))
	for turn := range b.dose.streams {
		for _, i := range rotate(len(ways), turn) {
			took, _, err := b.carry(ctx, ways[i], b.dose.streamed, streamLine)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], took)
		}
	}
	s := &section{
		title:  "One long stream, " + bytesText(b.dose.streamed) + " of " + bytesText(streamLine) + " messages",
		header: []string{"Way", "n", "Median", "MiB/s", "To the bare copier"},
	}
	rates := map[string]float64{}
	for i, way := range ways {
		rates[way.name] = float64(b.dose.streamed) / (1 << 20) / samples[i].median().Seconds()
	}
	for i, way := range ways {
		s.row(way.name, fmt.Sprint(len(samples[i])), millis(samples[i].median()),
			fmt.Sprintf("%.0f", rates[way.name]), fmt.Sprintf("%.2f×", rates[way.name]/rates[wayBare]))
	}
	if rate, measured := rates[wayDeed]; measured {
		ratio := rate / rates[wayBare]
		s.figures = append(s.figures, figure{
			what:   "throughput of one long stream, to the bare copier",
			target: "≥ 0.8×", value: fmt.Sprintf("%.2f×", ratio), met: ratio >= 0.8,
		})
	}
	return s, b.checkJournal(ctx, ways, s)
}

// measureMemory carries one line that never ends, and asks the process in the
// middle how much memory it ever held.
func measureMemory(ctx context.Context, b *bench) (*section, error) {
	ways, err := b.ways()
	if err != nil {
		return nil, err
	}
	s := &section{
		title:  "Memory while one line of " + bytesText(b.dose.streamed) + " passes",
		header: []string{"Way", "n", "Peak of the process in the middle", "Time"},
	}
	for _, way := range ways {
		if way.name == wayDirect {
			continue // there is nobody in the middle
		}
		took, peak, err := b.carry(ctx, way, b.dose.streamed, 0)
		if err != nil {
			return nil, err
		}
		held := "not known on this system"
		if peak > 0 {
			held = fmt.Sprintf("%.1f MiB", float64(peak)/(1<<20))
		}
		s.row(way.name, "1", held, millis(took))
		if way.name == wayDeed && peak > 0 {
			s.figures = append(s.figures, figure{
				what:   "memory while a line of " + bytesText(b.dose.streamed) + " passes",
				target: "< 100 MiB", value: held, met: peak < 100<<20,
			})
		}
	}
	return s, b.checkJournal(ctx, ways, s)
}

// carry lets a source pour total bytes over one way. It returns the time from
// the word go to the last byte, and the peak memory of the process that the
// client talks to (0 where the system does not tell).
func (b *bench) carry(ctx context.Context, w way, total int64, lineBytes int) (time.Duration, int64, error) {
	l, err := w.open(ctx, b.source(total, lineBytes))
	if err != nil {
		return 0, 0, err
	}
	buffer := make([]byte, 256<<10)
	began := time.Now()
	if _, err := l.stdin.Write([]byte("\n")); err != nil {
		return 0, 0, l.failed("say go", err)
	}
	for left := total; left > 0; {
		n, err := l.stdout.Read(buffer)
		left -= int64(n)
		if errors.Is(err, io.EOF) && left > 0 {
			return 0, 0, l.failed("read the stream", fmt.Errorf("it ended %d bytes too early", left))
		}
		if err != nil {
			return 0, 0, l.failed("read the stream", err)
		}
	}
	took := time.Since(began)
	peak, _ := peakMemory(l.cmd.Process.Pid)
	return took, peak, l.close()
}
