package tap

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/wire"
)

// send does what the wire does with one chunk that is written whole.
func send(b *Buffer, from wire.Direction, data string) wire.Place {
	p := b.Offer(from, []byte(data))
	b.Settle(p, len(data))
	return p
}

// drain reads all events until the buffer is shut, with copies of their data.
func drain(t testing.TB, b *Buffer) []Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var all []Event
	for {
		ev, err := b.Next(ctx)
		if errors.Is(err, ErrShut) {
			return all
		}
		if err != nil {
			t.Fatalf("next event: %v", err)
		}
		ev.Data = bytes.Clone(ev.Data)
		all = append(all, ev)
	}
}

func TestAnAnswerThatSettlesFirstStillComesAfterItsQuestion(t *testing.T) {
	t.Parallel()
	b := New(DefaultLimit)
	question := []byte("question\n")
	p := b.Offer(wire.FromClient, question) // its write is not done yet
	send(b, wire.FromServer, "answer\n")
	ev, err := b.Next(t.Context())
	if err != nil || string(ev.Data) != "question\n" {
		t.Fatalf("first event is %q, %v; want the question", ev.Data, err)
	}
	ev, err = b.Next(t.Context())
	if err != nil || string(ev.Data) != "answer\n" {
		t.Fatalf("second event is %q, %v; want the answer", ev.Data, err)
	}
	b.Settle(p, len(question))
	b.Shut()
	if rest := drain(t, b); len(rest) != 0 {
		t.Fatalf("the question came twice: %v", rest)
	}
	if n := b.Undelivered(wire.FromClient); n != 0 {
		t.Fatalf("%d bytes count as undelivered, want 0", n)
	}
}

func TestWhatTheOtherSideDidNotTakeIsCounted(t *testing.T) {
	t.Parallel()
	b := New(DefaultLimit)
	p := b.Offer(wire.FromClient, []byte("0123456789"))
	b.Settle(p, 4)
	early := b.Offer(wire.FromClient, []byte("abcdef"))
	send(b, wire.FromServer, "x")
	for range 3 {
		if _, err := b.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.Settle(early, 2)
	b.Close(wire.FromClient, 5)
	b.Shut()
	drain(t, b)
	// Of the first chunk only what was written was kept; the second was seen
	// before it failed; five more were held elsewhere.
	if n := b.Undelivered(wire.FromClient); n != 4+5 {
		t.Fatalf("%d bytes count as undelivered, want 9", n)
	}
}

func TestAStalledObserverCostsABoundedAmountOfMemoryAndLeavesAGap(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	b := New(limit)
	chunk := bytes.Repeat([]byte("a line\n"), 1000)
	const chunks = 5000
	for range chunks {
		p := b.Offer(wire.FromServer, chunk)
		b.Settle(p, len(chunk))
	}
	if got := b.slots.len(); got > limit/len(chunk)+2 {
		t.Fatalf("%d slots are held after a flood, want at most %d", got, limit/len(chunk)+2)
	}
	b.Shut()
	var kept, lost, lines int64
	var gaps int
	for _, ev := range drain(t, b) {
		kept += int64(len(ev.Data))
		lost += ev.GapBytes
		lines += ev.GapLines
		if ev.Gap {
			gaps++
		}
	}
	if kept+lost != int64(chunks*len(chunk)) {
		t.Fatalf("kept %d and lost %d bytes of %d", kept, lost, chunks*len(chunk))
	}
	if gaps != 1 || lines != lost/int64(len("a line\n")) {
		t.Fatalf("%d gaps with %d lines for %d lost bytes", gaps, lines, lost)
	}
	if kept > limit {
		t.Fatalf("kept %d bytes, more than the limit of %d", kept, limit)
	}
}

func TestAFloodOfSingleBytesIsBoundedToo(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	b := New(limit)
	for range 100_000 {
		send(b, wire.FromClient, "x")
		send(b, wire.FromServer, "y")
	}
	if got := b.slots.len(); got > limit/slotCost+4 {
		t.Fatalf("%d slots are held, want at most %d", got, limit/slotCost+4)
	}
}

func TestAfterAGapRecordingGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	b := New(1000)
	for range 5 {
		send(b, wire.FromServer, string(make([]byte, 400)))
	}
	for range 2 {
		if _, err := b.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if ev, err := b.Next(t.Context()); err != nil || !ev.Gap || ev.GapBytes != 3*400 {
		t.Fatalf("third event is %+v, %v; want a gap of 1200 bytes", ev, err)
	}
	send(b, wire.FromServer, "again")
	if ev, err := b.Next(t.Context()); err != nil || string(ev.Data) != "again" {
		t.Fatalf("after the gap came %+v, %v", ev, err)
	}
}

func TestNothingIsAddedAfterTheEnd(t *testing.T) {
	t.Parallel()
	b := New(DefaultLimit)
	p := b.Offer(wire.FromClient, []byte("in flight"))
	b.Shut()
	b.Settle(p, 9)
	send(b, wire.FromClient, "late")
	b.Close(wire.FromClient, 3)
	events := drain(t, b)
	if len(events) != 1 || string(events[0].Data) != "in flight" {
		t.Fatalf("events after the end: %+v", events)
	}
	if n := b.Undelivered(wire.FromClient); n != int64(len("in flight")) {
		t.Fatalf("%d bytes count as undelivered", n)
	}
}

func TestSeenReachesAPlaceOnlyWhenItsEventIsDone(t *testing.T) {
	t.Parallel()
	b := New(DefaultLimit)
	p := send(b, wire.FromClient, "line\n")
	if b.Seen() >= p {
		t.Fatal("a place counts as seen before it was read")
	}
	if _, err := b.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.Seen() >= p {
		t.Fatal("a place counts as seen while its event is being looked at")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = b.Next(ctx)
	if b.Seen() < p {
		t.Fatal("a place does not count as seen when the observer asks for the next")
	}
}

// Two wires and one observer run at once; each direction must come out as it
// went in, and the observer must wake up by itself.
func TestBothDirectionsComeOutInTheirOwnOrderUnderLoad(t *testing.T) {
	t.Parallel()
	b := New(DefaultLimit)
	var sent [2]bytes.Buffer
	var wires sync.WaitGroup
	for _, from := range []wire.Direction{wire.FromClient, wire.FromServer} {
		wires.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(from), 7))
			scratch := make([]byte, 9000)
			for i := range 3000 {
				data := scratch[:1+rnd.IntN(len(scratch)-1)]
				for j := range data {
					data[j] = byte(i)
				}
				p := b.Offer(from, data)
				b.Settle(p, len(data))
				sent[from].Write(data)
			}
			b.Close(from, 0)
		})
	}
	go func() { wires.Wait(); b.Shut() }()
	var got [2]bytes.Buffer
	var last wire.Place
	for _, ev := range drain(t, b) {
		if ev.Place <= last {
			t.Fatalf("place %d came after %d", ev.Place, last)
		}
		last = ev.Place
		if ev.Gap {
			t.Fatalf("a gap of %d bytes below the limit", ev.GapBytes)
		}
		got[ev.From].Write(ev.Data)
	}
	for d := range got {
		if !bytes.Equal(got[d].Bytes(), sent[d].Bytes()) {
			t.Fatalf("direction %v: %d bytes came out, %d went in, or they differ", wire.Direction(d), got[d].Len(), sent[d].Len())
		}
	}
}

// Whatever the wires and the observer do in whatever order, every byte that
// was settled comes out or is counted in a gap.
func TestEveryByteIsKeptOrCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := New(rapid.IntRange(100, 4000).Draw(t, "limit"))
		var open [2]struct {
			place wire.Place
			data  []byte
		}
		var settled, seen, gone [2]int64
		look := func() {
			ev, err, ok := b.pop()
			if ok && err == nil {
				seen[ev.From] += int64(len(ev.Data)) + ev.GapBytes
			}
		}
		steps := rapid.IntRange(1, 200).Draw(t, "steps")
		for range steps {
			d := wire.Direction(rapid.IntRange(0, 1).Draw(t, "side"))
			o := &open[d]
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				if o.place == 0 {
					o.data = make([]byte, rapid.IntRange(1, 900).Draw(t, "size"))
					o.place = b.Offer(d, o.data)
				}
			case 1:
				if o.place != 0 {
					n := rapid.IntRange(0, len(o.data)).Draw(t, "written")
					b.Settle(o.place, n)
					settled[d] += int64(n)
					gone[d] += int64(len(o.data) - n)
					o.place = 0
				}
			case 2:
				look()
			}
		}
		for d := range open {
			if open[d].place != 0 {
				b.Settle(open[d].place, len(open[d].data))
				settled[d] += int64(len(open[d].data))
			}
		}
		b.Shut()
		for {
			ev, err, ok := b.pop()
			if !ok || err != nil {
				break
			}
			seen[ev.From] += int64(len(ev.Data)) + ev.GapBytes
		}
		for d := range seen {
			if u := b.Undelivered(wire.Direction(d)); seen[d] != settled[d]+u || u > gone[d] {
				t.Fatalf("direction %d: %d seen, %d settled, %d undelivered of %d", d, seen[d], settled[d], u, gone[d])
			}
		}
		if b.held != 0 {
			t.Fatalf("%d bytes are held though all were read", b.held)
		}
	})
}

func BenchmarkOfferAndSettle(b *testing.B) {
	buf := New(DefaultLimit)
	go func() {
		for {
			if _, err := buf.Next(context.Background()); err != nil {
				return
			}
		}
	}()
	data := make([]byte, 200)
	for b.Loop() {
		p := buf.Offer(wire.FromClient, data)
		buf.Settle(p, len(data))
	}
	buf.Shut()
}

func TestWhoeverKicksIsNotKeptWaitingByAChunkThatSettlesAMomentLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := New(DefaultLimit)
		data := []byte("question\n")
		p := b.Offer(wire.FromClient, data)
		b.Kick()
		got := make(chan time.Duration)
		began := time.Now()
		go func() {
			_, _ = b.Next(t.Context())
			got <- time.Since(began)
		}()
		synctest.Wait() // the observer has looked, and found the chunk still being written
		b.Settle(p, len(data))
		if took := <-got; took != 0 {
			t.Fatalf("the observer came %v after the chunk had settled, want at once", took)
		}
	})
}
