package api

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

func TestAFewHeavyRequestsRunAndTheOthersAreAskedToComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHeavy()
		first, err := h.enter(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		if _, err := h.enter(t.Context(), "acme"); !errors.As(err, new(*access.ThrottleError)) || time.Since(before) != heavyWait {
			t.Errorf("a second one of a workspace: %v after %s", err, time.Since(before))
		}
		second, err := h.enter(t.Context(), "globex")
		if err != nil {
			t.Fatal("another workspace has to wait: ", err)
		}
		if _, err := h.enter(t.Context(), "initech"); !errors.As(err, new(*access.ThrottleError)) {
			t.Errorf("a third one: %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.enter(gone, "initech"); !errors.Is(err, context.Canceled) {
			t.Errorf("whoever went away: %v", err)
		}
		time.AfterFunc(time.Second, first)
		again, err := h.enter(t.Context(), "acme") // waits for the second
		if err != nil {
			t.Fatal(err)
		}
		again()
		second()
		if len(h.own) != 0 || len(h.users) != 0 || len(h.slots) != 0 {
			t.Errorf("left behind: %v, %v, %d", h.own, h.users, len(h.slots))
		}
	})
}
