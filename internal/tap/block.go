package tap

// blockSize is how much memory the buffer takes at once. A chunk never spans
// two blocks, so it must be well above the wire's chunk size.
const blockSize = 256 << 10

// spare is how many emptied blocks are kept for the next burst.
const spare = 8

// block is a piece of memory that several chunks share.
type block struct {
	mem  []byte
	live int // chunks in it that were not read yet
}

// blocks hands out memory for chunks and takes it back in the same order.
type blocks struct {
	current *block
	free    []*block
}

// put copies data into a block and says which.
func (p *blocks) put(data []byte) (*block, []byte) {
	if p.current == nil || len(p.current.mem)+len(data) > cap(p.current.mem) {
		p.current = p.fresh(len(data))
	}
	blk := p.current
	start := len(blk.mem)
	blk.mem = append(blk.mem, data...)
	blk.live++
	return blk, blk.mem[start:len(blk.mem):len(blk.mem)]
}

// drop says that one chunk of blk was read.
func (p *blocks) drop(blk *block) {
	blk.live--
	if blk.live > 0 {
		return
	}
	blk.mem = blk.mem[:0]
	if blk == p.current {
		return
	}
	if cap(blk.mem) == blockSize && len(p.free) < spare {
		p.free = append(p.free, blk)
	}
}

func (p *blocks) fresh(need int) *block {
	if need > blockSize {
		return &block{mem: make([]byte, 0, need)}
	}
	if n := len(p.free); n > 0 {
		blk := p.free[n-1]
		p.free = p.free[:n-1]
		return blk
	}
	return &block{mem: make([]byte, 0, blockSize)}
}
