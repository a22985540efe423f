// Package gate holds the calls that a mapping names until their actions are
// declared, and then lets them go on unchanged.
//
// It must not change, reorder or lose a line: it only answers whether one goes
// on. What it does not know, it lets pass at once. It must not look at what
// the server answers, because a tool's answer is a claim, and it must not wait
// for anything longer than it was told to.
//
// # Life of a mapped call
//
// The client writes a call of refund_payment. [Gate.Pass] finds the words
// tools/call in the line, reads its envelope, and sees that the tool is mapped;
// all other lines have gone on by now. The mapping makes the declaration. The
// intent goes to the record and is made durable, then the declaration is sent,
// and what came of it goes to the record too. Now the line goes on: also when
// the server did not take the declaration, which is then sent later from the
// outbox. Where the call must not go on without, the client gets an error in
// its place and the server never sees it.
//
// A call that goes on in a further round, after the server asked the client
// for more, has been declared with its first request and is let pass.
package gate
