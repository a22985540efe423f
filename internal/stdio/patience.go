package stdio

import (
	"time"

	"github.com/deed-dev/deed/internal/journal"
)

// How long a record that is behind is waited for at the end of a session: a
// slow disk may take its time, one that stands still may not. A program that
// holds the journal's lock mostly gives it back, and is waited for longest.
const (
	patienceStep  = 3 * time.Second
	stillFor      = 9 * time.Second // without an entry written
	longestFinish = 30 * time.Second
)

// patience is kept up while entries are written, or are kept from it by another
// program.
type patience struct {
	step     time.Duration
	progress func() journal.Progress
	began    time.Time
	last     int64     // progress when it was looked at last
	moved    time.Time // when it was last seen to have grown
}

func newPatience(progress func() journal.Progress) *patience {
	now := time.Now()
	return &patience{step: patienceStep, progress: progress, began: now, last: progress().Written, moved: now}
}

// more says whether it is worth to wait another step.
func (p *patience) more() bool {
	now := time.Now()
	if is := p.progress(); is.Written > p.last || is.Locked {
		p.last, p.moved = is.Written, now
	}
	return now.Sub(p.moved) < stillFor && now.Sub(p.began) < longestFinish
}
