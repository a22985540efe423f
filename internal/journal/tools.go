package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// ToolFilter narrows an inventory of tools. Zero fields narrow nothing.
type ToolFilter struct {
	Label   string // only of the server with this label
	Session string // a whole id: only what it was offered
	Since   int64  // µs since 1970: only what was offered since then

	Uncounted bool // Calls are not wanted; they take as long as all the rest
}

// Tool is a tool that servers of one label offered, with its newest
// definition. What it was before does not depend on a filter; Calls do.
type Tool struct {
	Label string // of the server's sessions
	Name  string
	Calls int64 // within the filter's session and time

	FirstSeen, LastSeen int64      // in a list of tools, µs since 1970
	SHA256              entry.Hash // of its newest definition
	Bytes               int64      // of that definition, on the wire
	Previous            entry.Hash // of the definition before; zero where it never changed
	ChangedAt           int64      // when it was first seen as it is, µs since 1970; 0 where it never changed

	Definition, PreviousDefinition []byte // canonical JSON; nil where only the hash is known
}

// Tools lists every tool that servers offered, by label and name.
func (r *Reader) Tools(ctx context.Context, filter ToolFilter) ([]Tool, error) {
	tools, err := ask(ctx, r, func(q *question) ([]Tool, error) { return q.tools(filter) })
	if err != nil {
		return nil, databaseError(r.folder, "list tools", err)
	}
	return tools, nil
}

// offered is a tool of one label.
type offered struct{ label, name string }

// inventory is what lists of tools say, one after the other.
type inventory struct {
	tools  map[offered]*Tool
	labels map[int64]string // of sessions
	// Most lists are like one before; those need not be read again.
	lists     map[entry.Hash][]entry.ToolRef
	inSession map[offered]bool // of the session that was asked for
}

func (q *question) tools(filter ToolFilter) ([]Tool, error) {
	session, known, err := q.sessionRow(filter.Session)
	if err != nil || !known {
		return nil, err
	}
	labels, err := q.labels()
	if err != nil {
		return nil, err
	}
	inv := inventory{labels: labels, tools: make(map[offered]*Tool), lists: make(map[entry.Hash][]entry.ToolRef), inSession: make(map[offered]bool)}
	if err := q.eachToolList(func(list toolList) error { return inv.add(q, list, session) }); err != nil {
		return nil, err
	}
	var calls map[offered]int64
	if !filter.Uncounted {
		if calls, err = q.callsOfTools(session, filter.Since, labels); err != nil {
			return nil, err
		}
	}
	var tools []Tool
	for key, tool := range inv.tools {
		switch {
		case filter.Label != "" && key.label != filter.Label,
			session != rollup.EverySession && !inv.inSession[key],
			tool.LastSeen < filter.Since:
			continue
		}
		tool.Calls = calls[key]
		if tool.Definition, err = q.definition(tool.SHA256); err != nil {
			return nil, err
		}
		if tool.PreviousDefinition, err = q.definition(tool.Previous); err != nil {
			return nil, err
		}
		tools = append(tools, *tool)
	}
	slices.SortFunc(tools, func(a, b Tool) int {
		return cmp.Or(strings.Compare(a.Label, b.Label), strings.Compare(a.Name, b.Name))
	})
	return tools, nil
}

// toolList is an entry of kind tools.
type toolList struct {
	n, session, at int64
	definitions    entry.Hash
}

func (q *question) eachToolList(yield func(toolList) error) error {
	rows, err := q.tx.QueryContext(q.ctx, "SELECT n, session, leaf FROM entries INDEXED BY entries_apart WHERE kind = 'tools' ORDER BY n")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var list toolList
		var leaf sql.RawBytes
		if err := rows.Scan(&list.n, &list.session, &leaf); err != nil {
			return err
		}
		l, err := entry.DecodeLeaf(leaf)
		if err != nil {
			return fmt.Errorf("entry %d: %w", list.n, err)
		}
		list.at, list.definitions = l.At, l.Definitions
		if err := yield(list); err != nil {
			return err
		}
	}
	return rows.Err()
}

// add is told of every list in the order of the log.
func (i *inventory) add(q *question, list toolList, session int64) error {
	refs, read := i.lists[list.definitions]
	if !read {
		var err error
		if refs, err = q.toolRefs(list.n); err != nil {
			return err
		}
		if refs == nil {
			return nil // erased
		}
		i.lists[list.definitions] = refs
	}
	label := i.labels[list.session]
	for _, ref := range refs {
		key := offered{label, ref.Name.String()}
		if list.session == session {
			i.inSession[key] = true
		}
		tool := i.tools[key]
		if tool == nil {
			tool = &Tool{Label: key.label, Name: key.name, FirstSeen: list.at, SHA256: ref.SHA256}
			i.tools[key] = tool
		}
		if tool.SHA256 != ref.SHA256 {
			tool.Previous, tool.SHA256, tool.ChangedAt = tool.SHA256, ref.SHA256, list.at
		}
		tool.LastSeen, tool.Bytes = list.at, ref.Bytes
	}
	return nil
}

// toolRefs reads the list of an entry, nil where it was erased.
func (q *question) toolRefs(n int64) ([]entry.ToolRef, error) {
	var data []byte
	err := q.tx.QueryRowContext(q.ctx, "SELECT data FROM details WHERE n = ?", n).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d, err := entry.OpenDetail(data)
	if err != nil {
		return nil, fmt.Errorf("entry %d: %w", n, err)
	}
	return d.Tools, nil
}

func (q *question) definition(hash entry.Hash) ([]byte, error) {
	var data []byte
	err := q.tx.QueryRowContext(q.ctx, "SELECT data FROM definitions WHERE sha256 = ?", hash[:]).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return data, err
}

// labels are those of all sessions: asked for one by one, thousands take long.
func (q *question) labels() (map[int64]string, error) {
	rows, err := q.tx.QueryContext(q.ctx, `SELECT b.session, d.data FROM entries b INDEXED BY entries_apart CROSS JOIN details d ON d.n = b.n WHERE b.kind = 'session'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	labels, read := make(map[int64]string), make(map[string]string)
	for rows.Next() {
		var session int64
		var data sql.RawBytes
		if err := rows.Scan(&session, &data); err != nil {
			return nil, err
		}
		label, known := read[string(data)] // most sessions say what one before has said
		if !known {
			d, err := entry.OpenDetail(data)
			if err != nil {
				return nil, fmt.Errorf("session %d: %w", session, err)
			}
			label = d.Label
			read[string(data)] = label
		}
		labels[session] = label
	}
	return labels, rows.Err()
}

// callsOfTools counts calls by the label of their session and their tool.
func (q *question) callsOfTools(session, since int64, labels map[int64]string) (map[offered]int64, error) {
	counts := make(map[offered]int64)
	add := func(session int64, tool string, calls int64) { counts[offered{labels[session], tool}] += calls }
	err := q.addToolCalls(session, since, labels, counts, add)
	if err != nil {
		return nil, err
	}
	edge, err := q.cutHour(rollupFilter{session: session, since: since, toolsOnly: true})
	if err != nil {
		return nil, err
	}
	for key, row := range edge {
		add(key.Session, key.Tool, row.Calls)
	}
	return counts, nil
}

// addToolCalls adds what roll-ups of whole hours say. Where most sessions have
// one label, theirs are all calls but those of the others: to be handed the
// roll-ups of thousands of sessions takes longer than anything else here.
func (q *question) addToolCalls(session, since int64, labels map[int64]string, counts map[offered]int64, add func(session int64, tool string, calls int64)) error {
	if session != rollup.EverySession {
		return q.eachToolCount(since, "session = ? GROUP BY tool", session, add)
	}
	label, others, err := q.commonLabel(labels)
	if err != nil {
		return err
	}
	if others == nil {
		return q.eachToolCount(since, "session > ? GROUP BY session, tool", int64(rollup.EverySession), add)
	}
	err = q.eachToolCount(since, "session IN (SELECT value FROM json_each(?)) GROUP BY session, tool", joinNumbers(others), func(session int64, tool string, calls int64) {
		add(session, tool, calls)
		counts[offered{label, tool}] -= calls
	})
	if err != nil {
		return err
	}
	return q.eachToolCount(since, "session = ? GROUP BY tool", int64(rollup.EverySession), func(_ int64, tool string, calls int64) {
		counts[offered{label, tool}] += calls
	})
}

// eachToolCount yields counts of calls to tools in whole hours since a time.
func (q *question) eachToolCount(since int64, where string, session any, yield func(session int64, tool string, calls int64)) error {
	rows, err := q.tx.QueryContext(q.ctx, `SELECT session, tool, sum(calls) FROM rollups INDEXED BY rollups_sums
		WHERE side = 'client' AND method = 'tools/call' AND hour >= ? AND `+where, (since+rollup.HourUS-1)/rollup.HourUS, session)
	if err != nil {
		return err
	}
	defer rows.Close()
	var tool sql.RawBytes
	names := make(interned)
	for rows.Next() {
		var session, calls int64
		if err := rows.Scan(&session, &tool, &calls); err != nil {
			return err
		}
		yield(session, names.of(tool), calls)
	}
	return rows.Err()
}

// commonLabel is the label that more than half of all sessions have, with the
// sessions that have another one or none. Without such a label those are nil.
func (q *question) commonLabel(labels map[int64]string) (label string, others []int64, err error) {
	count := make(map[string]int)
	for _, label := range labels {
		count[label]++
	}
	rows, err := q.tx.QueryContext(q.ctx, "SELECT id FROM sessions")
	if err != nil {
		return "", nil, err
	}
	defer rows.Close()
	var all []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return "", nil, err
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		return "", nil, err
	}
	for label, sessions := range count {
		if 2*sessions <= len(all) {
			continue
		}
		others = []int64{}
		for _, id := range all {
			if of, known := labels[id]; !known || of != label {
				others = append(others, id)
			}
		}
		return label, others, nil
	}
	return "", nil, nil
}
