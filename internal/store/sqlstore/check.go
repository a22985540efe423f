package sqlstore

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// word is a token of a statement and the parentheses that it stands in.
type word struct {
	text  string // names in small letters
	group int    // the number of the opening parenthesis; 0 outside of all
}

var token = regexp.MustCompile(`'(?:[^']|'')*'|\$?[A-Za-z_0-9.]+|[^\sA-Za-z_0-9$.']`)

// words cuts a statement into tokens. Macros are left as they are; none of them
// holds a table.
func words(sql string) []word {
	var all []word
	groups, opened := []int{0}, 0
	for _, text := range token.FindAllString(sql, -1) {
		if text == ")" && len(groups) > 1 {
			groups = groups[:len(groups)-1]
		}
		all = append(all, word{text: strings.ToLower(text), group: groups[len(groups)-1]})
		if text == "(" {
			opened++
			groups = append(groups, opened)
		}
	}
	return all
}

// mention is a table in a statement.
type mention struct {
	table    *Table
	alias    string
	inserted bool
	at       int
}

// mentions finds the tables of a statement and the names they go by.
func mentions(all []word) []mention {
	var found []mention
	for i := range all {
		before := ""
		if i > 0 {
			before = all[i-1].text
		}
		if !slices.Contains([]string{"from", "join", "into", "update", "using", ","}, before) {
			continue
		}
		t := tableNamed(all[i].text)
		if t == nil {
			continue
		}
		m := mention{table: t, inserted: before == "into", at: i}
		rest := all[i+1:]
		if len(rest) > 0 && rest[0].text == "as" {
			rest = rest[1:]
		}
		if len(rest) > 0 && identifier.MatchString(rest[0].text) && !slices.Contains(keywords, rest[0].text) {
			m.alias = rest[0].text
		}
		found = append(found, m)
	}
	return found
}

var (
	identifier = regexp.MustCompile(`^[a-z_][a-z_0-9]*$`)
	keywords   = []string{
		"where", "join", "cross", "left", "inner", "on", "order", "group", "set", "limit", "union", "values",
		"select", "returning", "for", "{", "using", "natural", "except", "intersect", "as", "and", "having",
	}
)

// check says why a statement may not be sent, or nil. It reads SQL as it is
// written in this package, and refuses what it cannot follow.
func (s *statement) check() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("the statement %s "+format, append([]any{s.name}, args...)...)
	}
	for _, d := range []Dialect{SQLite, Postgres} {
		if err := s.in(d).err; err != nil {
			return wrong("cannot be written: %w", err)
		}
	}
	all := words(s.sql)
	found := mentions(all)
	if len(found) == 0 {
		return wrong("touches no table that is known")
	}
	var names []string
	for _, m := range found {
		switch {
		case s.overview && (m.inserted || writes(s.sql)):
			return wrong("of the overview writes")
		case s.overview && m.table.Overview == "":
			return wrong("of the overview touches %s, which is no part of it", m.table.Name)
		case s.overview:
		case s.directory && !m.table.Directory:
			return wrong("of the directory touches %s, which belongs to a workspace", m.table.Name)
		case s.directory, m.table.shared:
		case m.inserted:
			if !begins(all[m.at+1:], "(", "workspace_id") || !gives(all[m.at+1:]) {
				return wrong("adds to %s without the workspace first", m.table.Name)
			}
		default:
			name := m.alias
			if name == "" {
				name = m.table.Name
			}
			if slices.Contains(names, name) {
				return wrong("names two tables %s, give each a name of its own", name)
			}
			names = append(names, name)
			column := name + ".workspace_id"
			if m.alias == "" && len(found) == 1 {
				column = "workspace_id"
			}
			if !constrained(all, column) {
				return wrong("does not say %s = $1", column)
			}
		}
	}
	return nil
}

func begins(all []word, texts ...string) bool {
	if len(all) < len(texts) {
		return false
	}
	for i, text := range texts {
		if all[i].text != text {
			return false
		}
	}
	return true
}

// gives says whether what is inserted begins with $1: by the rows macro, by
// values, or by what is selected.
func gives(all []word) bool {
	for i := range all {
		switch all[i].text {
		case "{":
			return begins(all[i:], "{", "rows")
		case "values":
			return begins(all[i:], "values", "(", "$1")
		case "select":
			return begins(all[i:], "select", "$1")
		}
	}
	return false
}

// constrained says whether a column must be $1: it stands so in a chain of ANDs
// with no OR beside it.
func constrained(all []word, column string) bool {
	for i := range all {
		if i == 0 || !begins(all[i:], column, "=", "$1") || !slices.Contains([]string{"where", "and", "on", ":"}, all[i-1].text) {
			continue
		}
		or := slices.ContainsFunc(all, func(w word) bool { return w.group == all[i].group && w.text == "or" })
		if !or {
			return true
		}
	}
	return false
}

// writes says whether a statement changes or locks something.
func writes(sql string) bool {
	return slices.ContainsFunc(words(sql), func(w word) bool {
		return slices.Contains([]string{"insert", "update", "delete", "skip"}, w.text)
	})
}
