package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUsageAddsUpToTheFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	fill(t, j, 3_000)
	big := recordAt(t, j, "raw")
	for range 8 {
		big.keepAt(time.Now(), 2*pieceBytes)
	}
	small := recordAt(t, j, "raw")
	small.keepBytes(prose(50_000))
	small.keepBytes(noise(5_000))
	closeJournal(t, j)
	usage, err := UsageOf(testContext(t), home, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(home, databaseName))
	if err != nil {
		t.Fatal(err)
	}
	if usage.Database != info.Size() {
		t.Errorf("the database has %d bytes, said are %d", info.Size(), usage.Database)
	}
	if sum := usage.Entries + usage.Details + usage.Bodies + usage.Other + usage.Free; sum != usage.Database {
		t.Errorf("the parts add up to %d, not %d: %+v", sum, usage.Database, usage)
	}
	const original = 8*2*pieceBytes + 55_000
	if usage.BodyCount != 10 || usage.BodyOriginal != original || usage.BodyStored >= original || usage.BodyStored < 16*pieceBytes {
		t.Errorf("%d bodies of %d bytes, stored in %d", usage.BodyCount, usage.BodyOriginal, usage.BodyStored)
	}
	if usage.Bodies < usage.BodyStored || usage.Bodies > usage.BodyStored+usage.BodyStored/10 {
		t.Errorf("bodies of %d bytes take %d", usage.BodyStored, usage.Bodies)
	}
	if usage.File != info.Size() || usage.WAL != 0 {
		t.Errorf("the file has %d bytes and the side file none, said are %d and %d", info.Size(), usage.File, usage.WAL)
	}
	if usage.Entries < 3_000*100 || usage.Details < 3_000*50 || usage.Other <= 0 {
		t.Errorf("entries take %d, details %d, the rest %d", usage.Entries, usage.Details, usage.Other)
	}
	if len(usage.Sessions) != 2 || usage.Sessions[0] != (SessionUsage{Session: big.session, Bodies: 8, Original: 16 * pieceBytes, Stored: 16 * pieceBytes}) ||
		usage.Sessions[1].Session != small.session {
		t.Errorf("sessions are %+v", usage.Sessions)
	}
	// The small session's bodies are of years ago, behind the big ones in the
	// log: retention goes by the place in the log and stops at the first.
	if usage.Over.Bodies != 0 || usage.Next.N < 0 || usage.Next.At < time.Now().UnixMicro() || usage.PrunedAt != 0 {
		t.Errorf("retention removes %+v next, and then %+v", usage.Over, usage.Next)
	}
	if _, err := Prune(testContext(t), home, Policy{MaxBytes: 4 * pieceBytes}); err != nil {
		t.Fatal(err)
	}
	after, err := UsageOf(testContext(t), home, Policy{MaxAge: -1})
	if err != nil {
		t.Fatal(err)
	}
	if after.BodyCount >= usage.BodyCount || after.Free != 0 || after.Database > usage.Database/2 || after.PrunedAt == 0 || after.Next.At != 0 {
		t.Errorf("after pruning the usage is %+v", after)
	}
}

func TestAnEmptyJournalHasAUsageToo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	closeJournal(t, openJournal(t, home, Options{}))
	usage, err := UsageOf(testContext(t), home, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if usage.BodyCount != 0 || usage.Sessions != nil || usage.Next.N != -1 || usage.Over != (OverLimit{}) || usage.Policy.MaxBytes != defaultMaxBytes {
		t.Errorf("usage is %+v", usage)
	}
}

// usageNow is what the table of usage should have, by a look at every entry.
func usageNow(t *testing.T, home string) map[stretchKey]stretchUsage {
	t.Helper()
	rows, err := openReader(t, home).db.QueryContext(testContext(t), `
		SELECT e.session, e.n, e.at, length(e.leaf), coalesce(length(d.salt) + length(d.data), -1), coalesce(b.kept, -1), coalesce(b.stored, -1)
		FROM entries e LEFT JOIN details d ON d.n = e.n LEFT JOIN bodies b ON b.n = e.n`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sums := make(map[stretchKey]stretchUsage)
	for rows.Next() {
		var session, n, at, leaf, detail, kept, stored int64
		if err := rows.Scan(&session, &n, &at, &leaf, &detail, &kept, &stored); err != nil {
			t.Fatal(err)
		}
		u := sums[stretchKey{session, n / 4_096}]
		u.entries++
		u.leafBytes += leaf
		u.newest = max(u.newest, at)
		if detail >= 0 {
			u.details++
			u.detailBytes += detail
		}
		if kept >= 0 {
			u.bodies++
			u.kept += kept
			u.stored += stored
		}
		sums[stretchKey{session, n / 4_096}] = u
	}
	return sums
}

func storedUsage(t *testing.T, home string) map[stretchKey]stretchUsage {
	t.Helper()
	rows, err := openReader(t, home).db.QueryContext(testContext(t), "SELECT session, stretch, "+usageColumns+" FROM usage")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sums := make(map[stretchKey]stretchUsage)
	for rows.Next() {
		var key stretchKey
		var u stretchUsage
		if err := rows.Scan(append([]any{&key.session, &key.stretch}, u.targets()...)...); err != nil {
			t.Fatal(err)
		}
		sums[key] = u
	}
	return sums
}

func TestUsageFollowsWhatIsWrittenErasedAndPruned(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	var sessions []*recording
	for i := range 3 {
		r := recordAt(t, j, "raw")
		for n := range 2_000 { // so that the log has more than one stretch
			r.keepBytes(prose(20 + n%50))
		}
		if i == 1 {
			r.keepAt(time.Now(), 2*inlineBytes) // goes ahead of its entry
			r.keepBytes(nil)
		}
		sessions = append(sessions, r)
	}
	closeJournal(t, j)
	check := func(after string) {
		t.Helper()
		if diff := cmp.Diff(usageNow(t, home), storedUsage(t, home), cmp.AllowUnexported(stretchKey{}, stretchUsage{})); diff != "" {
			t.Errorf("after %s (-counted +stored):\n%s", after, diff)
		}
		if report := verify(t, home, VerifyOptions{}); !report.Intact() {
			t.Errorf("after %s: %+v", after, report.Findings)
		}
	}
	check("writing")
	if len(storedUsage(t, home)) < 4 {
		t.Error("the log is too short for this test")
	}
	if _, err := Erase(testContext(t), home, EraseRequest{Session: sessions[1].session, BodiesOnly: true}); err != nil {
		t.Fatal(err)
	}
	check("erasing the bodies of a session")
	if _, err := Prune(testContext(t), home, Policy{MaxAge: -1, MaxBytes: 100_000}); err != nil {
		t.Fatal(err)
	}
	check("pruning")
	if _, err := Erase(testContext(t), home, EraseRequest{Session: sessions[2].session}); err != nil {
		t.Fatal(err)
	}
	check("erasing a session")
}

func TestUsageForetellsWhatPruningTakes(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]Policy{
		"by age":                    {MaxAge: 30 * 24 * time.Hour, MaxBytes: -1},
		"by size":                   {MaxAge: -1, MaxBytes: 120_000},
		"by size, down to the last": {MaxAge: -1, MaxBytes: 1},
		"by both":                   {MaxAge: 30 * 24 * time.Hour, MaxBytes: 90_000},
		"nothing":                   {MaxAge: -1, MaxBytes: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, keepAll())
			old, new := recordAt(t, j, "raw"), recordAt(t, j, "raw")
			old.at, new.at = time.Now().Add(-31*24*time.Hour).UnixMicro(), time.Now().UnixMicro()
			for n := range 7_000 {
				switch {
				case n > 5_000 && n%2 == 0, n > 6_000: // the two lie among each other
					new.keepBytes(noise(50))
				default:
					old.keepBytes(noise(n % 40)) // some are empty
				}
			}
			closeJournal(t, j)
			before, err := UsageOf(testContext(t), home, policy)
			if err != nil {
				t.Fatal(err)
			}
			pruned, err := Prune(testContext(t), home, policy)
			if err != nil {
				t.Fatal(err)
			}
			if before.Over.Bodies != pruned.Bodies {
				t.Errorf("%d bodies were to go, and %d went", before.Over.Bodies, pruned.Bodies)
			}
			after, err := UsageOf(testContext(t), home, policy)
			if err != nil {
				t.Fatal(err)
			}
			if before.BodyStored-after.BodyStored != before.Over.Stored || before.BodyCount-after.BodyCount != before.Over.Bodies {
				t.Errorf("%+v were to go, and %d bodies with %d bytes are gone", before.Over, before.BodyCount-after.BodyCount, before.BodyStored-after.BodyStored)
			}
			if after.Over != (OverLimit{}) || after.Next.N != before.Next.N {
				t.Errorf("then %+v are still to go, and the oldest that stays is %d, said was %d", after.Over, after.Next.N, before.Next.N)
			}
		})
	}
}
