package span

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pauses are the times between tries.
func (c *collector) pauses() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []time.Duration
	for i := 1; i < len(c.times); i++ {
		all = append(all, c.times[i].Sub(c.times[i-1]))
	}
	return all
}

func TestACollectorThatIsBusyIsAskedAgainWhenItSays(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 502, 503, 504} {
		synctest.Test(t, func(t *testing.T) {
			s := begin(t, func(_ *Options, c *collector) {
				c.answer = func(n int, _ *http.Request) (*http.Response, error) {
					switch n {
					case 1:
						return reply(status, "busy", "Retry-After", "7"), nil
					case 2: // a date has no parts of a second
						return reply(status, "busy", "Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat)), nil
					}
					return reply(200, "{}"), nil
				}
			})
			s.jobs(t.Context(), 3)
			time.Sleep(10 * time.Minute)
			if got := s.collector.pauses(); !slices.Equal(got, []time.Duration{7 * time.Second, 90 * time.Second}) {
				t.Errorf("after %d it waits for %v", status, got)
			}
			s.Close(time.Minute)
			s.check(t, map[string]int{Sent: 3})
		})
	}
}

func TestWithoutAWordItWaitsLongerEachTimeAndGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, func(_ *Options, c *collector) { c.answer = always(503, "") })
		s.jobs(t.Context(), 3)
		time.Sleep(10 * time.Minute)
		got := s.collector.pauses()
		if len(got) != tries-1 {
			t.Fatalf("it waited for %v", got)
		}
		for i, pause := range got {
			if longest := time.Second << i; pause < longest/2 || pause > longest {
				t.Errorf("pause %d is %s, want at most %s and at least half of it", i+1, pause, longest)
			}
		}
		s.check(t, map[string]int{Dropped: 3})
		s.Close(time.Minute)
	})
}

func TestWhatTheCollectorWillNeverTakeIsSentOnce(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 307, 400, 401, 404, 413, 500} {
		synctest.Test(t, func(t *testing.T) {
			s := begin(t, func(o *Options, c *collector) {
				o.Headers = map[string]string{"X-Api-Key": "hush-hush"}
				c.answer = always(status, "the key hush-hush is wrong", "Location", "http://elsewhere.test/", "Retry-After", "1")
			})
			s.jobs(t.Context(), 3)
			time.Sleep(10 * time.Minute)
			if got := s.collector.tries(); got != 1 {
				t.Errorf("after %d it is sent %d times", status, got)
			}
			if said := s.log.String(); s.log.count() != 1 || !strings.Contains(said, "the collector answers "+strconv.Itoa(status)) || strings.Contains(said, "hush") {
				t.Errorf("the log is %s", said)
			}
			s.check(t, map[string]int{Dropped: 3})
			s.Close(time.Minute)
		})
	}
}

func TestACollectorThatIsGoneIsToldOnceAndItsReturnOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := true
		s := begin(t, func(_ *Options, c *collector) {
			c.answer = func(int, *http.Request) (*http.Response, error) {
				if gone {
					return nil, errors.New("connection refused")
				}
				return reply(200, "{}"), nil
			}
		})
		for range 60 {
			s.jobs(t.Context(), 1)
			time.Sleep(time.Minute)
		}
		if tries := s.collector.tries(); tries < 100 {
			t.Errorf("it was tried %d times in an hour", tries)
		}
		if said := s.log.String(); s.log.count() != 1 || !strings.Contains(said, "connection refused") {
			t.Errorf("the log is %s", said)
		}
		s.check(t, map[string]int{Dropped: 60})
		gone = false
		s.jobs(t.Context(), 1)
		time.Sleep(time.Minute)
		s.jobs(t.Context(), 1)
		time.Sleep(time.Minute)
		if said := s.log.String(); s.log.count() != 2 || !strings.Contains(said, "traces are sent again") {
			t.Errorf("the log is %s", said)
		}
		s.Close(time.Minute)
		s.check(t, map[string]int{Sent: 2, Dropped: 60})
	})
}

func TestAPartialSuccessIsCountedToldAndNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, body    string
		refused, told int
	}{
		{"a number as text", `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too \u001b[2J long, hush-hush"}}`, 2, 1},
		{"a number", `{"partialSuccess":{"rejectedSpans":2,"errorMessage":"too long"}}`, 2, 1},
		{"a warning", `{"partialSuccess":{"errorMessage":"too long"}}`, 0, 1},
		{"nothing to say", `{"partialSuccess":{}}`, 0, 0},
		{"more than there were", `{"partialSuccess":{"rejectedSpans":"99"}}`, 3, 1},
		{"fewer than none", `{"partialSuccess":{"rejectedSpans":"-1"}}`, 0, 0},
		{"no JSON", "\x0a\x02\x08\x02", 0, 0},
		{"nothing", "", 0, 0},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, func(o *Options, c *collector) {
					o.Headers = map[string]string{"Authorization": "Bearer hush-hush"}
					c.answer = always(200, one.body)
				})
				s.jobs(t.Context(), 3)
				time.Sleep(10 * time.Second)
				s.check(t, map[string]int{Sent: 3 - one.refused, Refused: one.refused})
				s.jobs(t.Context(), 3) // of which the same is said a moment later
				time.Sleep(10 * time.Second)
				if said := s.log.String(); s.log.count() != one.told || strings.Contains(said, "hush") || strings.Contains(said, "\x1b") {
					t.Errorf("the log is %q", said)
				}
				if got := s.collector.tries(); got != 2 {
					t.Errorf("it was sent %d times", got)
				}
				s.Close(time.Minute)
			})
		})
	}
}

func TestRetryAfterIsReadAsSecondsOrADate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0, "1.5": 0,
		"Mon, 02 Nov 2026 12:00:30 GMT": 30 * time.Second, "Mon, 02 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got := pauseOf(1, 24*time.Hour); got != longestPause {
		t.Errorf("a collector that asks for a day is left alone for %s", got)
	}
}
