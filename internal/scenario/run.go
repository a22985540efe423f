package scenario

import (
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
	actions  []verdict.Declaration // not received yet
	facts    []evidence.Fact       // not arrived yet
}

// NewPlay begins a scenario: its contracts are active, and nothing has arrived.
func NewPlay(s *Scenario) (*Play, error) {
	p := &Play{scenario: s, records: docket.NewMemory(), actions: slices.Clone(s.Actions), facts: slices.Clone(s.Facts)}
	for _, v := range s.Versions {
		if err := p.records.Activate(v); err != nil {
			return nil, fmt.Errorf("play %s: %w", s.File, err)
		}
	}
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
		o, err := p.Evaluate(e)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// Evaluate lets in what arrives up to the time of an evaluation, in the order
// of the file, states how complete everything is then, in place of all that was
// stated before, and makes the verdict.
func (p *Play) Evaluate(e Evaluation) (Outcome, error) {
	p.arrive(e.At)
	for _, source := range p.scenario.Sources {
		source.Watermarks = e.Complete[source.Name]
		p.records.Connect(source)
	}
	p.records.DeclaredTo(e.DeclaredTo)
	c, v, err := p.records.Evaluate(e.ActionID, e.At)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s:%d: %w", p.scenario.File, e.Line, err)
	}
	return Outcome{Evaluation: e, Case: c, Verdict: v}, nil
}

func (p *Play) arrive(at value.Instant) {
	p.actions = slices.DeleteFunc(p.actions, func(d verdict.Declaration) bool {
		if d.ReceivedAt <= at {
			p.records.Declare(d)
		}
		return d.ReceivedAt <= at
	})
	p.facts = slices.DeleteFunc(p.facts, func(f evidence.Fact) bool {
		if f.IngestedAt <= at {
			p.records.Report(f)
		}
		return f.IngestedAt <= at
	})
}
