package access_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

// fivePerMinute lets five attempts through, and one more each twelve seconds.
var fivePerMinute = access.Rate{Burst: 5, Every: 12 * time.Second}

func throttle() *access.Throttle { return access.NewThrottle(fivePerMinute, []byte("salt")) }

func TestABucketLetsABurstThroughAndThenOneAtATime(t *testing.T) {
	t.Parallel()
	var b access.Bucket
	for i := range 5 {
		if wait := b.Wait(fivePerMinute, noon); wait != 0 {
			t.Fatalf("attempt %d waits %s", i, wait)
		}
		b = b.Spend(fivePerMinute, noon)
	}
	for after, want := range map[time.Duration]time.Duration{
		0: 12 * time.Second, 5 * time.Second: 7 * time.Second, 12*time.Second - time.Microsecond: time.Microsecond,
		12 * time.Second: 0, time.Hour: 0,
	} {
		if got := b.Wait(fivePerMinute, noon.Add(after)); got != want {
			t.Errorf("after %s it waits %s, want %s", after, got, want)
		}
	}
}

func TestABucketIsNeverEmptierThanEmpty(t *testing.T) {
	t.Parallel()
	var b access.Bucket
	for range 1000 {
		b = b.Spend(fivePerMinute, noon)
	}
	if got := b.Wait(fivePerMinute, noon); got != 12*time.Second {
		t.Errorf("after a thousand attempts the next waits %s", got)
	}
}

// The bound of every token bucket: in any stretch of time no more attempts pass
// than the burst and what comes back in it.
func TestNoMoreAttemptsPassThanTheRateAllows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := access.Rate{Burst: rapid.IntRange(1, 8).Draw(t, "burst"), Every: time.Duration(rapid.IntRange(1, 50).Draw(t, "every")) * time.Microsecond}
		th := access.NewThrottle(r, []byte("salt"))
		var passed []value.Instant
		at := noon
		for range rapid.IntRange(1, 200).Draw(t, "attempts") {
			at += value.Instant(rapid.IntRange(0, 60).Draw(t, "pause"))
			if th.Take("somebody", at) == nil {
				passed = append(passed, at)
			}
		}
		for i := range passed {
			for j := i; j < len(passed); j++ {
				if most := r.Burst + int(passed[j].Sub(passed[i])/r.Every); j-i+1 > most {
					t.Fatalf("%d passed within %s, at most %d may", j-i+1, passed[j].Sub(passed[i]), most)
				}
			}
		}
		if len(passed) == 0 {
			t.Fatal("not even the first passed")
		}
	})
}

func TestOnlyFailuresCountWhereOnlyTheyShould(t *testing.T) {
	t.Parallel()
	th := throttle()
	for range 100 {
		if err := th.Check("prefix:4fT9xK2b", noon); err != nil {
			t.Fatalf("a right key was held up: %v", err)
		}
	}
	for range 5 {
		th.Failed("prefix:4fT9xK2b", noon)
	}
	limit, held := errors.AsType[*access.ThrottleError](th.Check("prefix:4fT9xK2b", noon))
	if !held || limit.RetryAfter != 12*time.Second {
		t.Errorf("after five failures: %v", limit)
	}
	wantCode(t, "held up", th.Check("prefix:4fT9xK2b", noon), access.RateLimited)
	if err := th.Check("prefix:zzzzzzzz", noon); err != nil {
		t.Errorf("somebody else was held up: %v", err)
	}
}

func TestARefusedAttemptCostsNothing(t *testing.T) {
	t.Parallel()
	th := throttle()
	for range 50 {
		_ = th.Take("a", noon)
	}
	if err := th.Take("a", noon.Add(12*time.Second)); err != nil {
		t.Errorf("after the time it was told to wait: %v", err)
	}
}

func TestAFloodOfNamesForgetsNobody(t *testing.T) {
	t.Parallel()
	th := throttle()
	for range 5 {
		th.Failed("attacker", noon)
	}
	for i := range 100_000 {
		th.Failed(fmt.Sprint("name ", i), noon)
	}
	if th.Check("attacker", noon) == nil {
		t.Error("a flood of other names gave the attacker new attempts")
	}
}

func TestBystandersPassWhileAThousandOthersAreHeldUp(t *testing.T) {
	t.Parallel()
	th := throttle()
	for i := range 1000 {
		for range 5 {
			th.Failed(fmt.Sprint("attacker ", i), noon)
		}
	}
	// A bystander shares all four buckets with attackers once in
	// (16384/1000)^4 = 72,000 times. The salt is the same in each run.
	held := 0
	for i := range 10_000 {
		if th.Check(fmt.Sprint("bystander ", i), noon) != nil {
			held++
		}
	}
	if held > 2 {
		t.Errorf("%d of 10,000 bystanders were held up", held)
	}
}

func TestAClockThatWasSetBackLocksNobodyOut(t *testing.T) {
	t.Parallel()
	th := throttle()
	for range 5 {
		th.Failed("a", noon)
	}
	back := noon.Add(-24 * time.Hour)
	err := th.Check("a", back)
	limit, held := errors.AsType[*access.ThrottleError](err)
	if !held || limit.RetryAfter > 12*time.Second {
		t.Fatalf("a day back: %v", err)
	}
	if err := th.Check("a", back.Add(limit.RetryAfter)); err != nil {
		t.Errorf("after the time it was told to wait: %v", err)
	}
}

// Requests get their times before they get the lock, so that these are a little
// out of order. That must not refill anything.
func TestTimesOutOfOrderGiveNoAttempts(t *testing.T) {
	t.Parallel()
	th := throttle()
	passed := 0
	for i := range 200 {
		at := noon.Add(time.Duration(i%7) * time.Millisecond)
		if th.Take("a", at) == nil {
			passed++
		}
	}
	if passed != 5 {
		t.Errorf("%d of 200 passed, 5 may", passed)
	}
}

func TestOfManyAtOnceOnlyTheBurstPasses(t *testing.T) {
	t.Parallel()
	th := throttle()
	var passed atomic.Int32
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			if th.Take("login:ada@example.com", noon) == nil {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if passed.Load() != 5 {
		t.Errorf("%d of 64 passed, 5 may", passed.Load())
	}
}

func TestARateOfNothingIsTheSlowestThatMakesSense(t *testing.T) {
	t.Parallel()
	th := access.NewThrottle(access.Rate{}, nil)
	if err := th.Take("a", noon); err != nil {
		t.Errorf("the first: %v", err)
	}
	if th.Take("a", noon) == nil {
		t.Error("a second at the same time passed")
	}
}
