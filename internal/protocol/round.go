package protocol

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/deed-dev/deed/internal/wire"
)

// keptRounds is how many calls are remembered that wait for another round. A
// client need not come back, and nothing says so when it does not.
const keptRounds = 10_000

// rounds are the calls whose last answer asked for more and that have not come
// back with it. Such an answer closes its request; the next one has a new id,
// and is known by asking for the same with the state that it was given.
type rounds struct {
	waiting *recent[roundKey, *roundGroup]
	count   int // calls, in all groups
}

// roundKey is what the next request of a call will look like.
type roundKey struct {
	conn     string
	from     wire.Direction
	subject  uint64 // see subjectOf
	hasState bool
	state    uint64
}

// roundGroup is the calls that wait for requests which look alike.
type roundGroup struct {
	calls  []*Call
	taken  int // requests that continue one of them, nobody knows which
	shared bool
}

func newRounds() rounds {
	return rounds{waiting: newRecent[roundKey, *roundGroup](keptRounds)}
}

// asksForMore says whether an answer is an interim one.
func asksForMore(m *Message) bool {
	return m.HasResult && !m.HasError && m.ResultType.is(`"input_required"`)
}

// wait takes down that a call will come back in another round.
func (r *rounds) wait(call *Call, m *Message) {
	for r.count >= keptRounds {
		oldest, _ := r.waiting.forget()
		r.leave(oldest)
	}
	key := roundKey{conn: call.conn, from: call.From, subject: call.subject}
	if m.RequestState.given() {
		key.hasState, key.state = true, m.StateDigest
	}
	g, there := r.waiting.get(key)
	if !there {
		g = &roundGroup{}
		r.waiting.put(key, g)
	}
	g.calls = append(g.calls, call)
	g.shared = len(g.calls) > 1
	call.Waiting = true
	r.count++
}

// resume finds the call that a request continues. A request that brings
// neither input nor state is a new call, even if it looks like another one.
func (r *rounds) resume(call *Call, m *Message) (o Opened) {
	o = Opened{Call: call, Round: 1}
	key := roundKey{conn: call.conn, from: call.From, subject: call.subject}
	if m.RequestState.given() {
		key.hasState, key.state = true, m.StateDigest
	}
	if !m.HasInput && !key.hasState {
		return o
	}
	g, there := r.waiting.get(key)
	if !there {
		o.RoundUnasked = true
		return o
	}
	r.count--
	if g.taken++; g.taken == len(g.calls) {
		r.waiting.drop(key)
		g.clear()
	}
	if g.shared {
		if g.taken > keptShared {
			g.calls[0].Waiting = false
			g.calls[0], g.calls = nil, g.calls[1:]
			g.taken--
		}
		o.RoundAmbiguous = true
		return o
	}
	before := g.calls[0]
	call.First, call.Round = before.First, before.Round+1
	o.Continues, o.Round = call.First, call.Round
	return o
}

// end forgets the calls of a connection and returns them.
func (r *rounds) end(conn string) (calls []*Call) {
	r.waiting.dropWhere(func(g *roundGroup) bool {
		if g.calls[0].conn != conn {
			return false
		}
		calls = append(calls, g.calls...)
		r.count -= len(g.calls) - g.taken
		return true
	})
	return calls
}

// leave takes a group that was forgotten out of the count.
func (r *rounds) leave(g *roundGroup) {
	r.count -= len(g.calls) - g.taken
	g.clear()
}

func (g *roundGroup) clear() {
	for _, call := range g.calls {
		call.Waiting = false
	}
}

// subjectOf digests what makes two requests ask for the same: the method, the
// name or address, and the arguments as they were written. What a further
// round adds, and _meta, is left out.
func (c *Calls) subjectOf(m *Message) uint64 {
	k := c.scratch[:0]
	for _, t := range []*Token{&m.Method, &m.Name, &m.URI} {
		before := len(k)
		if t.Raw != nil {
			k = appendToken(k, *t)
		}
		k = binary.LittleEndian.AppendUint64(k, uint64(len(k)-before))
	}
	k = binary.LittleEndian.AppendUint64(k, m.ArgumentsDigest)
	c.scratch = k
	return maphash.Bytes(digestKey, k)
}
