package protocol

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/deed-dev/deed/internal/wire"
)

// Calls knows which requests are still without an answer, on any number of
// connections and in both directions, and finds the one that an answer, a
// cancellation or a progress message belongs to.
//
// An answer belongs to a request of the other side on the same connection
// with the same id: 1, "1" and 1.0 are three ids, while a string is the same
// string however it is escaped. Where two requests with one id are open, an
// answer is ambiguous and belongs to neither. A request whose id is null is
// not paired: an answer with that id is one to something unreadable.
//
// It remembers every request until its answer comes or its connection ends,
// and nothing of it after that. It is not safe for concurrent use.
type Calls struct {
	byID       map[string]*group
	byProgress map[string]*tokenUse
	owed       [2]int // by the side that asked
	open       int
	scratch    []byte
}

// Call is a request that has had no answer so far.
type Call struct {
	Seq       int64 // as given to Open
	At        int64 // when the last byte of the request crossed, µs since 1970
	From      wire.Direction
	Method    Token
	Name      Token // params.name
	Cancelled bool

	conn     string
	id       string // its key in byID
	progress string // its key in byProgress; empty when it asked for none
}

// group is the open requests that share an id. It is more than one only when
// somebody broke the rules.
type group struct {
	calls     []*Call
	shared    bool
	answered  int // answers that belong to one of them, nobody knows which
	cancelled int
	streams   int // subscriptions among the calls
}

// tokenUse is the use of one progress token. Once two open calls gave the same one it is
// ambiguous until the last of them is gone: progress may come late.
type tokenUse struct {
	call   *Call
	open   int
	shared bool
}

// keptShared is how many requests with one id are remembered beyond those
// without an answer. A peer that uses one id for everything, and always asks
// again before it is answered, would make them grow for ever.
const keptShared = 1000

// Match says which request a message belongs to.
type Match struct {
	// Call is the request, nil where there is none or not exactly one. It is
	// the caller's to keep.
	Call      *Call
	Ambiguous bool // two requests with that id or token were open
	Late      bool // the answer to a request that had been cancelled
	Unasked   bool // nothing that is open was asked for by that name
}

// NewCalls returns an empty set of calls.
func NewCalls() *Calls {
	return &Calls{byID: map[string]*group{}, byProgress: map[string]*tokenUse{}}
}

// Open takes down a request, which the caller knows as seq. It keeps no
// reference to m. Ambiguous is set when a request with the same id is already
// open; then the answers to all of them will be ambiguous. Other messages
// than requests are ignored.
func (c *Calls) Open(conn string, m *Message, seq int64) (ambiguous bool) {
	if m.Kind != Request || isNull(m.ID) {
		return false
	}
	key := c.key(m.From, conn, m.ID)
	call := &Call{
		Seq: seq, At: m.At, From: m.From, Method: m.Method.Clone(), Name: m.Name.Clone(),
		conn: conn, id: string(key),
	}
	g := c.byID[call.id]
	if g == nil {
		g = &group{}
		c.byID[call.id] = g
	}
	c.owed[m.From] -= g.owed()
	g.calls = append(g.calls, call)
	if method, _ := Text(m.Method); method == "subscriptions/listen" {
		g.streams++
	}
	c.owed[m.From] += g.owed()
	c.open++
	if m.MetaProgress.Raw != nil {
		call.progress = string(c.key(m.From, conn, m.MetaProgress))
		t := c.byProgress[call.progress]
		if t == nil {
			t = &tokenUse{call: call}
			c.byProgress[call.progress] = t
		}
		t.open++
		t.shared = t.open > 1 || t.shared
	}
	g.shared = len(g.calls) > 1
	return g.shared
}

// Answer finds the request that a response belongs to and closes it.
func (c *Calls) Answer(conn string, m *Message) Match {
	if m.Kind != Response {
		return Match{}
	}
	if m.ID.Raw == nil || isNull(m.ID) {
		return Match{Unasked: true}
	}
	asker := other(m.From)
	key := c.key(asker, conn, m.ID)
	g := c.byID[string(key)]
	if g == nil {
		return Match{Unasked: true}
	}
	c.owed[asker] -= g.owed()
	c.open--
	if g.answered++; g.answered == len(g.calls) {
		delete(c.byID, string(key))
		c.forgetProgress(g.calls)
	}
	c.owed[asker] += g.owed()
	if !g.shared {
		return Match{Call: g.calls[0], Late: g.calls[0].Cancelled}
	}
	if g.answered > keptShared {
		c.forgetProgress(g.calls[:1])
		g.calls[0], g.calls = nil, g.calls[1:]
		g.answered--
	}
	return Match{Ambiguous: true}
}

// Notify finds the request that a cancellation or a progress message belongs
// to. The zero Match says that it is neither.
//
// Only the side that asked can cancel, and only the other one can report
// progress. Progress names the token that the request gave in its _meta.
// Where no open request gave such a token it is looked for among the ids of
// those that gave none, because that is what senders use that give no token.
func (c *Calls) Notify(conn string, m *Message) Match {
	if m.Kind != Notification {
		return Match{}
	}
	method, _ := Text(m.Method)
	switch method {
	case "notifications/cancelled":
		return c.cancel(conn, m)
	case "notifications/progress":
		return c.progress(conn, m)
	}
	return Match{}
}

func (c *Calls) cancel(conn string, m *Message) Match {
	if m.RequestID.Raw == nil {
		return Match{Unasked: true}
	}
	g := c.byID[string(c.key(m.From, conn, m.RequestID))]
	if g == nil {
		return Match{Unasked: true}
	}
	c.owed[m.From] -= g.owed()
	g.cancelled = min(g.cancelled+1, len(g.calls))
	c.owed[m.From] += g.owed()
	if g.shared {
		return Match{Ambiguous: true}
	}
	g.calls[0].Cancelled = true
	return Match{Call: g.calls[0]}
}

func (c *Calls) progress(conn string, m *Message) Match {
	if m.ProgressToken.Raw == nil {
		return Match{Unasked: true}
	}
	key := c.key(other(m.From), conn, m.ProgressToken)
	if t := c.byProgress[string(key)]; t != nil {
		if t.shared {
			return Match{Ambiguous: true}
		}
		return Match{Call: t.call}
	}
	g := c.byID[string(key)]
	switch {
	case g == nil:
		return Match{Unasked: true}
	case g.shared:
		return Match{Ambiguous: true}
	case g.calls[0].progress != "":
		return Match{Unasked: true}
	}
	return Match{Call: g.calls[0]}
}

// Owed returns how many answers one side still waits for, over all
// connections. It does not wait for what it has cancelled, nor for the end of
// a subscription.
func (c *Calls) Owed(asker wire.Direction) int { return c.owed[asker] }

// Len returns how many requests of both sides had no answer so far.
func (c *Calls) Len() int { return c.open }

// End forgets what is open on a connection and returns it, in the order of
// Seq. Of requests that shared an id and had some answers all are returned,
// because nobody knows which were answered; unanswered says how many were not.
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
	slices.SortFunc(calls, func(a, b *Call) int { return cmp.Compare(a.Seq, b.Seq) })
	return calls, unanswered
}

func (c *Calls) forgetProgress(calls []*Call) {
	for _, call := range calls {
		if call.progress == "" {
			continue
		}
		t := c.byProgress[call.progress]
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

func isNull(t Token) bool { return string(t.Raw) == "null" }

func other(d wire.Direction) wire.Direction {
	if d == wire.FromClient {
		return wire.FromServer
	}
	return wire.FromClient
}
