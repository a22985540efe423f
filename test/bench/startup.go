package main

import (
	"context"
	"fmt"
	"time"
)

// measureStartup times from the start of a command to the end of its first
// answer. The server answers at once, so that what is left is the start.
func measureStartup(ctx context.Context, b *bench) (*section, error) {
	ways, err := b.ways()
	if err != nil {
		return nil, err
	}
	samples := make([]sample, len(ways))
	// Turn 0 makes the journal and fills the page cache; it does not count.
	for turn := 0; turn <= b.dose.starts; turn++ {
		for _, i := range rotate(len(ways), turn) {
			took, err := b.firstAnswer(ctx, ways[i])
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				samples[i] = append(samples[i], took)
			}
		}
	}
	s := &section{
		title:  "Start-up, to the first answer",
		header: []string{"Way", "n", "Median", "p99", "Added at the median"},
	}
	medians := map[string]time.Duration{}
	for i, way := range ways {
		medians[way.name] = samples[i].median()
	}
	for i, way := range ways {
		s.row(way.name, fmt.Sprint(len(samples[i])), millis(samples[i].median()), millis(samples[i].p99()),
			millis(medians[way.name]-medians[wayDirect]))
	}
	if deed, measured := medians[wayDeed]; measured {
		added := deed - medians[wayDirect]
		s.figures = append(s.figures, figure{
			what:   "start-up added to a wrapped server",
			target: "< 15 ms", value: millis(added), met: added < 15*time.Millisecond,
		})
	}
	return s, b.checkJournal(ctx, ways, s)
}

func (b *bench) firstAnswer(ctx context.Context, w way) (time.Duration, error) {
	began := time.Now()
	l, err := w.open(ctx, b.server(smallAnswer))
	if err != nil {
		return 0, err
	}
	if _, err := l.call(smallAnswer); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, l.close()
}
