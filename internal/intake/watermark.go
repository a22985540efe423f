package intake

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// maxSkew is how far a watermark may lie in the future: nobody knows what is to come,
// but two clocks are never the same.
const maxSkew = time.Minute

// PutWatermarks says up to when, inclusive, a source's facts of each type are
// complete. A time before the one that stood is taken: a source that reads again may
// know less than it thought. It counts for what is not settled, and is told in the
// audit. Errors: an [access.ScopeError], an [access.SourceError], [store.ErrNotFound],
// an [InvalidError].
func (s *Service) PutWatermarks(ctx context.Context, p access.Principal, source string, marks map[string]value.Instant) (*store.SourceState, error) {
	if err := p.MayWriteFacts(source); err != nil {
		return nil, err
	}
	if len(marks) == 0 || len(marks) > maxProvides {
		return nil, invalid("watermarks", "has %d fact types; 1 to %d are taken at once", len(marks), maxProvides)
	}
	var state *store.SourceState
	err := s.store.Do(ctx, p.Workspace(), func(tx store.Tx) error {
		tx.Turn(store.Together)
		known, err := sourcesOf(tx, []string{source})
		if err != nil {
			return err
		}
		if known[source] == nil {
			return store.ErrNotFound
		}
		moved := *known[source]
		moved.Watermarks = maps.Clone(moved.Watermarks)
		if moved.Watermarks == nil {
			moved.Watermarks = map[string]value.Instant{}
		}
		if problems := unfit(&moved, marks, tx.Now()); len(problems) > 0 {
			return &InvalidError{Problems: problems}
		}
		move(tx, p.Actor(), &moved, marks)
		state = &moved
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("move the watermarks of source %s: %w", source, err)
	}
	return state, nil
}

// unfit says which watermarks cannot be.
func unfit(source *store.SourceState, marks map[string]value.Instant, now value.Instant) []Problem {
	var problems []Problem
	for _, factType := range slices.Sorted(maps.Keys(marks)) {
		p := Problem{Field: "watermarks." + clip(factType)}
		switch at := marks[factType]; {
		case !isType(factType):
			p.Message = "is no fact type; write a family and a name with a dot between them"
		case len(source.Provides) > 0 && !slices.Contains(source.Provides, factType):
			p.Message = fmt.Sprintf("the source %s does not provide %s", source.Name, factType)
		case at == 0:
			p.Message = "is no time"
		case at > now.Add(maxSkew):
			p.Message = "lies more than a minute in the future"
		default:
			continue
		}
		problems = append(problems, p)
	}
	return problems
}

// move keeps watermarks and wakes what they may matter to.
func move(tx store.Tx, by access.Actor, source *store.SourceState, marks map[string]value.Instant) {
	back := false
	for _, factType := range slices.Sorted(maps.Keys(marks)) {
		was, is := source.Watermarks[factType], marks[factType]
		if is == was {
			continue
		}
		tx.PutWatermark(source.Name, factType, is, by)
		source.Watermarks[factType] = is
		if is > was {
			tx.Wake(store.Wake{Kind: store.WakeSource, Source: source.Name, FactType: factType, Watermark: is})
			continue
		}
		back = true
		tx.Audit(audit.Entry(by, tx.Now(), "watermark.moved_back", source.Name, audit.Metadata{"type": factType, "from": was.String(), "to": is.String()}))
	}
	if back {
		// What was covered is no longer, whoever waited for it.
		tx.Wake(store.Wake{Kind: store.WakeSource, Source: source.Name})
	}
}
