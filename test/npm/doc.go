// Package npmtest drives public MCP servers from npm with the official
// TypeScript client, once directly and once through deed run, and demands
// that the client sees the same and that the journal holds what it did.
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
package npmtest
