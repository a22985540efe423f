package docket

import (
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// look is what one check of a contract looks at.
type look struct {
	*contract.Observation
	rules []contract.Link
	// exclusive says that a fact backs one action only, so that whoever could
	// claim it as well has to be known.
	exclusive bool
	back      time.Duration // how long before the start a fact may count
	skew      time.Duration // the same for one that is linked by a key
	within    time.Duration // the end of the window; zero is the time to settle
	endless   bool          // a snapshot counts however old it is
}

// looks are the looks of all checks of a contract.
func looks(k *contract.Contract) []look {
	var all []look
	for i := range k.Steps {
		s := &k.Steps[i]
		all = append(all, look{Observation: &s.Observation, rules: k.Link, exclusive: k.Evidence.Exclusive, skew: k.Settle.MaxSkew, within: s.Window.Within})
	}
	for i := range k.Never {
		all = append(all, look{Observation: &k.Never[i].Observation, rules: k.Link, skew: k.Settle.MaxSkew})
	}
	for i := range k.State {
		s := &k.State[i]
		all = append(all, look{Observation: &s.Observation, rules: k.Link, within: s.Window.Within, endless: true})
	}
	for i := range k.Approvals {
		a := &k.Approvals[i]
		all = append(all, look{Observation: &a.Observation, rules: a.Link, exclusive: true, back: a.Lookback, skew: a.Lookback})
	}
	return all
}

// sees says whether a fact is of the type and of a source that is looked at.
func (l *look) sees(f *evidence.Fact) bool {
	return f.Type == l.Expect && slices.Contains(l.From, f.Source)
}

// expected are the fact types that a contract looks for, each once.
func expected(k *contract.Contract) []string {
	var types []string
	for _, l := range looks(k) {
		types = append(types, l.Expect)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// Expects says whether a contract looks for facts of a type.
func Expects(k *contract.Contract, factType string) bool {
	return slices.Contains(expected(k), factType)
}
