// Package outbox carries declarations of actions to a server: at once, for a
// gate that holds the call, and later, for those that could not be delivered.
//
// What is sent is what the journal keeps, byte for byte, so that sending twice
// is a replay and never a second action. The package must not decide whether a
// call goes on, must not look into a declaration, and must never let the key
// be seen: it is in one header of one request to one address, and in nothing
// that is returned, printed or stored.
//
// # Life of a letter
//
// An agent asks for a refund while the server is down. The gate has written
// the intent to the journal, which put it into its outbox at the same moment.
// [Client.Declare] says unreachable; the call goes on, and the letter is due
// again in five seconds. A [Keeper], of this recorder or of any other of the
// home, takes the lease, sends what is due in the order of the log, and settles
// each: declared, or undeliverable when the server will never take it. What
// fails in a way that passes is postponed, longer each time, for seven days.
// The server sees from the declaration when the agent asked, and marks it late.
package outbox
