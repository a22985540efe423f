package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
)

// What a source may have at most.
const (
	maxSourceName = 64
	maxTitle      = 200
	maxProvides   = 200
	longestUnit   = 24 * time.Hour
)

// SourceOrder says what a new source shall be.
type SourceOrder struct {
	Name       string
	Title      string
	Trust      evidence.Trust // zero: asserted
	Provides   []string       // fact types; empty: any
	Resolution time.Duration  // zero: a second
}

// CreateSource makes a source. Only a member may, so that no key says how far its own
// facts are to be trusted. Errors: those of [access.Principal.May], a [TakenError], an
// [InvalidError].
func (s *Service) CreateSource(ctx context.Context, p access.Principal, o SourceOrder) (*store.SourceState, error) {
	if o.Trust == evidence.NoTrust {
		o.Trust = evidence.Asserted
	}
	source := store.SourceState{Title: o.Title}
	source.Name, source.Trust, source.Provides, source.Resolution = o.Name, o.Trust, provided(o.Provides), evidence.Resolution(o.Resolution)
	return s.change(ctx, p, o.Name, "source.created", func(tx store.Tx, known *store.SourceState) (*store.SourceState, error) {
		if known != nil {
			return nil, &TakenError{Name: o.Name}
		}
		source.CreatedAt, source.CreatedBy = tx.Now(), p.Actor()
		return &source, nil
	})
}

// SourceChange says what is to be another than it is. What is nil stays.
type SourceChange struct {
	Title      *string
	Trust      *evidence.Trust
	Provides   *[]string
	Resolution *time.Duration
}

// ChangeSource changes a source. What is settled stays; what is not is looked at
// again. Errors: those of [access.Principal.May], [store.ErrNotFound], an
// [InvalidError].
func (s *Service) ChangeSource(ctx context.Context, p access.Principal, name string, c SourceChange) (*store.SourceState, error) {
	return s.change(ctx, p, name, "source.changed", func(tx store.Tx, known *store.SourceState) (*store.SourceState, error) {
		if known == nil {
			return nil, store.ErrNotFound
		}
		changed := *known
		if c.Title != nil {
			changed.Title = *c.Title
		}
		if c.Trust != nil && *c.Trust != known.Trust {
			if err := p.May(access.ChangeTrust, tx.Now()); err != nil {
				return nil, err
			}
			changed.Trust = *c.Trust
		}
		if c.Provides != nil {
			changed.Provides = provided(*c.Provides)
		}
		if c.Resolution != nil {
			changed.Resolution = evidence.Resolution(*c.Resolution)
		}
		return &changed, nil
	})
}

// change keeps what a function makes of a source, and has what is not settled and
// looks at the source evaluated anew. event is how the audit names it.
func (s *Service) change(ctx context.Context, p access.Principal, name, event string, make func(store.Tx, *store.SourceState) (*store.SourceState, error)) (*store.SourceState, error) {
	var made *store.SourceState
	err := s.store.Do(ctx, p.Workspace(), func(tx store.Tx) error {
		tx.Turn(store.Together)
		if err := p.May(access.ManageConnections, tx.Now()); err != nil {
			return err
		}
		known, err := sourcesOf(tx, []string{name})
		if err != nil {
			return err
		}
		if made, err = make(tx, known[name]); err != nil {
			return err
		}
		if problems := check(made); len(problems) > 0 {
			return &InvalidError{Problems: problems}
		}
		tx.PutSource(*made)
		tx.Audit(audit.Entry(p.Actor(), tx.Now(), event, name, described(made)))
		tx.Wake(store.Wake{Kind: store.WakeSource, Source: name})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

func described(s *store.SourceState) audit.Metadata {
	return audit.Metadata{"title": s.Title, "trust": s.Trust.String(), "provides": strings.Join(s.Provides, " "), "resolution": s.Unit().String()}
}

// provided are fact types, each once and in one order.
func provided(types []string) []string {
	sorted := slices.Sorted(slices.Values(types))
	return slices.Compact(sorted)
}

// check says what is wrong with a source.
func check(s *store.SourceState) []Problem {
	var problems []Problem
	add := func(field, format string, args ...any) {
		problems = append(problems, Problem{Field: field, Message: fmt.Sprintf(format, args...)})
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	if s.Name == "" || len(s.Name) > maxSourceName || strings.Trim(s.Name, letters) != "" {
		add("name", "has 1 to %d letters, digits and _ . -", maxSourceName)
	}
	if len(s.Title) > maxTitle || strings.ContainsRune(s.Title, 0) {
		add("title", "has at most %d bytes, and no character U+0000", maxTitle)
	}
	if s.Trust < evidence.SelfReported || s.Trust > evidence.Independent {
		add("trust", "is self_reported, asserted, attested or independent")
	}
	if len(s.Provides) > maxProvides {
		add("provides", "has %d fact types, at most %d are taken", len(s.Provides), maxProvides)
	}
	for _, t := range s.Provides {
		if !isType(t) {
			add("provides", "%q is no fact type; write a family and a name with a dot between them", clip(t))
		}
	}
	if unit := time.Duration(s.Resolution); unit != 0 && (unit < time.Microsecond || unit > longestUnit) {
		add("resolution", "is 1us to 24h")
	}
	return problems
}

// isType says whether a text is a family and a name within it.
func isType(text string) bool {
	family, name, dotted := strings.Cut(text, ".")
	return dotted && family != "" && name != "" && len(text) <= maxName && !strings.ContainsRune(text, 0)
}

// clip keeps what stands in an error short.
func clip(text string) string {
	if len(text) > 80 {
		return strings.ToValidUTF8(text[:80], "") + "…"
	}
	return text
}

// Sources returns all sources, in the order of their names. Errors: an
// [access.ScopeError].
func (s *Service) Sources(ctx context.Context, p access.Principal) ([]store.SourceState, error) {
	return s.states(ctx, p)
}

// Source returns one. Errors: an [access.ScopeError], [store.ErrNotFound].
func (s *Service) Source(ctx context.Context, p access.Principal, name string) (*store.SourceState, error) {
	states, err := s.states(ctx, p, name)
	if err != nil {
		return nil, err
	}
	if len(states) == 0 {
		return nil, store.ErrNotFound
	}
	return &states[0], nil
}

// states asks for sources; an empty name is none.
func (s *Service) states(ctx context.Context, p access.Principal, names ...string) (states []store.SourceState, err error) {
	if err := p.Require(access.ConnectorsRead); err != nil {
		return nil, err
	}
	err = s.store.View(ctx, p.Workspace(), func(tx store.Tx) (err error) {
		states, err = tx.SourceStates(names...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return states, nil
}
