package scenario

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Outcome is what one evaluation of a scenario came to.
type Outcome struct {
	Evaluation Evaluation
	Case       *verdict.Case
	Verdict    verdict.Verdict
}

// Play is a scenario under way.
type Play struct {
	scenario *Scenario
	records  *docket.Memory
	actions  []verdict.Declaration // not received yet, in order of receipt
	facts    []evidence.Fact       // not arrived yet, in order of arrival
}

// NewPlay begins a scenario: its contracts are active, and nothing has arrived.
func NewPlay(s *Scenario) (*Play, error) {
	p := &Play{scenario: s, records: docket.NewMemory(), actions: slices.Clone(s.Actions), facts: slices.Clone(s.Facts)}
	for _, v := range s.Versions {
		if err := p.records.Activate(v); err != nil {
			return nil, fmt.Errorf("play %s: %w", s.File, err)
		}
	}
	slices.SortStableFunc(p.actions, func(a, b verdict.Declaration) int { return cmp.Compare(a.ReceivedAt, b.ReceivedAt) })
	slices.SortStableFunc(p.facts, func(a, b evidence.Fact) int { return cmp.Compare(a.IngestedAt, b.IngestedAt) })
	return p, nil
}

// Run plays all evaluations of the scenario.
func (s *Scenario) Run() ([]Outcome, error) {
	p, err := NewPlay(s)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	for _, e := range s.Evaluations {
		p.Arrive(e.At)
		p.State(e)
		c, v, err := p.records.Evaluate(e.ActionID, e.At)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", s.File, e.Line, err)
		}
		outcomes = append(outcomes, Outcome{Evaluation: e, Case: c, Verdict: v})
	}
	return outcomes, nil
}

// Arrive lets in what arrives up to a time.
func (p *Play) Arrive(at value.Instant) {
	for len(p.actions) > 0 && p.actions[0].ReceivedAt <= at {
		p.records.Declare(p.actions[0])
		p.actions = p.actions[1:]
	}
	for len(p.facts) > 0 && p.facts[0].IngestedAt <= at {
		p.records.Report(p.facts[0])
		p.facts = p.facts[1:]
	}
}

// State says how complete sources and declarations are, in place of all that
// was said before.
func (p *Play) State(e Evaluation) {
	for _, source := range p.scenario.Sources {
		source.Watermarks = e.Complete[source.Name]
		p.records.Connect(source)
	}
	p.records.DeclaredTo(e.DeclaredTo)
}
