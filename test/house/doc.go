// Package house keeps the rules of this code base as tests: which package may
// import which, how packages are named and described, how long a file may
// grow, and that every shell line in the documents runs.
//
// It reads source text and never the build's idea of it, so that files for
// other systems are held to the same rules. It must not judge taste: a rule
// is here only if a machine can decide it.
//
// # Life of a rule
//
// Somebody makes the wire import encoding/json. The test named "the wire
// knows no JSON" reads every file below internal/wire and below what that
// imports, finds the import, and fails with the path that leads to it.
package house
