package journal

import (
	"database/sql"
	"strings"
	"testing"
)

// With the right rows and a wrong index every entry verifies and every answer
// lies.
func TestASchemaThatWasTamperedWithIsFound(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	const index = "CREATE INDEX entries_by_call ON entries (session, call, kind) WHERE call IS NOT NULL"
	for _, test := range []struct {
		name    string
		changes []string
		says    string
	}{
		{"an index that says something else than its table", []string{
			"DROP INDEX entries_by_call",
			"CREATE INDEX entries_by_call ON entries (session, CASE call WHEN 1 THEN 3 ELSE call END, kind) WHERE call IS NOT NULL",
			"PRAGMA writable_schema = on",
			"UPDATE sqlite_schema SET sql = '" + index + "' WHERE name = 'entries_by_call'",
		}, "is not whole"},
		{"an index that leaves rows out", []string{
			"DROP INDEX entries_by_call",
			"CREATE INDEX entries_by_call ON entries (session, call, kind) WHERE call IS NOT NULL AND outcome IS NOT 'ok'",
		}, "not as recorders make it"},
		{"an index that is gone", []string{"DROP INDEX calls_by_tool"}, "is missing"},
		{"a trigger", []string{"CREATE TRIGGER t AFTER INSERT ON entries BEGIN SELECT RAISE(ABORT, 'no'); END"}, "no recorder makes"},
		{"a trigger with a name like those of SQLite", []string{
			"PRAGMA writable_schema = on",
			"INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_x', 'entries', 0, 'CREATE TRIGGER sqlite_x AFTER INSERT ON entries BEGIN DELETE FROM stale; END')",
		}, "no recorder makes"},
		{"a table with almost such a name", []string{"CREATE TABLE sqliteX (a)"}, "no recorder makes"},
		{"a table of somebody else", []string{"CREATE TABLE mine (x)"}, "no recorder makes"},
		{"a view in the place of a table", []string{
			"ALTER TABLE definitions RENAME TO other",
			"CREATE VIEW definitions AS SELECT sha256, data FROM other",
		}, "no recorder makes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			copied := copyHome(t, home)
			tamper(t, copied, func(db *sql.DB) error {
				for _, change := range test.changes {
					if _, err := db.Exec(change); err != nil {
						return err
					}
				}
				return nil
			})
			report := verify(t, copied, VerifyOptions{})
			for _, finding := range report.Findings {
				if strings.Contains(finding.What, test.says) {
					return
				}
			}
			t.Errorf("no finding says %q: %+v", test.says, report.Findings)
		})
	}
}
