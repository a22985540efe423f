package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"
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
	if usage.Entries < 3_000*100 || usage.Details < 3_000*50 || usage.Other == 0 {
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
