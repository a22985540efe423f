package rollup

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"sort"
)

// Histogram counts values of 0 and more in buckets whose width grows with the
// value: below 128 each value has its own, above that 64 buckets share each
// power of two. The middle of a bucket is at most 1/128 off any value in it,
// so that what is read off stays within 1 %.
type Histogram []Bucket

// Bucket has index and count. Buckets are sorted, and none is empty.
type Bucket struct {
	Index int
	Count int64
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

// Add counts a value so many times.
func (h *Histogram) Add(value, count int64) { h.addBucket(bucketOf(max(0, value)), count) }

func (h *Histogram) addBucket(index int, count int64) {
	at := sort.Search(len(*h), func(i int) bool { return (*h)[i].Index >= index })
	if at < len(*h) && (*h)[at].Index == index {
		(*h)[at].Count += count
		return
	}
	*h = append(*h, Bucket{})
	copy((*h)[at+1:], (*h)[at:])
	(*h)[at] = Bucket{index, count}
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(o Histogram) {
	for _, b := range o {
		h.addBucket(b.Index, b.Count)
	}
}

// Quantile returns the value at a share of all values by nearest rank, within
// 1 %, or -1 when there are none.
func (h Histogram) Quantile(share float64) int64 {
	var total int64
	for _, b := range h {
		total += b.Count
	}
	if total == 0 {
		return -1
	}
	rank := int64(math.Round(share * float64(total-1)))
	for _, b := range h {
		if rank < b.Count {
			return bucketMiddle(b.Index)
		}
		rank -= b.Count
	}
	return bucketMiddle(h[len(h)-1].Index)
}

// Append writes the histogram: for each bucket its distance from the one
// before, and its count, as variable-length integers.
func (h Histogram) Append(b []byte) []byte {
	before := 0
	for _, one := range h {
		b = binary.AppendUvarint(b, uint64(one.Index-before))
		b = binary.AppendUvarint(b, uint64(one.Count))
		before = one.Index
	}
	return b
}

// ErrForm says that stored bytes are not a histogram or rankings as they are written.
var ErrForm = errors.New("a roll-up is not in its form")

// ReadHistogram reads what [Histogram.Append] writes. Its error is [ErrForm].
func ReadHistogram(b []byte) (Histogram, error) {
	var h Histogram
	err := EachBucket(b, func(index int, count int64) {
		h = append(h, Bucket{index, count})
	})
	return h, err
}

// EachBucket reads a stored histogram without keeping it.
func EachBucket(b []byte, yield func(index int, count int64)) error {
	index := 0
	for len(b) > 0 {
		distance, size := binary.Uvarint(b)
		if size <= 0 || distance > uint64(maxBucket-index) {
			return ErrForm
		}
		count, more := binary.Uvarint(b[size:])
		if more <= 0 || count > math.MaxInt64 {
			return ErrForm
		}
		index += int(distance)
		yield(index, int64(count))
		b = b[size+more:]
	}
	return nil
}
