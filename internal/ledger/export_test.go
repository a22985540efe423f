package ledger

import "time"

// Paced makes a sequencer look when it is told, and say when it is done.
func (q *Sequencer) Paced(ticks <-chan time.Time, done func()) *Sequencer {
	q.ticks, q.done = ticks, done
	return q
}

// Settling is how old the newest row of a segment is at least.
const Settling = settling
