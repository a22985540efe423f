package journal

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// TestManyErasuresInAnyOrderLeaveNoCopyInThePages has SQLite move rows between
// pages again and again.
func TestManyErasuresInAnyOrderLeaveNoCopyInThePages(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	random := rand.New(rand.NewPCG(1, 2))
	var calls []int64
	for i := range 300 {
		for range random.IntN(3) {
			r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, &entry.Detail{Note: "a note that says little"})
		}
		calls = append(calls, r.secretCall(i, random.IntN(1_000)))
	}
	r.end(0)
	closeJournal(t, j)
	e, err := openEraser(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	// Step by step as Erase does it, and what comes after once for all of them.
	var gone []string
	for _, i := range random.Perm(len(calls))[:len(calls)/2] {
		e.begin(entry.ScopeCall, entry.ErasedAll)
		next, err := e.find(testContext(t), EraseRequest{Session: r.session, Seq: calls[i]})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.eraseAll(testContext(t), next, false); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, secret(i))
	}
	if err := e.finish(testContext(t), true); err != nil {
		t.Fatal(err)
	}
	if found := filesWith(t, home, gone...); found != nil {
		t.Errorf("%d erased secrets are still on disk: %v", len(found), found)
	}
	tamper(t, home, func(db *sql.DB) error {
		var answer string
		err := db.QueryRow("PRAGMA integrity_check").Scan(&answer)
		if answer != "ok" {
			t.Errorf("the database is damaged: %s", answer)
		}
		return err
	})
	intact(t, home)
}

// TestACopyThatSQLiteLeftBehindIsCleared plants one where SQLite now and then
// leaves one: in the unused part of a page that has rows of others.
func TestACopyThatSQLiteLeftBehindIsCleared(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	call := r.secretCall(1, 10)
	r.secretCall(2, 10)
	closeJournal(t, j)
	tamper(t, home, func(db *sql.DB) error {
		var number int64
		var page []byte
		err := db.QueryRow("SELECT p.pgno, p.data FROM dbstat s JOIN sqlite_dbpage p ON p.pgno = s.pageno WHERE s.name = 'details' AND s.pagetype = 'leaf'").
			Scan(&number, &page)
		if err != nil {
			return err
		}
		parts := unusedParts(page)
		copy(page[parts[0].first:parts[0].last], "a copy of "+secret(1))
		_, err = db.Exec("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number)
		return err
	})
	intact(t, home)
	if filesWith(t, home, "a copy of "+secret(1)) == nil {
		t.Fatal("nothing was planted, so that this test shows nothing")
	}
	eraseNow(t, home, EraseRequest{Session: r.session, Seq: call})
	if found := filesWith(t, home, secret(1)); found != nil {
		t.Errorf("erased secrets are still on disk: %v", found)
	}
	if filesWith(t, home, secret(2)) == nil {
		t.Error("what was not erased is gone")
	}
	intact(t, home)
}

func TestTheUnusedPartsOfAPageAreThoseWithoutRows(t *testing.T) {
	t.Parallel()
	// Two rows at 400 and 480, a hole of 20 bytes between them.
	page := make([]byte, 512)
	page[0] = 0x0d
	put := func(at, value int) { binary.BigEndian.PutUint16(page[at:], uint16(value)) }
	put(1, 440)
	put(3, 2)
	put(5, 400)
	put(440, 0)
	put(442, 20)
	if got := fmt.Sprint(unusedParts(page)); got != "[{12 400} {444 460}]" {
		t.Errorf("a leaf has unused %s", got)
	}
	page[0] = 0x05
	if got := fmt.Sprint(unusedParts(page)); got != "[{16 400} {444 460}]" {
		t.Errorf("an inner page has unused %s", got)
	}
	for name, change := range map[string]func(){
		"of another kind":                  func() { page[0] = 0 },
		"with more rows than it can have":  func() { put(3, 300) },
		"with rows behind its end":         func() { put(5, 600) },
		"with a hole in front of its rows": func() { put(1, 100) },
		"with a hole behind its end":       func() { put(1, 510) },
		"with a hole that never ends":      func() { put(440, 440) },
		"with a hole too small to be one":  func() { put(442, 3) },
	} {
		before := append([]byte(nil), page...)
		change()
		if parts := unusedParts(page); parts != nil {
			t.Errorf("a page %s has unused %v", name, parts)
		}
		copy(page, before)
	}
}

func TestPagesThatAreNoTableAreLeftAlone(t *testing.T) {
	t.Parallel()
	// 4,096 bytes a page: a page of pointers before each 819 others, and the
	// page with the lock byte at 1 GiB is none.
	l := pageLayout{pages: 1 << 20, size: 4_096, autoVacuum: 2}
	for number, table := range map[int64]bool{
		1: false, 2: false, 3: true, 821: true, 822: false, 823: true, 1_642: false, 262_145: false,
	} {
		if l.isTable(number) != table {
			t.Errorf("page %d is taken for a table's: %v", number, !table)
		}
	}
	if l.autoVacuum = 0; !l.isTable(2) {
		t.Error("without automatic vacuum, page 2 is a table's")
	}
}

func FuzzUnusedParts(f *testing.F) {
	f.Add([]byte{0x0d, 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, head []byte) {
		page := make([]byte, 4_096)
		copy(page, head)
		last := int64(8)
		for _, part := range unusedParts(page) {
			if part.first < last || part.last < part.first || part.last > int64(len(page)) {
				t.Fatalf("part %v after %d of a page of %d bytes", part, last, len(page))
			}
			last = part.last
		}
	})
}

// Two may erase at a time: pages that one found to be unclean, the other may have
// given back before the first has the lock.
func TestAPageThatWasGivenBackMeanwhileIsPassedOver(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	recordAt(t, j, "raw").secretCall(1, 3_000)
	closeJournal(t, j)
	e, err := openEraser(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if err := e.transact("NORMAL", func() error {
		layout, err := e.readLayout(testContext(t))
		if err != nil {
			return err
		}
		return e.scrubPage(layout.pages + 1)
	}); err != nil {
		t.Fatalf("a page beyond the end: %v", err)
	}
}
