// Package wire copies the bytes between an MCP client and its server, and
// does nothing else with them.
//
// It never parses, decodes, delays or changes what it carries, and it must
// not be able to: it imports no JSON, no logger and no database (a test
// enforces it). Others look at the traffic through two seams. A [Tap] is
// shown every byte and can neither block nor change one. A [Gate], where one
// is set, is asked before the last byte of each client line goes on.
//
// # Life of a chunk
//
// A [Relay] reads what is there, up to 64 KiB. It offers the chunk to the tap,
// which gives it a place in one order over both directions, writes the chunk
// to the other side, and settles it with the tap. Because the place is taken
// before the write, a server's answer can never be seen ahead of the question
// that caused it, however fast the server is.
//
// # Life of a line
//
// With a gate, the client's relay holds whole lines. It asks about each as
// soon as it is complete, reads on while earlier decisions are still due, and
// forwards in order. A refused line's answer goes through the [Injector] that
// the server's relay writes into, between two of the server's lines.
package wire

// Direction says which side sent a byte.
type Direction uint8

// The two sides of a wire.
const (
	FromClient Direction = iota // client to server
	FromServer                  // server to client
)

// String returns "client" or "server", the side that sent.
func (d Direction) String() string {
	if d == FromClient {
		return "client"
	}
	return "server"
}

// Place is a chunk's position in the one order over both directions. Places
// start at 1; zero is no place.
type Place uint64

// Tap is shown every byte that crosses the wire.
//
// No method may block, panic or keep the wire waiting for longer than a copy
// of the data takes. Each direction calls from one goroutine of its own.
type Tap interface {
	// Offer gives data the next place, before it is written. Data stays
	// valid and unchanged until Settle for that place returns.
	Offer(from Direction, data []byte) Place

	// Settle says that the first n bytes of the offered data were accepted
	// by the other side. It is called exactly once for each place. Once it
	// returns, the wire uses the data's memory again.
	Settle(place Place, n int)

	// Close says that no more bytes will come from this side, and how many
	// of those that were settled never reached the other side (they were
	// held for a [Gate] when it went away). It is called once a direction.
	Close(from Direction, undelivered int64)
}

// Gate decides whether a client's line may go on to the server.
type Gate interface {
	// Pass is asked once for each line of the client, in order, when all of
	// it has been read and before its last byte is forwarded. It must return
	// at once; the decision arrives on the channel, which the gate must
	// always answer. The wire asks about following lines before earlier
	// decisions arrive, and forwards in order all the same.
	Pass(line *Line) <-chan Decision
}

// Decision is a gate's answer about one line.
type Decision struct {
	// Refuse keeps the line from the server. It has no effect on a line
	// that was too long to hold, most of which has gone on already.
	Refuse bool
	// Answer, if not empty, is sent to the client at the next line boundary
	// of the server's stream. It must be whole lines, each ending in 0x0A.
	Answer []byte
}
