//go:build unix

package wire

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Pipes have deadlines on Unix only. Elsewhere a write ends when the reader goes.
func TestStopCutsAWriteThatHasADeadline(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close(); _ = w.Close() }()
	for _, gate := range []Gate{nil, passAll{}} {
		relay := &Relay{Src: zeros{}, Dst: w, From: FromClient, Gate: gate}
		relay.limits = limits{spillAt: 1 << 20, maxLine: 1 << 16, maxHeld: 1 << 16}
		done := make(chan Result)
		go func() { done <- relay.Run() }()
		if _, err := io.ReadFull(r, make([]byte, 1<<17)); err != nil { // then it fills the pipe and blocks
			t.Fatal(err)
		}
		relay.Stop()
		if result := <-done; result.End != Stopped || result.Err != nil {
			t.Errorf("got %+v", result)
		}
		_ = w.SetWriteDeadline(time.Time{})
	}
}

func TestRelayTellsThatAPipesReaderIsGone(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	_ = r.Close()
	result := (&Relay{Src: strings.NewReader("hello"), Dst: w, From: FromClient}).Run()
	if result.End != SinkGone || !errors.Is(result.Err, syscall.EPIPE) || !strings.Contains(result.Err.Error(), "write to the server") {
		t.Errorf("got %+v", result)
	}
}
