package sqlstore

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Dialect is one of the two ways of writing SQL.
type Dialect uint8

// The dialects.
const (
	SQLite Dialect = iota
	Postgres
)

// Column is the type of a column of rows that are given to a statement.
type Column uint8

// The types of columns, as the macros name them: text, bigint, bool, bytea.
const (
	Text Column = iota
	Bigint
	Bool
	Bytes
)

var columnNames = map[string]Column{"text": Text, "bigint": Bigint, "bool": Bool, "bytea": Bytes}

var columnTypes = [...]string{Text: "text", Bigint: "bigint", Bool: "boolean", Bytes: "bytea"}

// statement is a text of SQL that both databases understand, once its macros are
// written out:
//
//	{in $2 text}          = ANY($2), one of a list
//	{rows text bigint}    after INSERT INTO t (workspace_id, …): the rows given to
//	                      [unit.queueRows], $1 before each
//	{keys text bigint}    in FROM: the keys given to a [query], as k (k1, k2, n),
//	                      n being the place of the key in the list
//	{join t a: …}         JOIN t a ON …, found by its condition for each row of what
//	                      stands before it, whatever statistics say of new tables
//	{left join t a: …}    the same, LEFT JOIN
//	{by index}            after a table: SQLite, which has no statistics, finds its rows
//	                      by that index
//	{greatest a b}        the greater one; b if a is NULL. Unlike COALESCE, PostgreSQL
//	                      takes it for the bound of an index beneath row security
//	{for update}          locks the rows that are read
//	{skip locked}         locks them and leaves out those that others hold
//
// $1 is the workspace in a tenant's statement and is bound by the unit. It is a
// value made by [tenant] or [directory] when the program starts, and nothing else
// is ever sent: a statement that forgets the workspace cannot be made.
type statement struct {
	name      string
	sql       string
	directory bool
	overview  bool // of the directory too
	unique    bool // see taken

	once     [2]sync.Once
	rendered [2]rendered
}

type rendered struct {
	text    string
	columns []Column // of {rows} or {keys}
	keys    bool
	writes  bool
	err     error
}

// book is every statement, for the check at the start and for tests. It grows
// only while the package's variables are made.
var book []*statement

// tenant makes a statement of one workspace: each of its tables of tenants is
// constrained by workspace_id = $1, and what it inserts begins with it.
func tenant(name, sql string) *statement { return enter(&statement{name: name, sql: sql}) }

// directory makes a statement that is asked before a workspace is known. It may
// touch tables of the directory only, and all its parameters are the caller's.
func directory(name, sql string) *statement {
	return enter(&statement{name: name, sql: sql, directory: true})
}

// overview makes a statement of the directory that asks of all workspaces in which of
// them something waits. It only reads, of the tables that say so and no more of them
// than [Table.Overview] names.
func overview(name, sql string) *statement {
	return enter(&statement{name: name, sql: sql, directory: true, overview: true})
}

func enter(s *statement) *statement {
	book = append(book, s)
	return s
}

// taken says that the unique key this statement may run into is a name that
// belongs to another, so that running the unit again would not help.
func (s *statement) taken() *statement {
	s.unique = true
	return s
}

// in writes the statement in a dialect.
func (s *statement) in(d Dialect) *rendered {
	s.once[d].Do(func() { s.rendered[d] = render(s.sql, d) })
	return &s.rendered[d]
}

var (
	macro = regexp.MustCompile(`\{[^{}]*\}`)
	param = regexp.MustCompile(`\$(\d+)`)
)

func render(sql string, d Dialect) rendered {
	r := rendered{writes: writes(sql)}
	first := 2 // the first parameter that stands for a column of rows or keys
	for _, found := range param.FindAllStringSubmatch(sql, -1) {
		n, _ := strconv.Atoi(found[1])
		first = max(first, n+1)
	}
	write := func(text string) string {
		words := strings.Fields(text[1 : len(text)-1])
		if len(words) == 0 {
			r.err = errors.New("a macro is empty")
			return text
		}
		switch name := words[0]; name {
		case "join", "left":
			return join(d, text, name == "left")
		case "for", "skip":
			if d == SQLite {
				return ""
			}
			return map[string]string{"for": "FOR UPDATE", "skip": "FOR UPDATE SKIP LOCKED"}[name]
		case "by":
			if d == Postgres {
				return ""
			}
			return "INDEXED BY " + words[len(words)-1]
		case "greatest":
			if len(words) != 3 {
				r.err = fmt.Errorf("%s is not {greatest a b}", text)
				return text
			}
			if d == SQLite {
				return "MAX(COALESCE(" + words[1] + ", " + words[2] + "), " + words[2] + ")"
			}
			return "GREATEST(" + words[1] + ", " + words[2] + ")"
		case "in":
			if len(words) != 3 {
				r.err = fmt.Errorf("%s is not {in $n type}", text)
				return text
			}
			if d == SQLite {
				return "IN (SELECT value FROM json_each(" + words[1] + "))"
			}
			return "= ANY(" + words[1] + "::" + words[2] + "[])"
		case "rows", "keys":
			for _, word := range words[1:] {
				column, known := columnNames[word]
				if !known {
					r.err = fmt.Errorf("%s: there is no type %q", text, word)
				}
				r.columns = append(r.columns, column)
			}
			if r.keys = name == "keys"; r.keys {
				r.columns = append(r.columns, Bigint)
			}
			return list(d, r.columns, r.keys, first)
		}
		r.err = fmt.Errorf("there is no macro %s", text)
		return text
	}
	// One may stand in another: the inner one first.
	r.text = sql
	for macro.MatchString(r.text) && r.err == nil {
		r.text = macro.ReplaceAllStringFunc(r.text, write)
	}
	return r
}

// join looks for rows of a table for each row before it. PostgreSQL may not turn it
// around because the subquery has an offset, nor SQLite because of CROSS JOIN and
// LEFT JOIN.
func join(d Dialect, text string, left bool) string {
	what, condition, _ := strings.Cut(text[1:len(text)-1], ":")
	names := strings.Fields(what)
	table, alias := names[len(names)-2], names[len(names)-1]
	switch {
	case d == SQLite && left:
		return "LEFT JOIN " + table + " " + alias + " ON" + condition
	case d == SQLite:
		return "CROSS JOIN " + table + " " + alias + " ON" + condition
	case left:
		return "LEFT JOIN LATERAL (SELECT " + alias + ".* FROM " + table + " " + alias + " WHERE" + condition + " OFFSET 0) AS " + alias + " ON true"
	}
	return "CROSS JOIN LATERAL (SELECT " + alias + ".* FROM " + table + " " + alias + " WHERE" + condition + " OFFSET 0) AS " + alias
}

// list is where rows or keys come from: one list for each column where a
// statement runs once, one parameter where it runs for each row.
func list(d Dialect, columns []Column, keys bool, first int) string {
	var values, names []string
	for i, column := range columns {
		v := "$" + strconv.Itoa(first+i)
		name := "k" + strconv.Itoa(i+1)
		if i == len(columns)-1 {
			name = "n"
		}
		if d == Postgres {
			v += "::" + columnTypes[column] + "[]"
		} else if keys {
			v += " AS " + name
		}
		values, names = append(values, v), append(names, name)
	}
	joined := strings.Join(values, ", ")
	switch {
	case d == Postgres && keys:
		return "UNNEST(" + joined + ") AS k(" + strings.Join(names, ", ") + ")"
	case d == Postgres:
		return "SELECT $1, r.* FROM UNNEST(" + joined + ") AS r"
	case keys:
		return "(SELECT " + joined + ") AS k"
	}
	return "VALUES ($1, " + joined + ")"
}
