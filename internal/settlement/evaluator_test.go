package settlement_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// refund declares a refund of 80 USD on an order, requested at noon.
func (p *place) refund(t testing.TB, id, order string) store.Ref {
	t.Helper()
	d, err := action.Parse(fmt.Appendf(nil, `{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": %q, "subject_kind": "order",
		"agent_id": %q, "requested_at": "2026-11-02T12:00:00Z", "params": {"amount": 80.00}}`, id, order, "bot of "+id))
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.actions.Declare(t.Context(), p.recorder(t), d)
	if err != nil {
		t.Fatal(err)
	}
	return r.Action.Ref
}

// paid tells that Stripe refunded 80 USD on an order at five past noon.
func (p *place) paid(t testing.TB, id, order string, changes ...func(*evidence.Fact)) {
	t.Helper()
	f := evidence.Fact{
		Source: "stripe", ExternalID: id, Type: "refund.succeeded", SubjectID: order, SubjectKind: "order", OccurredAt: noon.Add(5 * time.Minute),
		Attrs: map[string]value.Value{"amount": money("80.00 USD")},
	}
	for _, change := range changes {
		change(&f)
	}
	if _, err := p.intake.Push(t.Context(), p.key(t, access.ScopesOf(access.FactsWrite), f.Source), []intake.Fact{{Fact: f}}); err != nil {
		t.Fatal(err)
	}
}

// complete says that all sources are complete up to a time.
func (p *place) complete(t testing.TB, to value.Instant) {
	t.Helper()
	for _, source := range []string{"stripe", "desk"} {
		marks := map[string]value.Instant{}
		for _, factType := range []string{"refund.succeeded", "refund.failed", "ticket.solved", "approval.granted"} {
			marks[factType] = to
		}
		if _, err := p.intake.PutWatermarks(t.Context(), p.key(t, access.ScopesOf(access.FactsWrite), source), source, marks); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *place) verdict(t testing.TB, id string) *verdict.Verdict {
	t.Helper()
	found, err := p.actions.Get(t.Context(), p.recorder(t), id)
	if err != nil {
		t.Fatal(err)
	}
	return &found.Verdict
}

func (p *place) result(t testing.TB, id, check string) verdict.Result {
	t.Helper()
	for _, c := range p.verdict(t, id).Checks {
		if c.ID == check {
			return c.Result
		}
	}
	t.Fatalf("%s has no check %s", id, check)
	return ""
}

func (s *server) after(d time.Duration) { s.clock.set(noon.Add(d)) }

// world is a place with all that hammers need, on one database.
func world(t *testing.T, open func(testing.TB, *clock) store.Store) *place {
	t.Helper()
	p := serve(t, open, noon).place(t)
	p.furnish(t)
	return p
}

func TestAnActionSettlesWhenItIsTimeAndEverythingIsCovered(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	p.paid(t, "re_1", "o-1")
	p.paid(t, "tk_1", "o-1", func(f *evidence.Fact) {
		f.Source, f.Type, f.OccurredAt = "desk", "ticket.solved", f.OccurredAt.Add(time.Hour)
	})
	p.after(2 * time.Hour)
	p.drain(t)
	if v := p.verdict(t, "a1"); v.Status != verdict.Provisional || p.result(t, "a1", "money_moved") != verdict.Pass {
		t.Fatalf("with the refund it is %s", v.AppendJSON(nil))
	}
	p.after(71 * time.Hour)
	p.complete(t, noon.Add(71*time.Hour))
	p.drain(t)
	if v := p.verdict(t, "a1"); v.Status != verdict.Provisional {
		t.Errorf("an hour early it is %s", v.Status)
	}
	p.after(72*time.Hour + time.Minute)
	p.drain(t)
	if v := p.verdict(t, "a1"); v.Status != verdict.Provisional {
		t.Errorf("in time, and not covered, it is %s", v.Status)
	}
	p.complete(t, noon.Add(72*time.Hour))
	p.drain(t)
	v := p.verdict(t, "a1")
	if v.Status != verdict.Settled || v.Badge != verdict.Pass || v.SettledAt != noon.Add(72*time.Hour+time.Minute) {
		t.Errorf("in time and covered it is %s", v.AppendJSON(nil))
	}
}

func (p *place) due(t testing.TB) (due value.Instant) {
	t.Helper()
	err := p.store.View(t.Context(), p.id, func(tx store.Tx) (err error) {
		due, err = tx.NextDue()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func TestAnActionThatNobodyCoversSettlesWhenTheGraceIsOver(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	for _, test := range []struct {
		after time.Duration
		want  verdict.Status
	}{{72 * time.Hour, verdict.Provisional}, {84*time.Hour - time.Microsecond, verdict.Provisional}, {84 * time.Hour, verdict.Settled}} {
		p.after(test.after)
		p.drain(t)
		if v := p.verdict(t, "a1"); v.Status != test.want {
			t.Errorf("after %s it is %s, want %s", test.after, v.Status, test.want)
		}
	}
	if v := p.verdict(t, "a1"); v.Outcome.Codes[0] != verdict.SourceNotCovered {
		t.Errorf("it is %v", v.Outcome)
	}
}

// A source may say that it is complete up to a moment that is still to come.
func TestCoverageThatLiesAheadCountsWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	p.after(48*time.Hour - 30*time.Second)
	p.complete(t, noon.Add(48*time.Hour))
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Unknown {
		t.Errorf("before the window's end it is %s", got)
	}
	p.after(48 * time.Hour)
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Fail {
		t.Errorf("at the window's end it is %s, want that nothing was there", got)
	}
}

func TestWhatASourceTakesBackIsOpenAgainUntilItSettles(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	p.after(50 * time.Hour)
	p.complete(t, noon.Add(50*time.Hour))
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Fail {
		t.Fatalf("covered and absent it is %s", got)
	}
	p.complete(t, noon.Add(40*time.Hour))
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Unknown {
		t.Errorf("no longer covered it is %s", got)
	}
	trust := evidence.SelfReported
	p.complete(t, noon.Add(50*time.Hour))
	if _, err := p.intake.ChangeSource(t.Context(), p.member(t), "stripe", intake.SourceChange{Trust: &trust}); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Unknown {
		t.Errorf("covered by a source that is not trusted it is %s", got)
	}
}

// More actions than one unit looks at wait for one source, and for one change of it.
func TestManyThatWaitForOneSourceAreAllWoken(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.evaluator = settlement.NewEvaluator(p.store, settlement.Options{Batch: 3, OnFailure: func(_ access.WorkspaceID, ref store.Ref, err error) { t.Errorf("%s: %v", ref, err) }})
	const many = 10
	for i := range many {
		p.refund(t, fmt.Sprint("a", i), fmt.Sprint("o-", i))
	}
	p.after(50 * time.Hour)
	for _, step := range []struct {
		to   time.Duration
		want verdict.Result
	}{{50 * time.Hour, verdict.Fail}, {40 * time.Hour, verdict.Unknown}} {
		p.complete(t, noon.Add(step.to))
		p.drain(t)
		for i := range many {
			if got := p.result(t, fmt.Sprint("a", i), "money_moved"); got != step.want {
				t.Errorf("covered to %s, action %d is %s, want %s", step.to, i, got, step.want)
			}
		}
	}
}

// A verdict is only written where it says something else.
func TestWhatChangesNothingIsNotKeptAgain(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	p.drain(t)
	before := p.verdict(t, "a1")
	var done settlement.Done
	p.evaluator = settlement.NewEvaluator(p.store, settlement.Options{OnUnit: func(_ access.WorkspaceID, d settlement.Done) {
		done.Wakes += d.Wakes
		done.Evaluated += d.Evaluated
		done.Kept += d.Kept
	}})
	p.after(time.Hour)
	p.paid(t, "re_9", "o-1", func(f *evidence.Fact) { f.Type, f.OccurredAt = "refund.failed", noon.Add(-48*time.Hour) }) // long before
	p.drain(t)
	if done.Wakes != 1 || done.Evaluated != 1 || done.Kept != 0 {
		t.Errorf("it did %+v, want to evaluate one and keep nothing", done)
	}
	if v := p.verdict(t, "a1"); v.Digest() != before.Digest() {
		t.Error("the verdict is another")
	}
}

// spoiled is a store in which what is asked about one action goes wrong.
type spoiled struct {
	store.Store
	mu  sync.Mutex
	how func(*docket.Question) error
}

func (s *spoiled) spoil(how func(*docket.Question) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.how = how
}

func (s *spoiled) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error { return fn(&spoiledTx{tx, s}) })
}

type spoiledTx struct {
	store.Tx
	of *spoiled
}

func (tx *spoiledTx) Ask(questions []*docket.Question) error {
	if err := tx.Tx.Ask(questions); err != nil {
		return err
	}
	tx.of.mu.Lock()
	defer tx.of.mu.Unlock()
	for _, q := range questions {
		if tx.of.how == nil {
			break
		}
		if err := tx.of.how(q); err != nil {
			return err
		}
	}
	return nil
}

// trouble collects what an evaluator could not do.
type trouble struct {
	mu   sync.Mutex
	refs map[store.Ref]int
}

func (tr *trouble) tell(_ access.WorkspaceID, ref store.Ref, _ error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.refs == nil {
		tr.refs = map[store.Ref]int{}
	}
	tr.refs[ref]++
}

func TestAnActionThatCannotBeEvaluatedStopsNoOther(t *testing.T) {
	t.Parallel()
	broken := errors.New("a row that nobody can read")
	for name, how := range map[string]func(*docket.Question) error{
		"its case is none": func(q *docket.Question) error {
			if q.Revisions == "bad" && len(q.Declarations) > 0 {
				q.Declarations[0].ReceivedAt = 0
			}
			return nil
		},
		"the engine panics over it": func(q *docket.Question) error {
			if q.Revisions == "bad" {
				panic("a case that nobody thought of")
			}
			return nil
		},
		"the whole unit fails with it": func(q *docket.Question) error {
			if q.Revisions == "bad" {
				return broken
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, onSQLite)
			bad := p.refund(t, "bad", "o-bad")
			for i := range 5 {
				p.refund(t, fmt.Sprint("a", i), fmt.Sprint("o-", i))
			}
			p.drain(t)
			for i := range 5 {
				p.paid(t, fmt.Sprint("re_", i), fmt.Sprint("o-", i))
			}
			p.paid(t, "re_bad", "o-bad")
			s := &spoiled{Store: p.store}
			s.spoil(how)
			tr := &trouble{}
			p.evaluator = settlement.NewEvaluator(s, settlement.Options{OnFailure: tr.tell})
			p.drain(t)
			for i := range 5 {
				if got := p.result(t, fmt.Sprint("a", i), "money_moved"); got != verdict.Pass {
					t.Errorf("action %d is %s", i, got)
				}
			}
			if tr.refs[bad]+tr.refs[""] != 1 {
				t.Errorf("told of %v, want one failure", tr.refs)
			}
			// It waits a second, then two: nothing is due meanwhile.
			for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
				if due := p.due(t).Sub(p.clock.read()); due != wait {
					t.Errorf("it is tried again after %s, want %s", due, wait)
				}
				p.clock.set(p.clock.read().Add(wait))
				p.drain(t)
			}
			s.spoil(nil)
			p.clock.set(p.clock.read().Add(time.Hour))
			p.drain(t)
			if got := p.result(t, "bad", "money_moved"); got != verdict.Pass {
				t.Errorf("when it can be read again, it is %s", got)
			}
			if left := p.stale(t); len(left) > 0 {
				t.Errorf("left behind are %v", left)
			}
		})
	}
}

func TestADatabaseThatDoesNotAnswerLosesNoWake(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	p.paid(t, "re_1", "o-1")
	s := &spoiled{Store: p.store}
	s.spoil(func(*docket.Question) error { return &store.UnavailableError{Err: errors.New("down")} })
	tr := &trouble{}
	e := settlement.NewEvaluator(s, settlement.Options{OnFailure: tr.tell})
	if err := e.Drain(t.Context(), p.id); !errors.As(err, new(*store.UnavailableError)) {
		t.Errorf("the error is %v", err)
	}
	if len(tr.refs) > 0 {
		t.Errorf("a database that is down is told as a failure of %v", tr.refs)
	}
	s.spoil(nil)
	p.drain(t)
	if got := p.result(t, "a1", "money_moved"); got != verdict.Pass {
		t.Errorf("it is %s", got)
	}
}

// Run hears of what is due and does it, in all workspaces, with several instances.
func TestRunningEvaluatorsDoWhatIsDueByThemselves(t *testing.T) {
	t.Parallel()
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, open, noon)
			s.clock.ticks.Store(true)
			kept := make(chan access.WorkspaceID, 1000)
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			for range 2 {
				e := settlement.NewEvaluator(s.store, settlement.Options{
					Workers: 2, OnUnit: func(w access.WorkspaceID, d settlement.Done) {
						if d.Kept > 0 {
							kept <- w
						}
					},
					OnFailure: func(w access.WorkspaceID, ref store.Ref, err error) { t.Errorf("%s %s: %v", w, ref, err) },
				})
				running.Go(func() { e.Run(ctx) })
			}
			var places []*place
			for range 3 {
				p := s.place(t)
				p.furnish(t)
				p.refund(t, "a1", "o-1")
				p.paid(t, "re_1", "o-1")
				places = append(places, p)
			}
			patience := time.After(5 * time.Minute)
			for waiting := len(places); waiting > 0; {
				select {
				case <-kept:
				case <-patience:
					t.Fatal("nothing was evaluated within five minutes")
				}
				waiting = 0
				for _, p := range places {
					if p.result(t, "a1", "money_moved") != verdict.Pass {
						waiting++
					}
				}
			}
			stop()
			running.Wait()
			for _, p := range places {
				p.drain(t)
				if left := p.stale(t); len(left) > 0 {
					t.Errorf("left behind are %v", left)
				}
			}
		})
	}
}

func TestAnEvaluatorThatIsStoppedReturns(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p.evaluator.Run(ctx) // or the test never ends
}
