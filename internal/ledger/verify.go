package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

// Problem is one thing that does not agree with the ledger.
type Problem struct {
	Where string // leaf 12, act_…/2, refund_workflow@3, the audit
	What  string
}

func (p Problem) String() string { return p.Where + ": " + p.What }

// Report is what a verification found.
type Report struct {
	Leaves       int64 // numbered, and hashed again
	Unnumbered   int64
	Declarations int64 // whose bodies agree with their leaves
	Verdicts     int64 // that were evaluated again from their cases
	Activations  int64
	AuditRows    int64 // chained again
	Uncovered    int64 // rows of the audit that no head covers yet
	Erased       int64 // declarations whose bodies were erased
	OtherEngine  int64 // verdicts whose engine is not in this release
	// Problems are the first ones, in the order found; Found is how many there are.
	Problems []Problem
	Found    int64
}

// OK says that everything agrees.
func (r *Report) OK() bool { return r.Found == 0 }

// maxProblems bounds the list. Who sees a thousand looks at the store, not at the
// list.
const maxProblems = 1000

func (r *Report) say(where, format string, args ...any) {
	if r.Found++; len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, Problem{Where: where, What: fmt.Sprintf(format, args...)})
	}
}

const (
	pageOfLeaves  = 1000
	pageOfActions = 200
	maxUnnumbered = 100_000
)

// Verify hashes all leaves of a workspace's ledger again up to the signed root, and
// holds what the workspace has against them: declarations by their bodies, settled
// verdicts by evaluating their cases again, activations, and the audit by its chain.
// It writes nothing and may run beside everything else. An error says that it could
// not be done; what does not agree is in the report.
func (s *Service) Verify(ctx context.Context, w access.WorkspaceID) (*Report, error) {
	v := &verification{service: s, workspace: w, report: &Report{}, leaves: map[tlog.Hash]*seen{}, erased: map[string]bool{}}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"hash the ledger again", v.tree},
		{"compare the contracts", v.contracts},
		{"compare the actions", v.actions},
		{"chain the audit again", v.audit},
	} {
		if err := step.do(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", step.what, err)
		}
	}
	v.leftOver()
	return v.report, nil
}

// verification is one run of [Service.Verify].
type verification struct {
	service   *Service
	workspace access.WorkspaceID
	report    *Report
	// leaves are all leaves that speak of rows, by their hashes.
	leaves map[tlog.Hash]*seen
	heads  []store.Leaf    // of the audit, in the order of the ledger
	erased map[string]bool // declarations whose bodies are gone, as leaves name them
}

// seen is where a leaf is, and whether the row that it speaks of was found.
type seen struct {
	number       int64
	kind, object string
	found        bool
}

func (v *verification) view(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return v.service.store.View(ctx, v.workspace, fn)
}

// tree hashes the leaves up to the state at the beginning. Leaves never change and
// are never taken away, so that they can be read in pages, each a snapshot of its own.
func (v *verification) tree(ctx context.Context) error {
	var state store.LedgerState
	var key *signingKey
	err := v.view(ctx, func(tx store.Tx) (err error) {
		if state, err = tx.LedgerState(); err != nil {
			return err
		}
		key, err = v.service.key(tx)
		return err
	})
	if err != nil {
		return err
	}
	frontier, err := tlog.NewFrontier(0, nil)
	if err != nil {
		return err
	}
	for from := int64(0); from < state.Size; from += pageOfLeaves {
		to := min(from+pageOfLeaves, state.Size)
		err := v.view(ctx, func(tx store.Tx) error {
			leaves, err := tx.Leaves(from, to)
			if err != nil {
				return err
			}
			if int64(len(leaves)) != to-from {
				v.report.say(fmt.Sprintf("leaves %d to %d", from, to-1), "there are %d of %d", len(leaves), to-from)
			}
			return v.page(tx, frontier, leaves, from)
		})
		if err != nil {
			return err
		}
	}
	v.report.Leaves = frontier.Size()
	v.root(state, key, frontier)
	return nil
}

// page appends the leaves from a number on, and compares the hashes that are stored.
func (v *verification) page(tx store.Tx, frontier *tlog.Frontier, leaves []store.Leaf, from int64) error {
	var nodes []tlog.Node
	for i := range leaves {
		l := &leaves[i]
		if l.Number != from+int64(i) {
			v.report.say(fmt.Sprintf("leaf %d", from+int64(i)), "it has the number %d", l.Number)
		}
		frontier.Append(Hash(l), func(n tlog.Node) { nodes = append(nodes, n) })
		v.note(l)
	}
	for _, n := range nodes {
		stored, err := tx.Nodes(n.Level, n.Index, n.Index+1)
		if err != nil {
			return err
		}
		if len(stored) != 1 || stored[0] != n.Hash {
			v.report.say(fmt.Sprintf("node %d of level %d", n.Index, n.Level), "the stored hash is not that of its leaves")
		}
	}
	return nil
}

// note remembers what a leaf speaks of, where that is in rows that are looked at. An
// epoch speaks of a head that this ledger no longer signs, and other kinds are those
// of a later release.
func (v *verification) note(l *store.Leaf) {
	switch l.Kind {
	case AuditKind:
		v.heads = append(v.heads, *l)
	case DeclarationKind, VerdictKind, ActivationKind, RetirementKind:
		v.leaves[Hash(l)] = &seen{number: l.Number, kind: l.Kind, object: l.Object}
	}
}

// root compares what the leaves come to with the state and the signed checkpoint.
func (v *verification) root(state store.LedgerState, key *signingKey, frontier *tlog.Frontier) {
	const where = "the checkpoint"
	if !slices.Equal(state.Peaks, frontier.Peaks()) {
		v.report.say("the ledger", "its peaks are not those of its leaves")
	}
	switch {
	case state.Size == 0:
		return
	case key == nil:
		v.report.say(where, "the key that signed it is gone")
		return
	}
	signed, err := tlog.OpenCheckpoint(state.Checkpoint, key.verifier)
	switch {
	case err != nil:
		v.report.say(where, "%s", err)
	case signed.Size != state.Size:
		v.report.say(where, "it is of %d leaves, and the ledger has %d", signed.Size, state.Size)
	case signed.Root != frontier.Root():
		v.report.say(where, "its root is not that of the leaves: a leaf was changed after it was signed")
	}
}

// has says whether there is a leaf that says just this. One that was written since
// the leaves were read is looked for among the later ones.
func (v *verification) has(tx store.Tx, l store.Leaf) (bool, error) {
	wanted := Hash(&l)
	if s := v.leaves[wanted]; s != nil {
		s.found = true
		return true, nil
	}
	is := func(l store.Leaf) bool { return Hash(&l) == wanted }
	state, err := tx.LedgerState()
	if err != nil {
		return false, err
	}
	later, err := tx.Leaves(v.report.Leaves, state.Size)
	if err != nil || slices.ContainsFunc(later, is) {
		return err == nil, err
	}
	waiting, err := tx.Unsequenced(maxUnnumbered)
	return slices.ContainsFunc(waiting, is), err
}

// leftOver names the leaves whose rows are gone, or are not what they were.
func (v *verification) leftOver() {
	var gone []*seen
	for _, s := range v.leaves {
		if !s.found && !(s.kind == DeclarationKind && v.erased[s.object]) {
			gone = append(gone, s)
		}
	}
	slices.SortFunc(gone, func(a, b *seen) int { return cmp.Compare(a.number, b.number) })
	for _, s := range gone {
		v.report.say(fmt.Sprintf("leaf %d", s.number), "what it says of the %s %s is not so: it was changed or taken away", s.kind, s.object)
	}
}
