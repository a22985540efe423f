//go:build !race

package docket_test

// lawRounds times 100 worlds are drawn for each law.
const lawRounds = 100
