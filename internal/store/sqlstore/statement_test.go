package sqlstore

import (
	"strings"
	"testing"
)

func TestEveryStatementKeepsToItsWorkspace(t *testing.T) {
	t.Parallel()
	if len(book) < 40 {
		t.Fatalf("there are only %d statements in the book", len(book))
	}
	names := map[string]bool{}
	for _, s := range book {
		if err := s.check(); err != nil {
			t.Error(err)
		}
		if names[s.name] {
			t.Errorf("two statements are named %s", s.name)
		}
		names[s.name] = true
	}
}

func TestAStatementThatForgetsTheWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want string
	}{
		"a filter that is not there":        {`SELECT ref FROM actions WHERE ref = $2`, "workspace_id = $1"},
		"another parameter":                 {`SELECT ref FROM actions WHERE workspace_id = $2`, "workspace_id = $1"},
		"an alternative":                    {`SELECT ref FROM actions WHERE workspace_id = $1 OR ref = $2`, "workspace_id = $1"},
		"an alternative after more":         {`SELECT ref FROM actions WHERE workspace_id = $1 AND ref = $2 OR true`, "workspace_id = $1"},
		"one of two tables":                 {`SELECT a.ref FROM actions a JOIN verdicts v ON v.ref = a.ref WHERE a.workspace_id = $1`, "v.workspace_id = $1"},
		"a table after a comma":             {`SELECT a.ref FROM actions a, verdicts v WHERE a.workspace_id = $1`, "v.workspace_id = $1"},
		"a subquery":                        {`SELECT ref FROM actions a WHERE a.workspace_id = $1 AND ref IN (SELECT w.ref FROM waits w)`, "w.workspace_id = $1"},
		"two of one name":                   {`SELECT a.ref FROM actions a WHERE a.workspace_id = $1 AND EXISTS (SELECT 1 FROM waits a)`, "a name of its own"},
		"a row without it":                  {`INSERT INTO waits (ref, source) VALUES ($1, $2)`, "without the workspace"},
		"a row with another value for it":   {`INSERT INTO waits (workspace_id, ref) VALUES ($2, $1)`, "without the workspace"},
		"rows that are selected without it": {`INSERT INTO waits (workspace_id, ref) SELECT workspace_id, ref FROM actions WHERE workspace_id = $1`, "without the workspace"},
		"a deletion":                        {`DELETE FROM waits WHERE ref = $2`, "workspace_id = $1"},
		"a change":                          {`UPDATE verdicts SET form = $2 WHERE ref = $3`, "workspace_id = $1"},
		"the opposite":                      {`SELECT ref FROM actions WHERE NOT workspace_id = $1`, "workspace_id = $1"},
		"a table that nobody knows":         {`SELECT ref FROM acts WHERE workspace_id = $1`, "no table that is known"},
		"a filter that is only a text":      {`SELECT ref FROM actions WHERE ref = 'and workspace_id = $1 and'`, "workspace_id = $1"},
		"a macro that is none":              {`SELECT ref FROM actions WHERE workspace_id = $1 {any}`, "no macro"},
	} {
		err := (&statement{name: "bad", sql: c.sql}).check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

func TestAStatementOfTheDirectoryTouchesNoTenantsTable(t *testing.T) {
	t.Parallel()
	s := &statement{name: "bad", directory: true, sql: `SELECT ref FROM actions WHERE workspace_id = $1`}
	if err := s.check(); err == nil || !strings.Contains(err.Error(), "belongs to a workspace") {
		t.Errorf("%v", err)
	}
}

func TestMacrosAreWrittenForBothDatabases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, sqlite, postgres string }{
		{
			`x {in $2 text}`,
			`x IN (SELECT value FROM json_each($2))`,
			`x = ANY($2::text[])`,
		},
		{
			`INSERT INTO t (workspace_id, a, b) {rows text bytea}`,
			`INSERT INTO t (workspace_id, a, b) VALUES ($1, $2, $3)`,
			`INSERT INTO t (workspace_id, a, b) SELECT $1, r.* FROM UNNEST($2::text[], $3::bytea[]) AS r`,
		},
		{
			`FROM {keys text} WHERE x = $2`,
			`FROM (SELECT $3 AS k1, $4 AS n) AS k WHERE x = $2`,
			`FROM UNNEST($3::text[], $4::bigint[]) AS k(k1, n) WHERE x = $2`,
		},
		{
			`FROM a {join b c: c.x = a.x} WHERE true`,
			`FROM a CROSS JOIN b c ON c.x = a.x WHERE true`,
			`FROM a CROSS JOIN LATERAL (SELECT c.* FROM b c WHERE c.x = a.x OFFSET 0) AS c WHERE true`,
		},
		{
			`FROM a {left join b c: c.x = a.x}`,
			`FROM a LEFT JOIN b c ON c.x = a.x`,
			`FROM a LEFT JOIN LATERAL (SELECT c.* FROM b c WHERE c.x = a.x OFFSET 0) AS c ON true`,
		},
		{
			`FROM a {join b c: c.x >= {greatest a.x a.y}}`,
			`FROM a CROSS JOIN b c ON c.x >= MAX(COALESCE(a.x, a.y), a.y)`,
			`FROM a CROSS JOIN LATERAL (SELECT c.* FROM b c WHERE c.x >= GREATEST(a.x, a.y) OFFSET 0) AS c`,
		},
		{`FROM a {by a_by_b} WHERE true`, `FROM a INDEXED BY a_by_b WHERE true`, `FROM a  WHERE true`},
		{`ORDER BY a {skip locked}`, `ORDER BY a `, `ORDER BY a FOR UPDATE SKIP LOCKED`},
		{`ORDER BY a {for update}`, `ORDER BY a `, `ORDER BY a FOR UPDATE`},
	} {
		for d, want := range map[Dialect]string{SQLite: c.sqlite, Postgres: c.postgres} {
			r := render(c.sql, d)
			if r.err != nil || r.text != want {
				t.Errorf("%s: %q, %v, want %q", c.sql, r.text, r.err, want)
			}
		}
	}
}
