// Package view writes what the domain knows in the form that programs read: the
// JSON of docs/api-actions.md and docs/api.md. The REST surface answers in it, and
// so does every other surface that shows an action, a verdict or a fact, so that
// one thing looks the same everywhere.
//
// It decides nothing, asks nobody and has no clock: a form is made of rows and of
// who asks where, and of nothing else. It knows no HTTP.
//
// # Life of a verification
//
// An action was declared and evaluated. [VerificationOf] takes the verdict in its
// canonical form from the verdict's own encoder, cuts it into its members, gives
// each reason the words of the registry, puts in front what a person reads first
// (the summary, the badge, when it settles), and behind it the digest. Whoever
// takes the words away again has the canonical form, and can check the digest.
package view
