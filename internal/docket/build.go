package docket

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// UnknownActionError says that nobody had declared an action by a time.
type UnknownActionError struct {
	ActionID string
	At       value.Instant
}

func (e *UnknownActionError) Error() string {
	return fmt.Sprintf("no action %q had been declared by %s", e.ActionID, e.At)
}

// Build makes the case of an action of what was known at a time. What the
// sources have stated and which verdicts there are is taken as it stands in the
// records. Errors: [UnknownActionError], and what the records fail with.
func Build(records Records, actionID string, at value.Instant) (*verdict.Case, error) {
	revisions, err := records.Revisions(actionID)
	if err != nil {
		return nil, fmt.Errorf("read the declarations of action %q: %w", actionID, err)
	}
	declarations := distinct(revisions, at)
	if len(declarations) == 0 {
		return nil, &UnknownActionError{ActionID: actionID, At: at}
	}
	c := &verdict.Case{Engine: verdict.Engine, At: at, Declarations: declarations}
	first := &declarations[0]
	stored, err := records.Latest(actionID)
	if err != nil {
		return nil, fmt.Errorf("read the verdict of action %q: %w", actionID, err)
	}
	if c.Governing, err = Governing(records, first, stored); err != nil {
		return nil, fmt.Errorf("find the version of contract %q that governs: %w", first.ContractID, err)
	}
	if c.Governing != nil {
		if err := gather(records, c); err != nil {
			return nil, fmt.Errorf("gather the facts of action %q: %w", actionID, err)
		}
		if err := addHistory(records, c); err != nil {
			return nil, fmt.Errorf("add up the limits of action %q: %w", actionID, err)
		}
	}
	if err := addCompensation(records, c); err != nil {
		return nil, fmt.Errorf("find what undoes action %q: %w", actionID, err)
	}
	if stored != nil && stored.Verdict.Revision > 0 {
		c.Previous = stored.Verdict.Before(stored.Sources)
	}
	return c, nil
}

// Governing is the version of a contract that governs an action for good: the one
// that its verdict is by if it has one, else the one that was active when its first
// declaration was received. A version that becomes active at the very moment at which
// another action is being declared does not take that over.
func Governing(records Records, first *verdict.Declaration, stored *Stored) (*verdict.Governing, error) {
	if first.ContractID == "" {
		return nil, nil
	}
	governing, err := records.Active(first.ContractID, first.ReceivedAt)
	if err != nil || stored == nil {
		return governing, err
	}
	switch number := stored.Verdict.ContractVersion; {
	case number == 0:
		return nil, nil
	case governing != nil && governing.Version == number:
		return governing, nil
	default:
		return records.Version(first.ContractID, number)
	}
}

// distinct puts declarations in the order of their receipt, without those that
// were not known and those that say again what an earlier one said.
func distinct(revisions []verdict.Declaration, at value.Instant) []verdict.Declaration {
	var kept []verdict.Declaration
	sorted := slices.Clone(revisions)
	slices.SortFunc(sorted, func(a, b verdict.Declaration) int { return compareDeclarations(&a, &b) })
	for i := range sorted {
		d := &sorted[i]
		replays := func(k verdict.Declaration) bool { return replay(&k, d) }
		if d.ReceivedAt <= at && !slices.ContainsFunc(kept, replays) {
			kept = append(kept, *d)
		}
	}
	return kept
}

// replay says whether a declaration says nothing that an earlier one of the
// action did not: a client that retries sends a new time, and a recorder that
// does may have another request in hand.
func replay(earlier, d *verdict.Declaration) bool {
	if d.ContractID != earlier.ContractID || d.ContractVersion != earlier.ContractVersion ||
		d.ActionType != earlier.ActionType || d.SubjectID != earlier.SubjectID || d.SubjectKind != earlier.SubjectKind ||
		d.AgentID != earlier.AgentID || d.WorkflowID != earlier.WorkflowID || d.Compensates != earlier.Compensates ||
		d.ProvedAt != 0 && d.ProvedAt != earlier.ProvedAt {
		return false
	}
	return says(d.Params, earlier.Params) && says(earlier.Params, d.Params)
}

// says reports whether every parameter is there with the same value.
func says(params, others map[string]value.Value) bool {
	for name, v := range params {
		if name == "mcp_tool" || name == "mcp_request_id" || v.IsMissing() {
			continue
		}
		if !value.Same(v, others[name]) {
			return false
		}
	}
	return true
}

// compareDeclarations orders declarations by receipt. Those of one moment are
// ordered by what they say, so that arrival order shows nowhere.
func compareDeclarations(a, b *verdict.Declaration) int {
	if order := cmp.Compare(a.ReceivedAt, b.ReceivedAt); order != 0 {
		return order
	}
	return bytes.Compare(written(a), written(b))
}

func written(d *verdict.Declaration) []byte {
	return (&verdict.Case{Declarations: []verdict.Declaration{*d}}).AppendJSON(nil)
}

// addHistory asks for what the rolling limits add up.
func addHistory(records Records, c *verdict.Case) error {
	k := c.Governing.Contract
	action := engine.NewClaimant(k, &c.Declarations[0])
	for i := range k.Limits {
		limit := &k.Limits[i]
		if limit.Rolling == nil {
			continue
		}
		h, err := records.History(HistoryQuery{
			Contract: k, Limit: limit, Mode: c.Governing.Mode, Group: Group(limit, action), Except: c.Declarations[0].ActionID,
			From: action.Start().Add(-limit.Rolling.Over), To: action.Start(), At: c.At,
		})
		if err != nil {
			return err
		}
		c.History = append(c.History, h)
	}
	slices.SortFunc(c.History, func(a, b verdict.History) int { return strings.Compare(a.Limit, b.Limit) })
	return nil
}

// sourcesOf are the sources that a contract names, with what of them bears on
// it: the watermark of a type that the contract does not look for decides
// nothing, and would make another case of the same.
func sourcesOf(records Records, k *contract.Contract) ([]evidence.Source, error) {
	types := expected(k)
	var names []string
	for _, s := range k.Sources {
		names = append(names, s.Name)
	}
	sources, err := records.Sources(names)
	if err != nil {
		return nil, err
	}
	sources = slices.Clone(sources)
	for i := range sources {
		s := &sources[i]
		s.Provides = slices.Sorted(slices.Values(s.Provides))
		watermarks := map[string]value.Instant{}
		for _, t := range types {
			if w := s.Watermarks[t]; w != 0 {
				watermarks[t] = w
			}
		}
		s.Watermarks = watermarks
	}
	slices.SortFunc(sources, func(a, b evidence.Source) int { return strings.Compare(a.Name, b.Name) })
	return sources, nil
}
