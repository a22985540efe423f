// Package server is the life of the server's process: it listens, says whether it
// is ready, keeps background work going, measures, and ends without losing what
// has begun.
//
// It knows nothing of actions, facts and contracts. What answers requests is one
// [net/http.Handler] and what works in the background are [Worker] values, both
// made by an [Open] that the command gives it. It decides on no request, keeps no
// state between starts, and logs neither bodies nor credentials.
//
// # Life of a server
//
// deed serve calls [Run]. The address is bound first, so that a second server
// fails at once and not after its migrations. From then on /healthz answers 200,
// /readyz 503, and everything else 503 "starting". Open opens the database,
// brings it up to date and puts the surfaces together; the workers start; /readyz
// answers 200.
//
// A SIGTERM comes. /readyz answers 503 again, so that a load balancer looks
// elsewhere; no connection is accepted any more; requests that have begun are
// answered, within a limit. Then the workers are told to end and are waited for,
// because each finishes the unit it is in, and last the database is closed. A
// second signal ends the process at once, which loses nothing that was answered:
// every answer was given after its commit.
package server
