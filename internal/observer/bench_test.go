package observer

import (
	"context"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tap"
)

// BenchmarkLongMessages is the observer's own work for a stream of 64 KiB
// answers, from the tap to a journal that keeps nothing.
func BenchmarkLongMessages(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("lorem ipsum dolor sit amet ", 2400) + "\"}}\n")
	buf := tap.New(tap.DefaultLimit)
	obs := New(buf, Session{}, Options{})
	done := make(chan struct{})
	go func() {
		obs.Run(context.Background(), &notebook{hook: func(context.Context, *entry.Entry) error { return context.Canceled }})
		close(done)
	}()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		buf.Settle(buf.Offer(server, line), len(line))
		for !buf.Empty() {
			buf.Kick()
		}
	}
	buf.Shut()
	<-done
}
