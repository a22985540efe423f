package tap

// ring is a queue of slots that grows when it must and never shrinks; it
// stays small because every slot counts against the buffer's limit. A slot
// keeps its index for as long as it is in the queue.
type ring struct {
	buf   []slot // its length is a power of two
	base  int    // index of the first slot
	count int
}

func (r *ring) len() int { return r.count }

func (r *ring) first() *slot { return r.at(r.base) }

func (r *ring) at(index int) *slot { return &r.buf[index&(len(r.buf)-1)] }

func (r *ring) holds(index int) bool { return index >= r.base && index < r.base+r.count }

func (r *ring) push(s slot) (index int) {
	if r.count == len(r.buf) {
		r.grow()
	}
	index = r.base + r.count
	r.count++
	*r.at(index) = s
	return index
}

func (r *ring) pop() {
	*r.first() = slot{}
	r.base++
	r.count--
}

// trim takes void slots off the end.
func (r *ring) trim() {
	for r.count > 0 && r.at(r.base+r.count-1).void {
		r.count--
	}
}

func (r *ring) grow() {
	bigger := make([]slot, max(64, 2*len(r.buf)))
	for i := r.base; i < r.base+r.count; i++ {
		bigger[i&(len(bigger)-1)] = *r.at(i)
	}
	r.buf = bigger
}
