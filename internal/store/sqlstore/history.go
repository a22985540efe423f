package sqlstore

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

var (
	sumsWithin = tenant("ask_sums_within", `
		SELECT k.n, s.bucket_at, s.shadow, s.currency, s.entries, s.amount, s.received_at
		FROM {keys text text bigint bigint bigint} {join limit_sums s: s.workspace_id = $1 AND s.limit_key = k.k1 AND s.grp = k.k2 AND s.width = k.k3 AND s.bucket_at >= k.k4 AND s.bucket_at < k.k5}`)
	entriesWithin = tenant("ask_entries_within", `
		SELECT k.n, e.shadow, e.currency, e.amount, e.received_at FROM {keys text text bigint bigint} {join limit_entries e: e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at >= k.k3 AND e.start_at < k.k4}`)
	// Those that are in no sum.
	openWithin = tenant("ask_open_within", `
		SELECT k.n, e.shadow, e.currency, e.amount, e.received_at FROM {keys text text bigint bigint}
		{left join limit_summed s: s.workspace_id = $1 AND s.limit_key = k.k1 AND s.grp = k.k2}
		{join limit_entries e: e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at >= {greatest s.until_at k.k3} AND e.start_at < k.k4}`)
	ownEntry = tenant("ask_own_entry", `
		SELECT k.n, e.shadow, e.currency, e.amount, e.received_at, e.start_at
		FROM {keys text text text} {join actions a: a.workspace_id = $1 AND a.action_id = k.k3}
		{join limit_entries e: e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at = a.start_at AND e.ref = a.ref}`)
	// Those that begin with the last one that is asked for may be more than that. Where
	// they end is a query of its own: PostgreSQL does not bound an index by COALESCE.
	laterActions = tenant("ask_later", `
		SELECT k.n, e.start_at, a.action_id, CASE WHEN a.action_id LIKE 'sha256:%' THEN a.form ELSE '' END
		FROM {keys text text bigint bigint}
		{join limit_entries e: e.workspace_id = $1 AND e.limit_key = k.k1 AND e.grp = k.k2 AND e.start_at >= k.k3 AND e.start_at < k.k4
			AND e.start_at <= (SELECT COALESCE((SELECT x.start_at FROM limit_entries x
				WHERE x.workspace_id = $1 AND x.limit_key = k.k1 AND x.grp = k.k2 AND x.start_at >= k.k3
				ORDER BY x.start_at, x.ref LIMIT 1 OFFSET $2), k.k4))}
		{join actions a: a.workspace_id = $1 AND a.ref = e.ref}
		ORDER BY k.n, e.start_at, e.ref`)
)

// histories answers questions about rolling limits.
type histories struct {
	unit  *unit
	asked []*windowed

	sums, open, entries, own *query
	sumOf, openOf, entryOf   []*part // by the n of a key
	parts                    map[partKey]*part
	rows                     map[crowd]int
}

// windowed is one question and what it came to so far.
type windowed struct {
	question *docket.Question
	totals   map[money.Currency]*sum
	// past says that something in the window was received after the question's time,
	// so that sums cannot be used.
	past bool
}

// part is a stretch of one limit's group and the windows that it is a part of: what
// was declared together mostly asks for the same.
type part struct {
	of   []*windowed
	name sumKey
	to   int64
}

type partKey struct {
	name sumKey
	stretch
}

// notSummed is the width of the stretch of a window for which there may be sums, when
// what is in none of them is asked for.
const notSummed = -1

func newHistories(u *unit) *histories {
	h := &histories{
		unit: u, sums: &query{statement: sumsWithin}, open: &query{statement: openWithin}, entries: &query{statement: entriesWithin}, own: &query{statement: ownEntry},
		parts: map[partKey]*part{}, rows: map[crowd]int{},
	}
	h.sums.row, h.entries.row, h.own.row = h.sumRow, func(r Row) error { return h.single(h.entryOf[r.Int()], r) }, h.ownRow
	h.open.row = h.openRow
	return h
}

// ask puts a question among those that are asked together.
func (h *histories) ask(q *docket.Question) {
	w := &windowed{question: q, totals: map[money.Currency]*sum{}}
	h.asked = append(h.asked, w)
	name := sumKey{limit: docket.LimitKey(q.History.Contract, q.History.Limit), group: key(q.History.Group)}
	summed := stretch{width: notSummed}
	for _, s := range stretches(q.History.From, q.History.To) {
		h.stretch(w, name, s)
		if s.width != 0 {
			if summed.from == summed.to {
				summed.from = s.from
			}
			summed.to = s.to
		}
	}
	if summed.from < summed.to {
		h.stretch(w, name, summed)
	}
	h.own.keys = append(h.own.keys, []any{name.limit, name.group, key(q.History.Except)})
}

func (h *histories) stretch(w *windowed, name sumKey, s stretch) {
	k := partKey{name: name, stretch: s}
	if known := h.parts[k]; known != nil {
		known.of = append(known.of, w)
		return
	}
	name.width = s.width
	p := &part{of: []*windowed{w}, name: name, to: s.to}
	h.parts[k] = p
	switch s.width {
	case 0:
		h.entries.keys = append(h.entries.keys, []any{name.limit, name.group, s.from, s.to})
		h.entryOf = append(h.entryOf, p)
	case notSummed:
		h.open.keys = append(h.open.keys, []any{name.limit, name.group, s.from, s.to})
		h.openOf = append(h.openOf, p)
	default:
		h.sums.keys = append(h.sums.keys, []any{name.limit, name.group, s.width, s.from, s.to})
		h.sumOf = append(h.sumOf, p)
	}
}

func (h *histories) queries() []*query { return []*query{h.sums, h.open, h.entries, h.own} }

func (h *histories) sumRow(r Row) error {
	p := h.sumOf[r.Int()]
	name := p.name
	name.bucket = r.Int()
	shadow, currency, entries := r.Bool(), r.Text(), r.Int()
	amount, err := number(r.Text())
	received := value.Instant(r.Int())
	h.rows[crowd{workspace: h.unit.workspace, sum: name}]++
	for _, w := range p.of {
		w.past = w.past || received > w.question.History.At
		w.add(shadow, currency, entries, amount)
	}
	return err
}

func (h *histories) openRow(r Row) error {
	p := h.openOf[r.Int()]
	h.rows[crowd{workspace: h.unit.workspace, sum: sumKey{limit: p.name.limit, group: p.name.group}, until: p.to}]++
	return h.single(p, r)
}

// single reads an entry that counts by itself.
func (h *histories) single(p *part, r Row) error {
	shadow, currency := r.Bool(), r.Text()
	amount, err := number(r.Text())
	received := value.Instant(r.Int())
	for _, w := range p.of {
		if received <= w.question.History.At {
			w.add(shadow, currency, 1, amount)
		}
	}
	return err
}

func (h *histories) ownRow(r Row) error {
	w := h.asked[r.Int()]
	shadow, currency := r.Bool(), r.Text()
	amount, err := number(r.Text())
	received, start := value.Instant(r.Int()), value.Instant(r.Int())
	if q := w.question.History; start > q.From && start <= q.To && received <= q.At {
		w.add(shadow, currency, -1, amount.Neg())
	}
	return err
}

// number reads an amount; none is nothing.
func number(text string) (money.Decimal, error) {
	if text == "" {
		return money.Decimal{}, nil
	}
	return money.ParseDecimal(text)
}

// add adds entries, or takes one away. Those of contracts that are tried out count
// only for such contracts.
func (w *windowed) add(shadow bool, currency string, entries int64, amount money.Decimal) {
	if shadow && w.question.History.Mode != verdict.Shadow {
		return
	}
	c := money.Currency(currency)
	if w.totals[c] == nil {
		w.totals[c] = &sum{}
	}
	w.totals[c].add(entries, amount, 0)
}

// finish gives the answers. Questions about the past are asked again entry by
// entry, because a sum does not tell what was received when.
func (h *histories) finish() error {
	again := newHistories(h.unit)
	for _, w := range h.asked {
		if !w.past {
			continue
		}
		q := w.question.History
		w.totals = map[money.Currency]*sum{}
		name := sumKey{limit: docket.LimitKey(q.Contract, q.Limit), group: key(q.Group)}
		again.stretch(w, name, stretch{from: int64(q.From) + 1, to: int64(q.To) + 1})
		again.own.keys = append(again.own.keys, []any{name.limit, name.group, key(q.Except)})
		again.asked = append(again.asked, w)
	}
	if len(again.asked) > 0 {
		if err := h.unit.ask(again.entries, again.own); err != nil {
			return err
		}
	}
	for _, w := range h.asked {
		w.question.Sum = w.history()
	}
	for c, n := range h.rows {
		if n > maxRows {
			h.unit.crowded = append(h.unit.crowded, c)
		}
	}
	return nil
}

// history is the answer.
func (w *windowed) history() verdict.History {
	q := w.question.History
	h := verdict.History{Limit: q.Limit.ID, From: q.From, To: q.To, CompleteTo: q.At}
	for currency, s := range w.totals {
		h.Count += int(s.entries)
		switch {
		case s.entries == 0 || q.Limit.Rolling.Total == nil:
		case currency == "":
			h.Unvalued += int(s.entries)
		default:
			total := s.amount
			if short, err := money.ParseDecimal(plain(total)); err == nil {
				total = short
			}
			h.Totals = append(h.Totals, money.Amount{Value: total, Currency: currency})
		}
	}
	slices.SortFunc(h.Totals, func(a, b money.Amount) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return h
}
