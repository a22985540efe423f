package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

// Whoever reads metrics is not a member of any workspace, and the number of
// series must not grow with the data.
func TestNoLabelCanHaveATenantsWordInIt(t *testing.T) {
	t.Parallel()
	m := NewMeter(Build{Version: "1.2.0", Commit: "abc"})
	m.Answered("GET /v1/actions/{ref}", "BREW", 200, time.Millisecond)
	m.workerFailed("evaluator")
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"route", "method", "status", "work", "recorded", "kept", "badge", "kind", "result", "version", "commit"}
	methods := 0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "method" {
					methods++
					if label.GetValue() != "other" {
						t.Errorf("a method that a stranger made up is the label %q", label.GetValue())
					}
				}
				if len(family.GetName()) > 5 && family.GetName()[:5] == "deed_" && !slices.Contains(known, label.GetName()) {
					t.Errorf("%s has the label %s: say why it holds nothing of a tenant", family.GetName(), label.GetName())
				}
			}
		}
	}
	if methods == 0 {
		t.Error("the request was not counted")
	}
}

// failing is a store whose units end in a given way.
type failing struct {
	store.Store
	err error
}

func (f failing) Do(context.Context, access.WorkspaceID, func(store.Tx) error) error { return f.err }

func TestAUnitIsCountedByWhoseFaultItsEndIs(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"ok": nil, "unavailable": &store.UnavailableError{Err: errors.New("gone")}, "cancelled": context.Canceled, "refused": store.ErrTaken,
	} {
		m := NewMeter(Build{})
		if got := m.Measured(failing{err: err}).Do(t.Context(), "w", nil); !errors.Is(got, err) {
			t.Errorf("the unit's error %v became %v", err, got)
		}
		families, gathering := m.registry.Gather()
		if gathering != nil {
			t.Fatal(gathering)
		}
		for _, family := range families {
			if family.GetName() != "deed_database_units_total" {
				continue
			}
			for _, label := range family.GetMetric()[0].GetLabel() {
				if label.GetName() == "result" && label.GetValue() != want {
					t.Errorf("%v counts as %s, want %s", err, label.GetValue(), want)
				}
			}
		}
	}
}
