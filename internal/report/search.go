package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/terminal"
)

// Index finds calls by what is in them. [journal.Reader] is one.
type Index interface {
	journal.History
	// Search finds the newest calls that match, and says how far it looked.
	Search(ctx context.Context, f journal.SearchFilter) (journal.Found, error)
}

// SearchQuery says which calls [SearchCalls] looks for. Zero fields narrow
// nothing.
type SearchQuery struct {
	Scope
	Text   string // in arguments, results and error texts, as far as they were kept
	Tool   string // its whole name
	Host   string // a host, mail address or network address that data was going to
	Errors bool
	Limit  int
}

// Search is the calls that were found, newest first.
type Search struct {
	query SearchQuery
	scope scoped
	hits  []hit
	found journal.Found
	gaps  []journal.Gap
}

// hit is a call with the place in it that matched.
type hit struct {
	listedCall
	where string // arguments, result, error text or destination; empty where only its name or time matched
	text  string // in which it was found
	at    int    // of the match in text, in bytes
	size  int    // of the match
}

// SearchCalls finds calls. Errors: [ErrNothingRecorded], [NoSessionError],
// [AmbiguousError].
func SearchCalls(ctx context.Context, index Index, clock terminal.Clock, query SearchQuery) (*Search, error) {
	within, err := query.resolve(ctx, index, clock)
	if err != nil {
		return nil, err
	}
	s := &Search{query: query, scope: within}
	if s.found, err = index.Search(ctx, journal.SearchFilter{
		Text: query.Text, Tool: query.Tool, Host: query.Host, Session: within.id, Since: within.since, Failed: query.Errors, Limit: query.Limit,
	}); err != nil {
		return nil, fmt.Errorf("search the journal: %w", err)
	}
	ids := newShortener(index)
	for _, call := range s.found.Calls {
		found, err := s.place(ctx, index, ids, call)
		if err != nil {
			return nil, err
		}
		s.hits = append(s.hits, found)
	}
	s.gaps, err = within.gaps(ctx, index)
	return s, err
}

// Unsearched is how many entries a search for text did not reach.
func (s *Search) Unsearched() int64 { return s.found.Unsearched }

// Any says whether a call was found.
func (s *Search) Any() bool { return len(s.hits) > 0 }

// place finds out where in a call the match is.
func (s *Search) place(ctx context.Context, history journal.History, ids *shortener, call journal.Call) (hit, error) {
	h := hit{listedCall: listedCall{Call: call}}
	var err error
	if h.id, err = ids.callID(ctx, call); err != nil {
		return h, err
	}
	records, err := history.Call(ctx, call.Session, call.Seq)
	if err != nil {
		return h, fmt.Errorf("read call %s: %w", h.id, err)
	}
	var parts []searchedPart
	for _, record := range records {
		if record.Detail == nil {
			continue
		}
		if record.Entry.Kind == entry.KindResponse {
			h.why = errorTextOf(record.Detail)
		}
		parts = append(parts, searchedParts(record.Detail)...)
	}
	// All of the text in one place says more than one word of it in another.
	for _, wanted := range s.wanted() {
		for _, part := range parts {
			if part.destination != (s.query.Text == "") {
				continue
			}
			if at := strings.Index(foldASCII(part.text.String()), foldASCII(wanted)); at >= 0 {
				h.where, h.text, h.at, h.size = part.name, part.text.String(), at, len(wanted)
				return h, nil
			}
		}
	}
	return h, nil
}

// wanted is what a match may be: all that was asked for, else a word of it.
func (s *Search) wanted() []string {
	if s.query.Text == "" {
		if s.query.Host == "" {
			return nil
		}
		return []string{s.query.Host}
	}
	words := strings.FieldsFunc(s.query.Text, func(r rune) bool {
		return r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r)
	})
	return append([]string{s.query.Text}, words...)
}

type searchedPart struct {
	name        string
	text        *entry.Text
	destination bool
}

func searchedParts(detail *entry.Detail) []searchedPart {
	parts := []searchedPart{
		{name: "error text", text: detail.ErrorText}, {name: "arguments", text: detail.Args}, {name: "result", text: detail.Preview},
	}
	if to := detail.Destinations; to != nil {
		for _, list := range [][]string{to.Hosts, to.Emails, to.IPs} {
			for _, name := range list {
				parts = append(parts, searchedPart{"destination", &entry.Text{Whole: name}, true})
			}
		}
	}
	return parts
}

// foldASCII keeps every byte where it stands, which strings.ToLower does not.
func foldASCII(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

// snippetWidth is how much is shown around a hit.
const snippetWidth = 96

// Text is two lines a call: the call, and where it matched.
func (s *Search) Text(view View) string {
	if len(s.hits) == 0 {
		return "nothing found" + s.scope.text(view) + "\n" + s.reachText(view) + gapsText(s.gaps, view)
	}
	table := terminal.Table{Heading: view.Style.Faint, Columns: []terminal.Column{
		{Title: "time"},
		{},
		{Title: "server", Max: nameWidth / 2},
		{Title: "tool", Max: nameWidth},
		{Title: "in", Right: true},
		{Title: "out", Right: true},
		{Title: "call"},
		{Title: "why", Max: whyWidth},
	}}
	for _, h := range s.hits {
		table.Add(
			terminal.Text(view.Clock.Dated(terminal.Micros(h.At))), view.markCell(h.Call), terminal.Text(h.Label), terminal.Text(callName(h.Call)),
			terminal.Text(terminal.Size(h.Sent)), terminal.Text(returned(h.Call)), terminal.Text(h.id),
			terminal.Cell{Text: reasonWith(h.Call, h.why), Paint: view.Style.Bad},
		)
	}
	lines := strings.SplitAfter(table.String(), "\n")
	var b strings.Builder
	b.WriteString(lines[0])
	for i, h := range s.hits {
		b.WriteString(lines[i+1])
		if h.where != "" {
			b.WriteString("    " + view.Style.Faint(h.where+":") + " " + terminal.Around(h.text, h.at, h.size, snippetWidth) + "\n")
		}
	}
	if s.found.More {
		fmt.Fprintf(&b, "… and older ones: deed search -n %d\n", 10*max(1, s.query.Limit))
	}
	b.WriteString(s.reachText(view))
	b.WriteString(gapsText(s.gaps, view))
	return b.String()
}

// reachText says what was not looked at. A search that finds nothing in a
// part of the record must not look as if nothing were there.
func (s *Search) reachText(view View) string {
	if s.query.Text == "" {
		return ""
	}
	missed := ""
	if s.found.Unsearched > 0 {
		missed = view.Style.Warn("NOT SEARCHED: "+plural(s.found.Unsearched, "entry", "entries")+" near the end of the log, which the text index does not know yet; search again to bring it on") + "\n"
	}
	return missed + view.Style.Faint("text was looked for in arguments (first 8 KiB), results (first 512 letters) and error texts (first 1 KiB), as they were kept after redaction") + "\n"
}

// SearchDocument is the JSON form of [Search].
type SearchDocument struct {
	ScopeDocument
	Hits       []HitDocument `json:"hits"`               // newest first
	More       bool          `json:"more"`               // there are older ones
	Unsearched int64         `json:"unsearched_entries"` // near the end of the log, that a search for text did not reach
	Gaps       []GapDocument `json:"gaps"`               // what was not seen
}

// HitDocument is one call that was found.
type HitDocument struct {
	CallDocument
	Where   *string `json:"where"`   // arguments, result, error text or destination; null where its name or time matched
	Snippet *string `json:"snippet"` // what stands around the match
}

// Document is the answer for programs.
func (s *Search) Document() any {
	d := SearchDocument{ScopeDocument: s.scope.document(), Hits: make([]HitDocument, 0, len(s.hits)), More: s.found.More, Unsearched: s.found.Unsearched, Gaps: gapDocuments(s.gaps)}
	for _, h := range s.hits {
		document := HitDocument{CallDocument: callDocument(h.Call, h.id, h.why)}
		if h.where != "" {
			snippet := terminal.Around(h.text, h.at, h.size, snippetWidth)
			document.Where, document.Snippet = &h.where, &snippet
		}
		d.Hits = append(d.Hits, document)
	}
	return d
}
