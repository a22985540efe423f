package condition

import "github.com/deed-dev/deed/internal/value"

// Root is one of the three things that an expression may read.
type Root uint8

// The roots, as they are written: action.subject_id, params.amount,
// fact.amount.
const (
	Action Root = iota
	Params
	Fact
)

var rootNames = [...]string{"action", "params", "fact"}

func (r Root) String() string { return rootNames[r] }

// Ref is an attribute of a root.
type Ref struct {
	Root Root
	Name string
}

func (r Ref) String() string { return r.Root.String() + "." + r.Name }

// Names gives an expression the values of what it refers to.
type Names interface {
	// Value is the value of ref, and a missing value where there is none. It
	// gives the same value each time it is asked during one evaluation, and one
	// of the kind that the scope gave. Of a fact the names in [FactKinds] are its
	// own fields, whatever attributes it has; all others are attributes.
	Value(ref Ref) value.Value
}

// Scope is what an expression may refer to. The attributes of an action are
// those of [ActionKinds].
type Scope struct {
	Params map[string]value.Kind // every declared parameter with its kind
	Fact   bool                  // whether there is a fact to read
}

// Truth is what a condition comes to.
type Truth uint8

// Unknown is the zero value: where nothing is known, nothing is true or false.
const (
	Unknown Truth = iota
	False
	True
)

// Cause is why something could not be known.
type Cause uint8

// The causes: an attribute is not there, amounts are of two currencies, or
// values are of kinds that cannot be compared, or too many to be gone through.
const (
	NoCause Cause = iota
	ValueMissing
	CurrencyDiffers
	NotComparable
)

// Outcome is what an expression came to and why it came to no more.
type Outcome struct {
	Truth Truth
	Cause Cause // of an unknown truth: the first that stood in the way
	Ref   Ref   // what the cause is about, if it is one attribute
	// OtherCurrency says that two different currencies were compared, where
	// that was no part of something true: not in `c == "USD" || c == "EUR"`
	// where c is EUR, but in `amount == params.amount && c == "USD"`.
	OtherCurrency bool
}
