package sqlstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// A group of a rolling limit that has few entries is read entry by entry. Where there are
// many, those before some time are added up over spans of 2^20, 2^23, 2^27, 2^31 and 2^35
// microseconds: 1 and 8 seconds, 2 and 36 minutes, 9.5 hours. A window is then a few long
// spans, up to 15 of each shorter kind at each end, single entries in the second at each
// end, and those that are not added up yet: at most some 180 sums for a month, however many
// entries there are. Whoever declares adds the entry alone, but for one that comes too
// late, which is added to the sums of its group. With spans that are further apart that
// would cost fewer, and a window that ends now would read more.
var spans = [...]int64{1 << 35, 1 << 31, 1 << 27, 1 << 23, 1 << 20} // the longest first

var (
	addLimitEntry = tenant("add_limit_entry", `
		INSERT INTO limit_entries (workspace_id, limit_key, grp, start_at, ref, received_at, shadow, currency, amount)
		{rows text text bigint text bigint bool text text}`)
	limitEntryOf = tenant("limit_entry_of", `
		SELECT 1 FROM limit_entries WHERE workspace_id = $1 AND limit_key = $2 AND grp = $3 AND start_at = $4 AND ref = $5`)
	// An entry from before the time up to which its group is added up. To cut off the
	// lower bits is to round down to a span.
	addLateEntry = tenant("add_late_entry", `
		INSERT INTO limit_sums (workspace_id, limit_key, grp, width, bucket_at, shadow, currency, entries, amount, received_at)
		SELECT $1, k.k1, k.k2, widths.width, k.k3 & -widths.width, k.k4, k.k5, 1, k.k6, k.k7
		FROM {keys text text bigint bool text text bigint}
		{join limit_summed s: s.workspace_id = $1 AND s.limit_key = k.k1 AND s.grp = k.k2 AND s.until_at > k.k3}
		CROSS JOIN (`+widths()+`) AS widths`)
	addLimitSum = tenant("add_limit_sum", `
		INSERT INTO limit_sums (workspace_id, limit_key, grp, width, bucket_at, shadow, currency, entries, amount, received_at)
		{rows text text bigint bigint bool text bigint text bigint}`)
	takeLimitSums = tenant("take_limit_sums", `
		DELETE FROM limit_sums WHERE workspace_id = $1
		AND (limit_key, grp, width, bucket_at) IN (SELECT k.k1, k.k2, k.k3, k.k4 FROM {keys text text bigint bigint})
		RETURNING limit_key, grp, width, bucket_at, shadow, currency, entries, amount, received_at`)
)

// sumKey is what is added up together.
type sumKey struct {
	limit, group  string
	width, bucket int64
	shadow        bool
	currency      string
}

// sum is what entries come to.
type sum struct {
	entries  int64
	amount   money.Decimal
	received value.Instant // the latest
}

func (s *sum) add(entries int64, amount money.Decimal, received value.Instant) {
	s.entries += entries
	s.amount = s.amount.Add(amount)
	s.received = max(s.received, received)
}

// addLimits adds entries. Since when there are sums of their groups must not change
// meanwhile, nor be another than this unit sees.
func (u *unit) addLimits(ref store.Ref, received value.Instant, entries []store.LimitEntry) {
	if len(entries) > 0 && u.turn != store.Alone {
		u.fail(fmt.Errorf("the action %s is added to a limit by a unit that is not alone", ref))
		return
	}
	for _, e := range entries {
		if _, err := number(e.Amount); err != nil {
			u.fail(fmt.Errorf("add the action %s to a limit: %w", ref, err))
			return
		}
		group := key(e.Group)
		u.queueRows(addLimitEntry, []any{e.Key, group, e.Start, ref, received, e.Shadow, e.Currency, e.Amount})
		u.queueRows(addLateEntry, []any{e.Key, group, e.Start, e.Shadow, e.Currency, cmp.Or(e.Amount, "0"), received})
	}
}

// widths are the rows of the spans' widths.
func widths() string {
	rows := make([]string, len(spans))
	for i, width := range spans {
		rows[i] = fmt.Sprintf("SELECT %d AS width", width)
	}
	return strings.Join(rows, " UNION ALL ")
}

func (l *late) sum(k sumKey) *sum {
	if l.sums == nil {
		l.sums = map[sumKey]*sum{}
	}
	if l.sums[k] == nil {
		l.sums[k] = &sum{}
	}
	return l.sums[k]
}

// writeSums queues the sums, one row for each span however many entries it got.
func (l *late) writeSums(u *unit) {
	for _, k := range slices.SortedFunc(maps.Keys(l.sums), compareSums) {
		s := l.sums[k]
		u.queueRows(addLimitSum, []any{k.limit, k.group, k.width, k.bucket, k.shadow, k.currency, s.entries, plain(s.amount), s.received})
	}
	l.sums = nil
}

func compareSums(a, b sumKey) int {
	return cmp.Or(cmp.Compare(a.limit, b.limit), cmp.Compare(a.group, b.group), cmp.Compare(a.width, b.width),
		cmp.Compare(a.bucket, b.bucket), cmp.Compare(a.currency, b.currency))
}

// readSum reads what takeLimitSums returns.
func readSum(r Row) (sumKey, sum, error) {
	k := sumKey{limit: r.Text(), group: r.Text(), width: r.Int(), bucket: r.Int(), shadow: r.Bool(), currency: r.Text()}
	s := sum{entries: r.Int()}
	var err error
	s.amount, err = money.ParseDecimal(r.Text())
	s.received = value.Instant(r.Int())
	return k, s, err
}

// stretch is a part of a window: entries that are added up over width, or single
// ones if it is 0. It is [from, to).
type stretch struct{ width, from, to int64 }

// stretches cut the window (from, to] into as few parts as there are sums for.
func stretches(from, to value.Instant) []stretch {
	return cut(nil, spans[:], int64(from)+1, int64(to)+1)
}

func cut(parts []stretch, widths []int64, from, to int64) []stretch {
	if from >= to {
		return parts
	}
	if len(widths) == 0 {
		return append(parts, stretch{from: from, to: to})
	}
	width := widths[0]
	first, last := (from+width-1)&^(width-1), to&^(width-1)
	if first >= last {
		return cut(parts, widths[1:], from, to)
	}
	parts = cut(parts, widths[1:], from, first)
	parts = append(parts, stretch{width: width, from: first, to: last})
	return cut(parts, widths[1:], last, to)
}
