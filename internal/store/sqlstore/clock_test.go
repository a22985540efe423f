package sqlstore

import (
	"errors"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// The clock of the fake database is 1.
func TestTimeGoesOnFromWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	const most = value.Instant(1 + 5*60*1_000_000)
	decided := errors.New("decided")
	for _, test := range []struct {
		name    string
		written value.Instant
		decide  func(*ClockError) error
		fails   error // nil: it opens
		at      value.Instant
	}{
		{name: "nothing was written", at: 1},
		{name: "the clock is as far", written: 1, at: 1},
		{name: "it is five minutes behind", written: most, at: most},
		{name: "it is further behind", written: most + 1, fails: &ClockError{}},
		{name: "it is further behind, and that is refused", written: most + 1, decide: func(*ClockError) error { return decided }, fails: decided},
		{name: "it is further behind, and that is accepted", written: most + 1, decide: func(*ClockError) error { return nil }, at: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{written: test.written}
			s, err := New(f, WhenClockBehind(test.decide))
			if test.fails != nil {
				problem, is := errors.AsType[*ClockError](err)
				switch {
				case errors.Is(test.fails, decided) && !errors.Is(err, decided):
					t.Errorf("it opens with %v", err)
				case !errors.Is(test.fails, decided) && (!is || problem.Clock != 1 || problem.Written != test.written || problem.Behind() != 5*time.Minute):
					t.Errorf("it opens with %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			err = s.View(t.Context(), "ws_a", func(tx store.Tx) error {
				if tx.Now() != test.at {
					t.Errorf("the time is %d, want %d", tx.Now(), test.at)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
