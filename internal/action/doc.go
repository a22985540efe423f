// Package action records what agents say they are about to do, and answers what
// became of it.
//
// It knows no SQL and no HTTP. Whoever asks is an [access.Principal]; where things
// are kept is behind [store.Store]. It makes the first verdict on an action;
// internal/settlement makes all later ones.
//
// # Life of a declaration
//
// An agent sends {"action_id": "refund-o-1001", …}. [Parse] reads it as the page
// docs/api-actions.md promises: what cannot be read is refused with the member that
// is wrong, and everything else is kept, byte for byte, with a warning about what is
// odd. [Service.Declare] puts it into one unit of work with others that arrive at
// the same time, so that one commit serves many. The unit asks whether the action is
// known and which version of its contract is active; it is new, so that version
// governs it for good. What else bears on it is asked in one more round
// ([docket.Inquiry]), its case is evaluated, and the unit keeps the action, its
// declaration, its verdict, what it adds to rolling limits, a wake for the time at
// which it settles, and a leaf for the ledger. Others whose verdicts the declaration
// may change are woken. When the answer is sent, all of that is durable.
//
// The client did not get the answer and sends the same again: the action is known,
// nothing differs, and the answer is the action as it stands now. Had the amount
// been another one, that would be kept as the action's second revision, the first
// would go on governing, and the verdict would say that there are two.
package action
