package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recordedTap keeps all it is shown, and checks the tap's contract as it goes.
type recordedTap struct {
	mu          sync.Mutex
	t           *testing.T
	place       Place
	offered     map[Place][]byte
	from        map[Place]Direction
	settled     map[Direction]*bytes.Buffer
	closed      map[Direction]int
	undelivered map[Direction]int64
	onOffer     func(Direction, []byte)
}

func newRecordedTap(t *testing.T) *recordedTap {
	return &recordedTap{
		t: t, offered: map[Place][]byte{}, from: map[Place]Direction{}, closed: map[Direction]int{}, undelivered: map[Direction]int64{},
		settled: map[Direction]*bytes.Buffer{FromClient: {}, FromServer: {}},
	}
}

func (r *recordedTap) Offer(from Direction, data []byte) Place {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed[from] > 0 {
		r.t.Errorf("%d bytes were offered after the %s's side was closed", len(data), from)
	}
	r.place++
	r.offered[r.place], r.from[r.place] = data, from
	if r.onOffer != nil {
		r.onOffer(from, data)
	}
	return r.place
}

func (r *recordedTap) Settle(place Place, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, ok := r.offered[place]
	if !ok {
		r.t.Errorf("place %d was settled twice or never given", place)
		return
	}
	delete(r.offered, place)
	r.settled[r.from[place]].Write(data[:n])
}

func (r *recordedTap) Close(from Direction, undelivered int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed[from]++
	r.undelivered[from] = undelivered
	if len(r.offered) > 0 {
		for place := range r.offered {
			if r.from[place] == from {
				r.t.Errorf("the %s's side was closed with place %d unsettled", from, place)
			}
		}
	}
}

func (r *recordedTap) checkClosed(from Direction, undelivered int64) {
	r.t.Helper()
	if r.closed[from] != 1 || r.undelivered[from] != undelivered {
		r.t.Errorf("the %s's side was closed %d times, with %d bytes undelivered; want once with %d", from, r.closed[from], r.undelivered[from], undelivered)
	}
}

// streams are byte sequences that relays of this kind have got wrong.
func streams() map[string][]byte {
	line := func(n int) []byte { return append(bytes.Repeat([]byte("x"), n-1), '\n') }
	return map[string][]byte{
		"nothing":                           {},
		"one line":                          []byte("{\"id\":1}\n"),
		"a last line without a newline":     []byte("a\nb"),
		"blank lines and leading blanks":    []byte("\n\n  {}\n\t\n"),
		"carriage returns":                  []byte("a\r\nb\rc\r\n"),
		"a byte order mark":                 []byte("\xef\xbb\xbf{}\n"),
		"zero bytes":                        []byte("a\x00b\x00\n\x00"),
		"invalid UTF-8":                     []byte("\xff\xfe\xc3\x28\n"),
		"a lone surrogate escape":           []byte(`{"a":"\ud800"}` + "\n"),
		"Unicode line separators":           []byte("a\u2028b\u2029c\u0085d\ve\ff\n"),
		"numbers no float can hold":         []byte(`{"n":12345678901234567890,"m":1.0,"e":1E400}` + "\n"),
		"a banner before the first message": []byte("Server listening!\n{}\n"),
		"a line one byte below 64 KiB":      line(64<<10 - 1),
		"a line of 64 KiB":                  line(64 << 10),
		"a line one byte above 64 KiB":      line(64<<10 + 1),
		"a line of 1 MiB":                   line(1 << 20),
		"a line of 12 MiB":                  line(12 << 20),
		"a line of 17 MiB":                  line(17 << 20),
		"2 MiB without any newline":         bytes.Repeat([]byte("y"), 2<<20),
	}
}

func TestRelayPassesEveryByteAsItCame(t *testing.T) {
	t.Parallel()
	readers := map[string]func(io.Reader) io.Reader{
		"at once":             func(r io.Reader) io.Reader { return r },
		"byte by byte":        iotest.OneByteReader,
		"with the end inside": iotest.DataErrReader,
	}
	for name, stream := range streams() {
		for how, reader := range readers {
			if how == "byte by byte" && len(stream) > 1<<17 {
				continue // takes long and shows nothing new
			}
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				tap := newRecordedTap(t)
				var sink bytes.Buffer
				relay := &Relay{Src: reader(bytes.NewReader(stream)), Dst: &sink, From: FromServer, Tap: tap}
				result := relay.Run()

				want := Result{End: SourceEnded, Read: int64(len(stream)), Written: int64(len(stream))}
				if diff := cmp.Diff(want, result); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if !bytes.Equal(sink.Bytes(), stream) {
					t.Errorf("%d bytes arrived, not the %d that were sent", sink.Len(), len(stream))
				}
				if !bytes.Equal(tap.settled[FromServer].Bytes(), stream) {
					t.Error("the tap was shown other bytes than the sink")
				}
				tap.checkClosed(FromServer, 0)
			})
		}
	}
}

func TestRelayNeedsNoTap(t *testing.T) {
	t.Parallel()
	var sink bytes.Buffer
	relay := &Relay{Src: strings.NewReader("hello\n"), Dst: &sink}
	if result := relay.Run(); result.End != SourceEnded || sink.String() != "hello\n" {
		t.Errorf("got %q and %+v", sink.String(), result)
	}
}

func TestRelayPassesAPartialLineAtOnce(t *testing.T) {
	t.Parallel()
	src, client := io.Pipe()
	server, dst := io.Pipe()
	relay := &Relay{Src: src, Dst: dst, From: FromClient}
	done := make(chan Result)
	go func() { done <- relay.Run() }()

	for _, part := range []string{`{"id":`, "1", "}"} { // no newline at all
		if _, err := io.WriteString(client, part); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(part))
		if _, err := io.ReadFull(server, got); err != nil || string(got) != part {
			t.Fatalf("got %q, %v; want %q", got, err, part)
		}
	}
	_ = client.Close()
	if result := <-done; result.End != SourceEnded {
		t.Errorf("got %+v", result)
	}
}

func TestRelayOffersBeforeItWrites(t *testing.T) {
	t.Parallel()
	var events []string
	tap := newRecordedTap(t)
	tap.onOffer = func(_ Direction, data []byte) { events = append(events, "offer "+string(data)) }
	sink := writerFunc(func(p []byte) (int, error) {
		events = append(events, "write "+string(p))
		return len(p), nil
	})
	(&Relay{Src: iotest.OneByteReader(strings.NewReader("ab")), Dst: sink, Tap: tap}).Run()
	want := []string{"offer a", "write a", "offer b", "write b"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestRelaySettlesOnlyWhatASinkTookBeforeItWentAway(t *testing.T) {
	t.Parallel()
	for name, sink := range map[string]writerFunc{
		"with an error":    func(p []byte) (int, error) { return 3, syscall.EPIPE },
		"without an error": func(p []byte) (int, error) { return 3, nil },
	} {
		tap := newRecordedTap(t)
		result := (&Relay{Src: strings.NewReader("hello"), Dst: sink, From: FromClient, Tap: tap}).Run()
		if result.End != SinkGone || result.Err == nil || result.Read != 5 || result.Written != 3 {
			t.Errorf("%s: got %+v", name, result)
		}
		if got := tap.settled[FromClient].String(); got != "hel" {
			t.Errorf("%s: the tap has %q settled, want %q", name, got, "hel")
		}
		tap.checkClosed(FromClient, 0)
	}
}

func TestRelayPassesWhatCameBeforeAReadError(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	var sink bytes.Buffer
	src := io.MultiReader(strings.NewReader("half a li"), iotest.ErrReader(broken))
	result := (&Relay{Src: src, Dst: &sink, From: FromServer}).Run()
	if result.End != SourceFailed || !errors.Is(result.Err, broken) || sink.String() != "half a li" {
		t.Errorf("got %q and %+v", sink.String(), result)
	}
}

func TestRelayHoldsNoMoreThanItsBuffer(t *testing.T) { // not parallel: it counts what the process allocates
	const size = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	result := (&Relay{Src: io.LimitReader(zeros{}, size), Dst: writerFunc(func(p []byte) (int, error) { return len(p), nil })}).Run()
	runtime.ReadMemStats(&after)
	if result.Written != size {
		t.Errorf("got %+v", result)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<20 {
		t.Errorf("%d bytes were allocated for a line of %d", grown, size)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// brokenTap panics in one method.
type brokenTap struct {
	in    string
	calls []string
}

func (b *brokenTap) call(name string) {
	b.calls = append(b.calls, name)
	if b.in == name {
		panic("disk on fire")
	}
}
func (b *brokenTap) Offer(Direction, []byte) Place { b.call("Tap.Offer"); return 1 }
func (b *brokenTap) Settle(Place, int)             { b.call("Tap.Settle") }
func (b *brokenTap) Close(Direction, int64)        { b.call("Tap.Close") }

func TestATapThatPanicsDoesNotHurtTheWire(t *testing.T) {
	t.Parallel()
	for in, wantCalls := range map[string][]string{
		"Tap.Offer":  {"Tap.Offer"},
		"Tap.Settle": {"Tap.Offer", "Tap.Settle"},
		"Tap.Close":  {"Tap.Offer", "Tap.Settle", "Tap.Offer", "Tap.Settle", "Tap.Close"},
	} {
		t.Run("in "+in, func(t *testing.T) {
			t.Parallel()
			tap := &brokenTap{in: in}
			var told []error
			var sink bytes.Buffer
			relay := &Relay{
				Src: iotest.OneByteReader(strings.NewReader("ab")), Dst: &sink, Tap: tap,
				Panicked: func(err error) { told = append(told, err) },
			}
			result := relay.Run()
			if sink.String() != "ab" || result.End != SourceEnded {
				t.Errorf("got %q and %+v", sink.String(), result)
			}
			if diff := cmp.Diff(wantCalls, tap.calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			var panicked *PanicError
			if !errors.As(result.TapErr, &panicked) || panicked.Call != in || panicked.Value != "disk on fire" {
				t.Errorf("the result tells %v", result.TapErr)
			}
			if len(told) != 1 || told[0] != result.TapErr {
				t.Errorf("told %v", told)
			}
		})
	}
}

func TestAContainedTapIsLeftAloneByBothSidesAfterAPanic(t *testing.T) {
	t.Parallel()
	tap := &brokenTap{in: "Tap.Offer"}
	shared := Contain(tap, nil)
	(&Relay{Src: strings.NewReader("a"), Dst: io.Discard, From: FromClient, Tap: shared}).Run()
	result := (&Relay{Src: strings.NewReader("b"), Dst: io.Discard, From: FromServer, Tap: shared}).Run()
	if result.TapErr == nil || len(tap.calls) != 1 {
		t.Errorf("got %v after the calls %v", result.TapErr, tap.calls)
	}
}

func TestStopEndsARelayWhoseReadCannotBeInterrupted(t *testing.T) {
	t.Parallel()
	for name, gate := range map[string]Gate{"without a gate": nil, "with a gate": passAll{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				src, client := io.Pipe()
				tap := newRecordedTap(t)
				var sink bytes.Buffer
				relay := &Relay{Src: src, Dst: &sink, From: FromClient, Tap: tap, Gate: gate}
				done := make(chan Result)
				go func() { done <- relay.Run() }()
				if _, err := io.WriteString(client, "one\n"); err != nil {
					t.Error(err)
				}
				synctest.Wait() // it waits in the next read now
				relay.Stop()
				if result := <-done; result.End != Stopped || result.Err != nil {
					t.Errorf("got %+v", result)
				}
				// The read that was given up still takes bytes; nobody sees them.
				if _, err := io.WriteString(client, "too late\n"); err != nil {
					t.Error(err)
				}
				if got := sink.String(); got != "one\n" {
					t.Errorf("the server got %q", got)
				}
				tap.checkClosed(FromClient, 0)
			})
		})
	}
}

func TestStopBeforeRunPassesNothing(t *testing.T) {
	t.Parallel()
	var sink bytes.Buffer
	relay := &Relay{Src: strings.NewReader("hello"), Dst: &sink}
	relay.Stop()
	if result := relay.Run(); result.End != Stopped || sink.Len() != 0 {
		t.Errorf("got %q and %+v", sink.String(), result)
	}
}

func TestExpireEndsARelayWhoseSourceStaysOpenButSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, server := io.Pipe()
		var sink bytes.Buffer
		relay := &Relay{Src: src, Dst: &sink, From: FromServer}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		synctest.Wait()
		start := time.Now()
		relay.Expire(time.Second)
		for range 5 { // each read starts the time again
			time.Sleep(900 * time.Millisecond)
			if _, err := io.WriteString(server, "late\n"); err != nil {
				t.Error(err)
			}
		}
		result := <-done
		if result.End != Silent || result.Written != 25 {
			t.Errorf("got %+v", result)
		}
		took := time.Since(start) - 5*900*time.Millisecond
		if took < time.Second || took > 1300*time.Millisecond {
			t.Errorf("it took %v of silence, want about a second", took)
		}
		_ = server.Close()
	})
}

// What is in the pipe waits there until this process runs again, however long the
// machine lets it wait.
func TestAMachineThatStandsStillIsNotTakenForASourceThatIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, server := io.Pipe()
		var sink bytes.Buffer
		relay := &Relay{Src: src, Dst: &sink, From: FromServer}
		relay.init()
		done, looks := make(chan Result, 1), make(chan time.Time)
		go func() { done <- relay.Run() }()
		go relay.expire(looks)
		synctest.Wait()
		looks <- time.Now()
		looks <- time.Now().Add(time.Hour) // nothing ran in between
		synctest.Wait()
		if _, err := io.WriteString(server, "last words\n"); err != nil {
			t.Error(err)
		}
		_ = server.Close()
		if result := <-done; result.End != SourceEnded || sink.String() != "last words\n" {
			t.Errorf("got %q and %+v", sink.String(), result)
		}
	})
}

func TestExpireNeverCutsASlowClientOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got int
		sink := writerFunc(func(p []byte) (int, error) {
			time.Sleep(time.Minute) // the client reads slowly
			got += len(p)
			return len(p), nil
		})
		relay := &Relay{Src: iotest.OneByteReader(strings.NewReader("abc")), Dst: sink, From: FromServer}
		relay.Expire(time.Second)
		if result := relay.Run(); result.End != SourceEnded || got != 3 {
			t.Errorf("got %d bytes and %+v", got, result)
		}
	})
}

func TestExpireLetsAnEndedSourceEndAsUsual(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		relay := &Relay{Src: strings.NewReader("all"), Dst: io.Discard}
		relay.Expire(time.Second)
		if result := relay.Run(); result.End != SourceEnded || result.Written != 3 {
			t.Errorf("got %+v", result)
		}
	})
}
