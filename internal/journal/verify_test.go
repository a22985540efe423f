package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

// sampleHome is a journal of two ended sessions and an open one, about 1,200
// entries, so that the tree has stored hashes.
func sampleHome(t testing.TB) string {
	t.Helper()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	for range 2 {
		r := record(t, j, newSession())
		for i := range 290 {
			r.answer(r.request(fmt.Sprintf("tool%d", i%7), 100+int64(i)), entry.OutcomeOK, 2_000, 300)
		}
		r.append(&entry.Entry{Kind: entry.KindGap, From: "server", Bytes: 77, Messages: 2, Reason: "observer_behind"}, &entry.Detail{Note: "slow"})
		r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 9, Flags: []string{"not_json"}}, nil)
		r.append(&entry.Entry{Kind: entry.KindStderr, From: "server", Bytes: 30, Messages: 1}, nil)
		r.end(0)
		if err := j.Sync(testContext(t)); err != nil { // so that each end has a checkpoint of its own
			t.Fatal(err)
		}
	}
	open := record(t, j, newSession())
	open.request("hang", 40)
	closeJournal(t, j)
	return home
}

func verify(t testing.TB, home string, o VerifyOptions) VerifyReport {
	t.Helper()
	report, err := Verify(testContext(t), home, o)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	return report
}

func checkpointOf(t testing.TB, home string) []byte {
	t.Helper()
	note, err := openReader(t, home).Checkpoint(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return note
}

func TestAnUntouchedJournalIsIntact(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	note := checkpointOf(t, home)
	report := verify(t, home, VerifyOptions{})
	if !report.Intact() {
		t.Fatalf("findings in an untouched journal: %+v", report.Findings)
	}
	if report.Entries != 1_172 || report.Sessions != 3 || report.OpenSessions != 1 || report.Checkpoints == 0 {
		t.Errorf("report is %+v", report)
	}
	if report.Anchored != 0 || report.Unanchored() != report.Entries {
		t.Errorf("%d entries are anchored without an anchor", report.Anchored)
	}
	if report.UnseenBytes != 2*77 || report.Gaps != 2 {
		t.Errorf("%d bytes in %d gaps, not %d in 2", report.UnseenBytes, report.Gaps, 2*77)
	}
	if anchored := verify(t, home, VerifyOptions{Against: note}); !anchored.Intact() || anchored.Anchored != anchored.Entries {
		t.Errorf("against its own checkpoint %d of %d entries are anchored: %+v", anchored.Anchored, anchored.Entries, anchored.Findings)
	}
}

func TestEntriesAfterTheOutsideCheckpointAreUnanchored(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	note := checkpointOf(t, home)
	before := verify(t, home, VerifyOptions{}).Entries
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	r.end(0)
	closeJournal(t, j)
	report := verify(t, home, VerifyOptions{Against: note})
	if !report.Intact() || report.Anchored != before || report.Unanchored() != 2 {
		t.Errorf("anchored %d, unanchored %d, want %d and 2: %+v", report.Anchored, report.Unanchored(), before, report.Findings)
	}
}

// tamper opens the database as any other program would.
func tamper(t testing.TB, home string, change func(*sql.DB) error) {
	t.Helper()
	db, err := openDatabase(filepath.Join(home, databaseName), "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	if err := change(db); err != nil {
		t.Fatalf("tamper: %v", err)
	}
}

func run(queries ...string) func(*sql.DB) error {
	return func(db *sql.DB) error {
		for _, query := range queries {
			result, err := db.Exec(query)
			if err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			if n, err := result.RowsAffected(); err != nil || n == 0 {
				return fmt.Errorf("%s: changed %d rows, %v", query, n, err)
			}
		}
		return nil
	}
}

func TestEveryKindOfTamperingIsFound(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	for _, test := range []struct {
		name   string
		change func(*sql.DB) error
		at     int64 // an entry that must be named; -1 for none
		says   string
	}{
		{"an edited leaf", run("UPDATE entries SET leaf = CAST(replace(leaf, '\"bytes\":101', '\"bytes\":999') AS BLOB), bytes = 999 WHERE n = 3"), -1, "entries 0 to 255 are not those"},
		{"a leaf that is no longer canonical", run("UPDATE entries SET leaf = CAST(replace(leaf, '\"at\":', '\"at\": ') AS BLOB) WHERE n = 3"), 3, "not valid"},
		{"an edited detail", run("UPDATE details SET data = CAST(replace(data, 'tool1', 'tool2') AS BLOB) WHERE n = 3", "UPDATE entries SET tool = 'tool2' WHERE n = 3"), 3, "detail is not the one"},
		{"an edited salt", run("UPDATE details SET salt = zeroblob(32) WHERE n = 3"), 3, "detail is not the one"},
		{"a deleted detail", run("DELETE FROM details WHERE n = 3", "UPDATE entries SET method = NULL, tool = NULL WHERE n = 3"), 3, "detail is missing"},
		{"two swapped details", run("UPDATE details SET n = -1 WHERE n = 3", "UPDATE details SET n = 3 WHERE n = 5", "UPDATE details SET n = 5 WHERE n = -1"), 5, "detail is not the one"},
		{"a detail that was added", run("INSERT INTO details VALUES (582, zeroblob(32), x'7b7d')"), 582, "the entry has none"},
		{"a detail behind the log", run("INSERT INTO details VALUES (99999, zeroblob(32), x'7b7d')"), 99_999, "outside the log, which has"},
		{"an edited tool column", run("UPDATE entries SET tool = 'other' WHERE n = 3"), 3, "tool"},
		{"an edited method column", run("UPDATE entries SET method = 'ping' WHERE n = 3"), 3, "method"},
		{"an edited error column", run("UPDATE entries SET error = '-1' WHERE n = 4"), 4, "error"},
		{"an edited bytes column", run("UPDATE entries SET bytes = 1 WHERE n = 3"), 3, "bytes"},
		{"an edited time column", run("UPDATE entries SET at = at + 1 WHERE n = 3"), 3, "at"},
		{"an edited side column", run("UPDATE entries SET side = 'server' WHERE n = 3"), 3, "side"},
		{"an edited kind column", run("UPDATE entries SET kind = 'noise' WHERE n = 3"), 3, "kind"},
		{"an edited call column", run("UPDATE entries SET call = NULL WHERE n = 4"), 4, "call"},
		{"an edited took column", run("UPDATE entries SET took = 1 WHERE n = 4"), 4, "took"},
		{"an edited outcome column", run("UPDATE entries SET outcome = 'error' WHERE n = 4"), 4, "outcome"},
		{"an edited seq column", run("UPDATE entries SET seq = 50000 WHERE n = 3"), 3, "seq"},
		{"a row moved to another session", run("UPDATE entries SET session = 2, seq = 50000 WHERE n = 3"), 3, "its row to session"},
		{"two swapped session ids", run("UPDATE sessions SET uid = 'x' WHERE id = 1", "UPDATE sessions SET uid = (SELECT uid FROM sessions WHERE id = 1) || '0' WHERE id = 2"), 0, "its row to session"},
		{"a session that was made up", run("INSERT INTO sessions (uid) VALUES ('00000000000000000000000000000000')"), -1, "has no entries"},
		{"a session that is not listed any more", run("DELETE FROM sessions WHERE id = 1"), 0, "not listed"},
		{"a deleted row", run("DELETE FROM entries WHERE n = 3", "DELETE FROM details WHERE n = 3"), 3, "missing"},
		{"a deleted stretch over two chunks", run("DELETE FROM entries WHERE n BETWEEN 100 AND 900"), 100, "entries 100 to 900 are missing"},
		{"a cut tail", run("DELETE FROM entries WHERE n >= 1170", "DELETE FROM details WHERE n >= 1170"), 1_170, "missing"},
		{"a whole session cut out", run("DELETE FROM entries WHERE session = 2", "DELETE FROM sessions WHERE id = 2"), 585, "missing"},
		{"a row behind the log", run("INSERT INTO entries SELECT n + 1000, session, seq + 9000, kind, at, side, bytes, call, took, outcome, method, tool, error, leaf FROM entries WHERE n = 500"), 1_500, "outside the log, which has"},
		{"two swapped rows", run("UPDATE entries SET n = -1 WHERE n = 3", "UPDATE entries SET n = 3 WHERE n = 5", "UPDATE entries SET n = 5 WHERE n = -1"), 3, "are missing"},
		{"peaks that were changed", run("UPDATE head SET peaks = zeroblob(length(peaks))"), -1, "end of the log"},
		{"a head of a smaller size", run("UPDATE head SET size = 1000"), -1, "last checkpoint is of 1172 entries"},
		{"a head of a size beyond all bounds", run("UPDATE head SET size = 9000000000000000000"), 1_172, "are missing"},
		{"an old head put back", run("UPDATE head SET note = (SELECT note FROM checkpoints ORDER BY size LIMIT 1), size = (SELECT min(size) FROM checkpoints)"), -1, "outside the log, which has"},
		{"a note signed by nobody", run("UPDATE head SET note = replace(note, substr(note, -20, 8), 'AAAAAAAA')"), -1, "last checkpoint is not valid"},
		{"a signature that was added to the last checkpoint", run("UPDATE head SET note = note || char(8212) || ' x AAAAAAAA' || char(10)"), -1, "last checkpoint has something added"},
		{"a signature that was added to a kept checkpoint", run("UPDATE checkpoints SET note = note || char(8212) || ' x AAAAAAAA' || char(10)"), -1, "has something added"},
		{"no head at all", run("DELETE FROM head"), -1, "not recorded"},
		{"an edited hash of the tree", run("UPDATE nodes SET hash = zeroblob(32) WHERE level = 9 AND i = 0"), -1, "entries 0 to 511"},
		{"a deleted hash of the tree", run("DELETE FROM nodes WHERE level = 8 AND i = 1"), -1, "entries 256 to 511 is missing"},
		{"a hash of the tree that was added", run("INSERT INTO nodes VALUES (8, 77, zeroblob(32))"), -1, "hashes of the tree"},
		{"a kept checkpoint of another size", run("UPDATE checkpoints SET size = size - 1 WHERE size = (SELECT max(size) FROM checkpoints)"), -1, "in the place of"},
		{"a kept checkpoint that was edited", run("UPDATE checkpoints SET note = replace(note, substr(note, -20, 8), 'AAAAAAAA')"), -1, "kept checkpoint"},
		{"another key in the database", run("UPDATE meta SET value = 'x+00000000+AAAA' WHERE key = 'verifier_key'"), -1, "another key"},
		{"another name of the log", run("UPDATE meta SET value = 'x' WHERE key = 'origin'"), -1, "calls itself"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			copied := copyHome(t, home)
			tamper(t, copied, test.change)
			report := verify(t, copied, VerifyOptions{})
			if report.Intact() {
				t.Fatal("nothing was found")
			}
			for _, finding := range report.Findings {
				if strings.Contains(finding.What, test.says) && (test.at < 0 || finding.N == test.at) {
					return
				}
			}
			t.Errorf("no finding at %d says %q: %+v", test.at, test.says, report.Findings)
		})
	}
}

// copyHome copies a closed journal.
func copyHome(t testing.TB, home string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// forge makes everything but the entries agree with the entries again, as
// somebody would who has all code and, with key, the key.
func forge(key *tlog.Key) func(*sql.DB) error {
	return func(db *sql.DB) error {
		rows, err := db.Query("SELECT leaf FROM entries ORDER BY n")
		if err != nil {
			return err
		}
		var leaves [][]byte
		for rows.Next() {
			var leaf []byte
			if err := rows.Scan(&leaf); err != nil {
				return err
			}
			leaves = append(leaves, leaf)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		if _, err := db.Exec("DELETE FROM nodes; DELETE FROM checkpoints WHERE size > ?", len(leaves)); err != nil {
			return err
		}
		log := mustEmptyFrontier()
		sign := func(query string, args ...any) error {
			note, err := tlog.Checkpoint{Origin: key.Name(), Size: log.Size(), Root: log.Root()}.Sign(key)
			if err != nil {
				return err
			}
			_, err = db.Exec(query, append([]any{string(note)}, args...)...)
			return err
		}
		for _, leaf := range leaves {
			var failed error
			log.Append(tlog.LeafHash(leaf), func(n tlog.Node) {
				_, err := db.Exec("INSERT INTO nodes VALUES (?, ?, ?)", n.Level, n.Index, n.Hash[:])
				failed = errors.Join(failed, err)
			})
			failed = errors.Join(failed, sign("UPDATE checkpoints SET note = ? WHERE size = ?", log.Size()))
			if failed != nil {
				return failed
			}
		}
		if err := deriveAll(db); err != nil {
			return err
		}
		return sign("UPDATE head SET note = ?, size = ?, peaks = ?, kept_at = (SELECT at FROM checkpoints ORDER BY size DESC LIMIT 1)",
			log.Size(), joinPeaks(log.Peaks()))
	}
}

// rewriteEntry changes what a call cost, in the leaf and its column.
var rewriteEntry = run("UPDATE entries SET leaf = CAST(replace(leaf, '\"took\":300', '\"took\":301') AS BLOB), took = 301 WHERE n = 4")

func TestAForgedLogWithoutTheKeyIsFound(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	other, err := tlog.CreateKey(filepath.Join(t.TempDir(), "key"), verify(t, home, VerifyOptions{}).Origin)
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, home, rewriteEntry)
	tamper(t, home, forge(other))
	if report := verify(t, home, VerifyOptions{}); report.Intact() {
		t.Error("a log that another key signed was taken for ours")
	}
	tamper(t, home, func(db *sql.DB) error {
		_, err := db.Exec("UPDATE meta SET value = ? WHERE key = 'verifier_key'", other.VerifierKey())
		return err
	})
	if report := verify(t, home, VerifyOptions{}); report.Intact() {
		t.Error("a log that another key signed was taken for ours, because it says so itself")
	}
	if _, err := Open(home, Options{}); !errors.As(err, new(*AlteredError)) {
		t.Errorf("a recorder would go on with a forged log: %v", err)
	}
}

func TestAForgedLogWithTheKeyIsFoundOnlyByAnOutsideCheckpoint(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	outside := checkpointOf(t, home)
	key, err := tlog.LoadKey(filepath.Join(home, keyName))
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, home, rewriteEntry)
	tamper(t, home, forge(key))
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("the forgery is not perfect, so that this test shows nothing: %+v", report.Findings)
	}
	report := verify(t, home, VerifyOptions{Against: outside})
	if report.Intact() || report.Anchored != 0 {
		t.Errorf("the outside checkpoint did not show the forgery: %+v", report)
	}
}

func TestALogCutOffWithTheKeyIsFoundOnlyByAnOutsideCheckpoint(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	outside := checkpointOf(t, home)
	key, err := tlog.LoadKey(filepath.Join(home, keyName))
	if err != nil {
		t.Fatal(err)
	}
	tamper(t, home, run("DELETE FROM entries WHERE session = 3", "DELETE FROM details WHERE n >= 1170", "DELETE FROM sessions WHERE id = 3"))
	tamper(t, home, forge(key))
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("the forgery is not perfect, so that this test shows nothing: %+v", report.Findings)
	}
	if report := verify(t, home, VerifyOptions{Against: outside}); report.Intact() {
		t.Error("the outside checkpoint did not show that the end was cut off")
	}
}

func TestACheckpointOfAnotherJournalIsAFindingAndGarbageAnError(t *testing.T) {
	t.Parallel()
	home, other := sampleHome(t), sampleHome(t)
	if report := verify(t, home, VerifyOptions{Against: checkpointOf(t, other)}); report.Intact() || report.Anchored != 0 {
		t.Errorf("the checkpoint of another journal anchors this one: %+v", report)
	}
	_, err := Verify(testContext(t), home, VerifyOptions{Against: []byte("hello\n")})
	if !errors.As(err, new(*BadCheckpointError)) {
		t.Errorf("garbage as a checkpoint gives %v", err)
	}
}

func TestWhatASessionSaysOfItselfMustAddUp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		record func(*recording)
		says   string
	}{
		{"bytes of the client that no entry has", func(r *recording) { r.client++; r.end(0) }, "bytes crossed from the client"},
		{"bytes of the server that no entry has", func(r *recording) { r.server += 5; r.end(0) }, "bytes crossed from the server"},
		{"an answer to a notification", func(r *recording) {
			n := r.append(&entry.Entry{Kind: entry.KindNotification, From: "client", Bytes: 10}, nil)
			r.answer(n, entry.OutcomeOK, 5, 1)
		}, "no request"},
		{"an answer of the side that asked", func(r *recording) {
			n := r.request("x", 10)
			r.append(&entry.Entry{Kind: entry.KindResponse, From: "client", Bytes: 10, Call: n, Took: 1, Outcome: entry.OutcomeOK}, nil)
		}, "its own request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, Options{})
			test.record(record(t, j, newSession()))
			closeJournal(t, j)
			report := verify(t, home, VerifyOptions{})
			if report.Found != 1 || !strings.Contains(report.Findings[0].What, test.says) {
				t.Errorf("findings are %+v, want one that says %q", report.Findings, test.says)
			}
		})
	}
}

func TestVerifyTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	var last, total int64
	verify(t, home, VerifyOptions{Progress: func(done, all int64) {
		if done < last || done > all {
			t.Errorf("progress went from %d to %d of %d", last, done, all)
		}
		last, total = done, all
	}})
	if last != 1_172 || total != 1_172 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	t.Parallel()
	home := sampleHome(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, home, VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled verification returns %v", err)
	}
}
