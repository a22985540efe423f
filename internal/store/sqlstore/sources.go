package sqlstore

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

const sourceColumns = `s.name, s.trust, s.provides, s.resolution, s.title, s.created_at, s.created_by`

var (
	allSources = tenant("all_sources", `
		SELECT `+sourceColumns+` FROM sources s WHERE s.workspace_id = $1`)
	namedSources = tenant("named_sources", `
		SELECT `+sourceColumns+` FROM sources s WHERE s.workspace_id = $1 AND s.name {in $2 text}`)
	allWatermarks = tenant("all_watermarks", `
		SELECT source, fact_type, reached_at FROM watermarks WHERE workspace_id = $1`)
	namedWatermarks = tenant("named_watermarks", `
		SELECT source, fact_type, reached_at FROM watermarks WHERE workspace_id = $1 AND source {in $2 text}`)
	allTallies = tenant("all_tallies", `
		SELECT source, number, last_at FROM source_tallies WHERE workspace_id = $1`)
	namedTallies = tenant("named_tallies", `
		SELECT source, number, last_at FROM source_tallies WHERE workspace_id = $1 AND source {in $2 text}`)

	putSource = tenant("put_source", `
		INSERT INTO sources (workspace_id, name, trust, provides, resolution, title, created_at, created_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (workspace_id, name) DO UPDATE SET trust = excluded.trust, provides = excluded.provides,
			resolution = excluded.resolution, title = excluded.title`)
	putWatermark = tenant("put_watermark", `
		INSERT INTO watermarks (workspace_id, source, fact_type, reached_at, stated_by) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (workspace_id, source, fact_type) DO UPDATE SET reached_at = excluded.reached_at, stated_by = excluded.stated_by`)
	addTally = tenant("add_tally", `
		INSERT INTO source_tallies (workspace_id, source, number, last_at) {rows text bigint bigint}`)
	takeTallies = tenant("take_tallies", `
		DELETE FROM source_tallies WHERE workspace_id = $1 AND source IN (SELECT k.k1 FROM {keys text})
		RETURNING source, number, last_at`)
)

// tally is how many facts of a source there are.
type tally struct {
	facts int64
	last  value.Instant
	rows  int
}

func (t *tally) add(facts int64, last value.Instant) {
	t.facts += facts
	t.last = max(t.last, last)
	t.rows++
}

func (l *late) tally(source string) *tally {
	if l.tallies == nil {
		l.tallies = map[string]*tally{}
	}
	if l.tallies[source] == nil {
		l.tallies[source] = &tally{}
	}
	return l.tallies[source]
}

func (l *late) writeTallies(u *unit) {
	for _, source := range slices.Sorted(maps.Keys(l.tallies)) {
		t := l.tallies[source]
		u.queueRows(addTally, []any{source, t.facts, t.last})
	}
	l.tallies = nil
}

// SourceStates implements [store.Evidence].
func (u *unit) SourceStates(names ...string) ([]store.SourceState, error) {
	found := map[string]*store.SourceState{}
	tallies := map[string]*tally{}
	sources := &query{statement: allSources, row: func(r Row) error {
		s, err := sourceRow(r)
		found[s.Name] = s
		return err
	}}
	watermarks := &query{statement: allWatermarks, row: func(r Row) error {
		source, factType, at := r.Text(), r.Text(), value.Instant(r.Int())
		if s := found[source]; s != nil {
			s.Watermarks[factType] = at
		}
		return nil
	}}
	counts := &query{statement: allTallies, row: func(r Row) error {
		source := r.Text()
		if tallies[source] == nil {
			tallies[source] = &tally{}
		}
		tallies[source].add(r.Int(), value.Instant(r.Int()))
		return nil
	}}
	if len(names) > 0 {
		sources.statement, watermarks.statement, counts.statement = namedSources, namedWatermarks, namedTallies
		sources.args, watermarks.args, counts.args = []any{names}, []any{names}, []any{names}
	}
	if err := u.ask(sources, watermarks, counts); err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	var states []store.SourceState
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s := found[name]
		if t := tallies[name]; t != nil {
			s.Facts, s.LastFactAt = t.facts, t.last
			if t.rows > maxRows {
				u.crowded = append(u.crowded, crowd{workspace: u.workspace, source: name})
			}
		}
		states = append(states, *s)
	}
	return states, nil
}

// sourceRow reads sourceColumns; the watermarks are empty.
func sourceRow(r Row) (*store.SourceState, error) {
	s := &store.SourceState{}
	s.Name = r.Text()
	var err error
	if s.Trust, err = evidence.ParseTrust(r.Text()); err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(r.Text()), &s.Provides); err != nil {
		return s, fmt.Errorf("read what the source %s provides: %w", s.Name, err)
	}
	s.Resolution = evidence.Resolution(time.Duration(r.Int()))
	s.Title, s.CreatedAt, s.CreatedBy = r.Text(), value.Instant(r.Int()), access.Actor(r.Text())
	s.Watermarks = map[string]value.Instant{}
	return s, nil
}

// PutSource implements [store.Evidence].
func (u *unit) PutSource(s store.SourceState) {
	provides, err := json.Marshal(s.Provides, json.FormatNilSliceAsNull(true))
	if err != nil {
		u.fail(fmt.Errorf("write what the source %s provides: %w", s.Name, err))
		return
	}
	u.queue(putSource, s.Name, s.Trust.String(), string(provides), int64(s.Resolution), s.Title, s.CreatedAt, s.CreatedBy)
}

// PutWatermark implements [store.Evidence].
func (u *unit) PutWatermark(source, factType string, at value.Instant, by access.Actor) {
	u.queue(putWatermark, source, factType, at, by)
}
