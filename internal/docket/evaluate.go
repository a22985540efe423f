package docket

import (
	"fmt"

	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Evaluate builds the case of an action, evaluates it and keeps the verdict.
// What undoes the action is evaluated before it, so that the net effect counts
// verdicts of the same moment. Errors: those of [Build] and of
// [verdict.Evaluate].
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
	v, err := verdict.Evaluate(c)
	if err != nil {
		return nil, verdict.Verdict{}, fmt.Errorf("evaluate action %q: %w", actionID, err)
	}
	m.Keep(c, v)
	return c, v, nil
}
