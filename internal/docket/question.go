package docket

import (
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Question is one thing that [Build] asks of [Records]. Exactly one of the
// askings is set, and the answer is to be put into the field beside it. Questions
// let a database answer for many actions in one round trip.
type Question struct {
	Revisions    string        // an action id -> Declarations
	Declared     *ActionKey    // -> Declarations
	Compensating string        // an action id -> Declarations
	History      *HistoryQuery // -> Sum
	Facts        *FactKey      // -> Reported
	Sources      []string      // -> States
	Active       *ActiveKey    // -> Governing, of at most one
	Expecting    string        // a fact type -> Governing
	Latest       string        // an action id -> Stored

	Declarations []verdict.Declaration
	Reported     []evidence.Fact
	States       []evidence.Source
	Governing    []*verdict.Governing
	Sum          verdict.History
	Stored       *Stored
}

// ActiveKey asks for the version of a contract that is active at a time.
type ActiveKey struct {
	ContractID string
	At         value.Instant
}
