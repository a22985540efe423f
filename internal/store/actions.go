package store

import (
	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Ref is the server's own id of an action: "act_" and 26 digits and small
// letters, of which those made later sort later.
type Ref string

// Declared is one revision of an action's declaration, as it is kept for ever.
type Declared struct {
	Ref          Ref
	Revision     int // from 1
	Declaration  verdict.Declaration
	Body         []byte // what was sent, byte for byte: an object
	By           access.Actor
	SelfAttested bool // whoever declared it could also write facts
}

// Action is an action by its first declaration, and where its verdict stands.
type Action struct {
	Declared
	// The version of the contract that governs it for good; 0 if none does.
	Version   int
	Mode      verdict.Mode
	Revisions int // of the declaration
}

// LimitEntry is what an action adds to a rolling limit of its contract. The key
// names the limit whatever the version: see [docket.LimitKey].
type LimitEntry struct {
	Key    string
	Group  string
	Shadow bool
	Start  value.Instant
	// Amount is exact decimal text, and empty with its Currency where the limit
	// counts or the declaration has no readable amount.
	Amount, Currency string
}

// Filter narrows a list of actions. Empty members do not.
type Filter struct {
	ActionID, ContractID, ActionType, WorkflowID, AgentID, SubjectID, SubjectKind string
	Verdict                                                                       verdict.Result // of the badge, or of Lens
	Lens                                                                          string         // outcome or conformance
	Status                                                                        verdict.Status
	From, To                                                                      value.Instant // the start lies in [From, To); zero is open
	Limits                                                                        access.Limits // what the reader may see
}

// Listed is an action in a list, with its verdict.
type Listed struct {
	Action  Action
	Verdict verdict.Verdict
}

// Actions are what agents said they were about to do.
type Actions interface {
	// ActionsByID returns the actions of these client's ids that are known.
	ActionsByID(ids []string) (map[string]*Action, error)
	// ActionByRef returns one action. Error: [ErrNotFound].
	ActionByRef(ref Ref) (*Action, error)
	// Declarations returns all revisions of an action, the first first.
	Declarations(ref Ref) ([]Declared, error)
	// AddAction keeps a new action by its first declaration, under the version that
	// governs it (a.Version, a.Mode), with what it adds to rolling limits and the
	// declared parameters by which facts may link to it (name to text). Two units
	// that add one action id conflict, and the later one runs again. A unit that adds
	// to limits is Alone ([Queue.Turn]).
	AddAction(a *Action, limits []LimitEntry, linkParams map[string]string)
	// AddRevision keeps a further declaration of a known action. Two units that add
	// one revision conflict.
	AddRevision(d *Declared)
	// ListActions returns the newest first, by start and then by ref.
	ListActions(f Filter, p Page) ([]Listed, Cursor, error)
	// ListPending returns the provisional ones, those that settle first first.
	ListPending(f Filter, p Page) ([]Listed, Cursor, error)
	// Summary counts the actions of a period by contract, badge, lens and status.
	Summary(f Filter) ([]ContractCount, error)
}

// ContractCount is how many actions of one contract ended how.
type ContractCount struct {
	ContractID           string
	Badge                verdict.Result
	Outcome, Conformance verdict.Result
	Status               verdict.Status
	Count                int64
}

// Settled is a settled or revised verdict with all that is needed to make it
// again. It is never changed.
type Settled struct {
	Ref     Ref
	Verdict verdict.Verdict
	Case    []byte // canonical form, [verdict.DecodeCase]
}

// Verdicts are the results so far.
type Verdicts interface {
	// Current returns the latest verdict of each action that has one.
	Current(refs []Ref) (map[Ref]*verdict.Verdict, error)
	// Settled returns the settled verdicts of an action, the first first.
	Settled(ref Ref) ([]Settled, error)
	// KeepVerdict makes v the latest verdict of an action, in place of the one
	// before, with the sources of its case as far as later cases need them
	// ([docket.Covered]). A verdict whose revision is new is also kept for good with
	// its case; two units that keep one revision conflict. One that has the revision
	// of its case's previous one confirms that, which stays in its place. waits are
	// those that free the action when a watermark passes them; in each case they
	// replace those of before.
	KeepVerdict(ref Ref, v *verdict.Verdict, c *verdict.Case, waits []verdict.Wait)
	// KeepWaits replaces only what an action waits for: its verdict says what it said, and
	// other coverage may change it.
	KeepWaits(ref Ref, waits []verdict.Wait)
}
