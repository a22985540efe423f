package faulty_test

import (
	"errors"
	"testing"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/faulty"
	"github.com/deed-dev/deed/internal/store/sqlite"
)

// story counts one declaration in each of three units and says how many of them
// failed, how often a function ran, and how many were counted in the end.
func story(t *testing.T, plan faulty.Plan) (failed, runs int, counted int64) {
	t.Helper()
	works, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = works.Close() })
	s := faulty.New(works, plan)
	for range 3 {
		err := s.Do(t.Context(), "ws", func(tx store.Tx) error {
			runs++
			tx.CountDeclared("2026-11", 1)
			return nil
		})
		if err != nil {
			failed++
			if !errors.As(err, new(*store.UnavailableError)) {
				t.Errorf("it fails with %v", err)
			}
		}
	}
	if s.Units() != 3 {
		t.Errorf("%d units have begun, want 3", s.Units())
	}
	err = works.View(t.Context(), "ws", func(tx store.Tx) (err error) {
		counted, err = tx.DeclaredIn("2026-11")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return failed, runs, counted
}

func TestAUnitFailsAsItIsPlannedAndNoOtherDoes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		plan         faulty.Plan
		failed, runs int
		counted      int64
	}{
		{"nothing fails", faulty.Never, 0, 3, 3},
		{"one is lost", faulty.Nth(2, faulty.Lost), 1, 3, 2},
		{"one is kept, and told that it is not", faulty.Nth(2, faulty.Kept), 1, 3, 3},
		{"one runs twice, and counts once", faulty.Nth(2, faulty.Twice), 0, 4, 3},
		{"all are lost", faulty.Always(faulty.Lost), 3, 3, 0},
		{"all run twice", faulty.Always(faulty.Twice), 0, 6, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			failed, runs, counted := story(t, test.plan)
			if failed != test.failed || runs != test.runs || counted != test.counted {
				t.Errorf("%d failed, %d runs, %d counted, want %d, %d, %d", failed, runs, counted, test.failed, test.runs, test.counted)
			}
		})
	}
}

func TestTheErrorOfAUnitIsItsOwnWhateverIsPlanned(t *testing.T) {
	t.Parallel()
	works, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = works.Close() })
	mine := errors.New("mine")
	for _, f := range []faulty.Fault{faulty.None, faulty.Lost, faulty.Kept, faulty.Twice} {
		if err := faulty.New(works, faulty.Always(f)).Do(t.Context(), "ws", func(store.Tx) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("with fault %d: %v", f, err)
		}
	}
}

func TestTheDirectoryFailsWhereItWrites(t *testing.T) {
	t.Parallel()
	works, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = works.Close() })
	for _, test := range []struct {
		name  string
		fault faulty.Fault
		kept  string
	}{{"a", faulty.Lost, ""}, {"b", faulty.Kept, "value"}, {"c", faulty.None, "value"}} {
		s := faulty.New(works, faulty.Always(test.fault))
		_, err := s.Directory().SetMeta(t.Context(), test.name, "value")
		if failed := errors.As(err, new(*store.UnavailableError)); failed != (test.fault != faulty.None) {
			t.Errorf("with fault %d: %v", test.fault, err)
		}
		if got, err := s.Directory().Meta(t.Context(), test.name); err != nil || got != test.kept {
			t.Errorf("with fault %d it reads %q, %v", test.fault, got, err)
		}
	}
}
