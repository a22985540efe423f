package sqlstore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// walks are statements that read all that a workspace has in a table, and why they
// may.
var walks = map[string]string{
	"all_versions": "contracts are few", "all_versions_bare": "contracts are few", "all_approvals": "contracts are few",
	"all_sources": "sources are few", "all_watermarks": "sources are few", "all_tallies": "sources are few, and their tallies made fewer",
	"fact_kinds_of": "sources tell of a few types", "list_keys": "keys are few", "list_members": "members are few", "crowded_counts": "periods are few, and their counts made fewer",
	"list_workspaces": "it lists them all", "any_workspace": "it stops at the first", "key_by_prefix": "it is one workspace",
	"session_by_hash": "it is one workspace", "lock_members": "it is one workspace", "get_workspace": "it is one workspace",
	"put_workspace": "it is one workspace", "ledger_state": "it is one row", "lock_ledger": "it is one row",
	"unsequenced": "it stops soon", "leaf_of": "none of the leaves here has a number, so that the index of numbers is empty", "next_due": "it stops at the first",
	"due_in": "it looks once into each workspace", "unsequenced_in": "it is an index of what waits",
	"groups_of":       "it is of these tests alone",
	"expire_sessions": "it is for all workspaces, once in a while", "expire_links": "it is for all workspaces, once in a while",
}

// all says that a statement removes a workspace.
func all(name string) bool {
	return strings.HasPrefix(name, "delete_") || strings.HasPrefix(name, "forget_")
}

// small are what a statement makes itself.
var small = regexp.MustCompile(`^SCAN (k|json_each|due|summed|\(subquery-\d+|free|widths|CONSTANT ROW)\b`)

// A statement that walks through a table costs more with each row in it.
func TestNoStatementWalksThroughATableOnSQLite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := sqlite.Open(t.Context(), folder)
	kept(t, s, err)
	db, err := sql.Open("sqlite", filepath.Join(folder, "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range sqlstore.Book(sqlstore.SQLite) {
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+s.SQL, make([]any, parameters(s.SQL))...)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		walked := slices.ContainsFunc(plan, func(line string) bool {
			return strings.HasPrefix(line, "SCAN ") && !small.MatchString(line) || strings.HasSuffix(line, "(workspace_id=?)")
		})
		if bound := boundsOnSQLite[s.Name]; bound != "" && !strings.Contains(strings.Join(plan, "\n"), bound) {
			t.Errorf("%s is not found by %s:\n\t%s", s.Name, bound, strings.Join(plan, "\n\t"))
		}
		if walked && walks[s.Name] == "" && !all(s.Name) {
			t.Errorf("%s walks:\n\t%s", s.Name, strings.Join(plan, "\n\t"))
		}
	}
}

// boundsOnSQLite are what some rows have to be found by. Without it a list of a few walks
// through all that a workspace has, in the order of the list, and whoever declares through
// all that waits to be evaluated.
var boundsOnSQLite = map[string]string{
	"list_actions": "actions_by_start (workspace_id=? AND start_at>? AND start_at<?)", "list_actions_by_id": "action_id=?",
	"list_actions_by_subject": "subject_id=?", "list_actions_by_workflow": "workflow_id=?", "list_actions_by_agent": "agent_id=?",
	"list_actions_by_contract": "contract_id=?", "list_actions_by_badge": "badge=?", "list_actions_by_contract_badge": "contract_id=? AND badge=?",
	"list_actions_by_status": "status=?", "list_pending": "settles_at>?",
	"pending_wakes": "wakes_by_ref (workspace_id=? AND ref=?)", "list_facts": "facts_by_seq (workspace_id=? AND seq<?)", "list_facts_by_external_id": "facts_by_identity (workspace_id=? AND identity=?",
	"list_facts_by_subject": "facts_by_subject (workspace_id=? AND subject_id=?", "list_facts_by_type": "source=? AND fact_type=? AND seq<?",
	"list_facts_by_type_and_time": "source=? AND fact_type=? AND occurred_at>?", "list_facts_by_ref": "facts_by_identity (workspace_id=? AND identity=?",
}

// parameters is how many a statement has.
func parameters(sql string) int {
	n := 0
	for _, found := range regexp.MustCompile(`\$(\d+)`).FindAllStringSubmatch(sql, -1) {
		k, _ := strconv.Atoi(found[1])
		n = max(n, k)
	}
	return n
}

// What the planner makes of a statement without knowing the values is what the
// store's connections use.
func TestNoStatementWalksThroughATableOnPostgreSQL(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s, err := postgres.Open(t.Context(), url)
	d := newDesk(t, kept(t, s, err))
	for n := 0; n < 1500; n += 250 {
		do(t, d.store, func(tx store.Tx) error { return d.fill(tx, n, n+250) })
	}
	if err := sqlstore.SumUp(t.Context(), d.store, w, "", refund(1400).Declaration.ReceivedAt); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, set := range []string{
		"ANALYZE",
		// As the store's connections are.
		"SET ROLE deed_runtime", "SET plan_cache_mode = force_generic_plan",
		"SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off",
	} {
		if _, err := conn.Exec(t.Context(), set); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range sqlstore.Book(sqlstore.Postgres) {
		if all(s.Name) || walks[s.Name] != "" {
			continue
		}
		if _, err := conn.Exec(t.Context(), "PREPARE one AS "+s.SQL); err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		values := ""
		if n := parameters(s.SQL); n > 0 {
			values = "(NULL" + strings.Repeat(", NULL", n-1) + ")"
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) EXECUTE one"+values)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if walksOnPostgres(plan) || !slices.ContainsFunc(plan, func(line string) bool {
			return strings.Contains(line, "Cond:") && strings.Contains(line, bounds[s.Name])
		}) && bounds[s.Name] != "" {
			t.Errorf("%s walks:\n\t%s", s.Name, strings.Join(plan, "\n\t"))
		}
		if _, err := conn.Exec(t.Context(), "DEALLOCATE one"); err != nil {
			t.Fatal(err)
		}
	}
}

// bounds are parts of conditions that an index has to be read by, since without them it
// is read further with each row that a group gets.
var bounds = map[string]string{"ask_open_within": "start_at >= GREATEST", "ask_later": "start_at <= $", "list_facts": "seq < $2", "list_facts_by_type": "seq < $2"}

var (
	scanned   = regexp.MustCompile(`(?:Seq Scan|Scan using \w+|Scan Backward using \w+|Bitmap Heap Scan) on (\w+)`)
	workspace = regexp.MustCompile(`(?:Index|Recheck) Cond: \(workspace_id = [^ ]*\)$`)
	// few are tables that have a handful of rows in each workspace.
	few = regexp.MustCompile(`^(contract_|sources$|watermarks$|source_tallies$|workspaces$|people$|memberships$|sign_ins$|sessions$|api_keys$|installation$|turns$|ledgers$|declared_counts$)`)
)

// walksOnPostgres finds a scan of a table as a whole, and one of an index that is
// bounded by the workspace alone.
func walksOnPostgres(plan []string) bool {
	for i, line := range plan {
		found := scanned.FindStringSubmatch(line)
		if found == nil || few.MatchString(found[1]) {
			continue
		}
		if i+1 == len(plan) || !strings.Contains(plan[i+1], "Cond:") || workspace.MatchString(plan[i+1]) {
			return true
		}
	}
	return false
}
