// Package audit says how what somebody did is written down, and how a row that was
// changed or taken away later is found.
//
// It makes rows for a store's trail and digests over rows that came out of it. It
// keeps nothing itself, decides nothing, and knows neither HTTP nor SQL.
//
// # Life of a row
//
// A member makes an API key. The service gives [Entry] the event key.created, the
// key's prefix, its scopes and sources. Whatever has a telling name or looks like a
// credential is replaced (package redact), a value of more than 1 KiB becomes its
// hash and its length, and the row goes into the unit that keeps the key: either
// both are there or neither. Some minutes later the ledger takes the rows since its
// last head, and [Segment] chains them: from the newest to the oldest, and then the
// head before. That digest is a leaf of the ledger, so that whoever takes a row away
// has to explain a head that signed checkpoints cover.
package audit
