package rollup

import (
	"cmp"
	"encoding/binary"
	"math"
)

// Ranked is a call and what it is ranked by.
type Ranked struct{ N, Value int64 }

// before puts the highest value first, and of equal ones the oldest call.
func (a Ranked) before(b Ranked) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.N, b.N))
}

// Ranking is the first few calls by some value, the highest first.
type Ranking []Ranked

// Add puts a call where it belongs, or leaves it out.
func (r *Ranking) Add(one Ranked) {
	at := len(*r)
	for at > 0 && one.before((*r)[at-1]) < 0 {
		at--
	}
	if at == ExtremesKept {
		return
	}
	if len(*r) < ExtremesKept {
		*r = append(*r, Ranked{})
	}
	copy((*r)[at+1:], (*r)[at:])
	(*r)[at] = one
}

// First is the highest of a ranking, of no call and -1 where there is none.
func (r Ranking) First() Ranked {
	if len(r) == 0 {
		return Ranked{N: -1, Value: -1}
	}
	return r[0]
}

// Merge adds the calls of another ranking.
func (r *Ranking) Merge(o Ranking) {
	for _, one := range o {
		r.Add(one)
	}
}

// AppendRankings writes rankings: for each its length and then entry numbers
// and values.
func AppendRankings(b []byte, rankings ...Ranking) []byte {
	for _, r := range rankings {
		b = binary.AppendUvarint(b, uint64(len(r)))
		for _, one := range r {
			b = binary.AppendUvarint(b, uint64(one.N))
			b = binary.AppendUvarint(b, uint64(one.Value))
		}
	}
	return b
}

// ReadRankings reads as many rankings as there are, as [AppendRankings] writes
// them. Its error is [ErrForm].
func ReadRankings(b []byte, rankings ...*Ranking) error {
	failed := false
	next := func() int64 {
		value, size := binary.Uvarint(b)
		if size <= 0 || value > math.MaxInt64 {
			failed, b = true, nil
			return 0
		}
		b = b[size:]
		return int64(value)
	}
	for _, r := range rankings {
		length := next()
		if length > ExtremesKept {
			return ErrForm
		}
		if length > 0 && cap(*r) == 0 {
			*r = make(Ranking, 0, ExtremesKept)
		}
		for range length {
			n := next()
			r.Add(Ranked{n, next()})
		}
	}
	if failed || len(b) > 0 {
		return ErrForm
	}
	return nil
}
