// Package job runs the slow work of a server that comes round: taking away what has
// expired, sweeping up leaves that nobody numbered, chaining audits.
//
// It runs tasks and knows nothing of what they do. Work that waits for evidence is
// not here: wakes are claimed from the store itself, in the unit that evaluates, and
// a queue between the two could lose one. A task runs at least once in its time, and
// one run of it at a time: whoever dies in the middle of one leaves it to be done
// again, so that a task has to do no harm when it is done twice.
//
// The queue is River's, in tables of its own that hold nothing but which task is to
// run: a schema of the PostgreSQL database that all instances share, or a file beside
// the SQLite database, so that enqueuing never waits for the writer of the store, nor
// the writer for it. Losing the queue loses nothing: tasks come round.
//
// # Life of a round
//
// Three instances serve one database. One of them leads, and once a minute enqueues
// the task checkpoint; were the one of a minute ago still running, that would do
// nothing. Any of the three takes it. It is killed in the middle: the row says
// running, and nobody runs it. When its time is up, the leader finds that out and
// gives it up, and with the next minute the task is enqueued again and done by one of
// the two that are left.
package job
