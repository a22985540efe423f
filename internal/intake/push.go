package intake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// maxAhead is how far in the future a fact may have occurred: clocks differ, and no
// source knows what happens tomorrow.
const maxAhead = 24 * time.Hour

// Service takes in facts, watermarks and sources.
type Service struct{ store store.Store }

// NewService makes one over a store.
func NewService(s store.Store) *Service { return &Service{store: s} }

// Push keeps facts, all or none, and says of each whether it is new; one that is
// known with this content is left out. On return without an error all are durable.
// Errors: an [access.ScopeError], an [access.SourceError], an [InvalidError], those
// of [store.Store].
func (s *Service) Push(ctx context.Context, p access.Principal, facts []Fact) (isNew []bool, err error) {
	if err := p.Require(access.FactsWrite); err != nil {
		return nil, err
	}
	var names []string
	for i := range facts {
		if name := facts[i].Source; !slices.Contains(names, name) {
			if err := p.MayWriteFacts(name); err != nil {
				return nil, err
			}
			names = append(names, name)
		}
	}
	err = s.store.Do(ctx, p.Workspace(), func(tx store.Tx) (err error) {
		tx.Turn(store.Together)
		isNew, err = keep(tx, p.Actor(), names, facts)
		return err
	})
	if err != nil {
		return nil, err
	}
	return isNew, nil
}

func keep(tx store.Tx, by access.Actor, names []string, facts []Fact) ([]bool, error) {
	sources, err := sourcesOf(tx, names)
	if err != nil {
		return nil, err
	}
	now := tx.Now()
	rows := make([]store.Fact, len(facts))
	var problems []Problem
	for i := range facts {
		f := &facts[i]
		if field, message := refused(&f.Fact, sources[f.Source], now); message != "" {
			problems = append(problems, Problem{Index: i, Field: field, Message: message})
		}
		rows[i] = store.Fact{Fact: f.Fact, Body: f.Body, By: by}
		rows[i].IngestedAt = now
	}
	if len(problems) > 0 {
		return nil, &InvalidError{Of: len(facts), Problems: problems}
	}
	isNew, err := tx.AddFacts(rows)
	if err != nil {
		return nil, fmt.Errorf("keep facts: %w", err)
	}
	var wakes []store.Wake
	for i := range rows {
		if isNew[i] {
			wakes = append(wakes, store.Wake{Kind: store.WakeFact, Fact: rows[i].Identity()})
		}
	}
	tx.Wake(wakes...)
	return isNew, nil
}

func sourcesOf(tx store.Tx, names []string) (map[string]*store.SourceState, error) {
	states, err := tx.SourceStates(names...)
	if err != nil {
		return nil, fmt.Errorf("read the sources: %w", err)
	}
	sources := map[string]*store.SourceState{}
	for i := range states {
		sources[states[i].Name] = &states[i]
	}
	return sources, nil
}

// refused says why a source cannot tell a fact, if it cannot.
func refused(f *evidence.Fact, source *store.SourceState, now value.Instant) (field, message string) {
	switch {
	case source == nil:
		return "source", fmt.Sprintf("the workspace has no source %q; a member has to make it first", f.Source)
	case len(source.Provides) > 0 && !slices.Contains(source.Provides, f.Type):
		return "type", fmt.Sprintf("the source %s does not provide %s", f.Source, f.Type)
	case f.OccurredAt > now.Add(maxAhead):
		return "occurred_at", "lies more than 24 hours in the future"
	}
	return "", ""
}
