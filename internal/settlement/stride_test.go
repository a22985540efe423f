package settlement

import (
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

func TestAUnitThatTakesLongIsFollowedByASmallerOne(t *testing.T) {
	t.Parallel()
	s := strides{most: 200, kept: map[access.WorkspaceID]int{}}
	if got := s.of("w"); got != 200 {
		t.Fatalf("the first unit claims %d, want all 200", got)
	}
	// Eight hundred actions on one subject, of which each costs four milliseconds.
	for range 10 {
		n := s.of("w")
		s.took("w", n, Done{Wakes: n, Evaluated: n}, time.Duration(n)*4*time.Millisecond)
	}
	if got := s.of("w"); got < leastStride || got > 50 {
		t.Errorf("after units of 4 ms an action a unit claims %d, want at most 50", got)
	}
	if got := s.of("other"); got != 200 {
		t.Errorf("another workspace claims %d", got)
	}
	for range 10 {
		n := s.of("w")
		s.took("w", n, Done{Wakes: n, Evaluated: n}, time.Millisecond)
	}
	if got := s.of("w"); got != 200 || len(s.kept) != 0 {
		t.Errorf("once it is quick again a unit claims %d, want 200 (%v kept)", got, s.kept)
	}
	// A slow machine, on which a unit takes 60 ms however little it does, after a moment
	// in which nothing got on.
	for range 10 {
		s.took("slow", s.of("slow"), Done{Wakes: 200, Evaluated: 200}, time.Minute)
	}
	for range 10 {
		n := s.of("slow")
		s.took("slow", n, Done{Wakes: n, Evaluated: n}, 60*time.Millisecond+time.Duration(n)*time.Millisecond/2)
	}
	if got := s.of("slow"); got < 100 {
		t.Errorf("where little more than latency takes time a unit claims %d, so that it stays behind", got)
	}
	// A unit in which a single action is slow cannot be made smaller.
	s.took("w", 200, Done{Wakes: 1, Evaluated: 1}, time.Minute)
	if got := s.of("w"); got != 200 {
		t.Errorf("after one slow action a unit claims %d", got)
	}
}
