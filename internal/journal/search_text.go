package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// tailEntries is how many entries behind the end of the text index a search
// looks through one by one.
const tailEntries = 50_000

// words are what a text search asks the index for.
type words struct {
	match string // in the language of the index
	// literal is one of the words in small letters, to tell most entries
	// apart without a look at their words. Empty where no word is ASCII.
	literal []byte
}

// wordsOf makes words of what a person typed: all must be there, those with
// punctuation in them as a phrase, and one with a star at its end as a
// beginning.
func wordsOf(text string) (*words, error) {
	var w words
	var parts []string
	for _, piece := range strings.Fields(text) {
		if !strings.ContainsFunc(piece, isWordRune) {
			continue
		}
		part := `"` + strings.ReplaceAll(piece, `"`, `""`) + `"`
		if strings.HasSuffix(piece, "*") {
			part += " *"
		}
		parts = append(parts, part)
		if literal := longestWord(piece); len(literal) > len(w.literal) {
			w.literal = []byte(literal)
		}
	}
	if len(parts) == 0 {
		return nil, &SearchTextError{Text: text}
	}
	w.match = strings.Join(parts, " ")
	return &w, nil
}

// isWordRune says what the index takes for part of a word.
func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// longestWord is the longest word of a piece, or nothing where it is not ASCII.
func longestWord(piece string) string {
	longest := ""
	for word := range strings.FieldsFuncSeq(piece, func(r rune) bool { return !isWordRune(r) }) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	if strings.ContainsFunc(longest, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return ""
	}
	return strings.ToLower(longest)
}

// mayMatch says no where data certainly has not the words.
func (w *words) mayMatch(data []byte) bool {
	return len(w.literal) == 0 || bytes.Contains(bytes.ToLower(data), w.literal)
}

// byText looks through the newest entries, which the index does not know, and
// then goes back along the index.
func (s *search) byText() error {
	indexed, err := readMetaInteger(s.ctx, s.tx, metaSearched)
	if err != nil {
		return err
	}
	var size int64
	if err := s.tx.QueryRowContext(s.ctx, "SELECT size FROM head").Scan(&size); err != nil {
		return err
	}
	s.found.Unindexed = max(0, size-indexed)
	s.found.SearchedFrom = max(indexed, size-tailEntries)
	s.found.Unsearched = max(0, s.found.SearchedFrom-max(indexed, s.first))
	tail, err := s.searchTail(max(s.found.SearchedFrom, s.first), size)
	if err != nil {
		return err
	}
	if err := s.drain(pages(tail)); err != nil {
		return err
	}
	if s.session != rollup.EverySession {
		// Answers come behind the last request; nothing behind the last entry.
		if err := s.tx.QueryRowContext(s.ctx, "SELECT n FROM entries WHERE session = ? ORDER BY seq DESC LIMIT 1", s.session).Scan(&size); err != nil {
			return err
		}
		size++
	}
	return s.drain(func(below int64) ([]int64, error) {
		return s.entries("SELECT rowid FROM texts WHERE texts MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
			s.words.match, s.first, min(below, size), searchPage)
	})
}

// withWords keeps those calls of which a message has the words, by reading all
// that belongs to them.
func (s *search) withWords(list []picked) ([]picked, error) {
	numbers, err := json.Marshal(numbersOf(list))
	if err != nil {
		return nil, err
	}
	const from = " FROM json_each(?1) j CROSS JOIN entries q ON q.n = j.value "
	rows, err := s.tx.QueryContext(s.ctx, `
		SELECT q.n, d.n, d.data`+from+`JOIN details d ON d.n = q.n
		UNION ALL
		SELECT q.n, d.n, d.data`+from+`CROSS JOIN entries e ON e.session = q.session AND e.call = q.seq JOIN details d ON d.n = e.n`, string(numbers))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	calls := make(map[int64]int64) // of entries
	matches, err := s.matching(rows, func(n, call int64) { calls[n] = call })
	if err != nil {
		return nil, err
	}
	said := make(map[int64]bool)
	for _, n := range matches {
		said[calls[n]] = true
	}
	return slices.DeleteFunc(list, func(one picked) bool { return !said[one.n] }), nil
}

// matching returns which entries have the words, oldest first. Rows are a
// call, an entry of it and its detail.
func (s *search) matching(rows *sql.Rows, may func(n, call int64)) ([]int64, error) {
	small, err := newSmallIndex(s.ctx)
	if err != nil {
		return nil, err
	}
	defer small.close()
	for rows.Next() {
		var call, n int64
		var data sql.RawBytes
		if err := rows.Scan(&call, &n, &data); err != nil {
			return nil, err
		}
		if !mayHaveText(data) || !s.words.mayMatch(data) {
			continue
		}
		d, err := entry.OpenDetail(data)
		if err != nil {
			continue // verify tells of it
		}
		if err := small.add(n, textOf(d)); err != nil {
			return nil, err
		}
		may(n, call)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, err
	}
	return small.find(s.words.match)
}

// searchTail looks through entries one by one. What the words may be in is
// put into an index of its own, so that both find the same.
func (s *search) searchTail(from, end int64) ([]int64, error) {
	if from >= end {
		return nil, nil
	}
	rows, err := s.tx.QueryContext(s.ctx, "SELECT n, n, data FROM details WHERE n >= ? AND n < ?", from, end)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list, err := s.matching(rows, func(int64, int64) {})
	slices.Reverse(list)
	return list, err
}

// smallIndex is a text index in memory.
type smallIndex struct {
	ctx context.Context
	db  *sql.DB
	tx  *sql.Tx
}

func newSmallIndex(ctx context.Context) (*smallIndex, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	tx, err := db.BeginTx(ctx, nil)
	if err == nil {
		_, err = tx.ExecContext(ctx, textsTable)
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("make an index in memory: %w", err)
	}
	return &smallIndex{ctx, db, tx}, nil
}

func (i *smallIndex) add(n int64, text string) error {
	_, err := i.tx.ExecContext(i.ctx, "INSERT INTO texts (rowid, text) VALUES (?, ?)", n, text)
	return err
}

// find returns what matches, oldest first.
func (i *smallIndex) find(match string) ([]int64, error) {
	rows, err := i.tx.QueryContext(i.ctx, "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid", match)
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

func (i *smallIndex) close() {
	i.tx.Rollback() // nothing in there is kept
	i.db.Close()
}
