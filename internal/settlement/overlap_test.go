package settlement_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/verdict"
)

// slow is a store whose first unit ends when the test says so.
type slow struct {
	store.Store
	once  *sync.Once
	ready chan struct{} // the unit has done everything but commit
	end   chan struct{}
}

func (s slow) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error {
		err := fn(tx)
		s.once.Do(func() {
			close(s.ready)
			<-s.end
		})
		return err
	})
}

// held is an instance whose first declaration has done everything but commit.
type held struct {
	slow
	answered chan error
}

// hold has another instance declare something, and returns when only its commit is left.
func (p *place) hold(t *testing.T, body string) held {
	t.Helper()
	h := held{slow: slow{Store: p.store, once: &sync.Once{}, ready: make(chan struct{}), end: make(chan struct{})}, answered: make(chan error, 1)}
	other := action.NewService(h, action.Options{Random: rand.Reader})
	key, d := p.recorder(t), read(t, body)
	go func() {
		_, err := other.Declare(t.Context(), key, d)
		h.answered <- err
	}()
	<-h.ready
	return h
}

// release has it commit.
func (h held) release(t *testing.T) {
	t.Helper()
	close(h.end)
	if err := <-h.answered; err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, body string) *action.Declaration {
	t.Helper()
	d, err := action.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Two instances record at the same time. What both come to is over a limit, or leaves
// open whose a refund is, and each alone is not.
func TestOfTwoThatDeclareAtTheSameTimeTheLaterSeesTheEarlier(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body, check string
		want        verdict.Result
	}{
		"a limit": {`{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": %[1]q, "subject_kind": "order",
			"agent_id": "bot", "requested_at": "2026-11-02T12:00:00Z", "params": {"amount": 150.00}}`, "agent_daily", verdict.Fail},
		"a fact": {`{"action_id": %q, "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z"}`, "undone", verdict.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, onPostgres)
			p.after(10 * time.Minute)
			p.clock.ticks.Store(true)
			p.paid(t, "re_1", "o-1")
			p.drain(t)
			first := p.hold(t, fmt.Sprintf(test.body, "a1"))
			key, d := p.recorder(t), read(t, fmt.Sprintf(test.body, "a2"))
			second := make(chan error, 1)
			go func() {
				_, err := p.actions.Declare(t.Context(), key, d)
				second <- err
			}()
			p.drain(t) // whoever evaluates waits for neither
			select {
			case err := <-second:
				t.Errorf("a2 was answered before a1 was committed: %v", err)
			default:
			}
			first.release(t)
			if err := <-second; err != nil {
				t.Fatal(err)
			}
			if got := p.result(t, "a2", test.check); got != test.want {
				t.Errorf("at first the later one is %s, want %s of both", got, test.want)
			}
			p.drain(t)
			for _, id := range []string{"a1", "a2"} {
				if got := p.result(t, id, test.check); got != test.want {
					t.Errorf("%s is %s, want %s of both", id, got, test.want)
				}
			}
			if left := p.stale(t); len(left) > 0 {
				t.Errorf("left behind are %v", left)
			}
		})
	}
}

// A version that is activated while an action is being declared brings the action up for
// its limits: by the version before, it would be in none of them.
func TestAVersionThatIsActivatedDuringADeclarationCountsIt(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	p := world(t, onDatabase(url))
	p.after(10 * time.Minute)
	p.clock.ticks.Store(true)
	saved, err := p.contracts.Save(t.Context(), p.member(t), []byte(strings.Replace(refunds, "limits:\n",
		"limits:\n  - {id: once_a_month, count: true, max: 1, over: 720h, per: agent_id}\n", 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	body := `{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": %[1]q, "subject_kind": "order",
		"agent_id": "bot", "requested_at": %q, "params": {"amount": 150.00}}`
	first := p.hold(t, fmt.Sprintf(body, "a1", "2026-11-02T12:00:00Z"))
	activated := make(chan error, 1)
	go func() {
		_, err := p.contracts.Activate(t.Context(), p.member(t), "refunds", saved.Version.Version, verdict.Live)
		activated <- err
	}()
	awaitLock(t, url, activated)
	first.release(t)
	if err := <-activated; err != nil {
		t.Fatal(err)
	}
	p.after(26 * time.Hour)
	if _, err := p.actions.Declare(t.Context(), p.recorder(t), read(t, fmt.Sprintf(body, "a2", "2026-11-03T14:10:00Z"))); err != nil {
		t.Fatal(err)
	}
	if got := p.result(t, "a2", "once_a_month"); got != verdict.Fail {
		t.Errorf("of two where one is allowed the second is %s", got)
	}
}

// What the new version governs before earlier actions were brought up for it counted too
// little, and is looked at again.
func TestWhatIsDeclaredBeforeEarlierActionsAreBroughtUpIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.after(10 * time.Minute)
	p.clock.ticks.Store(true)
	saved, err := p.contracts.Save(t.Context(), p.member(t), []byte(strings.Replace(refunds, "limits:\n",
		"limits:\n  - {id: once_a_month, count: true, max: 1, over: 720h, per: agent_id}\n", 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	declare := func(id string) {
		t.Helper()
		if _, err := p.actions.Declare(t.Context(), p.recorder(t), read(t, fmt.Sprintf(`{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order",
			"subject_id": %[1]q, "subject_kind": "order", "agent_id": "bot", "requested_at": "2026-11-02T12:10:00Z", "params": {"amount": 80.00}}`, id))); err != nil {
			t.Fatal(err)
		}
	}
	between := &stepping{Store: p.store, before: map[int]func(){
		2: func() { declare("a1") },             // the version is about to govern
		3: func() { declare("a2"); p.drain(t) }, // it does, and a2 is evaluated by less
	}}
	if _, err := governance.New(between, nil).Activate(t.Context(), p.member(t), "refunds", saved.Version.Version, verdict.Live); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	if got := p.result(t, "a2", "once_a_month"); got != verdict.Fail {
		t.Errorf("of two where one is allowed the second is %s", got)
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}

// stepping is a store in which something happens before a unit of some number.
type stepping struct {
	store.Store
	units  int
	before map[int]func()
}

func (s *stepping) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	s.units++
	if do := s.before[s.units]; do != nil {
		do()
	}
	return s.Store.Do(ctx, w, fn)
}

// Of two instances that evaluate an action one has seen less than the other. What it
// finds is not what is kept in the end, even where the other found nothing new.
func TestOfTwoThatEvaluateTheOneWithLessDoesNotKeepLast(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*evidence.Fact){
		"retracted": func(f *evidence.Fact) { f.Revision, f.Retracted = 2, true },
		"moved":     func(f *evidence.Fact) { f.Revision, f.SubjectID = 2, "o-2" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Start(t).Database(t)
			p := world(t, onDatabase(url))
			p.after(10 * time.Minute)
			p.clock.ticks.Store(true)
			if _, err := p.actions.Declare(t.Context(), p.recorder(t), read(t,
				`{"action_id": "a1", "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z"}`)); err != nil {
				t.Fatal(err)
			}
			p.drain(t)
			p.paid(t, "re_1", "o-1", func(f *evidence.Fact) { f.Revision = 1 })
			ended := make(chan error, 1)
			slower := &claiming{Store: p.store, then: func() {
				p.paid(t, "re_1", "o-1", change)
				go func() { ended <- p.evaluator.Drain(context.WithoutCancel(t.Context()), p.id) }()
				awaitLock(t, url, ended)
			}}
			if err := settlement.NewEvaluator(slower, settlement.Options{}).Drain(t.Context(), p.id); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			p.drain(t)
			if left := p.stale(t); len(left) > 0 {
				t.Errorf("left behind are %v", left)
			}
		})
	}
}

// claiming is a store in which something happens after its first unit has claimed.
type claiming struct {
	store.Store
	then func() // nil once it has
}

type claimingTx struct {
	store.Tx
	of *claiming
}

func (s *claiming) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error { return fn(claimingTx{tx, s}) })
}

func (tx claimingTx) Claim(n int) ([]store.Wake, error) {
	wakes, err := tx.Tx.Claim(n)
	if then := tx.of.then; then != nil {
		tx.of.then = nil
		then()
	}
	return wakes, err
}

// awaitLock returns when somebody waits for a lock on a table of the database, or has
// ended without. Other tests have other databases of the same server.
func awaitLock(t *testing.T, url string, ended chan error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for range again.C {
		select {
		case err := <-ended:
			ended <- err
			return
		default:
		}
		waiting := false
		if err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting {
			return
		}
	}
}

// A fact that comes while an action is being declared would find no action, and the
// action would not have looked for it any more.
func TestAFactThatComesDuringADeclarationIsFoundWithIt(t *testing.T) {
	t.Parallel()
	p := world(t, onPostgres)
	p.after(10 * time.Minute)
	p.clock.ticks.Store(true)
	first := p.hold(t, `{"action_id": "a1", "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z"}`)
	told := make(chan struct{})
	go func() {
		defer close(told)
		p.paid(t, "re_1", "o-1")
	}()
	p.drain(t)
	first.release(t)
	<-told
	p.drain(t)
	if got := p.result(t, "a1", "undone"); got != verdict.Pass {
		t.Errorf("it is %s", got)
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}

// Whoever evaluates waits for nobody who declares, and cannot wake an action that is not
// there yet.
func TestHowACompensationStandsIsFoundByAnActionThatIsDeclaredMeanwhile(t *testing.T) {
	t.Parallel()
	p := world(t, onPostgres)
	p.clock.ticks.Store(true)
	if _, err := p.actions.Declare(t.Context(), p.recorder(t), read(t,
		`{"action_id": "u1", "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z", "compensates": "a1"}`)); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	p.after(time.Hour)
	p.paid(t, "re_u", "o-2", func(f *evidence.Fact) { f.Refs = map[string]string{"key": "u1"} })
	first := p.hold(t, `{"action_id": "a1", "contract_id": "refunds", "action_type": "refund_order", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T13:00:00Z",
		"params": {"amount": 80.00}}`)
	p.drain(t)
	first.release(t)
	p.drain(t)
	v := p.verdict(t, "a1")
	if v.Compensation == nil || len(v.Compensation.By) != 1 || v.Compensation.By[0].Outcome != p.verdict(t, "u1").Outcome.Result || v.Compensation.By[0].Outcome == verdict.Unknown {
		t.Errorf("u1 is %s, and a1 shows %+v", p.verdict(t, "u1").Outcome.Result, v.Compensation)
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}

// A fact that is somebody else's by its key may decide whose another one is.
func TestAFactOfOneActionIsToldToThoseWhoCompeteWithIt(t *testing.T) {
	t.Parallel()
	on(t, noon, func(t *testing.T, s *server) {
		p := s.place(t)
		p.furnish(t)
		p.refund(t, "a1", "o-1")
		p.refund(t, "a2", "o-1")
		p.after(time.Hour)
		p.paid(t, "re_1", "o-1")
		p.drain(t)
		for _, id := range []string{"a1", "a2"} {
			if got := p.result(t, id, "money_moved"); got != verdict.Unknown {
				t.Fatalf("of one refund for two, %s is %s", id, got)
			}
		}
		p.paid(t, "re_2", "", func(f *evidence.Fact) { f.SubjectKind, f.Refs = "", map[string]string{"key": "a1"} })
		p.drain(t)
		for _, id := range []string{"a1", "a2"} {
			if got := p.result(t, id, "money_moved"); got != verdict.Pass {
				t.Errorf("with one refund for each, %s is %s", id, got)
			}
		}
		if left := p.stale(t); len(left) > 0 {
			t.Errorf("left behind are %v", left)
		}
	})
}

// What undoes an action is an action of its own, and how that one stands is shown with
// the first.
func TestHowACompensationStandsIsToldToWhatItUndoes(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	d, err := action.Parse([]byte(`{"action_id": "u1", "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z", "compensates": "a1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.actions.Declare(t.Context(), p.recorder(t), d); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	undone := func() verdict.Result {
		t.Helper()
		v := p.verdict(t, "a1")
		if v.Compensation == nil || len(v.Compensation.By) != 1 {
			t.Fatalf("undone by %+v, want u1", v.Compensation)
		}
		return v.Compensation.By[0].Outcome
	}
	if got := undone(); got != verdict.Unknown {
		t.Errorf("before anything was seen, it was undone: %s", got)
	}
	p.after(time.Hour)
	p.paid(t, "re_u", "o-2", func(f *evidence.Fact) { f.Refs = map[string]string{"key": "u1"} })
	p.drain(t)
	if got := undone(); got != p.verdict(t, "u1").Outcome.Result || got == verdict.Unknown {
		t.Errorf("u1 is %s, and a1 shows %s", p.verdict(t, "u1").Outcome.Result, got)
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}
