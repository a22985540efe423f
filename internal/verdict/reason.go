package verdict

import "slices"

// Code names a reason. Codes are an interface: one that was ever shown is never
// given another meaning.
type Code string

// Side says who can do something about a reason.
type Side string

// The sides.
const (
	Nobody   Side = "nobody"   // all is well, or time will tell
	Agent    Side = "agent"    // what the agent declared or did
	System   Side = "system"   // what the system of record says
	Operator Side = "operator" // whoever runs the sources
	Author   Side = "author"   // whoever writes the contract
)

// Entry describes a code, wherever it is shown.
type Entry struct {
	Code        Code
	Label       string   // a few words
	Explanation string   // what it says of the action
	Results     []Result // what a check or lens that gives it comes to; empty for notes
	Lens        string   // outcome, conformance, both, or note where it belongs to none
	Kinds       []Kind   // the checks that give it
	Side        Side
	Next        string // what to do next
}

// Lookup finds the entry of a code.
func Lookup(code Code) (Entry, bool) {
	i := slices.IndexFunc(registry[:], func(e Entry) bool { return e.Code == code })
	if i < 0 {
		return Entry{}, false
	}
	return registry[i], true
}

// Registry lists every code in the order of the documentation.
func Registry() []Entry { return slices.Clone(registry[:]) }
