package sqlstore

import (
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var (
	summedUntil = tenant("summed_until", `
		SELECT k.n, s.until_at FROM {keys text text} {join limit_summed s: s.workspace_id = $1 AND s.limit_key = k.k1 AND s.grp = k.k2}`)
	startOfNth = tenant("start_of_nth_entry", `
		SELECT k.n, COALESCE((SELECT e.start_at FROM limit_entries e
			WHERE e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at >= k.k3 AND e.start_at < k.k4
			ORDER BY e.start_at, e.ref LIMIT 1 OFFSET $2), k.k4)
		FROM {keys text text bigint bigint}`)
	entriesToSum = tenant("entries_to_sum", `
		SELECT k.n, e.start_at, e.shadow, e.currency, e.amount, e.received_at FROM {keys text text bigint bigint}
		{join limit_entries e: e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at >= k.k3 AND e.start_at < k.k4}`)
	putSummed = tenant("put_summed", `
		INSERT INTO limit_summed (workspace_id, limit_key, grp, until_at) {rows text text bigint}
		ON CONFLICT (workspace_id, limit_key, grp) DO UPDATE SET until_at = excluded.until_at`)
)

// summing is a limit's group whose entries of [from, until) are added up.
type summing struct {
	limit, group string
	from, until  int64
}

func (s *summing) key() []any { return []any{s.limit, s.group, s.from, s.until} }

// sumUp adds up what groups of limits have before a time and is in no sum yet, or a part
// of it, and returns those that have more. From then on whoever declares something that
// begins earlier adds it to the sums: so nobody may declare meanwhile.
func (u *unit) sumUp(crowds []crowd) (more []crowd, err error) {
	u.Turn(store.Alone)
	groups := make([]summing, len(crowds))
	ask := &query{statement: summedUntil, row: func(r Row) error {
		n := r.Int()
		groups[n].from = r.Int()
		return nil
	}}
	for i, c := range crowds {
		groups[i] = summing{limit: c.sum.limit, group: c.sum.group, until: c.until}
		ask.keys = append(ask.keys, []any{c.sum.limit, c.sum.group})
	}
	if err := u.ask(ask); err != nil {
		return nil, err
	}
	shortest := spans[len(spans)-1]
	ask = &query{statement: startOfNth, args: []any{sumAtOnce}, row: func(r Row) error {
		of, start := &groups[r.Int()], r.Int()
		of.until = min(of.until, start&^(shortest-1)+shortest)
		return nil
	}}
	for i := range groups {
		ask.keys = append(ask.keys, groups[i].key())
	}
	if err := u.ask(ask); err != nil {
		return nil, err
	}
	var open []*summing
	ask = &query{statement: entriesToSum, row: func(r Row) error { return u.addUp(open[r.Int()], r) }}
	for i := range groups {
		if g := &groups[i]; g.from < g.until {
			ask.keys, open = append(ask.keys, g.key()), append(open, g)
			u.queueRows(putSummed, []any{g.limit, g.group, g.until})
			if g.until < crowds[i].until {
				more = append(more, crowds[i])
			}
		}
	}
	if err := u.ask(ask); err != nil {
		return nil, err
	}
	return more, u.takeBeside()
}

// takeBeside takes out the rows that say a part of what this unit has added up, and adds
// them: else each time would leave one more row of every span, for all to read.
func (u *unit) takeBeside() error {
	added := u.late.sums
	u.late.sums = nil // not to be written before the others are taken
	seen := map[sumKey]bool{}
	var beside []crowd
	for k := range added {
		k.shadow, k.currency = false, "" // all of a span are taken together
		if !seen[k] {
			seen[k] = true
			beside = append(beside, crowd{sum: k})
		}
	}
	if err := u.relieve(beside); err != nil {
		return err
	}
	for k, s := range added {
		u.late.sum(k).add(s.entries, s.amount, s.received)
	}
	return nil
}

// addUp adds an entry to the sums of all spans that it lies in.
func (u *unit) addUp(g *summing, r Row) error {
	start, shadow, currency := r.Int(), r.Bool(), r.Text()
	amount, err := number(r.Text())
	received := value.Instant(r.Int())
	for _, width := range spans {
		u.late.sum(sumKey{
			limit: g.limit, group: g.group, width: width, bucket: start &^ (width - 1), shadow: shadow, currency: currency,
		}).add(1, amount, received)
	}
	return err
}
