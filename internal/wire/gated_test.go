package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// gateFunc is a gate made of a function that decides with the line at hand.
type gateFunc func(*Line) <-chan Decision

func (f gateFunc) Pass(line *Line) <-chan Decision { return f(line) }

func decided(decision Decision) <-chan Decision {
	c := make(chan Decision, 1)
	c <- decision
	return c
}

func readAll(t testing.TB, line *Line) string {
	t.Helper()
	data, err := io.ReadAll(line.Reader())
	if err != nil {
		t.Errorf("read a line: %v", err)
	}
	return string(data)
}

func TestAGatePassesEveryByteOfWhatItDoesNotRefuse(t *testing.T) {
	t.Parallel()
	for name, stream := range streams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tap := newRecordedTap(t)
			var sink, seen bytes.Buffer
			gate := gateFunc(func(line *Line) <-chan Decision {
				text := readAll(t, line)
				seen.WriteString(text)
				if line.Size() != int64(len(text)) || !line.Held() || line.Place() == 0 {
					t.Errorf("line of %d bytes, held %v, at place %d", line.Size(), line.Held(), line.Place())
				}
				return decided(Decision{})
			})
			result := (&Relay{Src: bytes.NewReader(stream), Dst: &sink, Tap: tap, Gate: gate, spillFolder: t.TempDir()}).Run()
			n := int64(len(stream))
			if diff := cmp.Diff(Result{End: SourceEnded, Read: n, Written: n}, result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			for what, got := range map[string][]byte{"server": sink.Bytes(), "gate": seen.Bytes(), "tap": tap.settled[FromClient].Bytes()} {
				if !bytes.Equal(got, stream) {
					t.Errorf("the %s got %d other bytes than the %d sent", what, len(got), n)
				}
			}
			tap.checkClosed(FromClient, 0)
		})
	}
}

func TestARefusedLineStaysBehindAndIsAnswered(t *testing.T) {
	t.Parallel()
	var server, client bytes.Buffer
	answers := NewInjector(&client)
	gate := gateFunc(func(line *Line) <-chan Decision {
		text := readAll(t, line)
		if strings.HasPrefix(text, "bad") {
			return decided(Decision{Refuse: true, Answer: []byte("no to " + text)})
		}
		return decided(Decision{})
	})
	tap := newRecordedTap(t)
	src := strings.NewReader("good 1\nbad 2\ngood 3\nbad 4\n")
	result := (&Relay{Src: src, Dst: &server, Tap: tap, Gate: gate, Answers: answers}).Run()
	if server.String() != "good 1\ngood 3\n" || client.String() != "no to bad 2\nno to bad 4\n" {
		t.Errorf("the server got %q, the client %q", server.String(), client.String())
	}
	if result.Refused != 12 || result.Undelivered != 0 || result.Written != 14 {
		t.Errorf("got %+v", result)
	}
	tap.checkClosed(FromClient, 0)
}

func TestLinesAreAskedAheadAndForwardedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, client := io.Pipe()
		var server bytes.Buffer
		var asked []string
		decisions := map[string]chan Decision{"1\n": make(chan Decision, 1), "2\n": make(chan Decision, 1), "3\n": make(chan Decision, 1)}
		gate := gateFunc(func(line *Line) <-chan Decision {
			text := readAll(t, line)
			asked = append(asked, text)
			return decisions[text]
		})
		done := make(chan Result)
		relay := &Relay{Src: src, Dst: &server, Gate: gate}
		go func() { done <- relay.Run() }()
		_, _ = io.WriteString(client, "1\n2\n3\n")
		synctest.Wait()
		if diff := cmp.Diff([]string{"1\n", "2\n", "3\n"}, asked); diff != "" {
			t.Errorf("asked before any decision (-want +got):\n%s", diff)
		}
		for _, step := range []struct{ decide, want string }{{"3\n", ""}, {"1\n", "1\n"}, {"2\n", "1\n2\n3\n"}} {
			decisions[step.decide] <- Decision{}
			synctest.Wait()
			if server.String() != step.want {
				t.Errorf("after the decision about %q the server has %q, want %q", step.decide, server.String(), step.want)
			}
		}
		_ = client.Close()
		if result := <-done; result.End != SourceEnded {
			t.Errorf("got %+v", result)
		}
	})
}

func TestReadingPausesWhileEnoughIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, client := io.Pipe()
		var server bytes.Buffer
		first := make(chan Decision)
		asked := 0
		gate := gateFunc(func(*Line) <-chan Decision {
			if asked++; asked == 1 {
				return first
			}
			return decided(Decision{})
		})
		relay := &Relay{Src: src, Dst: &server, Gate: gate, limits: limits{spillAt: 100, maxLine: 40, maxHeld: 40}}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		written := 0
		go func() {
			for range 20 {
				_, _ = io.WriteString(client, "123456789\n")
				written++
			}
			_ = client.Close()
		}()
		synctest.Wait()
		if written != 4 || asked != 4 {
			t.Errorf("%d lines were taken and %d asked about with 40 bytes allowed, want 4", written, asked)
		}
		first <- Decision{}
		if result := <-done; result.Written != 200 || asked != 20 {
			t.Errorf("got %+v after %d questions", result, asked)
		}
	})
}

func TestALongLineIsKeptInAFileThatHasNoName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	long := strings.Repeat("long ", 100) + "\n"
	var server bytes.Buffer
	gate := gateFunc(func(line *Line) <-chan Decision {
		if line.kept.file == nil && line.Size() > 16 {
			t.Errorf("a line of %d bytes is in memory", line.Size())
		}
		reader := line.Reader()
		if _, err := reader.Seek(-5, io.SeekEnd); err != nil {
			t.Error(err)
		}
		if end, err := io.ReadAll(reader); err != nil || string(end) != "ong \n" {
			t.Errorf("the end reads %q, %v", end, err)
		}
		if got := readAll(t, line); got != long {
			t.Errorf("it reads %q", got)
		}
		if removesOpenFiles {
			checkEmpty(t, folder)
		}
		return decided(Decision{})
	})
	src := iotest.OneByteReader(strings.NewReader(long + long))
	(&Relay{Src: src, Dst: &server, Gate: gate, spillFolder: folder, limits: limits{spillAt: 16, maxLine: 1 << 20, maxHeld: 1 << 20}}).Run()
	if server.String() != long+long {
		t.Errorf("the server got %q", server.String())
	}
	checkEmpty(t, folder)
}

func checkEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v", folder, entries, err)
	}
}

func TestALongLineIsKeptInMemoryWhereNoFileCanBeHad(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100) + "\n"
	var server bytes.Buffer
	gate := gateFunc(func(line *Line) <-chan Decision {
		if got := readAll(t, line); got != long {
			t.Errorf("the gate reads %q", got)
		}
		return decided(Decision{})
	})
	relay := &Relay{Src: strings.NewReader(long), Dst: &server, Gate: gate, spillFolder: t.TempDir() + "/gone", limits: limits{spillAt: 16, maxLine: 1 << 20, maxHeld: 1 << 20}}
	if relay.Run(); server.String() != long {
		t.Errorf("the server got %q", server.String())
	}
}

func TestAFileThatIsFullLeavesTheRestInMemory(t *testing.T) {
	t.Parallel()
	full, err := os.Open(os.DevNull) // opened for reading only: no write to it succeeds
	if err != nil {
		t.Fatal(err)
	}
	kept := content{file: full}
	for range 3 {
		kept.add([]byte("12345"), 4, "")
	}
	var got bytes.Buffer
	if n, err := kept.sendTo(&got, 0, make([]byte, 4)); n != 15 || err != nil || got.String() != "123451234512345" {
		t.Errorf("got %q, %d, %v", got.String(), n, err)
	}
}

func TestALineTooLongToHoldGoesOnInPiecesAllButItsLastByte(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, client := io.Pipe()
		var server bytes.Buffer
		decision := make(chan Decision)
		var asked []*Line
		gate := gateFunc(func(line *Line) <-chan Decision {
			asked = append(asked, line)
			if !line.Held() {
				if got := readAll(t, line); got != "" {
					t.Errorf("a line that is not held reads %q", got)
				}
				return decision
			}
			return decided(Decision{})
		})
		relay := &Relay{Src: src, Dst: &server, Gate: gate, limits: limits{spillAt: 4, maxLine: 8, maxHeld: 8}, spillFolder: t.TempDir()}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		for _, step := range []struct{ send, want string }{
			{"short\n", "short\n"},
			{"12345678", "short\n"}, // as much as is held
			{"9", "short\n12345678"},
			{"abc", "short\n123456789ab"},
			{"\nnext\n", "short\n123456789ab"}, // what was left waits for the decision
		} {
			_, _ = io.WriteString(client, step.send)
			synctest.Wait()
			if server.String() != step.want {
				t.Errorf("after %q the server has %q, want %q", step.send, server.String(), step.want)
			}
		}
		if len(asked) != 3 || asked[1].Held() || asked[1].Size() != 13 {
			t.Fatalf("asked about %d lines", len(asked))
		}
		decision <- Decision{Refuse: true} // too late to have an effect
		synctest.Wait()
		if server.String() != "short\n123456789abc\nnext\n" {
			t.Errorf("at the end the server has %q", server.String())
		}
		_ = client.Close()
		if result := <-done; result.Written != 24 || result.Refused != 0 {
			t.Errorf("got %+v", result)
		}
	})
}

func TestALineOfExactlyTheLimitIsHeld(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{64 << 20: true, 64<<20 + 1: false} {
		line := bytes.Repeat([]byte("x"), size)
		line[size-1] = '\n'
		var held []bool
		gate := gateFunc(func(line *Line) <-chan Decision {
			held = append(held, line.Held())
			return decided(Decision{Refuse: true})
		})
		result := (&Relay{Src: bytes.NewReader(line), Dst: io.Discard, Gate: gate, spillFolder: t.TempDir()}).Run()
		if len(held) != 1 || held[0] != want || (result.Refused == int64(size)) != want || result.Read != int64(size) {
			t.Errorf("%d bytes: held %v, %+v", size, held, result)
		}
	}
}

func TestLinesHeldWhenTheServerGoesAwayAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, client := io.Pipe()
		tap := newRecordedTap(t)
		first := make(chan Decision)
		asked := 0
		gate := gateFunc(func(*Line) <-chan Decision {
			if asked++; asked == 1 {
				return first
			}
			return make(chan Decision) // never decided
		})
		gone := writerFunc(func(p []byte) (int, error) { return 2, syscall.EPIPE })
		folder := t.TempDir()
		relay := &Relay{Src: src, Dst: gone, Tap: tap, Gate: gate, spillFolder: folder, limits: limits{spillAt: 3, maxLine: 100, maxHeld: 100}}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		_, _ = io.WriteString(client, "first\nsecond\nthi")
		synctest.Wait()
		first <- Decision{}
		result := <-done // although the client holds its side open
		if result.End != SinkGone || !errors.Is(result.Err, syscall.EPIPE) || result.Written != 2 || result.Undelivered != 14 {
			t.Errorf("got %+v", result)
		}
		tap.checkClosed(FromClient, 14)
		checkEmpty(t, folder)
		_ = client.CloseWithError(nil)
	})
}

func TestStopDropsWhatIsHeldAndCountsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, client := io.Pipe()
		tap := newRecordedTap(t)
		var server bytes.Buffer
		relay := &Relay{Src: src, Dst: &server, Tap: tap, Gate: gateFunc(func(*Line) <-chan Decision { return make(chan Decision) })}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		_, _ = io.WriteString(client, "held\nand a part")
		synctest.Wait()
		relay.Stop()
		if result := <-done; result.End != Stopped || result.Err != nil || result.Undelivered != 15 || server.Len() != 0 {
			t.Errorf("got %q and %+v", server.String(), result)
		}
		tap.checkClosed(FromClient, 15)
		_ = client.Close()
	})
}

func TestAGateIsAskedOnlyWithTheTapSettledWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The decision about the first line waits until the tap has all that
		// came with it, a line too long to hold included.
		tap := newRecordedTap(t)
		settled := make(chan struct{})
		var once sync.Once
		watched := &settleTap{recordedTap: tap, settled: func() { once.Do(func() { close(settled) }) }}
		gate := gateFunc(func(*Line) <-chan Decision {
			c := make(chan Decision, 1)
			go func() { <-settled; c <- Decision{} }()
			return c
		})
		var server bytes.Buffer
		text := "first\n" + strings.Repeat("long", 10)
		relay := &Relay{Src: strings.NewReader(text), Dst: &server, Tap: watched, Gate: gate, limits: limits{spillAt: 100, maxLine: 8, maxHeld: 8}}
		if relay.Run(); server.String() != text { // a deadlock fails the bubble
			t.Errorf("the server got %q", server.String())
		}
	})
}

type settleTap struct {
	*recordedTap
	settled func()
}

func (s *settleTap) Settle(place Place, n int) { s.recordedTap.Settle(place, n); s.settled() }

func TestAGateThatPanicsOrHasNoAnswerLetsTheLineGoOn(t *testing.T) {
	t.Parallel()
	var server bytes.Buffer
	var told []error
	closed := make(chan Decision)
	close(closed)
	gate := gateFunc(func(line *Line) <-chan Decision {
		switch readAll(t, line) {
		case "panic\n":
			panic("no idea")
		case "closed\n":
			return closed
		}
		return nil
	})
	relay := &Relay{
		Src: strings.NewReader("panic\nnil\nclosed\npanic\n"), Dst: &server, Gate: gate,
		Panicked: func(err error) { told = append(told, err) },
	}
	result := relay.Run()
	var panicked *PanicError
	if !errors.As(result.GateErr, &panicked) || panicked.Call != "Gate.Pass" || len(told) != 1 {
		t.Errorf("told %v, and the result is %+v", told, result)
	}
	if server.String() != "panic\nnil\nclosed\npanic\n" {
		t.Errorf("the server got %q", server.String())
	}
}

// plan is what a random gate does with the n-th line.
type plan struct{ Refuse, Late, Answer bool }

// checkGated runs a stream through a gate that follows plans and checks all
// that must hold whatever the stream, the chunks, the limits and the plans.
func checkGated(t interface {
	testing.TB
}, stream []byte, chunkSize int, limits limits, plans []plan,
) {
	t.Helper()
	var lines []string
	for line := range bytes.Lines(stream) {
		lines = append(lines, string(line))
	}
	planOf := func(i int) plan {
		if len(plans) == 0 {
			return plan{}
		}
		return plans[i%len(plans)]
	}
	var want, wantAnswers strings.Builder
	for i, line := range lines {
		if !planOf(i).Refuse || int64(len(line)) > limits.maxLine {
			want.WriteString(line)
		}
		if planOf(i).Answer {
			fmt.Fprintf(&wantAnswers, "answer %d\n", i)
		}
	}

	var server, client bytes.Buffer
	var late sync.WaitGroup
	asked := 0
	gate := gateFunc(func(line *Line) <-chan Decision {
		i := asked
		asked++
		if i >= len(lines) || line.Size() != int64(len(lines[i])) || line.Held() != (line.Size() <= limits.maxLine) {
			t.Errorf("line %d: %d bytes, held %v", i, line.Size(), line.Held())
		} else if data, err := io.ReadAll(line.Reader()); err != nil || line.Held() && string(data) != lines[i] {
			t.Errorf("line %d reads %q, %v; want %q", i, data, err, lines[i])
		}
		decision := Decision{Refuse: planOf(i).Refuse}
		if planOf(i).Answer {
			decision.Answer = fmt.Appendf(nil, "answer %d\n", i)
		}
		c := make(chan Decision, 1)
		if planOf(i).Late {
			late.Go(func() { c <- decision })
		} else {
			c <- decision
		}
		return c
	})
	var settled bytes.Buffer
	relay := &Relay{
		Src: &chunkReader{stream, chunkSize}, Dst: &server, Gate: gate, Answers: NewInjector(&client),
		Tap: &bufferTap{settled: &settled}, limits: limits,
	}
	result := relay.Run()
	late.Wait()
	if server.String() != want.String() || client.String() != wantAnswers.String() {
		t.Errorf("the server got %q, want %q; the client %q, want %q", server.String(), want.String(), client.String(), wantAnswers.String())
	}
	if !bytes.Equal(settled.Bytes(), stream) || asked != len(lines) || result.End != SourceEnded || result.Undelivered != 0 {
		t.Errorf("the tap has %d bytes, the gate was asked %d times, %+v", settled.Len(), asked, result)
	}
}

type chunkReader struct {
	rest []byte
	size int
}

func (c *chunkReader) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(c.size, len(c.rest))])
	c.rest = c.rest[n:]
	return n, nil
}

// bufferTap keeps what was settled, for a single direction.
type bufferTap struct {
	settled *bytes.Buffer
	data    []byte
}

func (b *bufferTap) Offer(_ Direction, data []byte) Place { b.data = data; return 1 }
func (b *bufferTap) Settle(_ Place, n int)                { b.settled.Write(b.data[:n]) }
func (b *bufferTap) Close(Direction, int64)               {}

func TestAGateForwardsExactlyWhatItDecides(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		stream := []byte(rapid.StringMatching(`([a-c\x00]{0,12}\n?){0,12}`).Draw(rt, "stream"))
		limits := limits{
			spillAt: rapid.IntRange(1, 8).Draw(rt, "spill at"),
			maxLine: int64(rapid.IntRange(1, 12).Draw(rt, "line")),
		}
		limits.maxHeld = limits.maxLine
		plans := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) plan {
			return plan{rapid.Bool().Draw(rt, "refuse"), rapid.Bool().Draw(rt, "late"), rapid.Bool().Draw(rt, "answer")}
		}), 1, 5).Draw(rt, "plans")
		checkGated(testingTB{t, rt}, stream, rapid.IntRange(1, 20).Draw(rt, "chunk"), limits, plans)
	})
}

// testingTB reports to rapid, so that it can make a failing case smaller.
type testingTB struct {
	testing.TB
	rt *rapid.T
}

func (t testingTB) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }
func (t testingTB) Helper()                           {}

func FuzzAGateForwardsExactlyWhatItDecides(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint8(1), uint8(2), uint8(3), uint8(0b101))
	f.Add([]byte("\n\n\n"), uint8(3), uint8(1), uint8(1), uint8(0))
	f.Add(slices.Repeat([]byte("long without an end "), 20), uint8(7), uint8(5), uint8(9), uint8(0b111))
	f.Add([]byte("\r\n\x00\xff\n"), uint8(255), uint8(255), uint8(255), uint8(0b010))
	f.Fuzz(func(t *testing.T, stream []byte, chunk, spillAt, maxLine, bits uint8) {
		limits := limits{spillAt: 1 + int(spillAt), maxLine: 1 + int64(maxLine), maxHeld: 1 + int64(maxLine)}
		plans := []plan{{bits&1 != 0, bits&2 != 0, bits&4 != 0}, {bits&8 != 0, bits&16 != 0, bits&32 != 0}}
		checkGated(t, stream, 1+int(chunk), limits, plans)
	})
}
