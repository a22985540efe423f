package stdio

import (
	"time"

	"github.com/deed-dev/deed/internal/journal"
)

// How long a record that is behind is waited for at the end of a session: a slow
// disk may take its time, one that stands still may not. A program that holds the
// journal's lock mostly gives it back, and is waited for longest. What is written
// steadily is waited for to its end: a slow machine that has recorded a burst must
// not lose the rest of it; where it only crawls, that would take hours.
const (
	patienceStep  = 3 * time.Second
	stillFor      = 9 * time.Second // without an entry written
	longestFinish = 30 * time.Second
	longestSteady = 10 * time.Minute
	steadily      = 20 // entries a second
)

// patience is kept up while entries are written, or are kept from it by another
// program.
type patience struct {
	step     time.Duration
	progress func() journal.Progress
	began    time.Time
	first    int64     // progress when it began
	last     int64     // progress when it was looked at last
	moved    time.Time // when it was last seen to have grown
}

func newPatience(progress func() journal.Progress) *patience {
	now, written := time.Now(), progress().Written
	return &patience{step: patienceStep, progress: progress, began: now, first: written, last: written, moved: now}
}

// more says whether it is worth to wait another step.
func (p *patience) more() bool {
	now := time.Now()
	if is := p.progress(); is.Written > p.last || is.Locked {
		p.last, p.moved = is.Written, now
	}
	waited, longest := now.Sub(p.began), longestFinish
	if float64(p.last-p.first) >= steadily*waited.Seconds() {
		longest = longestSteady
	}
	return now.Sub(p.moved) < stillFor && waited < longest
}
