package docket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// series holds what actions add to one bucket in one currency, ordered by their
// start. It lies in chunks that know their sums, and remembers the sums before
// each chunk, so that a window is added up by looking into the two chunks at
// its ends, and an insertion in the middle moves one chunk's entries.
type series struct {
	currency money.Currency // empty for what has no amount
	shadow   bool
	chunks   []chunk
	before   []tally       // before[i] is what comes before chunk i, for the first ones
	received value.Instant // the latest receipt of any entry
}

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

// chunkLength is where a chunk is cut in two. Longer ones make the ends of a
// window dearer, shorter ones an insertion in the middle.
const chunkLength = 256

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
		return
	}
	s.forget(i)
	c := &s.chunks[i]
	at, _ := slices.BinarySearchFunc(c.entries, e, compareEntries)
	c.entries = slices.Insert(c.entries, at, e)
	c.sum = c.sum.Add(e.amount)
	if len(c.entries) > chunkLength {
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
	right := chunk{entries: append(make([]seriesEntry, 0, chunkLength+1), entries[at:]...)}
	for _, e := range right.entries {
		right.sum = right.sum.Add(e.amount)
	}
	left.sum = s.chunks[i].sum.Sub(right.sum)
	s.chunks[i] = left
	s.chunks = slices.Insert(s.chunks, i+1, right)
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
	s.forget(i)
	c.sum = c.sum.Sub(c.entries[at].amount)
	c.entries = slices.Delete(c.entries, at, at+1)
	if len(c.entries) == 0 {
		s.chunks = slices.Delete(s.chunks, i, i+1)
	}
	return true
}

// forget drops the sums that a change of chunk i made wrong.
func (s *series) forget(i int) { s.before = s.before[:min(len(s.before), i+1)] }

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

func (s *series) beforeChunk(i int) tally {
	if len(s.before) == 0 {
		s.before = append(s.before, tally{})
	}
	for n := len(s.before); n <= i; n++ {
		last := s.before[n-1]
		s.before = append(s.before, tally{
			count: last.count + len(s.chunks[n-1].entries),
			sum:   last.sum.Add(s.chunks[n-1].sum),
		})
	}
	return s.before[i]
}

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
