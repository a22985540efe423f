// Package likeness finds the name that was probably meant.
//
// It compares spellings and nothing else: it knows no contract and no
// expression, and what it returns is for a hint, never for a decision.
//
// # Life of a hint
//
// Somebody writes params.ammount. The parser knows amount, currency and reason;
// [Closest] finds amount one letter away, and the error asks "did you mean
// amount?". For params.xyz nothing is close, so the error lists what there is.
package likeness

import "strings"

// longest is the length beyond which a name is compared with nothing.
const longest = 64

// Closest is the name nearest to given, and empty if none is near: one edit is
// allowed for each three letters, two at most below nine letters. Of several
// equally near it is the first.
func Closest(given string, names []string) string {
	if len(given) > longest {
		return ""
	}
	best, bestDistance := "", allowed(given)+1
	for _, name := range names {
		if name == given || len(name) > longest {
			continue
		}
		if d := distance(strings.ToLower(given), strings.ToLower(name)); d < bestDistance && d < len(name) {
			best, bestDistance = name, d
		}
	}
	return best
}

func allowed(given string) int {
	switch n := len(given); {
	case n <= 2:
		return 1
	case n < 9:
		return 2
	default:
		return n / 3
	}
}

// distance is the number of letters to insert, delete, replace or swap with
// their neighbour (the optimal string alignment distance).
func distance(a, b string) int {
	var rows [3][longest + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
