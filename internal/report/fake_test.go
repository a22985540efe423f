package report_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
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
	log     []journal.Record           // in order, from position 0
	bodies  map[int64]body             // by position
	stats   []journal.ToolStats
	cost    journal.Cost
	went    []journal.DestinationCount
	tools   []journal.Tool
	found   journal.Found
	intents journal.IntentTotals
	not     []journal.Undeclared
	asked   []any // filters that were given, in order
	err     error // of every question
}

func (s *shelf) Runs(_ context.Context, f journal.RunFilter) ([]journal.Run, error) {
	var found []journal.Run
	for _, run := range slices.Backward(s.runs) {
		if strings.HasPrefix(run.ID, f.Prefix) && run.Last >= f.Since {
			for _, other := range s.runs {
				for other.ID != run.ID && strings.HasPrefix(other.ID, run.ID[:run.Shared+1]) {
					run.Shared++
				}
			}
			found = append(found, run)
		}
	}
	return limited(found, f.Limit), s.err
}

func (s *shelf) Calls(_ context.Context, f journal.CallFilter) ([]journal.Call, error) {
	var found []journal.Call
	for _, call := range s.calls {
		failed := call.Answered && call.Outcome != entry.OutcomeOK || !call.Answered && call.Ended
		switch {
		case f.Session != "" && call.Session != f.Session, call.At < f.Since,
			f.ToolsOnly && (call.Method != "tools/call" || call.From != "client"),
			f.Failed && !failed, f.Unanswered && call.Answered, f.Succeeded && call.Outcome != entry.OutcomeOK:
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
	t := journal.Totals{Others: s.others, Noise: s.noise, Stderr: s.stderr, Intents: s.intents}
	calls, _ := s.Calls(ctx, journal.CallFilter{Session: session, Since: since, ToolsOnly: true})
	for _, call := range calls {
		t.Calls++
		switch {
		case call.Answered:
			t.Returned += call.Returned
			t.Took += max(call.Took, 0)
			if call.Outcome != entry.OutcomeOK {
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

func (s *shelf) Gaps(ctx context.Context, session string, since int64) ([]journal.Gap, error) {
	totals, err := s.Totals(ctx, session, since)
	return totals.Gaps, err
}

func (s *shelf) Call(_ context.Context, session string, seq int64) ([]journal.Record, error) {
	records, found := s.records[seq]
	if !found || records[0].Entry.Session != session {
		return nil, journal.ErrNotFound
	}
	return records, s.err
}

// body is what was kept of a message.
type body struct {
	data []byte
	err  error // of opening it
	end  error // in place of io.EOF
}

func (s *shelf) Stats(_ context.Context, f journal.StatsFilter) ([]journal.ToolStats, error) {
	s.asked = append(s.asked, f)
	return s.stats, s.err
}

func (s *shelf) Cost(_ context.Context, f journal.StatsFilter) (journal.Cost, error) {
	s.asked = append(s.asked, f)
	return s.cost, s.err
}

// Failures counts what the calls of the shelf say.
func (s *shelf) Failures(ctx context.Context, f journal.StatsFilter) ([]journal.Failure, error) {
	calls, err := s.Calls(ctx, journal.CallFilter{Session: f.Session, Since: f.Since, ToolsOnly: true, Failed: true, Order: journal.Newest})
	var failures []journal.Failure
	for _, call := range calls {
		at := slices.IndexFunc(failures, func(one journal.Failure) bool {
			return one.Tool == call.Tool && one.Outcome == call.Outcome && one.Error == call.Error
		})
		switch {
		case !call.Answered:
		case at >= 0:
			failures[at].Count++
		default:
			failures = append(failures, journal.Failure{Method: call.Method, Tool: call.Tool, Outcome: call.Outcome, Error: call.Error, Count: 1, Last: call})
		}
	}
	slices.SortStableFunc(failures, func(a, b journal.Failure) int { return cmp.Compare(b.Count, a.Count) })
	return failures, err
}

func (s *shelf) Destinations(_ context.Context, f journal.StatsFilter) ([]journal.DestinationCount, error) {
	return s.went, s.err
}

func (s *shelf) Undeclared(context.Context, string, int64) ([]journal.Undeclared, error) {
	return s.not, s.err
}

func (s *shelf) Tools(_ context.Context, f journal.ToolFilter) ([]journal.Tool, error) {
	s.asked = append(s.asked, f)
	return s.tools, s.err
}

func (s *shelf) Search(_ context.Context, f journal.SearchFilter) (journal.Found, error) {
	s.asked = append(s.asked, f)
	return s.found, s.err
}

// Checkpoint is a note of the right form; nobody here looks at signatures.
func (s *shelf) Checkpoint(context.Context) ([]byte, error) {
	text := tlog.Checkpoint{Origin: "deed/test", Size: int64(len(s.log))}.Text()
	return []byte(text + "\n\u2014 deed/test AAAAAAAA\n"), s.err
}

func (s *shelf) Records(_ context.Context, from int64, yield func(journal.Record) error) error {
	for _, record := range s.log[min(from, int64(len(s.log))):] {
		if err := yield(record); err != nil {
			return err
		}
	}
	return s.err
}

func (s *shelf) Body(_ context.Context, n int64) (io.ReadCloser, journal.BodyInfo, error) {
	kept, found := s.bodies[n]
	if !found {
		return nil, journal.BodyInfo{}, journal.ErrNoBody
	}
	if kept.err != nil {
		return nil, journal.BodyInfo{}, kept.err
	}
	var reader io.Reader = bytes.NewReader(kept.data)
	if kept.end != nil {
		reader = io.MultiReader(reader, iotest.ErrReader(kept.end))
	}
	return io.NopCloser(reader), journal.BodyInfo{Kept: int64(len(kept.data))}, nil
}

// write adds an entry to the log, as a recorder would.
func (s *shelf) write(e entry.Entry, detail *entry.Detail) {
	if e.Kind != entry.KindResponse && e.Kind != entry.KindNotification {
		e.Call, e.Took = -1, -1
	}
	leaf := fmt.Appendf(nil, `{"kind":%q,"seq":%d}`, e.Kind, e.Seq)
	record := journal.Record{N: int64(len(s.log)), Entry: e, Detail: detail, Leaf: leaf}
	s.log = append(s.log, record)
	switch {
	case e.Kind == entry.KindRequest:
		if s.records == nil {
			s.records = map[int64][]journal.Record{}
		}
		s.records[e.Seq] = []journal.Record{record}
	case e.Call > 0:
		s.records[e.Call] = append(s.records[e.Call], record)
	}
}

func limited[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}
