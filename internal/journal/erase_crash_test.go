package journal

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestAListOfErasedEntriesComesBackAndHashesAsThePageSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfNDistinct(rapid.Int64Range(0, 300), 1, 200, rapid.ID[int64]).Draw(t, "numbers")
		slices.Sort(numbers)
		var list entry.List
		var flat []byte
		for _, n := range numbers {
			list.Add(n)
			flat = binary.BigEndian.AppendUint64(flat, uint64(n))
		}
		if list.Hash() != entry.Hash(sha256.Sum256(flat)) || list.Count() != int64(len(numbers)) {
			t.Fatalf("%v has another hash or count", numbers)
		}
		again, err := entry.DecodeList(list.Encode(), numbers[len(numbers)-1]+1)
		if err != nil || !slices.Equal(again, list) {
			t.Fatalf("%v came back as %v, %v", list, again, err)
		}
		if _, err := entry.DecodeList(list.Encode(), numbers[len(numbers)-1]); err == nil {
			t.Fatal("a list that reaches beyond its limit was read")
		}
	})
}

func FuzzEraseList(f *testing.F) {
	f.Add([]byte{0, 4, 1, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := entry.DecodeList(b, 1_000)
		if err != nil {
			return
		}
		last := int64(-2)
		for _, r := range list {
			if r.First <= last+1 || r.Last < r.First || r.Last >= 1_000 {
				t.Fatalf("%v is not sorted stretches below 1,000", list)
			}
			last = r.Last
		}
	})
}

// childErases records and erases, and says so, until it is killed.
func childErases(home string) {
	j, err := Open(home, keepAll())
	childMust(err)
	out := bufio.NewWriter(os.Stdout)
	ctx := context.Background()
	for i := 0; ; i++ {
		session := newSession()
		seq := int64(0)
		add := func(e entry.Entry, b *Body) {
			e.Session, e.Seq, e.At = session, seq, time.Now().UnixMicro()
			childMust(j.AppendBody(ctx, &e, &entry.Detail{Note: "something of a usual size, so that pages fill up"}, b))
			seq++
		}
		add(entry.Entry{Kind: entry.KindSession, Capture: "raw"}, nil)
		spill, err := j.NewSpill()
		childMust(err)
		_, err = spill.Write(noise(pieceBytes + 700_000))
		childMust(err)
		add(entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: spill.Size()}, &Body{Spill: spill})
		for k := range 10 {
			add(entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 3}, &Body{Bytes: noise(k * 5_000)})
		}
		if i%2 == 0 {
			childMust(j.Sync(ctx))
		} else {
			waitCommitted(j)
		}
		fmt.Fprintln(out, "kept", session, seq-1)
		childMust(out.Flush())
		if i%3 == 2 {
			continue
		}
		_, err = Erase(ctx, home, EraseRequest{Session: session, BodiesOnly: i%3 == 0})
		childMust(err)
		if i%3 == 1 {
			fmt.Fprintln(out, "erased", session, seq-1)
			childMust(out.Flush())
		}
	}
}

func TestAJournalVerifiesWhenRecordersOfBodiesAndErasersAreKilled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	kept, erased := make(map[string]int64), make(map[string]bool)
	for round := range (killPoints() + 3) / 4 { // each child is killed after several sessions
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i := range 2 {
			child, lines := startChild(t, "erases", home)
			after := 4 - (2*round+i)%4 // the third line of each child is of an erasure
			spin := time.Duration(rand.IntN(30_000)) * time.Microsecond
			wait.Go(func() {
				said := 0
				for lines.Scan() {
					var what, session string
					var seq int64
					if _, err := fmt.Sscan(lines.Text(), &what, &session, &seq); err != nil {
						t.Errorf("child said %q", lines.Text())
					}
					mu.Lock()
					if what == "kept" {
						kept[session] = seq
					} else {
						erased[session] = true
					}
					mu.Unlock()
					if said++; said == after {
						time.AfterFunc(spin, func() { child.Process.Kill() })
					}
				}
				if err := child.Wait(); said < after {
					t.Errorf("child ended by itself: %v", err)
				}
			})
		}
		wait.Wait()
		if report := verify(t, home, VerifyOptions{}); !report.Intact() {
			t.Fatalf("after round %d: %+v", round, report.Findings)
		}
	}
	there, details := make(map[string]int64), make(map[string]int)
	if err := openReader(t, home).Records(testContext(t), 0, func(record Record) error {
		there[record.Entry.Session] = record.Entry.Seq
		if record.Detail != nil {
			details[record.Entry.Session]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for session, seq := range kept {
		if there[session] < seq {
			t.Errorf("session %s was committed up to %d and holds %d", session, seq, there[session])
		}
		if erased[session] && details[session] > 0 {
			t.Errorf("session %s was erased and has %d details", session, details[session])
		}
	}
	// What erasers that were killed left lying is taken by the next.
	eraseNow(t, home, EraseRequest{Before: 1})
	tamper(t, home, func(db *sql.DB) error {
		var left int
		err := db.QueryRow("SELECT count(*) FROM loose WHERE since = 0").Scan(&left)
		if left > 0 {
			t.Errorf("%d erased bodies still lie there", left)
		}
		return err
	})
	t.Logf("%d sessions kept, %d erased", len(kept), len(erased))
	if len(erased) == 0 || strings.Join(filesWith(t, home, "spill"), "") != "" {
		t.Errorf("nothing was erased, or something odd is there")
	}
}
