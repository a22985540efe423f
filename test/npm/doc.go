// Package npmtest drives public MCP servers from npm with the official
// TypeScript client, once directly and once through deed run, and demands
// that the client sees the same and that the journal holds what it did. It
// lets the official clients and servers of every era of the protocol meet,
// in TypeScript and in Go, and holds the record against what crossed.
//
// It must not be lenient: the only things that may differ are those that
// differ between two direct runs as well (process numbers, times, random
// ids), and the tests find those by running directly more than once instead
// of by a list that somebody wrote. It must not need a network either: all
// servers are installed beforehand, with npm ci in this folder.
//
// # Life of a comparison
//
// The plan for server-memory is written to a file, and client.mjs plays it
// three times in folders that begin alike: directly, through deed run, and
// directly again. Places where the two direct records differ are volatile and
// left out. Whatever else differs in the record made through deed run fails
// the test with its place, such as answers[4].result.content[0].text. Then
// deed verify has to find the journal intact, and the journal has to hold as
// many calls and as many bytes as the client sent and received.
//
// # Life of an encounter
//
// A client of 2026-07-28 in TypeScript meets a server in Go. It plays
// era/plan.mjs, which says everything that its era can, once directly and once
// through deed run --capture raw. A tee on either side of deed run keeps what
// passes. What the client saw must be the same, what both tees saw must be the
// same, and the bodies in the journal must be that, byte for byte. Then each
// message is read a second time, plainly, and the entry in its place must say
// the same of it: its kind, its tool, how it ended and which request it belongs
// to. A call that took three rounds is one call. In the end both sides must be
// known by name, with the version that they speak, and nothing that the era has
// may have been left unsaid.
package npmtest
