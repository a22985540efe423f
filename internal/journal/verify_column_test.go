package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// everyTableHome is an intact journal with rows in every table, those among
// them that only a recorder that was killed leaves behind.
func everyTableHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	for i := range 3 {
		r := record(t, j, newSession())
		r.at += int64(i) * rollup.HourUS // hours of their own, or one that is stale would be that of all
		for range 45 {
			call := r.request("refund", 100)
			r.answer(call, entry.OutcomeOK, 2_000, 300)
		}
		r.answer(r.request("refund", 100), entry.OutcomeError, 50, 10)
		listTools(t, r, fmt.Sprintf("tool %d", i))
		r.keep(&entry.Entry{Kind: entry.KindNotification, From: "client", Bytes: 500}, &entry.Detail{Method: text("m")}, &Body{Bytes: []byte(strings.Repeat("some words of a body ", 20))})
		r.keep(&entry.Entry{Kind: entry.KindNotification, From: "client", Bytes: 500}, &entry.Detail{Method: text("m")}, &Body{Bytes: []byte("")})
		r.send("https://shop.example/pay")
		r.declare("refund:0", entry.IntentDeclaring)
		r.settle(r.declare("refund:1", entry.IntentDeclaring), entry.IntentFailed)
		r.settle(r.declare("refund:2", entry.IntentDeclaring), entry.IntentDeclared)
		r.settle(r.declare("refund:3", entry.IntentDeclaring), entry.IntentUndeliverable)
		r.settle(r.declare("refund:4", entry.IntentRequired), entry.IntentRefused)
		r.request("hang", 40)
		r.end(1)
		if err := j.Sync(testContext(t)); err != nil { // so that each end has a checkpoint of its own
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	runs, err := openReader(t, home).Runs(testContext(t), RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []int64{1, 3, 5} {
		if _, err := Erase(testContext(t), home, EraseRequest{Session: runs[0].ID, Seq: seq}); err != nil {
			t.Fatal(err)
		}
	}
	sendOne(t, home)
	tamper(t, home, func(db *sql.DB) error {
		_, err := db.Exec(`
			INSERT INTO stale SELECT session, at / ? FROM entries WHERE n = (SELECT max(n) FROM entries WHERE kind = 'request');
			INSERT INTO loose SELECT (max(key) >> 20) + 1, 7, ? FROM pieces;
			INSERT INTO pieces SELECT max(id) << 20, 0, x'61' FROM loose;
			INSERT OR REPLACE INTO meta VALUES ('pruned_at', '1700000000000000'), ('unmerged', '1')`, rollup.HourUS, time.Now().UnixMicro())
		return err
	})
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Fatalf("the journal is not intact, so that this test shows nothing: %+v", report.Findings)
	}
	return home
}

// send appends a call that names a destination.
func (r *recording) send(url string) {
	r.t.Helper()
	call := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 100}, &entry.Detail{
		ID: text("8"), Method: text("tools/call"), Tool: text("fetch"), Args: text(`{"url":"` + url + `"}`),
		Destinations: &entry.Destinations{Hosts: []string{"shop.example"}},
	})
	r.answer(call, entry.OutcomeOK, 10, 10)
}

// listTools appends a tool list whose one definition is kept.
func listTools(t *testing.T, r *recording, definition string) {
	t.Helper()
	sum := entry.Hash(sha256.Sum256([]byte(definition)))
	if err := r.journal.Define(r.ctx, sum, []byte(definition)); err != nil {
		t.Fatal(err)
	}
	refs := []entry.ToolRef{{Name: text("t"), SHA256: sum, Bytes: int64(len(definition)), Kept: true}}
	r.append(&entry.Entry{Kind: entry.KindTools, From: "server", Messages: 1, Definitions: DefinitionsHash(refs)}, &entry.Detail{Tools: refs})
}

// table is a table of the journal and its columns, those of the key first.
type table struct {
	name          string
	columns, keys []string
}

func tablesOf(t *testing.T, home string) (tables []table) {
	t.Helper()
	tamper(t, home, func(db *sql.DB) error {
		rows, err := db.Query(`SELECT t.name, c.name, c.pk FROM pragma_table_list t JOIN pragma_table_info(t.name) c
			WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name, column string
			var key int
			if err := rows.Scan(&name, &column, &key); err != nil {
				return err
			}
			if len(tables) == 0 || tables[len(tables)-1].name != name {
				tables = append(tables, table{name: name})
			}
			last := &tables[len(tables)-1]
			last.columns = append(last.columns, column)
			if key > 0 {
				last.keys = append(last.keys, column)
			}
		}
		return rows.Err()
	})
	return tables
}

// edit is an expression for another value of a column.
func edit(column string) string {
	return fmt.Sprintf(`CASE typeof(%[1]s) WHEN 'integer' THEN %[1]s + 1 WHEN 'text' THEN %[1]s || '1'
		WHEN 'blob' THEN CAST(%[1]s || x'01' AS BLOB) ELSE CASE '%[1]s' WHEN 'bytes' THEN 1 WHEN 'call' THEN 1 WHEN 'took' THEN 1 ELSE 'x' END END`, column)
}

func notBound(table, column string) bool {
	if table == "rollups" || table == "failures" {
		return false // only those of stale hours, which are not picked
	}
	return slices.ContainsFunc(NotBound(), func(u Unbound) bool {
		return u.Table == table && (u.Columns == nil || slices.Contains(u.Columns, column))
	})
}

// What is not in the list of what nothing binds is found, whatever row and
// column it is in.
func TestEveryColumnOfEveryTableIsBoundOrListedAsNotBound(t *testing.T) {
	t.Parallel()
	home := everyTableHome(t)
	for _, table := range tablesOf(t, home) {
		t.Run(table.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(table.name, "texts_") {
				if !notBound("texts", "") {
					t.Error("the parts of the text index are not listed as not bound")
				}
				return
			}
			for _, row := range []string{"first", "last"} {
				for _, column := range table.columns {
					checkChange(t, home, table, column, "an edited "+column, row, fmt.Sprintf("UPDATE %s SET %s = %s WHERE ", table.name, column, edit(column)))
				}
				checkChange(t, home, table, "a row", "a deleted row", row, fmt.Sprintf("DELETE FROM %s WHERE ", table.name))
				checkAdded(t, home, table, row)
			}
		})
	}
}

// pick is a condition that is true of one row.
func (tab *table) pick(row string) string {
	offset := map[string]string{"first": "0", "last": "count(*) - 1"}[row]
	keys := strings.Join(tab.keys, ", ")
	if keys == "" {
		keys = "rowid"
	}
	where := ""
	if tab.name == "rollups" || tab.name == "failures" { // the list says so of those of stale hours
		where = " WHERE hour NOT IN (SELECT hour FROM stale)"
	}
	return fmt.Sprintf("(%[1]s) = (SELECT %[1]s FROM %[2]s%[4]s ORDER BY %[1]s LIMIT 1 OFFSET (SELECT %[3]s FROM %[2]s%[4]s))", keys, tab.name, offset, where)
}

func checkChange(t *testing.T, home string, table table, column, what, row, query string) {
	t.Helper()
	copied := copyHome(t, home)
	if !alters(t, copied, query+table.pick(row)) {
		return // the database itself refuses it
	}
	checkFound(t, copied, table, column, what+" of the "+row+" row", query)
}

// checkAdded adds a row like another one, under a key that is free.
func checkAdded(t *testing.T, home string, table table, row string) {
	t.Helper()
	copied := copyHome(t, home)
	values := slices.Clone(table.columns)
	for i, column := range values {
		if len(table.keys) > 0 && column == table.keys[len(table.keys)-1] {
			values[i] = "CASE typeof(" + column + ") WHEN 'integer' THEN " + column + " + 100000 ELSE " + edit(column) + " END"
		}
		if table.name == "entries" && column == "seq" || table.name == "rollups" && column == "hour" {
			values[i] = column + " + 100000"
		}
		if table.name == "sessions" && column == "uid" {
			values[i] = "substr(uid, 2) || '0'"
		}
	}
	query := fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[3]s FROM %[1]s WHERE %[4]s", table.name,
		strings.Join(table.columns, ", "), strings.Join(values, ", "), table.pick(row))
	if !alters(t, copied, query) {
		return
	}
	checkFound(t, copied, table, "a row", "a row added like the "+row+" one", query)
}

func checkFound(t *testing.T, home string, table table, column, what, query string) {
	t.Helper()
	report, err := Verify(testContext(t), home, VerifyOptions{})
	switch {
	case err != nil:
		t.Errorf("%s: %s stops the verification: %v (%s)", table.name, what, err, query)
	case report.Intact() && !notBound(table.name, column):
		t.Errorf("%s: %s is not found, and not listed as not bound (%s)", table.name, what, query)
	}
}

// alters makes a change that may be refused, and says whether it was made.
func alters(t *testing.T, home, query string) (done bool) {
	t.Helper()
	tamper(t, home, func(db *sql.DB) error {
		result, err := db.Exec(query)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "constraint failed") {
				return nil
			}
			return fmt.Errorf("%s: %w", query, err)
		}
		n, err := result.RowsAffected()
		done = n > 0
		return err
	})
	return done
}

// Each entry of the list is one that this journal shows to be true: a list
// that grows would hide what could be found.
func TestWhatIsListedAsNotBoundReallyIsNotFound(t *testing.T) {
	t.Parallel()
	home := everyTableHome(t)
	var listed []string
	for _, one := range NotBound() {
		for _, column := range one.Columns {
			listed = append(listed, one.Table+" "+column)
		}
		if one.Columns == nil {
			listed = append(listed, one.Table)
		}
	}
	for _, one := range listed {
		t.Run(one, func(t *testing.T) {
			t.Parallel()
			query, known := map[string]string{
				"checkpoints at":    "UPDATE checkpoints SET at = at + 1 WHERE size = (SELECT min(size) FROM checkpoints)",
				"checkpoints a row": "DELETE FROM checkpoints WHERE size = (SELECT min(size) FROM checkpoints)",
				"meta value":        "UPDATE meta SET value = '1600000000000000' WHERE key = 'pruned_at'",
				"meta a row":        "DELETE FROM meta WHERE key = 'pruned_at'",
				"loose id":          "UPDATE loose SET id = id",
				"loose mark":        "UPDATE loose SET mark = mark + 1",
				"loose since":       "UPDATE loose SET since = since - 1",
				"loose a row":       "INSERT INTO loose VALUES (4000000, 1, 0)",
				"pieces key":        "UPDATE pieces SET key = key + 1 WHERE key = (SELECT max(key) FROM pieces)",
				"pieces data":       "UPDATE pieces SET data = x'62' WHERE key = (SELECT max(key) FROM pieces)",
				"pieces packed":     "UPDATE pieces SET packed = 1 WHERE key = (SELECT max(key) FROM pieces)",
				"pieces a row":      "DELETE FROM pieces WHERE key = (SELECT max(key) FROM pieces)",
				"stale a row":       "DELETE FROM stale",
				"rollups a row":     "UPDATE rollups SET calls = calls + 1 WHERE hour IN (SELECT hour FROM stale)",
				"failures a row":    "UPDATE failures SET calls = calls + 1 WHERE hour IN (SELECT hour FROM stale)",
				"stale hour":        "UPDATE stale SET hour = hour",
				"outbox tries":      "UPDATE outbox SET tries = tries + 1",
				"outbox due":        "UPDATE outbox SET due = 0",
				"outbox said":       "UPDATE outbox SET said = 'nobody said that'",
				"texts":             "INSERT INTO texts (rowid, text) VALUES (1, 'words that nobody said')",
			}[one]
			if !known {
				t.Fatal("this test knows no change of it")
			}
			copied := copyHome(t, home)
			if !alters(t, copied, query) {
				t.Fatal("the change was refused")
			}
			if report := verify(t, copied, VerifyOptions{}); !report.Intact() {
				t.Errorf("it is found after all: %+v", report.Findings)
			}
		})
	}
}

// A value that no column may have is a finding, not a failure to look.
func TestAValueThatCannotBeReadIsAFinding(t *testing.T) {
	t.Parallel()
	home := everyTableHome(t)
	for _, query := range []string{
		"UPDATE pieces SET packed = 2",
		"UPDATE pieces SET packed = -9223372036854775808",
		"UPDATE bodies SET id = 9223372036854775807",
		"UPDATE sessions SET id = -9223372036854775808 WHERE id = 1",
		"UPDATE head SET size = -1",
		"INSERT OR REPLACE INTO meta VALUES ('indexed', '')",
		"PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, 'packed INTEGER', 'packed ANY') WHERE name = 'pieces'; PRAGMA writable_schema = reset; UPDATE pieces SET packed = 'x'",
		"PRAGMA writable_schema = on; UPDATE sqlite_schema SET sql = replace(sql, 'at      INTEGER NOT NULL', 'at      ANY') WHERE name = 'entries'; PRAGMA writable_schema = reset; UPDATE entries SET at = 'x' WHERE n = 3",
	} {
		copied := copyHome(t, home)
		tamper(t, copied, func(db *sql.DB) error { _, err := db.Exec(query); return err })
		report, err := Verify(context.Background(), copied, VerifyOptions{})
		if err != nil || report.Intact() {
			t.Errorf("after %s: found %d, error %v", query, report.Found, err)
		}
	}
}
