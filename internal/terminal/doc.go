// Package terminal has the rules of what users read: how an error is told,
// how sizes, times and ages are written, when there is colour, how columns
// stand, and that nothing a peer wrote can act on the reader's terminal.
//
// It knows nothing of journals, sessions or calls, and it decides nothing: it
// is handed values and returns text. Whatever may come from the wire goes
// through [Clean], or through a [Table], which cleans every cell.
//
// The rules:
//
//   - An error is one line: "deed: ", small letters, no full stop. Lines under
//     it, set in by two blanks, say what to do next.
//   - Sizes count in steps of 1024 with one decimal: 340 B, 1.5 KiB, 12.0 MiB.
//   - Times are in the reader's zone; the date is there when it is not today.
//   - Colour is for terminals only, never where NO_COLOR is set, and never the
//     only bearer of a meaning.
//
// # Life of a tool name
//
// A server calls its tool pay, ESC, [2Kload, which would wipe the line it is
// printed on. The name is kept as it is in the journal. On its way to a reader
// a table cleans it to pay\x1b[2Kload, measures that in terminal columns, cuts
// it to its column's width, pads it and only then colours it.
package terminal
