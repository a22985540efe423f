package action

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const (
	mostDry     = 10_000           // actions that a dry run reads
	dryPatience = 10 * time.Second // and for how long
	dryBatch    = 200
	mostTurned  = 100 // actions that are named
)

// DryOrder says what to try: a version of a contract, or a text that is none yet, on
// the actions of a period.
type DryOrder struct {
	ContractID string
	Version    int    // zero with no text: the active one
	Text       []byte // instead of a version
	From, To   value.Instant
}

// DryRun is what the actions of a period would have come to under a version, by what
// is known now. Nothing of it is kept.
type DryRun struct {
	Contract *contract.Contract
	Actions  int
	// Complete is false where it stopped before the end, and Stopped says why.
	Complete                    bool
	Stopped                     string
	Badge, Outcome, Conformance map[verdict.Result]int
	Codes                       []CodeCount    // by lens, the most frequent first
	Verified                    []money.Amount // one per currency
	Turned                      []Turn         // the first 100, the newest action first
}

// CodeCount is how many actions have a code in a lens.
type CodeCount struct {
	Lens    string
	Code    verdict.Code
	Actions int
}

// Turn is a lens of an action that would be another than it is.
type Turn struct {
	Ref      store.Ref
	ActionID string
	Lens     string
	Was, Is  verdict.Result
}

// DryRun tries a version on what was declared. It reads at most 10,000 actions in 10
// seconds. Errors: an [access.ScopeError], an [access.LimitError],
// a [plan.RequiredError], [store.ErrNotFound], an [InvalidError], [contract.Problems].
func (s *Service) DryRun(ctx context.Context, p access.Principal, o DryOrder) (*DryRun, error) {
	if err := p.MayUseContract(access.ContractsValidate, o.ContractID); err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeout(ctx, dryPatience)
	defer cancel()
	var run *DryRun
	err := s.view(ctx, p, func(tx store.Tx) error {
		w, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		if err := s.options.Plans.Require(w.Plan, plan.DryRuns); err != nil {
			return err
		}
		k, err := tried(tx, o)
		if err != nil {
			return err
		}
		t := &dry{tx: tx, k: k, order: o, patience: patience, counts: map[CodeCount]int{}}
		t.run = DryRun{
			Contract: k, Complete: true,
			Badge: map[verdict.Result]int{}, Outcome: map[verdict.Result]int{}, Conformance: map[verdict.Result]int{},
		}
		if err := t.all(p.Limits()); err != nil {
			return err
		}
		run = t.finish()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("try contract %s on what was declared: %w", o.ContractID, err)
	}
	return run, nil
}

// tried is the version that is tried, compiled.
func tried(tx store.Tx, o DryOrder) (*contract.Contract, error) {
	text := o.Text
	if text == nil && o.Version == 0 {
		active, err := tx.ActiveContracts([]string{o.ContractID}, tx.Now())
		if err != nil {
			return nil, err
		}
		if active[o.ContractID] == nil {
			return nil, store.ErrNotFound
		}
		text = []byte(active[o.ContractID].Text)
	}
	if text == nil {
		v, err := tx.ContractVersion(o.ContractID, o.Version)
		if err != nil {
			return nil, err
		}
		text = []byte(v.Text)
	}
	k, err := contract.Parse(text)
	if err != nil {
		return nil, err
	}
	if k.ID != o.ContractID {
		return nil, &InvalidError{Problems: []Problem{{Field: "contract_id", Message: fmt.Sprintf("the text is of contract %q", k.ID)}}}
	}
	return k, nil
}

// dry is a dry run under way.
type dry struct {
	tx       store.Tx
	k        *contract.Contract
	order    DryOrder
	patience context.Context
	declared *docket.Memory  // what was declared, for what only this version adds up
	kept     map[string]bool // keys of limits that are added up already
	run      DryRun
	counts   map[CodeCount]int
}

func (t *dry) all(limits access.Limits) error {
	if err := t.before(); err != nil {
		return err
	}
	filter := store.Filter{ContractID: t.k.ID, From: t.order.From, To: t.order.To, Limits: limits}
	for after := store.Cursor(""); ; {
		listed, next, err := t.tx.ListActions(filter, store.Page{After: after, Limit: min(dryBatch, mostDry-t.run.Actions)})
		if err != nil {
			return fmt.Errorf("list the actions of the period: %w", err)
		}
		if err := t.evaluate(listed); err != nil {
			return err
		}
		switch {
		case next == "":
			return nil
		case t.run.Actions >= mostDry:
			t.stop(fmt.Sprintf("it reads at most %d actions", mostDry))
			return nil
		case t.patience.Err() != nil:
			t.stop(fmt.Sprintf("it takes at most %s", dryPatience))
			return nil
		}
		after = next
	}
}

func (t *dry) stop(why string) {
	if t.run.Complete {
		t.run.Complete, t.run.Stopped = false, why
	}
}

// before finds what only this version adds up, and reads the declarations that it
// takes for that.
func (t *dry) before() error {
	t.kept = map[string]bool{}
	versions, err := t.tx.ContractVersions(t.k.ID, true)
	if err != nil {
		return fmt.Errorf("read the versions so far: %w", err)
	}
	params := map[string]bool{}
	for i := range versions {
		if versions[i].From == 0 {
			continue
		}
		k, err := contract.Parse([]byte(versions[i].Text))
		if err != nil {
			return err
		}
		for j := range k.Limits {
			t.kept[docket.LimitKey(k, &k.Limits[j])] = true
		}
		for _, name := range docket.LinkNames(k) {
			params[name] = true
		}
	}
	var back time.Duration
	wanted := slices.ContainsFunc(docket.LinkNames(t.k), func(name string) bool { return !params[name] })
	for i := range t.k.Limits {
		l := &t.k.Limits[i]
		if l.Rolling != nil && !t.kept[docket.LimitKey(t.k, l)] {
			back, wanted = max(back, l.Rolling.Over), true
		}
	}
	if !wanted {
		return nil
	}
	return t.read(back)
}

// read takes in what was declared in the period and a time before it.
func (t *dry) read(back time.Duration) error {
	t.declared = docket.NewMemory()
	governing := docket.Version{Governing: t.governing()}
	if err := t.declared.Activate(governing); err != nil {
		return err
	}
	filter := store.Filter{ContractID: t.k.ID, To: t.order.To}
	if t.order.From != 0 {
		filter.From = t.order.From.Add(-back)
	}
	read := 0
	for after := store.Cursor(""); ; {
		listed, next, err := t.tx.ListActions(filter, store.Page{After: after, Limit: dryBatch})
		if err != nil {
			return fmt.Errorf("list what was declared: %w", err)
		}
		for i := range listed {
			t.declared.Declare(listed[i].Action.Declaration)
		}
		read += len(listed)
		if next == "" {
			return nil
		}
		if read >= mostDry || t.patience.Err() != nil {
			t.stop(fmt.Sprintf("its limits reach back over more than %d declarations", read))
			return nil
		}
		after = next
	}
}

func (t *dry) governing() verdict.Governing {
	return verdict.Governing{Contract: t.k, Version: max(t.order.Version, 1), Mode: verdict.Live}
}

// evaluate makes the verdicts on a page of actions.
func (t *dry) evaluate(listed []store.Listed) error {
	ids := make([]string, len(listed))
	for i := range listed {
		ids[i] = listed[i].Action.Declaration.ActionID
	}
	built, err := docket.BuildAll(t.ask, t.tx.Now(), ids)
	if err != nil {
		return fmt.Errorf("gather what bears on the actions: %w", err)
	}
	for i := range listed {
		if built[i].Err != nil {
			return built[i].Err
		}
		c := built[i].Case
		c.Previous = nil // what another version came to is nothing to revise
		v, err := engine.Evaluate(c)
		if err != nil {
			return fmt.Errorf("evaluate action %q: %w", ids[i], err)
		}
		t.add(&listed[i], &v)
	}
	return nil
}

func (t *dry) add(was *store.Listed, is *verdict.Verdict) {
	t.run.Actions++
	t.run.Badge[is.Badge]++
	t.run.Outcome[is.Outcome.Result]++
	t.run.Conformance[is.Conformance.Result]++
	for _, lens := range []struct {
		name    string
		was, is verdict.Lens
	}{
		{verdict.OutcomeLens, was.Verdict.Outcome, is.Outcome},
		{verdict.ConformanceLens, was.Verdict.Conformance, is.Conformance},
	} {
		for _, code := range lens.is.Codes {
			t.counts[CodeCount{Lens: lens.name, Code: code}]++
		}
		if lens.was.Result != lens.is.Result && len(t.run.Turned) < mostTurned {
			t.run.Turned = append(t.run.Turned, Turn{
				Ref: was.Action.Ref, ActionID: was.Action.Declaration.ActionID, Lens: lens.name, Was: lens.was.Result, Is: lens.is.Result,
			})
		}
	}
	if is.VerifiedAmount == nil {
		return
	}
	i := slices.IndexFunc(t.run.Verified, func(a money.Amount) bool { return a.Currency == is.VerifiedAmount.Currency })
	if i < 0 {
		t.run.Verified = append(t.run.Verified, *is.VerifiedAmount)
		return
	}
	t.run.Verified[i], _ = t.run.Verified[i].Add(*is.VerifiedAmount) // of one currency
}

func (t *dry) finish() *DryRun {
	for code, n := range t.counts {
		code.Actions = n
		t.run.Codes = append(t.run.Codes, code)
	}
	slices.SortFunc(t.run.Codes, func(a, b CodeCount) int {
		return cmp.Or(-strings.Compare(a.Lens, b.Lens), cmp.Compare(b.Actions, a.Actions), strings.Compare(string(a.Code), string(b.Code)))
	})
	slices.SortFunc(t.run.Verified, func(a, b money.Amount) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return &t.run
}

// ask answers as the records would if the tried version had governed all along.
func (t *dry) ask(questions []*docket.Question) error {
	var far []*docket.Question
	for _, q := range questions {
		if near, err := t.answer(q); err != nil {
			return err
		} else if !near {
			far = append(far, q)
		}
	}
	if len(far) == 0 {
		return nil
	}
	if err := t.tx.Ask(far); err != nil {
		return err
	}
	for _, q := range far {
		if err := t.amend(q); err != nil {
			return err
		}
	}
	return nil
}

// answer answers what only the tried version decides.
func (t *dry) answer(q *docket.Question) (near bool, err error) {
	switch {
	case q.Active != nil && q.Active.ContractID == t.k.ID: // whatever version governs
		governing := t.governing()
		q.Governing = []*verdict.Governing{&governing}
		return true, nil
	case q.History != nil && t.declared != nil && !t.kept[docket.LimitKey(q.History.Contract, q.History.Limit)]:
		q.Sum, err = t.declared.History(*q.History)
		return true, err
	}
	return false, nil
}

// amend adds what the tried version adds to what the records answer.
func (t *dry) amend(q *docket.Question) error {
	switch {
	case q.Expecting != "":
		others := slices.DeleteFunc(slices.Clone(q.Governing), func(g *verdict.Governing) bool { return g.Contract.ID == t.k.ID })
		if docket.Expects(t.k, q.Expecting) {
			governing := t.governing()
			others = append(others, &governing)
		}
		q.Governing = others
	case q.Declared != nil && q.Declared.By == contract.ByParam && q.Declared.ContractID == t.k.ID && t.declared != nil:
		more, err := t.declared.Declared(*q.Declared)
		if err != nil {
			return err
		}
		for _, d := range more {
			if !slices.ContainsFunc(q.Declarations, func(known verdict.Declaration) bool { return known.ActionID == d.ActionID }) {
				q.Declarations = append(q.Declarations[:len(q.Declarations):len(q.Declarations)], d)
			}
		}
	}
	return nil
}
