// Package fit holds a mapping against the tools that a server offers, and
// proposes a mapping for a server that has none.
//
// It knows schemas and names and nothing else: it starts no server, and a
// schema that says too little is no reason to complain. What it proposes is
// for a person to read; it never decides what a contract shall govern.
//
// # Life of a finding
//
// A mapping says that the subject of refund_payment is at arguments.orderid.
// The server's schema has order_id, one letter away. [Check] walks the schema
// along the path, over references and alternatives, finds no such member, and
// asks "did you mean arguments.order_id?". Where the schema allows anything
// there is no finding: nobody can know.
package fit
