package value

import "slices"

// Same says whether two values are of one kind and equal, both missing
// included. [Compare] answers what a condition asks, where what is missing
// equals nothing; Same answers whether something was changed.
func Same(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Missing:
		return true
	case List:
		return slices.EqualFunc(a.list, b.list, Same)
	}
	return Compare(a, b) == Equal
}
