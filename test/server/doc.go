// Package servertest torments the built server from the outside: it starts
// `deed serve`, loads it with declarations, facts and watermarks, kills it where
// it stands, starts it again, and in the end asks whether anything that was
// acknowledged is lost, or anything is there twice.
//
// What it knows of the server is what a client can see, which is HTTP, signals
// and exit codes. The one thing it shares with it is the engine: what the verdicts
// must be is asked of docket.Memory, over the inputs as the server gives them back.
// It looks into no database.
//
// Random moments seldom hit the short ones, such as that between a commit and its
// answer. So there is a second server: the test binary, which puts the same parts
// together around a store that kills its own process at a given step of taking in,
// evaluating, settling and numbering. A test goes through all steps, and fails if a
// step had no death.
//
// # Life of a torture
//
// A server starts in an empty folder and prints its link. The test signs in with
// it, makes a source, activates a contract and mints two keys. Some agents declare
// refunds and go on asking until each is acknowledged; a connector reports what
// became of them, and up to when it is complete. Meanwhile a killer waits a random
// while, kills the process with signal 9, and starts it again on the same port.
// After the last kill the agents finish, the connector says that it is complete,
// and nothing is pending any more. Then every action that was acknowledged is there
// once, with one settled verdict for each revision, whose lenses are those that the
// engine finds; every fact is there once; and deed fsck has no complaint.
//
// DEED_KILL_POINTS says how often a torture kills (20 without it, and each step once
// at least; make dose has 300), DEED_TEST_SEED repeats one, and DEED_BIN names a program to test in place of one built from the
// tree.
package servertest
