// Package access says who may do what in a workspace, and makes it impossible
// for one credential to declare actions and to write the facts that prove them.
//
// It is rules over values. It has no HTTP and no database, reads no clock (every
// time is passed in) and throws no dice (randomness is an [io.Reader] of the
// caller). Who a surface deals with is a [Principal], and there are three
// constructors, one for each kind of credential: [FromKey], [FromSession] and
// [FromOAuth]. All three end in one function (admit.go), which enforces what
// must hold whatever a handler forgets:
//
//   - A principal that a model may drive, which is every OAuth token and every
//     bearer on the MCP surface, never holds facts:write.
//   - No key holds actions:record together with facts:write, unless the
//     workspace is switched to development; what such a key declares says that
//     it attests to itself.
//   - A person's session writes no facts at all: evidence arrives by a key that
//     is bound to its sources.
//   - A principal belongs to exactly one workspace.
//
// Deciding is all it does. It stores nothing, and it does not know what an
// answer looks like: an error has a type and a [Code], and surfaces word them.
//
// # Life of a principal
//
// An agent sends a declaration with the header x-api-key. [ParseKey] sees a
// whole key, by its checksum, without asking anybody. The store finds the [Key]
// with that prefix, and [FromKey] compares the hash of what was sent with the
// kept one, looks at the workspace, the expiry and the surface, and admits a
// principal with the key's scopes. The handler asks [Principal.MayRecord] with
// the contract, the action type and the agent of the declaration; this key is
// limited to another contract, so the answer is a [LimitError] and nothing is
// stored. The audit names the [Actor] apikey:4fT9xK2b, which is the key's prefix.
//
// The same key on the MCP surface makes another principal: had it held
// facts:write, that would be gone. The zero Principal may do nothing.
package access
