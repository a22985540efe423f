package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// recordAt begins a session of a capture level.
func recordAt(t testing.TB, j *Journal, capture string) *recording {
	t.Helper()
	r := &recording{t: t, ctx: testContext(t), journal: j, session: newSession(), at: 1_700_000_000_000_000}
	r.append(&entry.Entry{Kind: entry.KindSession, Capture: capture}, &entry.Detail{Label: "shop"})
	return r
}

// keep appends an entry with a body, which is the message just as it is.
func (r *recording) keep(e *entry.Entry, d *entry.Detail, b *Body) int64 {
	r.t.Helper()
	e.Session, e.Seq, e.At = r.session, r.seq, r.at
	if err := r.journal.AppendBody(r.ctx, e, d, b); err != nil {
		r.t.Fatalf("append %s with a body: %v", e.Kind, err)
	}
	if e.From == "client" {
		r.client += e.Bytes
	} else {
		r.server += e.Bytes
	}
	r.seq++
	r.at += 1_000
	return e.Seq
}

func (r *recording) keepBytes(kept []byte) int64 {
	r.t.Helper()
	return r.keep(&entry.Entry{Kind: entry.KindNotification, From: "server", Bytes: int64(len(kept))}, &entry.Detail{Method: text("x")}, &Body{Bytes: kept})
}

func (r *recording) keepSpill(kept io.Reader) int64 {
	r.t.Helper()
	spill, err := r.journal.NewSpill()
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.Copy(spill, kept); err != nil {
		r.t.Fatal(err)
	}
	return r.keep(&entry.Entry{Kind: entry.KindNotification, From: "server", Bytes: spill.Size()}, &entry.Detail{Method: text("x")}, &Body{Spill: spill})
}

// noise are bytes that cannot be compressed, prose such that can.
func noise(n int) []byte {
	b := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	source.Read(b)
	return b
}

func prose(n int) []byte {
	return bytes.Repeat([]byte(`{"order":"A-1001","state":"refunded"} `), n/38+1)[:n]
}

func readBody(t testing.TB, r *Reader, n int64) ([]byte, BodyInfo) {
	t.Helper()
	stream, info, err := r.Body(testContext(t), n)
	if err != nil {
		t.Fatalf("body of entry %d: %v", n, err)
	}
	defer stream.Close()
	got, err := io.ReadAll(stream)
	if err != nil {
		t.Fatalf("read body of entry %d: %v", n, err)
	}
	return got, info
}

func intact(t testing.TB, home string) VerifyReport {
	t.Helper()
	report := verify(t, home, VerifyOptions{})
	if !report.Intact() {
		t.Fatalf("findings: %+v", report.Findings)
	}
	return report
}

func TestABodyOfAnySizeIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	var want [][]byte
	for _, size := range []int{0, 1, worthPacking, 1_000, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3*pieceBytes + 5} {
		want = append(want, prose(size), noise(size), prose(size), noise(size))
		r.keepBytes(prose(size))
		r.keepBytes(noise(size))
		r.keepSpill(bytes.NewReader(prose(size)))
		r.keepSpill(bytes.NewReader(noise(size)))
	}
	r.end(0)
	closeJournal(t, j)
	reader := openReader(t, home)
	var all int64
	for i, kept := range want {
		got, info := readBody(t, reader, int64(i+1))
		if !bytes.Equal(got, kept) {
			t.Errorf("body %d of %d bytes came back with %d, or changed", i, len(kept), len(got))
		}
		if info.Kept != int64(len(kept)) || info.Omitted != 0 || (len(kept) > 1000 && i%2 == 0 && info.Stored > info.Kept/2) {
			t.Errorf("body %d is said to have %+v", i, info)
		}
		all += int64(len(kept))
	}
	report := intact(t, home)
	if report.Bodies != int64(len(want)) || report.BodyBytes != all || report.ExactBytes != all || report.SeenBytes != all {
		t.Errorf("%d bodies of %d bytes, %d of %d exact; want %d of %d", report.Bodies, report.BodyBytes, report.ExactBytes, report.SeenBytes, len(want), all)
	}
	if left, _ := filepath.Glob(filepath.Join(home, spillPrefix+"*")); left != nil {
		t.Errorf("spill files are left: %v", left)
	}
}

func TestWhatWasLeftOutIsSaidAndIsNotExact(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keep(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1_000}, nil, &Body{Bytes: []byte("headtail"), Head: 4, Omitted: 992})
	r.keepBytes([]byte("whole"))
	r.end(0)
	redacted := recordAt(t, j, "redacted")
	redacted.keepBytes([]byte("the same size as on the wire, and still not exact"))
	redacted.end(0)
	closeJournal(t, j)
	got, info := readBody(t, openReader(t, home), 1)
	if string(got) != "headtail" || info.Head != 4 || info.Omitted != 992 || info.Kept != 8 {
		t.Errorf("the body is %q, %+v", got, info)
	}
	if report := intact(t, home); report.ExactBytes != 5 {
		t.Errorf("%d bytes are exact, not 5", report.ExactBytes)
	}
}

func TestABodyIsBoundByTheSaltAndHashThatTheCallerKnows(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	salt := [entry.SaltBytes]byte{7}
	hash := entry.Hash(sha256.Sum256(append(salt[:], "hello"...)))
	r.keep(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 5, Wire: hash}, nil, &Body{Bytes: []byte("hello"), Size: 5, Salt: salt, Hash: hash})
	closeJournal(t, j)
	if _, info := readBody(t, openReader(t, home), 1); info.Hash != hash {
		t.Errorf("the hash is %s, not %s", info.Hash, hash)
	}
	intact(t, home)
}

func TestBodiesThatContradictThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), Options{})
	defer closeJournal(t, j)
	r := recordAt(t, j, "raw")
	spill, err := j.NewSpill()
	if err != nil {
		t.Fatal(err)
	}
	defer spill.Close()
	for name, body := range map[string]*Body{
		"given twice":                     {Bytes: []byte("x"), Spill: spill},
		"of another size than said":       {Bytes: []byte("x"), Size: 2},
		"with a head and nothing omitted": {Bytes: []byte("x"), Head: 1},
		"with a head beyond its end":      {Bytes: []byte("x"), Head: 2, Omitted: 1},
		"with a negative number left out": {Bytes: []byte("x"), Omitted: -1},
	} {
		e := &entry.Entry{Kind: entry.KindNoise, From: "server", Session: r.session, Seq: 1, At: 1}
		if err := j.AppendBody(testContext(t), e, nil, body); !errors.As(err, new(*entry.Error)) {
			t.Errorf("a body %s is answered by %v", name, err)
		}
	}
	e := &entry.Entry{Kind: entry.KindGap, Reason: "observer_behind", Session: r.session, Seq: 1, At: 1}
	if err := j.AppendBody(testContext(t), e, nil, &Body{Bytes: []byte("x")}); !errors.As(err, new(*entry.Error)) {
		t.Errorf("a gap with a body is answered by %v", err)
	}
}

func TestAskingForABodyThatIsNotThereSaysWhy(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepBytes([]byte("x"))
	closeJournal(t, j)
	if _, err := Erase(testContext(t), home, EraseRequest{All: true, BodiesOnly: true}); err != nil {
		t.Fatal(err)
	}
	reader := openReader(t, home)
	for n, want := range map[int64]error{0: ErrNoBody, 1: ErrErased, 99: ErrNotFound} {
		if _, _, err := reader.Body(testContext(t), n); !errors.Is(err, want) {
			t.Errorf("the body of entry %d gives %v, not %v", n, err, want)
		}
	}
}

func TestABodyThatIsErasedWhileItIsReadEndsWithThat(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepSpill(bytes.NewReader(noise(5 * pieceBytes)))
	closeJournal(t, j)
	stream, _, err := openReader(t, home).Body(testContext(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := io.ReadFull(stream, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := Erase(testContext(t), home, EraseRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stream); !errors.Is(err, ErrErased) {
		t.Errorf("reading on gives %v", err)
	}
}

func TestEveryKindOfTamperingWithBodiesIsFound(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepBytes([]byte("a small one, entry 1"))
	r.keepBytes([]byte("another one, entry 2"))
	r.keepSpill(bytes.NewReader(noise(3*pieceBytes + 1))) // entry 3
	r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, nil)
	r.keepBytes([]byte("to be erased, entry 5"))
	r.end(0)
	closeJournal(t, j)
	if _, err := Erase(testContext(t), home, EraseRequest{Session: r.session, BodiesOnly: true, DryRun: true}); err != nil {
		t.Fatal(err)
	}
	erased := copyHome(t, home)
	if _, err := Erase(testContext(t), erased, EraseRequest{All: true}); err != nil {
		t.Fatal(err)
	}
	intact(t, home)
	intact(t, erased)
	const idOf3 = "(SELECT id FROM bodies WHERE n = 3)"
	for _, test := range []struct {
		name   string
		home   string
		change func(*sql.DB) error
		at     int64
		says   string
	}{
		{"a deleted body", home, run("DELETE FROM pieces WHERE key >> 20 = (SELECT id FROM bodies WHERE n = 1)", "DELETE FROM bodies WHERE n = 1"), 1, "body is missing, and no entry says"},
		{"a body without its row", home, run("DELETE FROM bodies WHERE n = 1"), -1, "belong to no entry"},
		{"a body without its pieces", home, run("DELETE FROM pieces WHERE key >> 20 = (SELECT id FROM bodies WHERE n = 1)"), 1, "body is not the one"},
		{"two swapped pieces", home, run("UPDATE pieces SET key = -1 WHERE key = "+idOf3+" << 20", "UPDATE pieces SET key = "+idOf3+" << 20 WHERE key = ("+idOf3+" << 20) + 1", "UPDATE pieces SET key = ("+idOf3+" << 20) + 1 WHERE key = -1"), 3, "body is not the one"},
		{"a missing piece at the end", home, run("DELETE FROM pieces WHERE key = (" + idOf3 + " << 20) + 3"), 3, "body is not the one"},
		{"a piece that was added", home, run("INSERT INTO pieces VALUES ((" + idOf3 + " << 20) + 4, 0, x'00')"), 3, "body is not the one"},
		{"an empty piece that was added", home, run("INSERT INTO pieces VALUES (("+idOf3+" << 20) + 4, 0, x'')", "INSERT INTO pieces VALUES (("+idOf3+" << 20) + 5, 0, x'78')"), 3, "body is not the one"},
		{"an edited piece", home, run("UPDATE pieces SET data = CAST('A small one, entry 1' AS BLOB) WHERE key = (SELECT id FROM bodies WHERE n = 1) << 20"), 1, "body is not the one"},
		{"a piece that is no zstd", home, run("UPDATE pieces SET packed = 1 WHERE key = (SELECT id FROM bodies WHERE n = 1) << 20"), 1, "body is not the one"},
		{"two swapped bodies", home, run("UPDATE bodies SET n = 99 WHERE n = 1", "UPDATE bodies SET n = 1 WHERE n = 2", "UPDATE bodies SET n = 2 WHERE n = 99"), 1, "body is not the one"},
		{"an edited salt", home, run("UPDATE bodies SET salt = zeroblob(32) WHERE n = 1"), 1, "body is not the one"},
		{"a wrong count of kept bytes", home, run("UPDATE bodies SET kept = kept + 1 WHERE n = 1"), 1, "body is not the one"},
		{"a wrong count of stored bytes", home, run("UPDATE bodies SET stored = stored + 1 WHERE n = 1"), 1, "body is not the one"},
		{"a body that was added", home, run("INSERT INTO bodies VALUES (4, zeroblob(32), 9, 1, 1)"), 4, "the entry has none"},
		{"a body behind the log", home, run("INSERT INTO bodies VALUES (99, zeroblob(32), 9, 1, 1)"), 99, "outside the log"},
		{"pieces of nothing", home, run("INSERT INTO pieces VALUES (99 << 20, 0, x'00')"), -1, "belong to no entry"},
		{"an erased body that came back", erased, run("INSERT INTO bodies VALUES (5, zeroblob(32), 9, 1, 1)"), 5, "says that it was erased"},
		{"an erased detail that came back", erased, run("INSERT INTO details VALUES (5, zeroblob(32), x'7b7d')"), 5, "says that it was erased"},
		{"a list of erased entries that is gone", erased, run("DELETE FROM erasures"), 7, "list of what it erased is missing"},
		{"details whose erasure is not believed", erased, run("DELETE FROM erasures"), 3, "no entry says that it was erased"},
		{"a list that was edited", erased, run("UPDATE erasures SET list = x'0004'"), 7, "not the one that was recorded"},
		{"a list that is no list", erased, run("UPDATE erasures SET list = x'ff'"), 7, "is not valid"},
		{"a list without an erasure", erased, run("INSERT INTO erasures VALUES (3, x'0100')"), 3, "no entry that erased"},
		{"a deletion of details behind a list of one's own", home, run("DELETE FROM details WHERE n = 3", "UPDATE entries SET method = NULL WHERE n = 3", "INSERT INTO erasures VALUES (6, x'0300')"), 3, "no entry says that it was erased"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			copied := copyHome(t, test.home)
			tamper(t, copied, test.change)
			report := verify(t, copied, VerifyOptions{})
			for _, finding := range report.Findings {
				if strings.Contains(finding.What, test.says) && finding.N == test.at {
					return
				}
			}
			t.Errorf("no finding at %d says %q: %+v", test.at, test.says, report.Findings)
		})
	}
}

func TestAStreamOfAnAlteredBodyDoesNotEndAsIfItWereWhole(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepBytes([]byte("ten euros "))
	closeJournal(t, j)
	for _, change := range []string{
		"UPDATE pieces SET data = CAST('ten pounds' AS BLOB)", "UPDATE pieces SET data = x'00'", "UPDATE pieces SET data = x''",
		"UPDATE pieces SET data = zeroblob(11)", "UPDATE pieces SET packed = 1", "DELETE FROM pieces",
	} {
		copied := copyHome(t, home)
		tamper(t, copied, run(change))
		stream, _, err := openReader(t, copied).Body(testContext(t), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(stream); !errors.Is(err, ErrBodyAltered) {
			t.Errorf("after %s the stream ends with %v", change, err)
		}
		stream.Close()
	}
}

func TestABodyThatFailsToCommitIsTriedAgainAndNeitherLostNorDoubled(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk says no")
	for _, test := range []struct {
		name   string
		commit func(commit func() error) error
	}{
		{"failed, and not kept", func(func() error) error { return broken }},
		{"failed, but kept", func(commit func() error) error { return errors.Join(commit(), broken) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			var tries atomic.Int64
			j, err := open(home, Options{Retention: Policy{MaxAge: -1}}, &faults{commit: func(commit func() error) error {
				if tries.Add(1)%2 == 0 {
					return test.commit(commit)
				}
				return commit()
			}})
			if err != nil {
				t.Fatal(err)
			}
			r := recordAt(t, j, "raw")
			big := noise(7 * pieceBytes)
			r.keepSpill(bytes.NewReader(big))
			r.keepBytes([]byte("small"))
			r.keepBytes(big)
			r.end(0)
			closeJournal(t, j)
			if report := intact(t, home); report.Bodies != 3 || report.Entries != 5 {
				t.Errorf("%d bodies in %d entries, want 3 in 5", report.Bodies, report.Entries)
			}
			tamper(t, home, func(db *sql.DB) error {
				var pieces, loose int
				err := db.QueryRow("SELECT (SELECT count(*) FROM pieces), (SELECT count(*) FROM loose)").Scan(&pieces, &loose)
				if pieces != 15 || loose != 0 {
					t.Errorf("%d pieces and %d loose ones, want 15 and 0", pieces, loose)
				}
				return err
			})
		})
	}
}

func TestWhatAKilledRecorderStagedIsSweptAfterADay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepBytes([]byte("x"))
	closeJournal(t, j)
	tamper(t, home, run(
		"INSERT INTO pieces VALUES (70 << 20, 0, zeroblob(100000)), ((70 << 20) + 1, 0, zeroblob(100000)), (71 << 20, 0, x'00')",
		"INSERT INTO loose VALUES (70, 1, 1), (71, 2, 9000000000000000)"))
	intact(t, home) // they are no finding: they wait for their entry
	if err := os.WriteFile(filepath.Join(home, "spill-0123.tmp"), []byte("left behind"), 0o600); err != nil {
		t.Fatal(err)
	}
	j = openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	j.writer.pruner.grace = time.Minute
	record(t, j, newSession()).end(0)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	tamper(t, home, func(db *sql.DB) error {
		var left string
		err := db.QueryRow("SELECT group_concat(key >> 20) FROM pieces WHERE key >> 20 > 60").Scan(&left)
		if left != "71" {
			t.Errorf("pieces of %s are left, want those of 71", left)
		}
		return err
	})
	if left, _ := filepath.Glob(filepath.Join(home, spillPrefix+"*")); left != nil {
		t.Errorf("spill files are left: %v", left)
	}
	intact(t, home)
}

func TestABodyLeavesMemoryAlone(t *testing.T) {
	// Not parallel: it looks at the memory of the whole process.
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	const size = 96 << 20
	var most atomic.Uint64
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most.Store(max(most.Load(), m.HeapAlloc))
	}
	runtime.GC()
	look()
	before := most.Load()
	r.keepSpill(io.LimitReader(rand.NewChaCha8([32]byte{2}), size))
	done := make(chan error, 1)
	go func() { done <- j.Sync(testContext(t)) }()
	for waiting := true; waiting; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		default:
			look()
		}
	}
	closeJournal(t, j)
	stream, _, err := openReader(t, home).Body(testContext(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if n, err := io.Copy(io.Discard, stream); n != size || err != nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
	look()
	if grown := int64(most.Load()) - int64(before); grown > size/2 {
		t.Errorf("the heap grew by %d bytes for a body of %d", grown, size)
	}
	intact(t, home)
}

func TestOthersWriteWhileABigBodyIsStaged(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	other := openJournal(t, home, Options{Retention: Policy{MaxAge: -1}})
	r := recordAt(t, j, "raw")
	r.keepSpill(bytes.NewReader(noise(48 * pieceBytes)))
	synced := make(chan error, 1)
	go func() { synced <- j.Sync(testContext(t)) }()
	quick := record(t, other, newSession())
	between := 0
	for waiting := true; waiting; {
		quick.request("x", 1)
		if err := other.Sync(testContext(t)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-synced:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		default:
			between++
		}
	}
	t.Logf("another recorder got in %d times", between)
	if between < 5 {
		t.Errorf("another recorder got in %d times while 48 MiB were written", between)
	}
	quick.end(quick.seq - 1)
	r.end(0)
	closeJournal(t, j)
	closeJournal(t, other)
	intact(t, home)
}

func TestWhatComesBackFromPackingIsWhatWentIn(t *testing.T) {
	t.Parallel()
	var p packer
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 3_000).Draw(t, "raw")
		raw = bytes.Repeat(raw, rapid.IntRange(1, 20).Draw(t, "times"))
		packed := p.pack(raw)
		if len(packed.data) > len(raw) {
			t.Fatalf("%d bytes became %d", len(raw), len(packed.data))
		}
		var u unpacker
		defer u.close()
		got, err := u.unpack(packed.data, packed.packed)
		if err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("%d bytes came back as %d, %v", len(raw), len(got), err)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	var p packer
	f.Add(p.pack(prose(5_000)).data)
	f.Add(p.pack(make([]byte, pieceBytes)).data)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, data []byte) {
		var u unpacker
		defer u.close()
		if raw, err := u.unpack(data, true); err == nil && len(raw) > pieceBytes {
			t.Errorf("a piece of %d bytes came out", len(raw))
		}
	})
}

func BenchmarkBodies(b *testing.B) {
	for _, one := range []struct {
		name string
		make func(int) []byte
		size int
	}{
		{"prose of 4 KiB", prose, 4 << 10},
		{"noise of 4 KiB", noise, 4 << 10},
		{"prose of 64 KiB", prose, 64 << 10},
		{"noise of 64 KiB", noise, 64 << 10},
		{"prose of 64 MiB", prose, 64 << 20},
		{"noise of 64 MiB", noise, 64 << 20},
	} {
		b.Run(one.name, func(b *testing.B) {
			kept := one.make(one.size)
			b.SetBytes(int64(len(kept)))
			j := openJournal(b, b.TempDir(), Options{Retention: Policy{MaxAge: -1}})
			r := recordAt(b, j, "raw")
			r.ctx = context.Background()
			for b.Loop() {
				if len(kept) > pieceBytes {
					r.keepSpill(bytes.NewReader(kept))
				} else {
					r.keepBytes(kept)
				}
			}
			if err := j.Sync(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			closeJournal(b, j)
		})
	}
}
