package api

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// param is a query parameter that an endpoint takes.
type param struct {
	name     string
	about    string // for people
	required bool
	options  []string // what it may be; nil for any text
	least    int      // with most: it is a number
	most     int
}

// What many endpoints take.
var (
	limitParam  = param{name: "limit", about: "how many at most, 50 without it", least: 1, most: 200}
	cursorParam = param{name: "cursor", about: "next_cursor of the page before"}
	periodParam = param{name: "period", about: "a month (2026-11), last 7 days, or two times with .. between them"}
)

// paged adds what lists take to an endpoint's own parameters.
func paged(params ...param) []param {
	return append(slices.Clone(params), limitParam, cursorParam)
}

// filters are parameters that narrow a list to exactly what they say.
func filters(names ...string) []param {
	list := make([]param, 0, len(names))
	for _, name := range names {
		list = append(list, param{name: name, about: "exactly this"})
	}
	return list
}

// query is what a request asks for behind the question mark, checked.
type query struct{ given map[string]string }

// longestParam is how many bytes a parameter has at most; a cursor is the longest.
const longestParam = 2048

// parseQuery checks a query against what the endpoint takes: nothing unknown,
// nothing twice, nothing empty, no text that no database can hold.
func parseQuery(raw string, takes []param) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, &RequestError{Message: "the query cannot be read; parts of it are not escaped"}
	}
	q := query{given: make(map[string]string, len(values))}
	for name, texts := range values {
		i := slices.IndexFunc(takes, func(p param) bool { return p.name == name })
		if i < 0 {
			return query{}, &RequestError{Field: clean(name), Message: "there is no such parameter"}
		}
		if err := takes[i].check(texts); err != nil {
			return query{}, err
		}
		q.given[name] = texts[0]
	}
	for _, p := range takes {
		if p.required && q.given[p.name] == "" {
			return query{}, &RequestError{Field: p.name, Message: "the parameter is missing"}
		}
	}
	return q, nil
}

func (p *param) check(texts []string) error {
	text := texts[0]
	problem := ""
	switch {
	case len(texts) > 1:
		problem = "the parameter is there twice"
	case text == "":
		problem = "the parameter is empty; leave it out"
	case len(text) > longestParam:
		problem = fmt.Sprintf("the parameter has more than %d bytes", longestParam)
	case !printable(text):
		problem = "the parameter is not UTF-8, or has control characters"
	case len(p.options) > 0 && !slices.Contains(p.options, text):
		problem = fmt.Sprintf("%q is none of %s", text, strings.Join(p.options, ", "))
	case p.most > 0:
		if n, err := strconv.Atoi(text); err != nil || n < p.least || n > p.most || strconv.Itoa(n) != text {
			problem = fmt.Sprintf("%q is no number from %d to %d", text, p.least, p.most)
		}
	}
	if problem == "" {
		return nil
	}
	return &RequestError{Field: p.name, Message: problem}
}

// printable says that a text is UTF-8 without control characters.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// clean makes a stranger's text fit for a message.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '\uFFFD'
		}
		return r
	}, text)
	const most = 100
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

func (q query) text(name string) string { return q.given[name] }

func (q query) has(name string) bool { return q.given[name] != "" }

// number is a parameter that was checked to be one.
func (q query) number(name string) int {
	n, _ := strconv.Atoi(q.given[name])
	return n
}

// usualLimit is how long a page is unless it is said.
const usualLimit = 50

func (q query) page() store.Page {
	p := store.Page{After: store.Cursor(q.given[cursorParam.name]), Limit: usualLimit}
	if q.has(limitParam.name) {
		p.Limit = q.number(limitParam.name)
	}
	return p
}

// period is the one that is asked for, or nil.
func (q query) period(now value.Instant) (*view.Period, error) {
	if !q.has(periodParam.name) {
		return nil, nil
	}
	p, err := period(periodParam.name, q.text(periodParam.name), now)
	return &p, err
}

func period(field, text string, now value.Instant) (view.Period, error) {
	p, err := view.ParsePeriod(text, now)
	if err != nil {
		return view.Period{}, &RequestError{Field: field, Message: err.Error()}
	}
	return p, nil
}

// cursor is a list's end as it is answered: null where there is nothing more.
func cursor(next store.Cursor) *store.Cursor {
	if next == "" {
		return nil
	}
	return &next
}
