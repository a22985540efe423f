// Package report answers questions about a journal: what happened in the last
// run, which calls there were, what is known of one call, and whether the
// record is intact.
//
// It reads through [journal.History] and never writes. It holds no rule of
// how a size, a time or an error looks (internal/terminal has those), opens
// no file and knows no flag. Every answer is first gathered into a plain
// value and then rendered: as text for people, as a JSON document for
// programs. Names of tools, methods and labels come from the wire; they are
// cleaned on the way to text and escaped on the way to JSON.
//
// # Life of an answer
//
// deed last calls [LastRun], which finds the newest session that called a
// tool and asks the history for its totals, its failures and its largest and
// slowest calls. [Last.Text] puts failures first, because whoever asks wants
// to know what broke; [Last.Document] has the same under names that carry
// their units (took_us, returned_bytes) and stay as they are.
package report
