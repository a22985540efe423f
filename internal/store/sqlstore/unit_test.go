package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// fake is a database that fails as it is told and notes what is sent.
type fake struct {
	fails  []error // of the sessions, one after the other; nil commits
	clock  []value.Instant
	opened int

	written value.Instant

	log []string
}

func (f *fake) Name() string                                     { return "fake" }
func (f *fake) Dialect() Dialect                                 { return SQLite }
func (f *fake) Serial() bool                                     { return false }
func (f *fake) Tell(context.Context, []access.WorkspaceID) error { return nil }
func (f *fake) Told() <-chan access.WorkspaceID                  { return nil }
func (f *fake) Ping(context.Context) error                       { return nil }
func (f *fake) Times() (written, clock value.Instant)            { return f.written, 1 }
func (f *fake) Close() error                                     { return nil }
func (f *fake) Begin(context.Context, SessionOptions) (Session, error) {
	s := &fakeSession{of: f, n: f.opened}
	f.opened++
	return s, nil
}

type fakeSession struct {
	of *fake
	n  int
}

func (s *fakeSession) Send(_ context.Context, calls []Call) error {
	for _, c := range calls {
		s.of.log = append(s.of.log, c.Name)
	}
	return nil
}

func (s *fakeSession) Commit(ctx context.Context, calls []Call) error {
	_ = s.Send(ctx, calls)
	s.of.log = append(s.of.log, "commit")
	if s.n < len(s.of.fails) && s.of.fails[s.n] != nil {
		return s.of.fails[s.n]
	}
	return nil
}

func (s *fakeSession) Turn(t store.Turn) { s.of.log = append(s.of.log, fmt.Sprint("turn ", t)) }

func (s *fakeSession) Rollback() { s.of.log = append(s.of.log, "rollback") }

func (s *fakeSession) Now() value.Instant {
	if s.n < len(s.of.clock) {
		return s.of.clock[s.n]
	}
	return 1
}

func openFake(t *testing.T, f *fake) *Store {
	t.Helper()
	s, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAUnitInConflictRunsAgain(t *testing.T) {
	t.Parallel()
	f := &fake{fails: []error{
		&CallError{Call: "commit", Err: &ConflictError{Err: errors.New("busy")}},
		&CallError{Call: "add_action", Err: &UniqueError{Err: errors.New("there")}},
	}}
	runs := 0
	err := openFake(t, f).Do(t.Context(), "w", func(tx store.Tx) error {
		runs++
		tx.PutWatermark("stripe", "refund.succeeded", 1, "ada@example.com")
		return nil
	})
	if err != nil || runs != 3 {
		t.Errorf("it ran %d times: %v", runs, err)
	}
	if want := []string{"put_watermark", "commit", "put_watermark", "commit", "put_watermark", "commit"}; !slices.Equal(f.log, want) {
		t.Errorf("%v was sent, want %v", f.log, want)
	}
}

func TestAUnitThatIsAlwaysInConflictGivesUp(t *testing.T) {
	t.Parallel()
	f := &fake{fails: slices.Repeat([]error{&CallError{Call: "commit", Err: &ConflictError{Err: errors.New("busy")}}}, 100)}
	err := openFake(t, f).Do(t.Context(), "w", func(store.Tx) error { return nil })
	if _, is := errors.AsType[*store.UnavailableError](err); !is || f.opened != maxRuns {
		t.Errorf("%v after %d runs", err, f.opened)
	}
}

func TestANameThatIsTakenIsNoConflict(t *testing.T) {
	t.Parallel()
	name := book[slices.IndexFunc(book, func(s *statement) bool { return s.unique })].name
	f := &fake{fails: []error{&CallError{Call: name, Err: &UniqueError{Err: errors.New("there")}}}}
	err := openFake(t, f).Do(t.Context(), "w", func(store.Tx) error { return nil })
	if !errors.Is(err, store.ErrTaken) || f.opened != 1 {
		t.Errorf("%v after %d runs", err, f.opened)
	}
}

func TestACommitWithoutAnAnswerIsNotRunAgain(t *testing.T) {
	t.Parallel()
	f := &fake{fails: []error{&CallError{Call: "commit", Err: &store.UnavailableError{Err: errors.New("gone")}}}}
	err := openFake(t, f).Do(t.Context(), "w", func(store.Tx) error { return nil })
	if _, is := errors.AsType[*store.UnavailableError](err); !is || f.opened != 1 {
		t.Errorf("%v after %d runs: it may have been kept", err, f.opened)
	}
}

func TestAnErrorOfTheFunctionIsReturnedAsItIsAndNothingIsSent(t *testing.T) {
	t.Parallel()
	f, mine := &fake{}, errors.New("mine")
	err := openFake(t, f).Do(t.Context(), "w", func(tx store.Tx) error {
		tx.PutWatermark("stripe", "refund.succeeded", 1, "ada@example.com")
		return mine
	})
	if err != mine || !slices.Equal(f.log, []string{"rollback"}) {
		t.Errorf("%v, and %v was sent", err, f.log)
	}
}

func TestAFunctionThatPanicsLeavesNoSessionOpen(t *testing.T) {
	t.Parallel()
	f := &fake{}
	s := openFake(t, f)
	func() {
		defer func() { _ = recover() }()
		_ = s.Do(t.Context(), "w", func(store.Tx) error { panic("mine") })
	}()
	if !slices.Equal(f.log, []string{"rollback"}) {
		t.Errorf("%v was sent", f.log)
	}
}

func TestAViewThatWritesFails(t *testing.T) {
	t.Parallel()
	f := &fake{}
	err := openFake(t, f).View(t.Context(), "w", func(tx store.Tx) error {
		tx.PutWatermark("stripe", "refund.succeeded", 1, "ada@example.com")
		return nil
	})
	if err == nil || !slices.Equal(f.log, []string{"rollback"}) {
		t.Errorf("%v, and %v was sent", err, f.log)
	}
}

func TestWhatIsQueuedIsSentBeforeWhatIsAsked(t *testing.T) {
	t.Parallel()
	f := &fake{}
	err := openFake(t, f).Do(t.Context(), "w", func(tx store.Tx) error {
		tx.PutWatermark("stripe", "refund.succeeded", 1, "ada@example.com")
		_, err := tx.NextDue()
		return err
	})
	if want := []string{"put_watermark", "next_due", "commit"}; err != nil || !slices.Equal(f.log, want) {
		t.Errorf("%v, and %v was sent, want %v", err, f.log, want)
	}
}

func TestTimeNeverGoesBackWithinAProcess(t *testing.T) {
	t.Parallel()
	s := openFake(t, &fake{clock: []value.Instant{50, 20, 70}})
	for _, want := range []value.Instant{50, 50, 70} {
		_ = s.Do(t.Context(), "w", func(tx store.Tx) error {
			if got := tx.Now(); got != want {
				t.Errorf("it is %d, want %d", got, want)
			}
			return nil
		})
	}
}

func TestACursorBelongsToItsListAndFilter(t *testing.T) {
	t.Parallel()
	type filter struct{ agent string }
	c := cursor("actions", filter{"bot"}, place{number: -7, text: "act_1"})
	if p, there, err := readCursor("actions", filter{"bot"}, c); err != nil || !there || p != (place{number: -7, text: "act_1"}) {
		t.Errorf("%v, %v, %v", p, there, err)
	}
	for name, read := range map[string]func() error{
		"another list":   func() error { _, _, err := readCursor("facts", filter{"bot"}, c); return err },
		"another filter": func() error { _, _, err := readCursor("actions", filter{"bob"}, c); return err },
		"a part of it":   func() error { _, _, err := readCursor("actions", filter{"bot"}, c[:8]); return err },
		"no cursor":      func() error { _, _, err := readCursor("actions", filter{"bot"}, "???"); return err },
	} {
		if _, is := errors.AsType[*store.CursorError](read()); !is {
			t.Errorf("%s: %v", name, read())
		}
	}
}

func TestALongTextStandsInAnIndexAsItsDigest(t *testing.T) {
	t.Parallel()
	short, long := string(make([]byte, maxKeyBytes)), string(make([]byte, maxKeyBytes+1))
	if key(short) != short {
		t.Error("a text that fits is changed")
	}
	if got := key(long); len(got) != len("sha256:")+64 || got == key(long+"x") {
		t.Errorf("a long text stands there as %q", got)
	}
}
