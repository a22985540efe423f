package docket

import (
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Load declares, reports and connects all that is given.
func (m *Memory) Load(actions []verdict.Declaration, facts []evidence.Fact, sources []evidence.Source) {
	for _, d := range actions {
		m.Declare(d)
	}
	for _, f := range facts {
		m.Report(f)
	}
	for _, s := range sources {
		m.Connect(s)
	}
}

// Replay evaluates every action that was declared by a time, in the order of
// their ids, as if a contract had been live from the beginning. Errors: those of
// [Memory.Activate] and of [Memory.Evaluate].
func Replay(k *contract.Contract, actions []verdict.Declaration, facts []evidence.Fact, sources []evidence.Source, at value.Instant) ([]verdict.Verdict, error) {
	records := NewMemory()
	version := Version{}
	version.Contract, version.Version, version.Mode = k, 1, verdict.Live
	if err := records.Activate(version); err != nil {
		return nil, err
	}
	records.Load(actions, facts, sources)
	var verdicts []verdict.Verdict
	for _, id := range records.ActionIDs() {
		_, v, err := records.Evaluate(id, at)
		if errors.As(err, new(*UnknownActionError)) {
			continue // it was declared after that time
		}
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// Evaluate builds the case of an action, evaluates it and keeps the verdict.
// What undoes the action is evaluated before it, so that the net effect counts
// verdicts of the same moment. Errors: those of [Build] and of
// [engine.Evaluate].
func (m *Memory) Evaluate(actionID string, at value.Instant) (*verdict.Case, verdict.Verdict, error) {
	return m.evaluate(actionID, at, map[string]bool{})
}

// evaluate goes through each action once: two that say they undo each other
// must not go on for ever.
func (m *Memory) evaluate(actionID string, at value.Instant, under map[string]bool) (*verdict.Case, verdict.Verdict, error) {
	under[actionID] = true
	undoing, err := m.Compensating(actionID)
	if err != nil {
		return nil, verdict.Verdict{}, err
	}
	for i := range undoing {
		if under[undoing[i].ActionID] || undoing[i].ReceivedAt > at {
			continue
		}
		if _, _, err := m.evaluate(undoing[i].ActionID, at, under); err != nil {
			return nil, verdict.Verdict{}, err
		}
	}
	c, err := Build(m, actionID, at)
	if err != nil {
		return nil, verdict.Verdict{}, err
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		return nil, verdict.Verdict{}, fmt.Errorf("evaluate action %q: %w", actionID, err)
	}
	m.Keep(c, v)
	return c, v, nil
}
