package observer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tap"
)

func (n *notebook) ofKind(kind entry.Kind) (entries []entry.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.entries {
		if e.Kind == kind {
			entries = append(entries, e)
		}
	}
	return entries
}

func TestARunOfNoiseIsOneEntryThatCountsItsLines(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	var log strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&log, "INFO step %04d\n", i)
	}
	answer := `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
	record(t, n, Options{},
		say{client, `{"jsonrpc":"2.0","id":0,"method":"tools/list"}` + "\n"},
		say{server, log.String()}, say{server, answer}, say{server, "one more\n"}, say{client, "not me\n"}, say{server, "and one\n\n"})
	want := []struct {
		from            string
		bytes, messages int64
		flags           string
	}{
		{"server", 15_000, 1_000, "not_json"},
		{"server", 9, 0, "not_json"},
		{"client", 7, 0, "not_json"},
		{"server", 9, 2, "blank not_json"},
	}
	got := n.ofKind(entry.KindNoise)
	if len(got) != len(want) {
		t.Fatalf("there are %d entries of noise:\n%s", len(got), n.lines())
	}
	for i, e := range got {
		if flags := strings.Join(e.Flags, " "); e.From != want[i].from || e.Bytes != want[i].bytes || e.Messages != want[i].messages || flags != want[i].flags {
			t.Errorf("entry %d of noise has %d bytes, %d lines, flags %q, from %s; want %+v", i, e.Bytes, e.Messages, flags, e.From, want[i])
		}
	}
	if lines := n.lines(); !strings.HasPrefix(lines, "session\nrequest client tools/list 0\nnoise server [not_json]\nresponse") {
		t.Errorf("order is\n%s", lines)
	}
}

func TestARunOfNoiseKeepsWhatItsLinesSaid(t *testing.T) {
	t.Parallel()
	for _, level := range []Capture{Redacted, Raw} {
		n := &notebook{}
		lines := "first\nkey sk-proj-T3BlbkFJabcdefghijklmnopqrstuvwxyz0123456789AB\n" + strings.Repeat("more of it\n", 200)
		capture(t, n, level, say{server, lines})
		got := n.ofKind(entry.KindNoise)
		if len(got) != 1 || got[0].Messages != 202 {
			t.Fatalf("%s: %d entries, want 1 with 202 lines: %+v", level, len(got), got)
		}
		body := string(n.bodies[1])
		switch {
		case level == Raw && body != lines:
			t.Errorf("raw: the body has %d bytes of %d", len(body), len(lines))
		case level == Redacted && (strings.Contains(body, "sk-proj") || !strings.HasPrefix(body, "first\nkey ") || strings.Count(body, "more of it\n") != 200):
			t.Errorf("redacted: the body is %.200q", body)
		}
		if shown := n.details[1].Preview.String(); !strings.HasPrefix(shown, "first\nkey ") || strings.Contains(shown, "sk-proj") || len(shown) > 600 {
			t.Errorf("%s: shown is %q", level, shown)
		}
	}
}

func TestARunOfNoiseIsBoundedInSize(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	line := strings.Repeat("x", 999) + "\n"
	record(t, n, Options{}, say{server, strings.Repeat(line, 1000)}, say{server, strings.Repeat("y", 100<<10) + "\n"})
	got := n.ofKind(entry.KindNoise)
	// 262 lines of 1,000 bytes are as many as fit into 256 KiB.
	want := []int64{262_000, 262_000, 262_000, 214_000, 100<<10 + 1}
	for i := range want {
		if len(got) != len(want) || got[i].Bytes != want[i] {
			t.Fatalf("entries of noise have other sizes than %v: %+v", want, got)
		}
	}
}

func TestARunOfNoiseIsRecordedSoonThoughNothingFollows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &notebook{}
		buf := tap.New(tap.DefaultLimit)
		obs := New(buf, Session{Transport: "stdio"}, Options{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			obs.Run(context.Background(), n)
		}()
		for range 3 {
			buf.Settle(buf.Offer(server, []byte("noise\n")), 6)
			buf.Kick()
		}
		synctest.Wait()
		if got := n.ofKind(entry.KindNoise); len(got) != 0 {
			t.Errorf("there is an entry at once, which a next line could not be in: %+v", got)
		}
		time.Sleep(runTime + 100*time.Millisecond) // of the bubble's clock
		synctest.Wait()
		if got := n.ofKind(entry.KindNoise); len(got) != 1 || got[0].Messages != 3 {
			t.Errorf("after %v there are %+v", runTime, got)
		}
		buf.Shut()
		<-done
	})
}

// Whoever waits for a place to be durable must not be told before its run is
// in the journal.
func TestARunOfNoiseIsNotTakenForKeptBeforeItIs(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{Transport: "stdio"}, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		obs.Run(ctx, n)
	}()
	for i := range 3 {
		place := buf.Offer(client, []byte("noise\n"))
		buf.Settle(place, 6)
		if err := obs.AwaitDurable(ctx, place); err != nil {
			t.Fatal(err)
		}
		var bytes int64
		for _, e := range n.ofKind(entry.KindNoise) {
			bytes += e.Bytes
		}
		if want := int64(6 * (i + 1)); bytes != want {
			t.Errorf("after line %d the journal has %d bytes of noise, not %d", i, bytes, want)
		}
	}
	buf.Shut()
	<-done
}

func TestAPanicWhileARunIsWrittenCostsAGapOfItsBytes(t *testing.T) {
	t.Parallel()
	n := &notebook{}
	n.hook = func(_ context.Context, e *entry.Entry) error {
		if e.Kind == entry.KindNoise {
			panic("out of cheese")
		}
		return nil
	}
	record(t, n, Options{}, say{server, "a\nb\n"}, say{server, `{"jsonrpc":"2.0","method":"m"}` + "\n"})
	var gap int64
	for _, e := range n.ofKind(entry.KindGap) {
		gap += e.Bytes
	}
	var sum int64
	for _, e := range n.entries {
		if e.From == "server" {
			sum += e.Bytes
		}
	}
	if end := n.entries[len(n.entries)-1]; gap < 4 || sum != end.ServerBytes {
		t.Errorf("gaps of %d bytes, %d in all, %d crossed:\n%s", gap, sum, end.ServerBytes, n.lines())
	}
}
