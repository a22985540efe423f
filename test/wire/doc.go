// Package wiretest watches the built program from the outside: it starts
// `deed run` as an MCP client would, with a server behind it that the test
// drives by hand, and compares what crossed with what crosses when nothing
// stands between the two.
//
// It must not import the packages it tests: what it knows about them is what
// a user can see, which is bytes, exit codes, times and the commands' answers.
//
// # Life of a scene
//
// A test opens a stage over a route. Direct starts the server itself;
// throughDeed puts `deed run --` in front of it. The server is the test binary
// run again, a puppet: it dials back to the test over a socket and then does
// what it is told (write these bytes, read that many, ignore a signal, start a
// grandchild, die). The test holds the strings of both ends, so a scene reads
// top to bottom without a sleep: the client writes half a line, the server
// says what arrived, the server answers, the client closes. When a puppet's
// process ends its socket closes, and that is how a test knows that a tree is
// gone. A puppet whose test has ended ends as well, so that nothing is left.
//
// A relay that alters one byte, holds back half a line, swallows stderr or
// forgets an exit code must fail the comparison; relay_test.go proves that it
// does.
//
// What was recorded is read the way a user would, with deed export, and held
// against the very bytes that the test wrote: in exact_test.go byte for byte, in
// poison_test.go message by message.
//
// The environment variable DEED_BIN names a program to test in place of one
// built from the tree. DEED_KILL_POINTS sets how often the crash test kills
// (20), DEED_LONG_LINE_MIB how long the longest line is (256).
package wiretest
