package wire

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"sync"
)

// limits are how much a gated relay keeps.
type limits struct {
	spillAt int   // bytes of one line in memory; more goes to a file
	maxLine int64 // bytes of one line that are held
	maxHeld int64 // bytes held in all before reading pauses
}

func (l limits) orUsual() limits {
	if l == (limits{}) {
		return limits{spillAt: 1 << 20, maxLine: 64 << 20, maxHeld: 64 << 20}
	}
	return l
}

// gated is a relay with a gate. One goroutine reads: it cuts the stream into
// lines, asks about each as soon as it is whole, and runs ahead until enough
// is held. The other forwards, strictly in order, as decisions arrive.
//
// Every byte read is held before it is settled with the tap, and the reader
// waits only after it has settled: a gate may itself wait for the tap to have
// seen the line.
type gated struct {
	relay  *Relay
	tap    *Contained
	limits limits

	mu      sync.Mutex
	changed sync.Cond
	lines   []*Line // in order; all but the last are complete
	held    int64   // bytes in lines
	ended   bool    // no more will be read
	gone    bool    // nothing more can or may be forwarded
	result  Result
}

func newGated(r *Relay, tap *Contained) *gated {
	g := &gated{relay: r, tap: tap, limits: r.limits.orUsual()}
	g.changed.L = &g.mu
	return g
}

func (g *gated) run() Result {
	reader := make(chan struct{})
	go func() { defer close(reader); g.read() }()
	forwarder := make(chan struct{})
	go func() { defer close(forwarder); g.forward() }()

	source := &g.relay.source
	select {
	case <-forwarder: // all is forwarded, or nothing more can be
		source.giveUp(Stopped)
		select {
		case <-reader:
		case <-source.lost:
		}
	case <-reader:
		<-forwarder
	case why := <-source.lost:
		g.endSource(why, nil)
		<-forwarder
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	for _, line := range g.lines {
		line.kept.release()
	}
	if g.result.End == SinkGone && g.relay.wasStopped() {
		g.result.End, g.result.Err = Stopped, nil
	}
	g.result.Undelivered = g.result.Read - g.result.Written - g.result.Refused
	return g.result
}

// read takes chunks until the source ends or the sink is gone.
func (g *gated) read() {
	buf, spare := make([]byte, firstBuffer), make([]byte, firstBuffer)
	for g.waitForRoom() {
		n, err := g.relay.source.read(buf)
		if err == errLost {
			return
		}
		if n > 0 {
			place := g.tap.Offer(g.relay.From, buf[:n])
			g.hold(buf[:n], place, spare)
			g.tap.Settle(place, n)
			g.passLongLine(spare)
		}
		if err != nil {
			if err != errStopping {
				g.lastLine(spare)
			}
			g.endSource(g.relay.sourceEnd(err))
			return
		}
	}
}

// hold cuts a chunk into lines and asks about those that it completes.
func (g *gated) hold(chunk []byte, place Place, buf []byte) {
	g.mu.Lock()
	g.result.Read += int64(len(chunk))
	g.mu.Unlock()
	for len(chunk) > 0 && !g.isGone() { // what is left then counts as undelivered
		piece := chunk
		end := bytes.IndexByte(chunk, '\n') + 1
		if end > 0 {
			piece = chunk[:end]
		}
		chunk = chunk[len(piece):]

		line := g.openLine()
		line.kept.add(piece, g.limits.spillAt, g.relay.spillFolder)
		line.size += int64(len(piece))
		line.place = place
		line.long = line.size > g.limits.maxLine
		g.mu.Lock()
		g.held += int64(len(piece))
		g.mu.Unlock()
		if end > 0 {
			g.complete(line, buf)
		}
	}
}

// openLine returns the line that is still growing, a new one if need be. Only
// the reader touches its content until it is complete.
func (g *gated) openLine() *Line {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.lines); n > 0 && !g.lines[n-1].complete {
		return g.lines[n-1]
	}
	line := &Line{}
	g.lines = append(g.lines, line)
	return line
}

// complete asks the gate, outside the lock, and then shows the forwarder.
// Where nothing is ahead of the line and the gate has answered already, the
// line goes on from here: waking the forwarder would double the delay.
func (g *gated) complete(line *Line, buf []byte) {
	decision := g.ask(line)
	if g.isFirst(line) {
		select {
		case decided := <-decision:
			if !decided.Refuse && len(decided.Answer) == 0 {
				if g.send(line, 0, buf) {
					g.drop(line)
				}
				return
			}
			again := make(chan Decision, 1)
			again <- decided
			decision = again
		default:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	line.decision, line.complete = decision, true
	g.changed.Broadcast()
}

func (g *gated) isGone() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gone
}

func (g *gated) isFirst(line *Line) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.gone && g.lines[0] == line
}

// passed is the decision about a line that nobody decides.
var passed = func() <-chan Decision {
	c := make(chan Decision)
	close(c)
	return c
}()

// ask asks the gate. When it panics the line goes on: a fault of the one who
// watches must not cut the wire.
func (g *gated) ask(line *Line) (decision <-chan Decision) {
	defer func() {
		value := recover()
		if value == nil {
			return
		}
		err := &PanicError{Call: "Gate.Pass", Value: value, Stack: debug.Stack()}
		g.mu.Lock()
		first := g.result.GateErr == nil
		g.result.GateErr = err
		g.mu.Unlock()
		if first && g.relay.Panicked != nil {
			g.relay.Panicked(err)
		}
		decision = passed
	}()
	decision = g.relay.Gate.Pass(line)
	if decision == nil {
		return passed
	}
	return decision
}

// lastLine asks about a last line that the source ended without a line end.
func (g *gated) lastLine(buf []byte) {
	g.mu.Lock()
	var line *Line
	if n := len(g.lines); n > 0 && !g.lines[n-1].complete {
		line = g.lines[n-1]
	}
	g.mu.Unlock()
	if line != nil {
		g.complete(line, buf)
	}
}

// waitForRoom waits while enough is held and the forwarder has lines to work
// on. It reports whether to read on.
func (g *gated) waitForRoom() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.gone && g.held >= g.limits.maxHeld && g.lines[0].complete {
		g.changed.Wait()
	}
	return !g.gone
}

// passLongLine sends on what there is of a line too long to hold, once it is
// its turn. The last byte stays here, so that the gate is asked before it goes.
func (g *gated) passLongLine(buf []byte) {
	g.mu.Lock()
	n := len(g.lines)
	if n == 0 || g.gone || g.lines[n-1].complete || !g.lines[n-1].long {
		g.mu.Unlock()
		return
	}
	line := g.lines[n-1]
	for !g.gone && g.lines[0] != line {
		g.changed.Wait()
	}
	gone := g.gone
	g.mu.Unlock()
	if gone {
		return
	}
	g.send(line, 1, buf)
}

// send writes all of line but its last keep bytes. It belongs to the reader
// while the first line is not complete, and else to the forwarder.
func (g *gated) send(line *Line, keep int64, buf []byte) bool {
	sent, err := line.kept.sendTo(g.relay.Dst, keep, buf)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result.Written += sent
	g.held -= sent
	if err != nil {
		g.end(SinkGone, fmt.Errorf("write to the %s: %w", g.relay.From.other(), err))
		g.gone = true
	}
	return err == nil
}

// forward passes lines on in order until there are none left or nothing can
// be passed any more.
func (g *gated) forward() {
	buf := make([]byte, firstBuffer)
	for {
		line := g.next()
		if line == nil {
			return
		}
		var decision Decision
		select {
		case decision = <-line.decision:
		case <-g.relay.stopped:
			g.stop()
			return
		}
		if decision.Refuse && line.Held() {
			g.refuse(line)
		} else if !g.send(line, 0, buf) {
			return
		}
		g.remove(line)
		if g.relay.Answers != nil {
			g.relay.Answers.Answer(decision.Answer)
		}
	}
}

// next waits for the first line to be complete. It returns nil at the end.
func (g *gated) next() *Line {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.gone && !g.ended && (len(g.lines) == 0 || !g.lines[0].complete) {
		g.changed.Wait()
	}
	if g.gone || len(g.lines) == 0 || !g.lines[0].complete {
		return nil
	}
	return g.lines[0]
}

func (g *gated) refuse(line *Line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.result.Refused += line.size
	g.held -= line.size
}

func (g *gated) remove(line *Line) {
	g.drop(line)
	g.changed.Broadcast()
}

// drop is remove by the reader: nobody waits for that, and waking the
// forwarder for nothing costs more than all the rest of a small line.
func (g *gated) drop(line *Line) {
	line.kept.release()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines[0] = nil
	g.lines = g.lines[1:]
}

func (g *gated) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(Stopped, nil)
	g.gone = true
}

// endSource says that nothing more will be read.
func (g *gated) endSource(end End, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end(end, err)
	if end == Stopped {
		g.gone = true
	}
}

// end notes the first reason to end; a later one is only its consequence.
// The caller holds the lock.
func (g *gated) end(end End, err error) {
	if !g.ended {
		g.ended = true
		g.result.End, g.result.Err = end, err
	}
	g.changed.Broadcast()
}
