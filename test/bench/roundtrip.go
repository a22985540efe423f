package main

import (
	"context"
	"fmt"
	"time"
)

// measureRoundTrip times calls over every way, one size after the other.
func measureRoundTrip(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Round trip of a call",
		header: []string{"Answer", "Way", "n", "Median", "p99", "Added at the median", "To direct", "To the bare copier"},
	}
	s.remark("A request has %d bytes. Each way makes %d calls, then the next has its turn.", requestBytes, b.dose.block)
	for _, dose := range b.dose.calls {
		if err := roundTrips(ctx, b, dose, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func roundTrips(ctx context.Context, b *bench, dose callDose, s *section) error {
	ways, err := b.ways()
	if err != nil {
		return err
	}
	lines := make([]*line, len(ways))
	for i, way := range ways {
		if lines[i], err = way.open(ctx, b.server(dose.answerBytes)); err != nil {
			return err
		}
	}
	samples := make([]sample, len(ways))
	turns := max(1, dose.count/b.dose.block)
	// Turn 0 warms up and does not count.
	for turn := 0; turn <= turns; turn++ {
		for _, i := range rotate(len(ways), turn) {
			took, err := callBlock(lines[i], b.dose.block, dose.answerBytes)
			if err != nil {
				return err
			}
			if turn > 0 {
				samples[i] = append(samples[i], took...)
			}
		}
	}
	for _, line := range lines {
		if err := line.close(); err != nil {
			return err
		}
	}
	roundTripRows(s, ways, samples, dose.answerBytes)
	return b.checkJournal(ctx, ways, s)
}

func callBlock(l *line, count, answerBytes int) (sample, error) {
	block := make(sample, count)
	for i := range block {
		took, err := l.call(answerBytes)
		if err != nil {
			return nil, err
		}
		block[i] = took
	}
	return block, nil
}

func roundTripRows(s *section, ways []way, samples []sample, answerBytes int) {
	medians := map[string]time.Duration{}
	for i, way := range ways {
		medians[way.name] = samples[i].median()
	}
	size := bytesText(int64(answerBytes))
	for i, way := range ways {
		median := samples[i].median()
		s.row(size, way.name, fmt.Sprint(len(samples[i])), micros(median), micros(samples[i].p99()),
			micros(median-medians[wayDirect]), times(median, medians[wayDirect]), times(median, medians[wayBare]))
	}
	deed, measured := medians[wayDeed]
	if !measured || answerBytes != smallAnswer {
		return
	}
	bare := medians[wayBare]
	s.figures = append(s.figures,
		figure{
			what:   "round trip of a small call, to the bare copier",
			target: "≤ 1.5×", value: times(deed, bare),
			met: float64(deed) <= 1.5*float64(bare),
		},
		figure{
			what:   "round trip of a small call, more than the bare copier",
			target: "≤ 40 µs", value: micros(deed - bare),
			met: deed-bare <= 40*time.Microsecond,
		})
}

// smallAnswer is the size whose round trip has a target.
const smallAnswer = 200
