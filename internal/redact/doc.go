// Package redact replaces secrets before anything is stored.
//
// It is for the write path: what it lets through is in the journal for good,
// and what it replaces is gone. So it leans two ways at once. A known key
// format, a value under a telling name or a private key goes whole, whatever
// surrounds it; paths, slugs, digests, identifiers, addresses and prose stay,
// because a journal without them proves nothing.
//
// It must not decode and write JSON anew: numbers, the order and duplicates of
// keys, odd escapes and invalid bytes stay as they were, and valid JSON stays
// valid. It must not panic, keep anything between two calls, or take more than
// linear time, whatever it is given: what it reads was written by strangers.
//
// # Life of a value
//
// [Value] walks the JSON by position (package lexer). A member whose name says
// that its value is secret is replaced whole, unread. Every other string is
// searched; one with escapes is decoded first, and what is found there is
// carried back to the bytes as they were written. A decoded string may be JSON
// itself, as MCP results often are, and is walked in the same way.
//
// The search of a text has three parts that each skip most of it: separators
// with a telling name before them (password=, "token":, ://user:pass@), long
// runs without a break (where a table of literals finds key formats, and the
// rest is judged for randomness), and markers of private key blocks. What they
// find is put in order, overlaps become one, and [Placeholder] takes its place:
//
//	{"to":"jo@acme.example","apiKey":"…"}  →  {"to":"jo@acme.example","apiKey":"<redacted:key_name>"}
//
// Redacting twice changes nothing: a placeholder is never a secret.
package redact
