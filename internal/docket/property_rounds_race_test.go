//go:build race

package docket_test

// lawRounds is a tenth of the usual: the race detector looks for another kind of
// fault, and makes each world several times slower.
const lawRounds = 10
