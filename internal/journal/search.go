package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/deed-dev/deed/internal/journal/rollup"
)

// SearchFilter says which calls are looked for. Zero fields narrow nothing.
type SearchFilter struct {
	Tool    string // its whole name
	Text    string // words, all of which stand in one of arguments, result or error text
	Host    string // a host, with all below it, a mail address or a network address that the arguments named
	Session string // a whole id
	Since   int64  // µs since 1970
	Failed  bool   // only those that failed or, in an ended session, were never answered
	Limit   int    // 20 when it is 0
}

// Found are the newest calls that a search found. Text is looked up in an
// index that recorders bring on when they have nothing else to do, and where
// that ends in the entries themselves. Both have bounds, so that no search
// takes long; the answer says when it came to one.
type Found struct {
	Calls []Call // newest first
	More  bool   // there are older ones

	Unindexed    int64 // entries at the end of the log that the index does not know
	SearchedFrom int64 // from which of them on they were looked through one by one
	Unsearched   int64 // how many of them were not looked at at all: bring the index on with IndexTexts

	// StoppedAt is the entry at which the search gave up: too much matched a
	// part of the filter and not the rest. Nothing older was looked at; narrow
	// the filter. 0 where it went through.
	StoppedAt int64
}

// SearchTextError says that a text has no word to be looked for.
type SearchTextError struct{ Text string }

func (e *SearchTextError) Error() string {
	return fmt.Sprintf("there is no word in %q; search for letters or digits", e.Text)
}

const (
	searchPage  = 256
	searchLimit = 20

	// examinedMost is how many entries are looked at for one search.
	examinedMost = 50_000
	// fewCalls is when it is sooner to read the texts of all calls that match
	// the rest of a filter than to ask the index where the words are.
	fewCalls = 5_000
)

// Search finds the newest calls that match everything in a filter. A text
// without a word is a *SearchTextError.
func (r *Reader) Search(ctx context.Context, filter SearchFilter) (Found, error) {
	return r.search(ctx, filter, examinedMost)
}

func (r *Reader) search(ctx context.Context, filter SearchFilter, most int) (Found, error) {
	var words *words
	if filter.Text != "" {
		var err error
		if words, err = wordsOf(filter.Text); err != nil {
			return Found{}, err
		}
	}
	if filter.Limit <= 0 {
		filter.Limit = searchLimit
	}
	found, err := ask(ctx, r, func(q *question) (Found, error) {
		s := &search{question: q, filter: filter, words: words, most: most, seen: make(map[int64]bool)}
		return s.run()
	})
	if err != nil {
		return Found{}, databaseError(r.folder, "search", err)
	}
	return found, nil
}

// search is one search on its way.
type search struct {
	*question
	filter  SearchFilter
	words   *words // nil without a text
	session int64

	// Entries outside cannot belong to a call that is looked for.
	first, last int64

	// reads says that texts are read, because the source does not know them.
	reads          bool
	examined, most int

	seen  map[int64]bool
	calls []picked // newest first, at most one more than asked for
	found Found
}

// source lists entries that may belong to a call that is looked for: below
// one, newest first, some at a time.
type source func(below int64) ([]int64, error)

func (s *search) run() (Found, error) {
	var known bool
	var err error
	if s.session, known, err = s.sessionRow(s.filter.Session); err != nil || !known {
		return Found{}, err
	}
	narrow := CallFilter{Since: s.filter.Since, Failed: s.filter.Failed, Order: Newest, Limit: s.filter.Limit + 1}
	if s.first, s.last, err = s.bounds(s.session, narrow); err != nil || s.last < 0 {
		return Found{}, err
	}
	from, few, err := s.narrowest()
	switch {
	case err != nil:
		return Found{}, err
	case s.words != nil && !few:
		err = s.byText()
	case from != nil:
		s.reads = s.words != nil
		err = s.drain(from)
	case s.filter.Failed:
		s.calls, err = s.unsuccessful(s.session, narrow)
	default:
		return s.newest(narrow)
	}
	if err != nil {
		return Found{}, err
	}
	return s.load()
}

// narrowest is the source of the part of the filter that fewest calls match,
// without the text, and whether these are few. It is nil without such a part.
func (s *search) narrowest() (from source, few bool, err error) {
	type part struct {
		given bool
		count func() (int64, error)
		from  func() (source, error)
		// onlyFew says that the source must find all of them first.
		onlyFew bool
	}
	best := int64(math.MaxInt64)
	var chosen func() (source, error)
	for _, one := range []part{
		{s.filter.Host != "", s.countHost, s.hostSource, false},
		{s.filter.Tool != "", s.countTool, func() (source, error) { return s.toolSource, nil }, false},
		{s.filter.Failed, s.countFailed, s.failedSource, true},
	} {
		if !one.given {
			continue
		}
		count, err := one.count()
		if err != nil {
			return nil, false, err
		}
		if count < best && (count < fewCalls || !one.onlyFew) {
			best, chosen = count, one.from
		}
	}
	if chosen == nil || (s.words != nil && best >= fewCalls) {
		return nil, false, nil
	}
	from, err = chosen()
	return from, best < fewCalls, err
}

func (s *search) newest(narrow CallFilter) (Found, error) {
	calls, err := s.walk(s.session, narrow)
	s.found.Calls = calls[:min(len(calls), s.filter.Limit)]
	s.found.More = len(calls) > s.filter.Limit
	return s.found, err
}

func (s *search) load() (Found, error) {
	s.found.More = len(s.calls) > s.filter.Limit
	var err error
	s.found.Calls, err = s.question.load(numbersOf(s.calls[:min(len(s.calls), s.filter.Limit)]))
	return s.found, err
}

// drain takes from a source until what is still to come is older than all
// that was found.
func (s *search) drain(from source) error {
	below := int64(math.MaxInt64)
	for {
		page, err := from(below)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := s.take(page); err != nil {
			return err
		}
		below = page[len(page)-1]
		// A call's request is its oldest entry.
		if below <= s.first || (len(s.calls) > s.filter.Limit && s.calls[s.filter.Limit].n > below) {
			return nil
		}
		if s.examined += len(page); s.examined >= s.most {
			s.found.StoppedAt = below
			return nil
		}
	}
}

// take adds the calls that entries belong to, when they match.
func (s *search) take(entries []int64) error {
	list, err := json.Marshal(entries)
	if err != nil {
		return err
	}
	query := `SELECT q.n, -1, -1 FROM json_each(?) j CROSS JOIN entries e ON e.n = j.value
		CROSS JOIN entries q ON q.session = e.session AND q.seq = coalesce(e.call, e.seq)` + answerJoin + " WHERE " + isCall
	args := []any{string(list)}
	if s.session != rollup.EverySession {
		query += " AND q.session = ?"
		args = append(args, s.session)
	}
	if s.filter.Since > 0 {
		query += " AND q.at >= ?"
		args = append(args, s.filter.Since)
	}
	if s.filter.Tool != "" {
		query += " AND q.tool = ?"
		args = append(args, s.filter.Tool)
	}
	if s.filter.Failed {
		query += " AND (" + failedAnswers + " OR (a.n IS NULL AND EXISTS (SELECT 1 FROM entries WHERE kind = 'end' AND session = q.session)))"
	}
	if s.filter.Host != "" {
		from, end := placeRange(s.filter.Host)
		query += " AND EXISTS (SELECT 1 FROM destinations d NOT INDEXED WHERE d.n IN (e.n, q.n) AND d.place >= ? AND d.place < ?)"
		args = append(args, from, end)
	}
	all, err := s.find(nil, query, args...)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(one picked) bool {
		before := s.seen[one.n]
		s.seen[one.n] = true
		return before
	})
	if s.reads {
		if all, err = s.withWords(all); err != nil {
			return err
		}
	}
	s.calls = append(s.calls, all...)
	slices.SortFunc(s.calls, func(a, b picked) int { return cmp.Compare(b.n, a.n) })
	s.calls = s.calls[:min(len(s.calls), s.filter.Limit+1)]
	return nil
}

// entries reads entry numbers.
func (s *search) entries(query string, args ...any) ([]int64, error) {
	rows, err := s.tx.QueryContext(s.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, rows.Err()
}

func (s *search) toolSource(below int64) ([]int64, error) {
	return s.entries("SELECT n FROM entries INDEXED BY calls_by_tool WHERE kind = 'request' AND tool = ? AND n < ? ORDER BY n DESC LIMIT ?",
		s.filter.Tool, below, searchPage)
}

func (s *search) countTool() (count int64, err error) {
	err = s.tx.QueryRowContext(s.ctx, "SELECT coalesce(sum(calls), 0) FROM rollups WHERE session = ? AND tool = ? AND hour >= ?",
		s.session, s.filter.Tool, s.filter.Since/rollup.HourUS).Scan(&count)
	return count, err
}

// hostQuery finds destinations by the index.
const hostQuery = "SELECT n FROM destinations INDEXED BY destinations_by_place WHERE place >= ? AND place < ?"

// countHost counts no farther than it takes to know that there are many.
func (s *search) countHost() (count int64, err error) {
	from, end := placeRange(s.filter.Host)
	err = s.tx.QueryRowContext(s.ctx, "SELECT count(*) FROM ("+hostQuery+" LIMIT ?)", from, end, fewCalls).Scan(&count)
	return count, err
}

// hostSource sorts the few entries that name a rare destination. One that is
// common is found sooner by going back along the log.
func (s *search) hostSource() (source, error) {
	from, end := placeRange(s.filter.Host)
	count, err := s.countHost()
	if err != nil {
		return nil, err
	}
	if count < fewCalls {
		list, err := s.entries(hostQuery+" AND n >= ? ORDER BY n DESC", from, end, s.first)
		return pages(list), err
	}
	return func(below int64) ([]int64, error) {
		return s.entries("SELECT n FROM destinations NOT INDEXED WHERE n >= ? AND n < ? AND place >= ? AND place < ? ORDER BY n DESC LIMIT ?",
			s.first, below, from, end, searchPage)
	}, nil
}

func (s *search) countFailed() (count int64, err error) {
	err = s.tx.QueryRowContext(s.ctx, `SELECT coalesce(sum(calls - ok), 0) FROM rollups WHERE session = ? AND hour >= ?`,
		s.session, s.filter.Since/rollup.HourUS).Scan(&count)
	return count, err
}

func (s *search) failedSource() (source, error) {
	list, err := s.unsuccessful(s.session, CallFilter{Since: s.filter.Since, Failed: true, Order: Newest})
	return pages(numbersOf(list)), err
}

// pages is a source of what is known already, newest first.
func pages(list []int64) source {
	return func(int64) ([]int64, error) {
		page := list[:min(len(list), searchPage)]
		list = list[len(page):]
		return page, nil
	}
}
