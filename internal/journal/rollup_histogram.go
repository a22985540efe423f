package journal

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"sort"
)

// histogram counts values of 0 and more in buckets whose width grows with the
// value: below 128 each value has its own, above that 64 buckets share each
// power of two. The middle of a bucket is at most 1/128 off any value in it,
// so that what is read off stays within 1 %.
type histogram []bucket

// bucket has index and count. Buckets are sorted, and none is empty.
type bucket struct {
	index int
	count int64
}

// maxBucket is the bucket of the highest value that there can be.
var maxBucket = bucketOf(math.MaxInt64)

func bucketOf(value int64) int {
	shift := max(0, bits.Len64(uint64(value))-7)
	return shift*64 + int(value>>shift)
}

// bucketMiddle is the value that stands for all of a bucket.
func bucketMiddle(index int) int64 {
	if index < 128 {
		return int64(index)
	}
	shift := index/64 - 1
	low := int64(64+index%64) << shift
	return low + (int64(1)<<shift-1)/2
}

func (h *histogram) add(value, count int64) { h.addBucket(bucketOf(max(0, value)), count) }

func (h *histogram) addBucket(index int, count int64) {
	at := sort.Search(len(*h), func(i int) bool { return (*h)[i].index >= index })
	if at < len(*h) && (*h)[at].index == index {
		(*h)[at].count += count
		return
	}
	*h = append(*h, bucket{})
	copy((*h)[at+1:], (*h)[at:])
	(*h)[at] = bucket{index, count}
}

func (h *histogram) merge(o histogram) {
	for _, b := range o {
		h.addBucket(b.index, b.count)
	}
}

// quantile returns the value at a share of all values by nearest rank, within
// 1 %, or -1 when there are none.
func (h histogram) quantile(share float64) int64 {
	var total int64
	for _, b := range h {
		total += b.count
	}
	if total == 0 {
		return -1
	}
	rank := int64(math.Round(share * float64(total-1)))
	for _, b := range h {
		if rank < b.count {
			return bucketMiddle(b.index)
		}
		rank -= b.count
	}
	return bucketMiddle(h[len(h)-1].index)
}

// append writes the histogram: for each bucket its distance from the one
// before, and its count, as variable-length integers.
func (h histogram) append(b []byte) []byte {
	before := 0
	for _, one := range h {
		b = binary.AppendUvarint(b, uint64(one.index-before))
		b = binary.AppendUvarint(b, uint64(one.count))
		before = one.index
	}
	return b
}

var errBadRollup = errors.New("a roll-up is not in its form")

func readHistogram(b []byte) (histogram, error) {
	var h histogram
	err := eachBucket(b, func(index int, count int64) {
		h = append(h, bucket{index, count})
	})
	return h, err
}

// eachBucket reads a stored histogram without keeping it.
func eachBucket(b []byte, yield func(index int, count int64)) error {
	index := 0
	for len(b) > 0 {
		distance, size := binary.Uvarint(b)
		if size <= 0 || distance > uint64(maxBucket-index) {
			return errBadRollup
		}
		count, more := binary.Uvarint(b[size:])
		if more <= 0 || count > math.MaxInt64 {
			return errBadRollup
		}
		index += int(distance)
		yield(index, int64(count))
		b = b[size+more:]
	}
	return nil
}

// appendRankings writes rankings: for each its length and then entry numbers
// and values.
func appendRankings(b []byte, rankings ...ranking) []byte {
	for _, r := range rankings {
		b = binary.AppendUvarint(b, uint64(len(r)))
		for _, one := range r {
			b = binary.AppendUvarint(b, uint64(one.n))
			b = binary.AppendUvarint(b, uint64(one.value))
		}
	}
	return b
}

func readRankings(b []byte, rankings ...*ranking) error {
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
		if length > extremesKept {
			return errBadRollup
		}
		if length > 0 && cap(*r) == 0 {
			*r = make(ranking, 0, extremesKept)
		}
		for range length {
			n := next()
			r.add(ranked{n, next()})
		}
	}
	if failed || len(b) > 0 {
		return errBadRollup
	}
	return nil
}
