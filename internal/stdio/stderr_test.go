package stdio

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowReader is a client that takes stderr, a piece every now and then.
type slowReader struct {
	got   bytes.Buffer
	pause time.Duration
}

func (s *slowReader) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		time.Sleep(s.pause)
		piece := rest[:min(len(rest), 64<<10)] // what a pipe holds
		s.got.Write(piece)
		rest = rest[len(piece):]
	}
	return len(p), nil
}

func TestAClientThatReadsStderrSlowlyGetsAllOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &slowReader{pause: flushTime / 2}
		r := newRelay(client)
		go r.write()
		said := strings.Repeat("still working\n", 1<<16)
		r.add([]byte(said))
		r.end()
		if client.got.String() != said {
			t.Errorf("the client got %d bytes, want %d", client.got.Len(), len(said))
		}
	})
}

func TestAClientThatReadsNoStderrIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, end := io.Pipe()
		r := newRelay(end)
		go r.write()
		r.add([]byte("last words\n"))
		began := time.Now()
		r.end()
		if took := time.Since(began); took != flushTime {
			t.Errorf("it took %v, want %v", took, flushTime)
		}
		_ = client.Close() // lets the writer go
	})
}

// Time passes too where the machine lets this process stand still, and what the server
// wrote meanwhile waits in its pipe.
func TestSilenceOnStderrIsCountedInLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, server := io.Pipe()
		r := newRelay(io.Discard)
		go r.read(src)
		look, given := make(chan time.Time), make(chan struct{})
		go func() {
			defer close(given)
			r.expireAfter(src, look)
		}()
		silent := func(n int) {
			for range n {
				look <- time.Now().Add(time.Hour) // nothing ran in between
			}
			synctest.Wait()
		}
		silent(looks - 1)
		if _, err := io.WriteString(server, "last words\n"); err != nil {
			t.Fatalf("given up too early: %v", err)
		}
		silent(looks) // the first of which sees what came
		select {
		case <-given:
			t.Error("given up though something came")
		default:
		}
		silent(1)
		<-given
		if got := r.count().bytes; got != 11 {
			t.Errorf("%d bytes arrived, want 11", got)
		}
	})
}
