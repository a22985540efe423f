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
package protocol
