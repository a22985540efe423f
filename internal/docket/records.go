package docket

import (
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Records is what [Build] reads, as it stands at one moment: two questions must
// not see different states. What it returns is shared and must not be changed.
type Records interface {
	Declarations
	Evidence
	Contracts
	Verdicts
}

// Declarations are what agents said they were about to do.
type Declarations interface {
	// Revisions returns every declaration of an action, in any order; none for
	// an action that nobody declared.
	Revisions(actionID string) ([]verdict.Declaration, error)
	// Declared returns the first declaration of each action that answers the
	// key, in any order. It may return more.
	Declared(key ActionKey) ([]verdict.Declaration, error)
	// Compensating returns the first declaration of each action that says it
	// compensates the given one, in any order.
	Compensating(actionID string) ([]verdict.Declaration, error)
	// History adds up what other actions come to under a rolling limit.
	History(query HistoryQuery) (verdict.History, error)
	// Later returns the actions that add to a rolling limit within a time, the
	// earliest first.
	Later(query LaterQuery) ([]Later, error)
}

// ActionKey finds the actions of a contract that a fact could belong to by one
// link rule.
type ActionKey struct {
	ContractID string
	By         contract.LinkBy // BySubject and BySubjectID ask for the same: SubjectID is Value
	Param      string          // of ByParam: the declared parameter whose text is Value
	Value      string
	// The action's start lies between From and To, both included.
	From, To value.Instant
}

// HistoryQuery asks what the first declarations of a contract come to, whatever
// their verdicts: those governed by a live version, and for a shadow contract
// also those governed by a shadow version.
type HistoryQuery struct {
	Contract *contract.Contract // whose limit it is; declarations of all versions count
	Limit    *contract.Limit
	Mode     verdict.Mode
	Group    string        // by [Group]
	Except   string        // the action that asks
	From, To value.Instant // the start lies in (From, To]
	At       value.Instant // received by then
}

// Evidence is what systems of record say.
type Evidence interface {
	// Facts returns all revisions of each fact of which any revision answers
	// the key, in any order. It may return more.
	Facts(key FactKey) ([]evidence.Fact, error)
	// Fact returns all revisions of one fact, in any order.
	Fact(id evidence.Identity) ([]evidence.Fact, error)
	// Sources returns the sources of these names that are known.
	Sources(names []string) ([]evidence.Source, error)
}

// FactKey asks for facts by a correlation key (Ref and Value), by their subject
// (SubjectID), or by where they come from and what they tell (Source and Type).
type FactKey struct {
	Ref, Value   string
	SubjectID    string
	Source, Type string
	// Since leaves out facts no revision of which occurred at or after it.
	Since value.Instant
}

// Contracts are the versions of contracts and when each is active.
type Contracts interface {
	// Active returns the version that is active at a time, or nil.
	Active(contractID string, at value.Instant) (*verdict.Governing, error)
	// Version returns a version of a contract, whenever it was active, or nil.
	Version(contractID string, number int) (*verdict.Governing, error)
	// Expecting returns every version of every contract that looks for facts
	// of a type.
	Expecting(factType string) ([]*verdict.Governing, error)
}

// Verdicts are the results so far.
type Verdicts interface {
	// Latest returns an action's latest verdict, or nil if it has none.
	Latest(actionID string) (*Stored, error)
}

// Stored is a verdict and what it was made of, as far as a later one needs it.
type Stored struct {
	Verdict verdict.Verdict
	Sources []evidence.Source // of its case
}

// Longest unit that a source's times may have.
const longestUnit = 24 * time.Hour
