package protocol

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/deed-dev/deed/internal/wire"
)

// Calls knows which requests are still without an answer, on any number of
// connections and in both directions, and finds the one that another message
// belongs to: an answer, a cancellation, the next round of a call, news of a
// task or of a subscription.
//
// An answer belongs to a request of the other side on the same connection
// with the same id: 1, "1" and 1.0 are three ids, while a string is the same
// string however it is escaped. Where two requests with one id are open, an
// answer is ambiguous and belongs to neither. A request whose id is null is
// not paired: an answer with that id is one to something unreadable.
//
// It remembers every request until its answer comes or its connection ends. Of
// what goes on after the answer (calls that wait for another round, tasks,
// resources that were subscribed to) it remembers the last 10,000 of each kind,
// until the connection ends. It is not safe for concurrent use.
type Calls struct {
	byID       map[string]*group
	byProgress map[string]*tokenUse
	rounds     rounds
	tasks      tasks
	watched    *recent[string, *Call] // by the address of the resource
	owed       [2]int                 // by the side that asked
	open       int
	scratch    []byte
}

// Call is a request that was taken down.
type Call struct {
	Seq       int64 // as given to Open
	At        int64 // when the last byte of the request crossed, µs since 1970
	From      wire.Direction
	Method    Token
	Name      Token // params.name
	Cancelled bool

	First   *Call // the request that the call began with; the call itself in round 1
	Round   int   // from 1
	Waiting bool  // its answer asked for more, and no request has brought it so far
	Task    *Call // the call that the task works for which this request is about; see Opened

	conn           string
	id             string // its key in byID
	subject        uint64 // a digest of what it asks for
	stream         bool   // it opens a subscription
	watches        string // its key in watched; empty when it subscribes to no resource
	progress       string // its key in byProgress; empty when it asked for none
	sharedProgress bool   // another request gave the same token
}

// group is the open requests that share an id. It is more than one only when
// somebody broke the rules.
type group struct {
	calls     []*Call
	shared    bool
	answered  int // answers that belong to one of them, nobody knows which
	cancelled int // other than subscriptions, as far as that is known
	streams   int // subscriptions among the calls
}

// tokenUse is the use of one progress token. Once two open calls gave the same
// one it is ambiguous until the last of them is gone: progress may come late.
type tokenUse struct {
	call   *Call
	open   int
	shared bool
}

// keptShared is how many requests with one id are remembered beyond those
// without an answer. A peer that uses one id for everything, and always asks
// again before it is answered, would make them grow for ever.
const keptShared = 1000

// keptWatched is how many resources are remembered that were subscribed to.
const keptWatched = 10_000

// NewCalls returns an empty set of calls.
func NewCalls() *Calls {
	return &Calls{
		byID: map[string]*group{}, byProgress: map[string]*tokenUse{},
		rounds: newRounds(), tasks: newTasks(), watched: newRecent[string, *Call](keptWatched),
	}
}

// Open takes down a request like [Calls.Begin] and returns whether its id is
// ambiguous.
func (c *Calls) Open(conn string, m *Message, seq int64) (ambiguous bool) {
	return c.Begin(conn, m, seq).Ambiguous
}

// Begin takes down a request, which the caller knows as seq, and says whether
// a call begins with it or goes on. It keeps no reference to m. Where a request
// with the same id is already open, the answers to all of them will be
// ambiguous. Other messages than requests are ignored.
func (c *Calls) Begin(conn string, m *Message, seq int64) Opened {
	if m.Kind != Request || m.ID.isNull() {
		return Opened{}
	}
	call := &Call{
		Seq: seq, At: m.At, From: m.From, Method: m.Method.Clone(), Name: m.Name.Clone(), Round: 1,
		conn: conn, id: string(c.key(m.From, conn, m.ID)),
		stream: m.Method.is(`"subscriptions/listen"`),
	}
	call.First = call
	call.subject = c.subjectOf(m)
	call.Task = c.taskOfRequest(conn, m)
	opened := c.rounds.resume(call, m)
	opened.Task = call.Task
	opened.Ambiguous = c.add(call)
	c.useProgress(call, m)
	c.watch(call, m)
	return opened
}

// add puts a call among the open ones with its id.
func (c *Calls) add(call *Call) (shared bool) {
	g := c.byID[call.id]
	if g == nil {
		g = &group{}
		c.byID[call.id] = g
	}
	c.owed[call.From] -= g.owed()
	g.calls = append(g.calls, call)
	if call.stream {
		g.streams++
	}
	c.owed[call.From] += g.owed()
	c.open++
	g.shared = len(g.calls) > 1
	return g.shared
}

// useProgress takes down the token under which a call asked for progress.
func (c *Calls) useProgress(call *Call, m *Message) {
	if m.MetaProgress.Raw == nil {
		return
	}
	call.progress = string(c.key(call.From, call.conn, m.MetaProgress))
	t := c.byProgress[call.progress]
	if t == nil {
		t = &tokenUse{call: call}
		c.byProgress[call.progress] = t
	}
	t.open++
	t.shared = t.open > 1 || t.shared
	if old := c.tasks.byProgress[call.progress]; old != nil {
		// The task may still report under that token.
		c.tasks.endProgress(old)
		t.shared = true
	}
}

// Answer finds the request that a response belongs to and closes it. The call
// may go on after that: in another round, or as a task.
func (c *Calls) Answer(conn string, m *Message) Match {
	if m.Kind != Response {
		return Match{}
	}
	interim := asksForMore(m)
	if m.ID.Raw == nil || m.ID.isNull() {
		return Match{Unasked: true, Interim: interim}
	}
	asker := other(m.From)
	key := c.key(asker, conn, m.ID)
	g := c.byID[string(key)]
	if g == nil {
		return Match{Unasked: true, Interim: interim}
	}
	c.owed[asker] -= g.owed()
	c.open--
	if g.answered++; g.answered == len(g.calls) {
		delete(c.byID, string(key))
		c.forgetProgress(g.calls)
	}
	c.owed[asker] += g.owed()
	if !g.shared {
		return c.close(g.calls[0], m, interim)
	}
	if g.answered > keptShared {
		c.forgetProgress(g.calls[:1])
		g.calls[0], g.calls = nil, g.calls[1:]
		g.answered--
	}
	return Match{Ambiguous: true, Interim: interim}
}

// close says what the answer to a call means for it.
func (c *Calls) close(call *Call, m *Message, interim bool) Match {
	match := Match{
		Call: call, Late: call.Cancelled, Interim: interim,
		Total: max(0, m.At-call.First.At), Task: c.taskOfAnswer(call, m),
	}
	switch {
	case m.HasError:
		c.unwatch(call)
	case interim:
		if !call.Cancelled { // else nobody will come back with what is asked for
			c.rounds.wait(call, m)
		}
	case m.MakesTask && !isTaskMethod(call.Method):
		c.makeTask(call, m)
		match.Handle, match.Task = true, call.root()
	}
	return match
}

// Newest returns the call that was taken down last of those that one side has
// open under an id, nil when there is none. The id is given as it was written.
func (c *Calls) Newest(conn string, asker wire.Direction, id []byte) *Call {
	g := c.byID[string(c.key(asker, conn, Token{Raw: id, Size: int64(len(id))}))]
	if g == nil {
		return nil
	}
	return g.calls[len(g.calls)-1]
}

// Owed returns how many answers one side still waits for, over all
// connections. It does not wait for what it has cancelled, nor for the end of
// a subscription.
func (c *Calls) Owed(asker wire.Direction) int { return c.owed[asker] }

// Len returns how many requests of both sides had no answer so far. A call
// that waits for another round has none that is open.
func (c *Calls) Len() int { return c.open }

// Waiting returns how many calls were asked for more and have not come back
// with it. They are not over, and nothing is owed to them.
func (c *Calls) Waiting() int { return c.rounds.count }

// End forgets what is known of a connection, and returns the calls that are
// not over, in the order of Seq: requests without an answer, and calls that
// wait for another round, which have Waiting set. Of requests that shared an id
// and had some answers all are returned, because nobody knows which were
// answered; unanswered says how many were not.
func (c *Calls) End(conn string) (calls []*Call, unanswered int) {
	for key, g := range c.byID {
		if g.calls[0].conn != conn {
			continue
		}
		calls = append(calls, g.calls...)
		unanswered += len(g.calls) - g.answered
		c.owed[g.calls[0].From] -= g.owed()
		delete(c.byID, key)
		c.forgetProgress(g.calls)
	}
	c.open -= unanswered
	calls = append(calls, c.rounds.end(conn)...)
	c.tasks.end(conn)
	c.watched.dropWhere(func(call *Call) bool { return call.conn == conn })
	slices.SortFunc(calls, func(a, b *Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return calls, unanswered
}

func (c *Calls) forgetProgress(calls []*Call) {
	for _, call := range calls {
		if call.progress == "" {
			continue
		}
		t := c.byProgress[call.progress]
		call.sharedProgress = t.shared
		if t.open--; t.open == 0 {
			delete(c.byProgress, call.progress)
		}
	}
}

// owed is how many answers are really waited for. A subscription's is not: it
// stays open for as long as the server runs.
func (g *group) owed() int { return max(0, len(g.calls)-g.answered-g.cancelled-g.streams) }

// key returns a key for a token of one side on one connection. It is valid
// until the next call.
func (c *Calls) key(from wire.Direction, conn string, t Token) []byte {
	k := append(c.scratch[:0], byte(from))
	k = binary.AppendUvarint(k, uint64(len(conn)))
	k = append(k, conn...)
	c.scratch = appendToken(k, t)
	return c.scratch
}

// appendToken appends what makes a token differ from others. A string counts
// by its characters, since peers escape differently what they echo; anything
// else counts as it was written.
func appendToken(k []byte, t Token) []byte {
	if t.Size > int64(len(t.Raw)) {
		k = append(k, 'l')
		k = binary.AppendUvarint(k, uint64(t.Size))
		return append(k, t.Sum[:]...)
	}
	if n := len(t.Raw); n >= 2 && t.Raw[0] == '"' {
		if decoded, whole := appendDecoded(append(k, 's'), t.Raw[1:n-1]); whole {
			return decoded
		}
	}
	return append(append(k, 'r'), t.Raw...)
}

func other(d wire.Direction) wire.Direction {
	if d == wire.FromClient {
		return wire.FromServer
	}
	return wire.FromClient
}
