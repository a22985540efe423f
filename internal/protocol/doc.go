// Package protocol reads JSON-RPC messages out of the bytes that cross a
// wire, and finds which of them belong together.
//
// It reads the envelope and nothing else: who asks what under which id, how
// the answer ended, how large it was. It must not decide whether something is
// recorded: what it cannot read is a message too, of kind [Noise], with its
// size and hash. It must not judge or change a value: numbers and strings
// stay the tokens that were written. And it must not need memory in
// proportion to what it reads.
//
// # Life of a call
//
// The client writes
//
//	{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund","arguments":{…}}}
//
// and a [Reader] for its direction is fed the pieces in which that line
// crossed. It hashes and counts each piece as it passes, follows the brackets
// and quotes, and keeps the tokens 7, "tools/call" and "refund" and the head
// of the line. At the line end it emits one [Message] of kind [Request], whose
// subject, for [Shape], is the place of the arguments. [Calls.Open] takes it
// down.
//
// A question of the server's with id 7 goes the same way and is another call:
// it is the server's. When the server writes {"jsonrpc":"2.0","id":7,"result":
// …}, the reader for its direction emits a [Response], and [Calls.Answer]
// returns the client's call and forgets it. Had the client cancelled before,
// the answer would be late and belong to the call all the same.
//
// # When a call takes longer
//
// The answer may be {"resultType":"input_required","requestState":"s",…}. Then
// it is an interim one: request 7 is closed and nothing is owed, but the call is
// not over. When the client asks for exactly the same again, under id 8 and with
// that state, [Calls.Begin] says that this is round 2 of the call that began
// with request 7, and the total of the last answer is since then. Two calls that
// nobody can tell apart are never guessed at.
//
// The answer may also be the handle of a task. Then what asks for the state of
// the task, and every message that names it, is told with the call that the
// task works for, long after that had its answer. A subscription is a call whose
// answer is its end; what it tells names the id of its request.
//
// # Bodies and definitions
//
// A reader keeps no bodies. A recorder that does gives it a [Sink], which has
// the exact bytes of each message when that is emitted, and finds in Spans
// where its parts are. To a result of tools/list, cut out in this way,
// [Definitions] gives the tools with a hash of each that changes only when a
// definition does.
package protocol
