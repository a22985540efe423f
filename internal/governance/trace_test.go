package governance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

const (
	dailyTotal = "  - {id: daily, total: params.amount, max: \"2000.00 USD\", over: 24h}\n"
	monthly    = "  - {id: monthly, count: true, max: 9, over: 720h}\n"
	byOrder    = "  - refs.order == params.order\n"
)

func compiled(t *testing.T, yaml []byte) *contract.Contract {
	t.Helper()
	k, err := contract.Parse(yaml)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A limit that no version had counts what was declared before it, as far as it
// reaches: the first action under it must not find an empty history.
func TestANewLimitAddsUpWhatWasDeclaredBeforeIt(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	old := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	o.declare(1, old, 1, verdict.Live, "100.00", o.clock())
	o.declare(2, old, 1, verdict.Live, "50.50", o.clock())
	o.declare(3, old, 0, "", "900.00", o.clock())                            // that nothing governs
	o.declare(4, old, 1, verdict.Shadow, "7.00", o.clock())                  // in shadow
	o.declare(5, old, 1, verdict.Live, "1.00", o.clock()-25*60*60*1_000_000) // a day before
	o.advance(time.Hour)
	yaml := text("48h", "", dailyTotal)
	o.activate(o.save(yaml), verdict.Live)
	k := compiled(t, yaml)
	if h := o.added(k, "daily", verdict.Live); h.Count != 2 || fmt.Sprint(h.Totals) != "[150.5 USD]" {
		t.Errorf("live it adds up %d, %v", h.Count, h.Totals)
	}
	if h := o.added(k, "daily", verdict.Shadow); h.Count != 3 || fmt.Sprint(h.Totals) != "[157.5 USD]" {
		t.Errorf("in shadow it adds up %d, %v", h.Count, h.Totals)
	}
	// Another maximum is no other sum, and activating once more changes nothing.
	o.activate(o.save(text("48h", "", dailyTotal+monthly)), verdict.Live)
	o.activate(3, verdict.Live)
	k = compiled(t, text("48h", "", dailyTotal+monthly))
	if h := o.added(k, "daily", verdict.Live); h.Count != 2 {
		t.Errorf("after another version it counts %d", h.Count)
	}
	if h := o.added(k, "monthly", verdict.Live); h.Count != 3 {
		t.Errorf("over a month it counts %d", h.Count)
	}
}

// A limit that was left out for a while has gaps, which its return fills.
func TestALimitThatComesBackCountsWhatWasDeclaredMeanwhile(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	with, without := text("48h", "", dailyTotal), strict
	o.activate(o.save(with), verdict.Live)
	o.activate(o.save(without), verdict.Live)
	o.declare(1, compiled(t, without), 2, verdict.Live, "100.00", o.clock())
	o.advance(time.Hour)
	o.activate(o.save(with), verdict.Live)
	if h := o.added(compiled(t, with), "daily", verdict.Live); h.Count != 1 {
		t.Errorf("it counts %d", h.Count)
	}
}

func TestANewLinkFindsActionsOfBefore(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	o.activate(o.save(strict), verdict.Live)
	o.declare(1, compiled(t, strict), 1, verdict.Live, "100.00", o.clock())
	find := func() int {
		q := &docket.Question{Declared: &docket.ActionKey{
			ContractID: "refunds", By: contract.ByParam, Param: "order", Value: "o-1", From: noon.Add(-time.Hour), To: noon.Add(time.Hour),
		}}
		return look(o, func(tx store.Tx) (int, error) {
			err := tx.Ask([]*docket.Question{q})
			return len(q.Declarations), err
		})
	}
	if n := find(); n != 0 {
		t.Fatalf("it is found before, by %d, so that the test proves nothing", n)
	}
	o.activate(o.save(text("48h", byOrder, "")), verdict.Live)
	if n := find(); n != 1 {
		t.Errorf("by the order %d actions are found", n)
	}
}

func TestManyActionsAreBroughtUpPageByPage(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	old := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	const n = pageOfActions + 20
	for i := range n {
		o.declare(i, old, 1, verdict.Live, "1.00", o.clock())
	}
	yaml := text("48h", "", dailyTotal)
	o.activate(o.save(yaml), verdict.Live)
	if h := o.added(compiled(t, yaml), "daily", verdict.Live); h.Count != n {
		t.Errorf("it adds up %d of %d", h.Count, n)
	}
}

// meddled is a store in which something happens between two units.
type meddled struct {
	store.Store
	units  int
	before func(unit int)
}

func (m *meddled) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	m.units++
	m.before(m.units)
	return m.Store.Do(ctx, w, fn)
}

// Earlier actions are brought up, then the version governs. What is declared between
// the two, under the version before, counts as well.
func TestWhatIsDeclaredDuringAnActivationIsBroughtUpToo(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	old := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	o.declare(1, old, 1, verdict.Live, "100.00", o.clock())
	yaml := text("48h", "", dailyTotal)
	n := o.save(yaml)
	m := &meddled{Store: o.store}
	m.before = func(unit int) {
		if unit == 2 {
			o.declare(2, old, 1, verdict.Live, "50.00", o.clock())
		}
	}
	if _, err := New(m, nil).Activate(t.Context(), o.admin(), "refunds", n, verdict.Live); err != nil {
		t.Fatal(err)
	}
	if h := o.added(compiled(t, yaml), "daily", verdict.Live); h.Count != 2 || m.units != 4 {
		t.Errorf("it adds up %d of 2, in %d units", h.Count, m.units)
	}
}
