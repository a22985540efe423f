package journal

import (
	"cmp"
	"context"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// intents counts what became of actions, by index alone.
func (q *question) intents(session, since int64) (IntentTotals, error) {
	var t IntentTotals
	where, args := apartSince(session, since)
	rows, err := q.tx.QueryContext(q.ctx, "SELECT coalesce(outcome, ''), count(*) FROM entries INDEXED BY intents WHERE kind = 'intent'"+where+" GROUP BY outcome", args...)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var reason string
		var count int64
		if err := rows.Scan(&reason, &count); err != nil {
			return t, err
		}
		switch reason {
		case entry.IntentDeclaring, entry.IntentRequired:
			t.Begun += count
		case entry.IntentUndeclarable:
			t.Undeclarable += count
		case entry.IntentDeclared:
			t.Declared += count
		case entry.IntentFailed, entry.IntentUndeliverable:
			t.Failed += count
		case entry.IntentRefused:
			t.Refused += count
		}
	}
	if err := rows.Err(); err != nil {
		return t, err
	}
	where, args = "e.at >= ?", []any{since}
	if session != rollup.EverySession {
		where += " AND e.session = ?"
		args = append(args, session)
	}
	err = q.tx.QueryRowContext(q.ctx, `
		SELECT coalesce(sum(o.state = 'waiting'), 0), coalesce(sum(o.state = 'undeliverable'), 0)
		FROM outbox o JOIN entries e ON e.n = o.n WHERE `+where, args...).Scan(&t.Waiting, &t.Undeliverable)
	return t, err
}

// undeclaredRead bounds how many are looked at to say why: those that came last.
const undeclaredRead = 5_000

// Undeclared groups the mapped calls that could not be declared by tool and
// reason, the most frequent first; of one session, or of everything since a
// time (session empty).
func (r *Reader) Undeclared(ctx context.Context, session string, since int64) ([]Undeclared, error) {
	list, err := ask(ctx, r, func(q *question) ([]Undeclared, error) { return q.undeclared(session, since) })
	if err != nil {
		return nil, databaseError(r.folder, "list calls that could not be declared", err)
	}
	return list, nil
}

func (q *question) undeclared(uid string, since int64) ([]Undeclared, error) {
	session, known, err := q.sessionRow(uid)
	if err != nil || !known {
		return nil, err
	}
	where, args := apartSince(session, since)
	args = append(args, undeclaredRead)
	rows, err := q.tx.QueryContext(q.ctx, `
		SELECT e.leaf, d.data FROM entries e INDEXED BY intents LEFT JOIN details d ON d.n = e.n
		WHERE e.kind = 'intent' AND e.outcome = '`+entry.IntentUndeclarable+`'`+where+` ORDER BY e.n DESC LIMIT ?`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	type key struct {
		tool, why, path string
		refused         bool
	}
	groups := make(map[key]*Undeclared)
	for rows.Next() {
		var leaf, data []byte
		if err := rows.Scan(&leaf, &data); err != nil {
			return nil, err
		}
		l, err := entry.DecodeLeaf(leaf)
		if err != nil {
			return nil, err
		}
		one := key{refused: slices.Contains(l.Flags, "refused")}
		if data != nil {
			d, err := entry.OpenDetail(data)
			if err != nil {
				return nil, err
			}
			one.tool = d.Tool.String()
			if d.Declaration != nil {
				one.why, one.path = d.Declaration.Why, d.Declaration.Path
			}
		}
		if groups[one] == nil {
			groups[one] = &Undeclared{Tool: one.tool, Why: one.why, Path: one.path, Refused: one.refused, Last: l.Call, Session: l.Session}
		}
		groups[one].Count++
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	list := make([]Undeclared, 0, len(groups))
	for _, one := range groups {
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b Undeclared) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Why, b.Why), cmp.Compare(a.Path, b.Path))
	})
	return list, nil
}
