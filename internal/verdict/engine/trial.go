package engine

import (
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// trial is one evaluation under way.
type trial struct {
	c    *verdict.Case
	k    *contract.Contract
	self *party
	// rivals are bound when the first check asks for them.
	rivals  []*party
	sources []evidence.Source

	facts     []evidence.Resolved // current, not retracted
	retracted []*evidence.Fact

	steps    []finding // of k.Steps, by index; see step
	stepDone []bool
	notes    []verdict.Reason
	lacking  []verdict.Wait // coverage that was asked for and is not there
}

// party is an action as the contract sees it: this one or a rival.
type party struct {
	declared *verdict.Declaration
	params   map[string]value.Value
	start    value.Instant
	settles  value.Instant
}

func newParty(k *contract.Contract, d *verdict.Declaration) (*party, []contract.BindProblem) {
	params, problems := k.Bind(d.Params)
	start := d.Start()
	return &party{declared: d, params: params, start: start, settles: start.Add(k.Settle.After)}, problems
}

// scene is what an expression may read.
type scene struct {
	party *party
	fact  *evidence.Fact
}

// Value implements [condition.Names]. A fact's own fields win over attributes
// of the same name.
func (s *scene) Value(ref condition.Ref) value.Value {
	switch ref.Root {
	case condition.Params:
		return s.party.params[ref.Name]
	case condition.Action:
		return attr(s.party.declared, ref.Name)
	}
	if s.fact == nil {
		return value.Value{}
	}
	switch ref.Name {
	case "source":
		return text(s.fact.Source)
	case "type":
		return text(s.fact.Type)
	case "external_id":
		return text(s.fact.ExternalID)
	case "subject_id":
		return text(s.fact.SubjectID)
	case "subject_kind":
		return text(s.fact.SubjectKind)
	case "occurred_at":
		return moment(s.fact.OccurredAt)
	}
	return s.fact.Attr(ref.Name)
}

// attr is an attribute of the action by the name that conditions use.
func attr(d *verdict.Declaration, name string) value.Value {
	switch name {
	case "action_id":
		return text(d.ActionID)
	case "contract_id":
		return text(d.ContractID)
	case "action_type":
		return text(d.ActionType)
	case "subject_id":
		return text(d.SubjectID)
	case "subject_kind":
		return text(d.SubjectKind)
	case "agent_id":
		return text(d.AgentID)
	case "workflow_id":
		return text(d.WorkflowID)
	case "channel":
		return text(d.Channel)
	case "requested_at":
		return moment(d.RequestedAt)
	case "received_at":
		return moment(d.ReceivedAt)
	}
	return value.Value{}
}

// text is a string's value; an empty one was not given.
func text(s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	return value.OfString(s)
}

func moment(i value.Instant) value.Value {
	if i == 0 {
		return value.Value{}
	}
	return value.OfTime(i)
}

// guard evaluates a check's `when` for a party: true where there is none.
func guard(when *condition.Expr, p *party) condition.Outcome {
	if when == nil {
		return condition.Outcome{Truth: condition.True}
	}
	return when.Truth(&scene{party: p})
}

// source is the source of that name, or nil.
func (t *trial) source(name string) *evidence.Source {
	for i := range t.sources {
		if t.sources[i].Name == name {
			return &t.sources[i]
		}
	}
	return nil
}

// note adds a note once.
func (t *trial) note(r verdict.Reason) {
	for _, known := range t.notes {
		if known == r {
			return
		}
	}
	t.notes = append(t.notes, r)
}

// finding is a check with what the rest of the evaluation needs to know of it.
type finding struct {
	verdict.Check
	// open says that the verdict may not settle on it yet: it is undecided, or
	// it passes only if nothing more comes, and coverage may decide it.
	open bool
	// at is when a step was fulfilled, first when its first effect happened,
	// right or wrong. Neither is known while at.known is false.
	at, first timed
	// counted is how many of the effects in a step's window are the action's.
	counted int
	// absent says that no effect is in the window and that every source would
	// show one; unseen is what could still show one that comes after it.
	absent bool
	unseen []verdict.Wait
}

// timed is a moment as precisely as its source tells it.
type timed struct {
	known bool
	at    value.Instant
	unit  time.Duration
}

// compare says whether a is before (-1), at the same time as (0) or after (1)
// b, at the coarser of both resolutions.
func (a timed) compare(b timed) int {
	unit := max(a.unit, b.unit)
	x, y := a.at.Cut(unit), b.at.Cut(unit)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// earlier is the earlier of two times, of those that are known.
func earlier(a, b timed) timed {
	if !a.known || b.known && b.at < a.at {
		return b
	}
	return a
}

// causeCode names why a condition is unknown.
func causeCode(o condition.Outcome) verdict.Reason {
	switch o.Cause {
	case condition.CurrencyDiffers:
		return verdict.Reason{Code: verdict.CurrencyDiffers, About: about(o)}
	case condition.NotComparable:
		return verdict.Reason{Code: verdict.ValueNotComparable, About: about(o)}
	}
	return verdict.Reason{Code: verdict.ValueMissing, About: about(o)}
}

func about(o condition.Outcome) string {
	if o.Ref.Name == "" {
		return ""
	}
	return o.Ref.String()
}
