package stdio

import "time"

// How long a record that is behind is waited for at the end of a session: a
// slow disk may take its time, one that stands still may not.
const (
	patienceStep  = 3 * time.Second
	stillFor      = 9 * time.Second // without an entry written
	longestFinish = 30 * time.Second
)

// patience is kept up while entries are written.
type patience struct {
	step     time.Duration
	progress func() int64
	began    time.Time
	last     int64     // progress when it was looked at last
	moved    time.Time // when it was last seen to have grown
}

func newPatience(progress func() int64) *patience {
	now := time.Now()
	return &patience{step: patienceStep, progress: progress, began: now, last: progress(), moved: now}
}

// more says whether it is worth to wait another step.
func (p *patience) more() bool {
	now := time.Now()
	if n := p.progress(); n > p.last {
		p.last, p.moved = n, now
	}
	return now.Sub(p.moved) < stillFor && now.Sub(p.began) < longestFinish
}
