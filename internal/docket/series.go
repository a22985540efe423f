package docket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// series holds what actions add to one bucket in one currency, ordered by their
// start. It lies in chunks that know their sums, and remembers the sums of
// blocks of chunks and what comes before each block. So a window is added up by
// looking into the chunks and blocks at its ends, and what an insertion in the
// middle makes wrong is one block.
type series struct {
	currency money.Currency // empty for what has no amount
	shadow   bool
	size     sizes
	chunks   []chunk
	blocks   []tally       // of the blocks so far asked for; a count of -1 is not known
	before   []tally       // before[i] is what comes before block i, for the first ones
	received value.Instant // the latest receipt of any entry
}

// sizes are how many entries a chunk has at most, and how many chunks a block.
// Longer ones make the ends of a window dearer, shorter ones an insertion.
type sizes struct{ chunk, block int }

func usualSizes() sizes { return sizes{chunk: 256, block: 64} }

type seriesEntry struct {
	start    value.Instant
	received value.Instant
	actionID string
	amount   money.Decimal
}

type chunk struct {
	entries []seriesEntry
	sum     money.Decimal
}

// tally is how many entries there are and what they come to.
type tally struct {
	count int
	sum   money.Decimal
}

func (t tally) minus(u tally) tally {
	return tally{count: t.count - u.count, sum: t.sum.Sub(u.sum)}
}

func (t tally) plus(u tally) tally {
	return tally{count: t.count + u.count, sum: t.sum.Add(u.sum)}
}

func compareEntries(a, b seriesEntry) int {
	return cmp.Or(cmp.Compare(a.start, b.start), strings.Compare(a.actionID, b.actionID))
}

// chunkOf is the index of the chunk where an entry stands or belongs.
func (s *series) chunkOf(e seriesEntry) int {
	i, _ := slices.BinarySearchFunc(s.chunks, e, func(c chunk, e seriesEntry) int {
		return compareEntries(c.entries[len(c.entries)-1], e)
	})
	return i
}

func (s *series) insert(e seriesEntry) {
	s.received = max(s.received, e.received)
	i := min(s.chunkOf(e), len(s.chunks)-1)
	if i < 0 {
		s.chunks = append(s.chunks, chunk{entries: []seriesEntry{e}, sum: e.amount})
		s.changed(0, true)
		return
	}
	s.changed(i, false)
	c := &s.chunks[i]
	at, _ := slices.BinarySearchFunc(c.entries, e, compareEntries)
	c.entries = slices.Insert(c.entries, at, e)
	c.sum = c.sum.Add(e.amount)
	if len(c.entries) > s.size.chunk {
		s.split(i)
	}
}

// split cuts a full chunk: in the middle, or, where it is the last one, near
// its end, because what comes next mostly comes last.
func (s *series) split(i int) {
	entries := s.chunks[i].entries
	at := len(entries) / 2
	if i == len(s.chunks)-1 {
		at = len(entries) - 1
	}
	left := chunk{entries: slices.Clone(entries[:at])}
	right := chunk{entries: slices.Clone(entries[at:])}
	for _, e := range right.entries {
		right.sum = right.sum.Add(e.amount)
	}
	left.sum = s.chunks[i].sum.Sub(right.sum)
	s.chunks[i] = left
	s.chunks = slices.Insert(s.chunks, i+1, right)
	s.changed(i, true)
}

// remove takes an entry out again and says whether it was there.
func (s *series) remove(e seriesEntry) bool {
	i := s.chunkOf(e)
	if i == len(s.chunks) {
		return false
	}
	c := &s.chunks[i]
	at, found := slices.BinarySearchFunc(c.entries, e, compareEntries)
	if !found {
		return false
	}
	s.changed(i, false)
	c.sum = c.sum.Sub(c.entries[at].amount)
	c.entries = slices.Delete(c.entries, at, at+1)
	if len(c.entries) == 0 {
		s.chunks = slices.Delete(s.chunks, i, i+1)
		s.changed(i, true)
	}
	return true
}

// changed drops the sums that a change of chunk i made wrong; moved says that
// the chunks after it have other places now.
func (s *series) changed(i int, moved bool) {
	block := i / s.size.block
	s.before = s.before[:min(len(s.before), block+1)]
	switch {
	case block >= len(s.blocks):
	case moved:
		s.blocks = s.blocks[:block]
	default:
		s.blocks[block].count = -1
	}
}

// within adds up the entries whose start lies in (from, to].
func (s *series) within(from, to value.Instant) tally {
	return s.upTo(to).minus(s.upTo(from))
}

// upTo adds up the entries whose start is not after a time.
func (s *series) upTo(at value.Instant) tally {
	i, _ := slices.BinarySearchFunc(s.chunks, at, func(c chunk, at value.Instant) int {
		if c.entries[len(c.entries)-1].start <= at {
			return -1
		}
		return 1
	})
	sum := s.beforeChunk(i)
	if i == len(s.chunks) {
		return sum
	}
	for _, e := range s.chunks[i].entries {
		if e.start > at {
			break
		}
		sum.count++
		sum.sum = sum.sum.Add(e.amount)
	}
	return sum
}

// beforeChunk adds up what comes before a chunk.
func (s *series) beforeChunk(i int) tally {
	block := i / s.size.block
	sum := s.beforeBlock(block)
	for _, c := range s.chunks[block*s.size.block : i] {
		sum = sum.plus(c.tally())
	}
	return sum
}

func (s *series) beforeBlock(i int) tally {
	if len(s.before) == 0 {
		s.before = append(s.before, tally{})
	}
	for n := len(s.before); n <= i; n++ {
		s.before = append(s.before, s.before[n-1].plus(s.block(n-1)))
	}
	return s.before[i]
}

// block adds up a block that is full.
func (s *series) block(i int) tally {
	for len(s.blocks) <= i {
		s.blocks = append(s.blocks, tally{count: -1})
	}
	if s.blocks[i].count < 0 {
		sum := tally{}
		for _, c := range s.chunks[i*s.size.block : (i+1)*s.size.block] {
			sum = sum.plus(c.tally())
		}
		s.blocks[i] = sum
	}
	return s.blocks[i]
}

func (c *chunk) tally() tally { return tally{count: len(c.entries), sum: c.sum} }

// receivedBy adds up as within does, leaving out what was received after a
// time. It looks at every entry, which only a question about the past needs.
func (s *series) receivedBy(from, to, at value.Instant) tally {
	var sum tally
	for _, c := range s.chunks {
		for _, e := range c.entries {
			if e.start > from && e.start <= to && e.received <= at {
				sum.count++
				sum.sum = sum.sum.Add(e.amount)
			}
		}
	}
	return sum
}

// between lists the entries whose start lies in [from, to).
func (s *series) between(from, to value.Instant) []Later {
	var found []Later
	for i := range s.chunks {
		entries := s.chunks[i].entries
		if entries[len(entries)-1].start < from || entries[0].start >= to {
			continue
		}
		for _, e := range entries {
			if e.start >= from && e.start < to {
				found = append(found, Later{ActionID: e.actionID, Start: e.start})
			}
		}
	}
	return found
}
