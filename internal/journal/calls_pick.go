package journal

import (
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/journal/rollup"
)

// troubled is a session with calls that did not go well.
type troubled struct{ session, first, last int64 }

// unsuccessful finds calls that failed or were never answered. Sessions are
// asked one by one, and only as many as can still add to the list.
func (q *question) unsuccessful(session int64, filter CallFilter) ([]picked, error) {
	if filter.Succeeded {
		return nil, nil
	}
	sessions, err := q.troubledSessions(session, filter)
	if err != nil {
		return nil, err
	}
	var list []picked
	for _, one := range sessions {
		if filter.Limit > 0 && len(list) == filter.Limit {
			end := list[len(list)-1].n
			if (filter.Order == Newest && one.last < end) || (filter.Order == Oldest && one.first > end) {
				break
			}
		}
		if list, err = q.unsuccessfulOf(list, one.session, filter); err != nil {
			return nil, err
		}
		list = sortPicked(list, filter)
	}
	return list, nil
}

// troubledSessions lists sessions in the order in which they can have the
// next call of a list.
func (q *question) troubledSessions(session int64, filter CallFilter) ([]troubled, error) {
	where, args := "calls > ok AND hour >= ? AND session > ?", []any{filter.Since / rollup.HourUS, rollup.EverySession}
	if session != rollup.EverySession {
		where += " AND session = ?"
		args = append(args, session)
	}
	rows, err := q.tx.QueryContext(q.ctx, "SELECT session, min(first), max(last) FROM rollups INDEXED BY rollups_in_trouble WHERE "+where+" GROUP BY session", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []troubled
	for rows.Next() {
		var one troubled
		if err := rows.Scan(&one.session, &one.first, &one.last); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b troubled) int {
		if filter.Order == Newest {
			return cmp.Compare(b.last, a.last)
		}
		return cmp.Compare(a.first, b.first)
	})
	return list, rows.Err()
}

// unsuccessfulOf adds those of one session to a list.
func (q *question) unsuccessfulOf(list []picked, session int64, filter CallFilter) ([]picked, error) {
	where, args := filter.conditions()
	args = append([]any{session}, args...)
	end := ""
	switch filter.Order {
	case Newest:
		end = " DESC"
	case Biggest, Slowest:
		filter.Limit = 0 // what is not sorted by place must be found whole
	}
	if filter.Limit > 0 {
		end += " LIMIT ?"
		args = append(args, filter.Limit)
	}
	facts, err := q.session(session)
	if err != nil {
		return nil, err
	}
	if filter.Unanswered || facts.ended {
		if list, err = q.find(list, "SELECT q.n, -1, -1 FROM unanswered u CROSS JOIN entries q ON q.n = u.n WHERE u.session = ? AND "+
			isCall+where+" ORDER BY u.n"+end, args...); err != nil {
			return nil, err
		}
	}
	if !filter.Failed {
		return list, nil
	}
	return q.find(list, pickedColumns+`entries a INDEXED BY failed_answers CROSS JOIN entries q ON q.session = a.session AND q.seq = a.call
		WHERE `+failedAnswers+` AND a.session = ? AND a.call IS NOT NULL
			AND a.n = (SELECT min(n) FROM entries WHERE session = q.session AND call = q.seq AND kind = 'response')
			AND `+isCall+where+" ORDER BY a.call"+end, args...)
}

// extremes finds the biggest or slowest calls by roll-ups, and the rows of
// the hour that a time cuts. It finds nil where roll-ups cannot tell, because
// calls without the value asked for would be on the list as well.
func (q *question) extremes(session int64, filter CallFilter) ([]picked, error) {
	var top rollup.Ranking
	pick := func(r *rollup.Rollup) {
		ok, bad := r.Biggest, r.BiggestBad
		if filter.Order == Slowest {
			ok, bad = r.Slowest, r.SlowestBad
		}
		top.Merge(ok)
		if !filter.Succeeded {
			top.Merge(bad)
		}
	}
	parts := rollupFilter{session: session, since: filter.Since, toolsOnly: filter.ToolsOnly}
	// A value that is equal to the last of the list can be of an older call.
	enough := func(value int64) bool { return len(top) >= filter.Limit && value < top[filter.Limit-1].Value }
	if err := q.eachRanking(parts, filter.Order, enough, pick); err != nil {
		return nil, err
	}
	edge, err := q.cutHour(parts)
	if err != nil {
		return nil, err
	}
	for _, r := range edge {
		pick(r)
	}
	if len(top) < filter.Limit {
		return nil, nil
	}
	var list []picked
	for _, one := range top[:filter.Limit] {
		list = append(list, picked{n: one.N})
	}
	return list, nil
}

// everyCall looks at all calls, to sort them by a value.
func (q *question) everyCall(session int64, filter CallFilter) ([]picked, error) {
	where, args := filter.conditions()
	from := "entries q NOT INDEXED"
	if session != rollup.EverySession {
		from, where, args = "entries q INDEXED BY entries_by_place", " AND q.session = ?"+where, append([]any{session}, args...)
	}
	if filter.Succeeded {
		where += " AND a.outcome = 'ok'"
	}
	list, err := q.find(nil, pickedColumns+from+answerJoin+" WHERE "+isCall+where, args...)
	if err != nil {
		return nil, err
	}
	return sortPicked(list, filter), nil
}
