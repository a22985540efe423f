package action

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// declaring is a unit of work that records declarations.
type declaring struct {
	s       *Service
	tx      store.Tx
	now     value.Instant
	inquiry *docket.Inquiry
	pending *docket.Pending
	records docket.Records // what the inquiry knew after its first round

	subjects map[string]*subject // by action id
	inOrder  []*subject
	added    int // actions that are new
}

// subject is an action that the unit is about.
type subject struct {
	action    store.Action
	governing *verdict.Governing
	said      []verdict.Declaration // all revisions, also those of this unit
	further   []store.Declared      // those of this unit that are not the first
	isNew     bool
	stored    *docket.Stored
	finding   *settlement.Finding
	entries   []docket.Entry
	links     map[string]string
}

// touched says that something is to be kept.
func (a *subject) touched() bool { return a.isNew || len(a.further) > 0 }

// declare records orders, which is all that happens in the unit. It may be called
// again for another try, and starts anew. An error is the unit's.
func (s *Service) declare(tx store.Tx, orders []order) ([]outcome, error) {
	tx.Turn(store.Alone)
	allowance, err := s.allowance(tx)
	if err != nil {
		return nil, fmt.Errorf("count the actions of the month: %w", err)
	}
	u := &declaring{
		s: s, tx: tx, now: tx.Now(), inquiry: docket.NewInquiry(tx.Ask), pending: docket.NewPending(),
		subjects: map[string]*subject{},
	}
	u.inquiry.Beside(u.pending)
	ids, err := u.name(orders)
	if err != nil {
		return nil, err
	}
	if err := u.find(orders, ids); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(orders))
	for i := range orders {
		outcomes[i] = u.take(&orders[i], ids[i])
	}
	if err := u.evaluate(); err != nil {
		return nil, err
	}
	if err := u.keep(); err != nil {
		return nil, err
	}
	allowance.Recorded += int64(u.added)
	for i := range outcomes {
		if outcomes[i].err == nil {
			u.answer(&outcomes[i].result, ids[i], allowance)
		}
	}
	return outcomes, nil
}

// name gives an id to each declaration that has none: the server's own.
func (u *declaring) name(orders []order) ([]string, error) {
	ids := make([]string, len(orders))
	for i := range orders {
		if ids[i] = orders[i].declaration.ActionID; ids[i] != "" {
			continue
		}
		ref, err := u.s.refs.mint(u.now)
		if err != nil {
			return nil, err
		}
		ids[i] = string(ref)
	}
	return ids, nil
}

// find asks which of the actions are known and what would govern them, in one round.
func (u *declaring) find(orders []order, ids []string) error {
	var given []string
	for i := range orders {
		d := orders[i].declaration
		if d.ActionID != "" {
			given = append(given, ids[i])
			u.inquiry.Want(docket.Question{Revisions: ids[i]}, docket.Question{Compensating: ids[i]}, docket.Question{Latest: ids[i]})
		}
		if d.ContractID != "" {
			u.inquiry.Want(docket.Question{Active: &docket.ActiveKey{ContractID: d.ContractID, At: u.now}})
		}
	}
	var known []string
	err := u.inquiry.Until(func(r docket.Records) error {
		u.records, known = r, nil
		for _, id := range given {
			said, err := r.Revisions(id)
			if err != nil {
				return err
			}
			if len(said) > 0 {
				known = append(known, id)
			}
		}
		return nil
	})
	if err != nil || len(known) == 0 {
		return err
	}
	actions, err := u.tx.ActionsByID(known)
	if err != nil {
		return fmt.Errorf("read the actions that are known: %w", err)
	}
	for id, a := range actions {
		kept := &subject{action: *a}
		said, err := u.records.Revisions(id)
		if err != nil {
			return err
		}
		kept.said = slices.Clone(said)
		slices.SortStableFunc(kept.said, func(a, b verdict.Declaration) int { return cmp.Compare(a.ReceivedAt, b.ReceivedAt) })
		if kept.stored, err = u.records.Latest(id); err != nil {
			return err
		}
		u.subjects[id] = kept
	}
	return u.governingOfKnown()
}

// governingOfKnown finds the versions that govern actions that were declared before,
// whose parameters are compared by their types.
func (u *declaring) governingOfKnown() error {
	return u.inquiry.Until(func(r docket.Records) (err error) {
		for _, a := range u.subjects {
			if a.governing, err = docket.Governing(r, &a.action.Declaration, a.stored); err != nil {
				return err
			}
		}
		return nil
	})
}

// take says what an order is, and makes what it declares seen by the next ones.
func (u *declaring) take(o *order, id string) outcome {
	d := o.declaration
	said := d.Declaration
	said.ActionID, said.ReceivedAt = id, u.now
	declared := store.Declared{
		Declaration: said, Body: d.Body, By: o.principal.Actor(), SelfAttested: o.principal.SelfAttested(), Revision: 1,
	}
	a := u.subjects[id]
	if a == nil {
		return u.takeNew(declared, d)
	}
	if err := o.principal.MayRecord(targetOf(&a.action.Declaration)); err != nil {
		return outcome{err: &ConflictError{ActionID: id}}
	}
	result := Result{Recorded: Replayed, Warnings: d.Warnings}
	for i := range a.said {
		if len(differences(a.contract(), &a.said[i], &said)) == 0 {
			result.Revision = i + 1
			return outcome{result: result}
		}
	}
	declared.Ref, declared.Revision = a.action.Ref, a.action.Revisions+1
	declared.Declaration.ReceivedAt = max(u.now, a.said[len(a.said)-1].ReceivedAt)
	result.Recorded, result.Revision = Changed, declared.Revision
	result.Warnings = append(d.Warnings[:len(d.Warnings):len(d.Warnings)], changes(differences(a.contract(), &a.said[0], &said))...)
	u.touch(a)
	a.said = append(a.said[:len(a.said):len(a.said)], declared.Declaration)
	a.further = append(a.further, declared)
	a.action.Revisions = declared.Revision
	u.pending.Revise(declared.Declaration)
	return outcome{result: result}
}

func (a *subject) contract() *contract.Contract {
	if a.governing == nil {
		return nil
	}
	return a.governing.Contract
}

// touch puts an action on the list of those that are evaluated.
func (u *declaring) touch(a *subject) {
	if !a.touched() {
		u.inOrder = append(u.inOrder, a)
	}
}

func (u *declaring) takeNew(declared store.Declared, d *Declaration) outcome {
	id := declared.Declaration.ActionID
	ref := store.Ref(id)
	if d.ActionID != "" {
		minted, err := u.s.refs.mint(u.now)
		if err != nil {
			return outcome{err: err}
		}
		ref = minted
	}
	declared.Ref = ref
	a := &subject{action: store.Action{Declared: declared, Revisions: 1}, said: []verdict.Declaration{declared.Declaration}}
	governing, err := u.records.Active(d.ContractID, u.now)
	if err != nil {
		return outcome{err: err}
	}
	if governing != nil {
		a.governing, a.action.Version, a.action.Mode = governing, governing.Version, governing.Mode
	}
	if err := u.pending.Declare(declared.Declaration, governing); err != nil {
		return outcome{err: err}
	}
	u.touch(a)
	a.isNew = true
	u.subjects[id] = a
	return outcome{result: Result{Recorded: New, Revision: 1, Warnings: d.Warnings}}
}

// evaluate makes the verdicts on all actions that are new or changed.
func (u *declaring) evaluate() error {
	if len(u.inOrder) == 0 {
		return nil
	}
	var locked []store.Ref
	ids := make([]string, len(u.inOrder))
	for i, a := range u.inOrder {
		ids[i] = a.action.Declaration.ActionID
		if !a.isNew {
			locked = append(locked, a.action.Ref)
		} else if err := u.enter(a); err != nil {
			return err
		}
	}
	if len(locked) > 0 {
		if err := u.tx.Lock(locked); err != nil {
			return fmt.Errorf("lock the actions that are declared again: %w", err)
		}
	}
	built, err := u.inquiry.BuildAll(u.now, ids)
	if err != nil {
		return fmt.Errorf("gather what bears on the actions: %w", err)
	}
	for i, a := range u.inOrder {
		err := built[i].Err
		if err == nil {
			a.finding, err = settlement.Find(a.action.Ref, built[i].Case, a.stored)
		}
		if err != nil {
			return &faultError{actionID: ids[i], err: err}
		}
	}
	return nil
}

// enter works out what a new action adds to rolling limits and links by, and asks
// whose totals that changes, with the next round.
func (u *declaring) enter(a *subject) error {
	if a.governing == nil {
		return nil
	}
	versions, err := u.s.versions.Until(u.tx, a.governing)
	if err != nil {
		return err
	}
	d := &a.action.Declaration
	a.entries, a.links = docket.Entries(versions, d), docket.LinkParams(versions, d)
	spreading := settlement.Spreading{Entries: a.entries}
	u.inquiry.Want(spreading.Later()...)
	return nil
}

// keep writes all that the unit came to, and wakes whom it matters to.
func (u *declaring) keep() error {
	var spreading []settlement.Spreading
	here := map[string]bool{}
	for _, a := range u.inOrder {
		here[a.action.Declaration.ActionID] = true
		if a.isNew {
			u.added++
			u.tx.AddAction(&a.action, limitEntries(a), a.links)
			u.tx.AddLeaf(ledger.Declaration(&a.action.Declared))
			spreading = append(spreading, settlement.Spreading{Ref: a.action.Ref, Case: a.finding.Case, Declared: true, Entries: a.entries})
		}
		for i := range a.further {
			u.tx.AddRevision(&a.further[i])
			u.tx.AddLeaf(ledger.Declaration(&a.further[i]))
		}
		settlement.Keep(u.tx, a.finding, false)
		if due := a.finding.Due(); due != 0 && a.isNew {
			u.tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: a.action.Ref, Due: due})
		}
		if c := a.finding.Case; c.Compensates != nil || len(c.Compensators) > 0 {
			u.tx.Recheck(a.action.Ref) // how these stand may change meanwhile
		}
	}
	if u.added > 0 {
		u.tx.CountDeclared(month(u.now), u.added)
	}
	neighbours, err := settlement.Neighbours(u.inquiry, spreading)
	if err != nil {
		return err
	}
	return neighbours.Wake(u.tx, here)
}

func limitEntries(a *subject) []store.LimitEntry {
	var entries []store.LimitEntry
	for _, e := range a.entries {
		entry := store.LimitEntry{Key: e.Key, Group: e.Group, Start: e.Start, Shadow: a.action.Mode == verdict.Shadow}
		if e.Amount.Currency != "" {
			entry.Amount, entry.Currency = money.Text(e.Amount.Value), string(e.Amount.Currency)
		}
		entries = append(entries, entry)
	}
	return entries
}
