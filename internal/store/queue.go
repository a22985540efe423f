package store

import (
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

// WakeKind says what a wake is about.
type WakeKind uint8

// The kinds of wakes.
const (
	// WakeAction: evaluate Ref.
	WakeAction WakeKind = iota + 1
	// WakeSpread: evaluate Ref and the actions whose cases it is in.
	WakeSpread
	// WakeSettle: Ref may settle now. There is always one for an action that is
	// not settled.
	WakeSettle
	// WakeFact: find the actions that Fact belongs to, and evaluate them.
	WakeFact
	// WakeSource: find the actions that wait for Source and FactType up to
	// Watermark, and evaluate them.
	WakeSource
)

// Turn is beside which others a unit may run.
type Turn uint8

// The turns. A unit that takes none runs beside all others.
const (
	// Alone: beside no unit that is Alone or Together.
	Alone Turn = iota + 1
	// Together: beside no unit that is Alone.
	Together
	// Evaluating: beside no other unit that is Evaluating.
	Evaluating
)

// Wake says that something is to be looked at again.
type Wake struct {
	Kind      WakeKind
	Ref       Ref
	Fact      evidence.Identity
	Source    string
	FactType  string
	Watermark value.Instant
	Due       value.Instant // zero: at once
}

// Queue holds the wakes of a workspace. Adding one conflicts with nothing, so
// that whoever brings evidence never waits for whoever evaluates; that is why
// they are rows of their own and not a mark on the action.
//
// Nothing is lost where units overlap. What a unit brings is seen by units that begin
// after its commit, and its wakes are claimed by such units. Units that bring something
// by which others could have come to another end take turns ([Queue.Turn]):
//
//   - Whoever declares is alone. Of two that declare the later sees the earlier, whose
//     verdicts count it, and wakes those that it matters to.
//   - Whoever tells facts, moves a watermark or changes a source is together with its
//     like, but beside nobody who declares. Either the declaration came first, and the
//     wake of the fact, which is claimed by a unit that begins after both, finds it; or
//     it came later, and the first verdict was made with the fact.
//   - Whoever evaluates waits for its like and for nobody else, and keeps nobody else
//     waiting. Of two that evaluate the later has seen what the earlier had, so that a
//     verdict is never kept in place of one that was made with more. What it evaluates
//     without having seen a declaration, that declaration sees, and wakes. Only how an
//     action stands may it change while nobody who could be woken is there yet: a
//     declaration whose case holds how others stand says so ([Queue.Recheck]).
type Queue interface {
	// Turn has the unit wait until no other unit of the workspace is under way that must
	// not overlap with it. It comes before anything else that the unit does, so that the
	// unit's snapshot shows what it waited for; it lasts until the unit ends.
	Turn(t Turn)
	// Wake adds wakes.
	Wake(wakes ...Wake)
	// Recheck adds a WakeSpread for an action that this unit adds or changes and whose case
	// holds what units that evaluate may have changed meanwhile, unless all units of
	// this store run one after the other, so that there is nothing it could have missed.
	Recheck(ref Ref)
	// Claim takes up to n wakes that are due, the longest due first. They are gone
	// when the unit commits and there again when it does not; no two units claim
	// the same one.
	Claim(n int) ([]Wake, error)
	// NextDue is when the next wake is due; zero if there is none.
	NextDue() (value.Instant, error)
	// Lock keeps other units from evaluating these actions until this unit ends, in
	// an order in which no two units wait for each other. A unit whose snapshot is
	// older than what it waited for conflicts and runs again.
	Lock(refs []Ref) error
	// Waiting returns up to n actions that wait for facts of a source and type up
	// to no later than a watermark, after a ref, in the order of refs.
	Waiting(source, factType string, watermark value.Instant, after Ref, n int) ([]Ref, error)
	// Pending returns those of these actions for which a WakeAction or a WakeSpread is
	// due that no other unit has claimed. To wake them again would only have them evaluated
	// twice: none claims it before this unit ends, and one that began before that conflicts
	// and runs again, so that whoever evaluates them sees what this unit brings. Its value
	// says whether a WakeSpread from the beginning, with no watermark, is among the wakes.
	Pending(refs []Ref) (map[Ref]bool, error)
	// RefsOf returns the refs of these action ids that are known.
	RefsOf(actionIDs []string) (map[string]Ref, error)
}
