// Package demo shows Deed at work: it drives an MCP server with a real client
// through a real deed run, and then asks the commands that a user would ask.
//
// It must not know how recording works. All that it does goes through the
// deed program itself, started as a process, so that what is shown is what
// everybody gets. It must not leave anything behind (the journal is a
// temporary folder), and of a server that is not its own it must call only
// what is safe to call without being asked.
//
// # Life of a call to somebody else's server
//
// A server lists delete_note, get_note and list_notes. [judge] looks at each
// tool's annotations and then at its name: delete_note is refused, the other
// two may be called. [arguments] reads their input schemas: list_notes needs
// nothing, get_note needs a note_id, which becomes the text "example". Both
// are called, with a time limit; that get_note answers "not found" is fine,
// it is an answer. At the end delete_note is named, with the reason.
package demo
