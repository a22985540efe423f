package report_test

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal"
)

// shelf is a journal.History in memory.
type shelf struct {
	runs    []journal.Run // oldest first
	calls   []journal.Call
	gaps    []journal.Gap
	others  []journal.MethodCount
	noise   int64
	stderr  int64
	records map[int64][]journal.Record // by seq of the request
	err     error                      // of every question
}

func (s *shelf) Runs(_ context.Context, f journal.RunFilter) ([]journal.Run, error) {
	var found []journal.Run
	for _, run := range slices.Backward(s.runs) {
		if strings.HasPrefix(run.ID, f.Prefix) && run.Last >= f.Since {
			found = append(found, run)
		}
	}
	return limited(found, f.Limit), s.err
}

func (s *shelf) Calls(_ context.Context, f journal.CallFilter) ([]journal.Call, error) {
	var found []journal.Call
	for _, call := range s.calls {
		failed := call.Answered && call.Outcome != journal.OutcomeOK || !call.Answered && call.Ended
		switch {
		case f.Session != "" && call.Session != f.Session, call.At < f.Since,
			f.ToolsOnly && (call.Method != "tools/call" || call.From != "client"),
			f.Failed && !failed, f.Succeeded && call.Outcome != journal.OutcomeOK:
			continue
		}
		found = append(found, call)
	}
	slices.SortStableFunc(found, func(a, b journal.Call) int {
		switch f.Order {
		case journal.Newest:
			return cmp.Compare(b.At, a.At)
		case journal.Biggest:
			return cmp.Compare(b.Returned, a.Returned)
		case journal.Slowest:
			return cmp.Compare(b.Took, a.Took)
		}
		return cmp.Compare(a.At, b.At)
	})
	return limited(found, f.Limit), s.err
}

func (s *shelf) Totals(ctx context.Context, session string, since int64) (journal.Totals, error) {
	t := journal.Totals{Others: s.others, Noise: s.noise, Stderr: s.stderr}
	calls, _ := s.Calls(ctx, journal.CallFilter{Session: session, Since: since, ToolsOnly: true})
	for _, call := range calls {
		t.Calls++
		switch {
		case call.Answered:
			t.Returned += call.Returned
			t.Took += max(call.Took, 0)
			if call.Outcome != journal.OutcomeOK {
				t.Failed++
			}
		case call.Ended:
			t.Unanswered++
		default:
			t.Open++
		}
	}
	for _, gap := range s.gaps {
		if (session == "" || gap.Session == session) && gap.At >= since {
			t.Gaps = append(t.Gaps, gap)
		}
	}
	return t, s.err
}

func (s *shelf) Call(_ context.Context, session string, seq int64) ([]journal.Record, error) {
	records, found := s.records[seq]
	if !found || records[0].Entry.Session != session {
		return nil, journal.ErrNotFound
	}
	return records, s.err
}

func limited[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}
