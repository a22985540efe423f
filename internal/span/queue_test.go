package span

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatFindsNoPlaceInTheQueueIsDroppedAndNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, func(_ *Options, c *collector) { c.answer = hangs })
		s.jobs(t.Context(), batchMost)
		synctest.Wait() // they are on their way, which does not end
		began := time.Now()
		s.jobs(t.Context(), queueMost+700)
		if took := time.Since(began); took != 0 {
			t.Errorf("ending spans took %s", took)
		}
		s.check(t, map[string]int{Dropped: 700})
		s.Close(time.Minute)
		s.check(t, map[string]int{Dropped: batchMost + queueMost + 700})
	})
}

func TestASpanWaitsForASecondAtMostAndAFullBatchNotAtAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		s.jobs(t.Context(), 1)
		time.Sleep(longestWait - time.Millisecond)
		s.jobs(t.Context(), 1)
		synctest.Wait()
		s.check(t, nil)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		s.check(t, map[string]int{Sent: 2})
		s.jobs(t.Context(), batchMost)
		synctest.Wait()
		s.check(t, map[string]int{Sent: 2 + batchMost})
		s.Close(time.Minute)
	})
}

func TestTheEndSendsWhatIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		s.jobs(t.Context(), 2*batchMost+3)
		began := time.Now()
		s.Close(5 * time.Second)
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %s", took)
		}
		s.check(t, map[string]int{Sent: 2*batchMost + 3})
		s.jobs(t.Context(), 1)
		s.Close(5 * time.Second) // which may come twice
		s.check(t, map[string]int{Sent: 2*batchMost + 3, Dropped: 1})
	})
}

func TestTheEndWaitsForNoCollectorLongerThanItMay(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer func(*collector)
		before time.Duration // that the spans ended before the end
		want   time.Duration
	}{
		"one that never answered":     {func(c *collector) { c.answer = hangs }, 0, 5 * time.Second},
		"one that failed before":      {func(c *collector) { c.answer = hangs }, time.Minute, hopeless},
		"one that asks for patience":  {func(c *collector) { c.answer = always(503, "", "Retry-After", "120") }, 0, 0},
		"one that asked for patience": {func(c *collector) { c.answer = always(503, "", "Retry-After", "120") }, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, func(_ *Options, c *collector) { one.answer(c) })
				s.jobs(t.Context(), 10)
				time.Sleep(one.before)
				s.jobs(t.Context(), 10)
				began := time.Now()
				s.Close(5 * time.Second)
				if took := time.Since(began); took > one.want {
					t.Errorf("it took %s, want at most %s", took, one.want)
				}
				s.check(t, map[string]int{Dropped: 20})
				if s.log.count() != 1 {
					t.Errorf("the log is %s", s.log)
				}
			})
		})
	}
}
