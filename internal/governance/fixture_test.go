package governance

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const (
	noon = value.Instant(1_793_620_800_000_000)
	acme = access.WorkspaceID("ws_acme")
)

// refunds is a contract, and what stands in the place of LINK, WITHIN and MORE.
const refunds = `contract: refunds
params:
  amount: {type: money, currency: USD}
  order: {type: string}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.key == action_id
LINKsteps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: WITHIN}
limits:
  - {id: cap, check: params.amount <= money("250.00 USD")}
MORE`

// text is a version of the contract.
func text(within, link, more string) []byte {
	return []byte(strings.NewReplacer("WITHIN", within, "LINK", link, "MORE", more).Replace(refunds))
}

var (
	strict = text("48h", "", "")
	weaker = text("72h", "", "")
)

// office is a workspace with its people, on a store.
type office struct {
	*Service
	t     *testing.T
	now   atomic.Int64
	space access.Workspace
}

func newOffice(t *testing.T, space access.Workspace) *office {
	t.Helper()
	o := &office{t: t, space: space}
	o.now.Store(int64(noon))
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(o.clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return o.on(s)
}

func (o *office) on(s store.Store) *office {
	o.t.Helper()
	w := store.Workspace{Workspace: o.space, Name: "Acme", Plan: "default", CreatedAt: noon}
	owner := store.Person{ID: "per_ada", Email: "ada@example.com", CreatedAt: noon}
	link := store.SignIn{Workspace: o.space.ID, Member: owner.ID, ExpiresAt: noon + 1}
	if _, err := s.Directory().CreateWorkspace(o.t.Context(), w, owner, link, false); err != nil {
		o.t.Fatal(err)
	}
	o.Service = New(s, nil)
	return o
}

func (o *office) clock() value.Instant    { return value.Instant(o.now.Load()) }
func (o *office) advance(d time.Duration) { o.now.Add(d.Microseconds()) }

// member is somebody of the workspace who has just signed in.
func (o *office) member(name string, role access.Role) access.Principal {
	o.t.Helper()
	id, at := access.MemberID("per_"+name), o.clock()
	person := store.Person{ID: id, Email: access.Email(name + "@example.com"), CreatedAt: noon}
	if name != "ada" {
		if err := o.store.Directory().PutPerson(o.t.Context(), person); err != nil {
			o.t.Fatal(err)
		}
		o.keep(func(tx store.Tx) {
			tx.PutMember(store.Member{Membership: access.Membership{Workspace: o.space.ID, Member: id, Email: person.Email, Role: role}, JoinedAt: at})
		})
	}
	p, err := access.FromSession(
		access.Session{ID: "ses_1", Kind: access.Cookie, Workspace: o.space.ID, Member: id, IssuedAt: at, ExpiresAt: at.Add(time.Hour), ConfirmedAt: at},
		access.Membership{Workspace: o.space.ID, Member: id, Email: person.Email, Role: role}, o.space, access.Page, at)
	if err != nil {
		o.t.Fatal(err)
	}
	return p
}

func (o *office) admin() access.Principal { return o.member("ada", access.Admin) }

// key is a program with some scopes, limited to some contracts.
func (o *office) key(scopes access.Scopes, contracts ...string) access.Principal {
	o.t.Helper()
	key, secret, err := access.MintKey(access.KeyOrder{ID: "key_1", Name: "ci", Scopes: scopes, Limits: access.Limits{Contracts: contracts}}, o.space, rand.Reader, noon)
	if err != nil {
		o.t.Fatal(err)
	}
	p, err := access.FromKey(secret, key, o.space, access.REST, o.clock())
	if err != nil {
		o.t.Fatal(err)
	}
	return p
}

func (o *office) save(yaml []byte) int {
	o.t.Helper()
	saved, err := o.Save(o.t.Context(), o.admin(), yaml, "")
	if err != nil {
		o.t.Fatal(err)
	}
	return saved.Version.Version
}

func (o *office) activate(version int, mode verdict.Mode) *Activated {
	o.t.Helper()
	done, err := o.Activate(o.t.Context(), o.admin(), "refunds", version, mode)
	if err != nil {
		o.t.Fatal(err)
	}
	return done
}

// keep runs a unit that must go through.
func (o *office) keep(fn func(tx store.Tx)) {
	o.t.Helper()
	err := o.store.Do(o.t.Context(), o.space.ID, func(tx store.Tx) error {
		fn(tx)
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// look reads something in a view.
func look[T any](o *office, read func(tx store.Tx) (T, error)) T {
	o.t.Helper()
	var got T
	err := o.store.View(o.t.Context(), o.space.ID, func(tx store.Tx) (err error) {
		got, err = read(tx)
		return err
	})
	if err != nil {
		o.t.Fatal(err)
	}
	return got
}

// governing is the number of the version that governs now.
func (o *office) governing() int {
	o.t.Helper()
	active := look(o, func(tx store.Tx) (map[string]*store.ContractVersion, error) {
		return tx.ActiveContracts([]string{"refunds"}, tx.Now())
	})
	if active["refunds"] == nil {
		return 0
	}
	return active["refunds"].Version
}

func (o *office) events() []string {
	o.t.Helper()
	return look(o, func(tx store.Tx) ([]string, error) {
		rows, _, err := tx.ListAudit(store.Page{Limit: 1000})
		var events []string
		for _, r := range rows {
			events = append([]string{r.Event + " " + r.Object}, events...)
		}
		return events, err
	})
}

func (o *office) leaves() []store.Leaf {
	o.t.Helper()
	return look(o, func(tx store.Tx) ([]store.Leaf, error) { return tx.Unsequenced(1000) })
}

// declare keeps an action of a version, as a server does that knows that version only.
func (o *office) declare(n int, k *contract.Contract, version int, mode verdict.Mode, amount string, start value.Instant) store.Ref {
	o.t.Helper()
	usd, err := money.ParseCurrency("USD")
	if err != nil {
		o.t.Fatal(err)
	}
	decimal, err := money.ParseDecimal(amount)
	if err != nil {
		o.t.Fatal(err)
	}
	ref := store.Ref(fmt.Sprintf("act_%026d", n))
	d := verdict.Declaration{
		ActionID: fmt.Sprint("refund-", n), ContractID: "refunds", ActionType: "refund_order", AgentID: "bot", SubjectID: fmt.Sprint("o-", n), SubjectKind: "order",
		RequestedAt: start, ReceivedAt: max(start, o.clock()),
		Params: map[string]value.Value{"amount": value.OfMoney(money.Amount{Value: decimal, Currency: usd}), "order": value.OfString(fmt.Sprint("o-", n))},
	}
	a := &store.Action{Declared: store.Declared{Ref: ref, Revision: 1, Declaration: d, Body: []byte("{}"), By: "apikey:4fT9xK2b"}, Version: version, Mode: mode, Revisions: 1}
	c := &verdict.Case{Engine: verdict.Engine, At: d.ReceivedAt, Declarations: []verdict.Declaration{d}}
	if version != 0 {
		c.Governing = &verdict.Governing{Contract: k, Version: version, Mode: mode}
		c.Sources = []evidence.Source{{Name: "stripe", Trust: evidence.Independent}}
		c.History = history(k, &d)
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		o.t.Fatal(err)
	}
	o.keep(func(tx store.Tx) {
		tx.AddAction(a, nil, nil)
		tx.KeepVerdict(ref, &v, c, v.Waits)
	})
	return ref
}

func history(k *contract.Contract, d *verdict.Declaration) []verdict.History {
	var all []verdict.History
	for i := range k.Limits {
		if r := k.Limits[i].Rolling; r != nil {
			all = append(all, verdict.History{Limit: k.Limits[i].ID, From: d.Start().Add(-r.Over), To: d.Start(), CompleteTo: d.ReceivedAt})
		}
	}
	return all
}

// added is what a rolling limit of a contract adds up now.
func (o *office) added(k *contract.Contract, limit string, mode verdict.Mode) verdict.History {
	o.t.Helper()
	for i := range k.Limits {
		l := &k.Limits[i]
		if l.ID != limit {
			continue
		}
		q := &docket.Question{History: &docket.HistoryQuery{
			Contract: k, Limit: l, Mode: mode, Group: "", From: o.clock().Add(-l.Rolling.Over), To: o.clock(), At: o.clock(),
		}}
		return look(o, func(tx store.Tx) (verdict.History, error) {
			err := tx.Ask([]*docket.Question{q})
			return q.Sum, err
		})
	}
	o.t.Fatalf("the contract has no limit %s", limit)
	return verdict.History{}
}

func wantType[E error](t *testing.T, what string, err error) {
	t.Helper()
	if _, is := errors.AsType[E](err); !is {
		t.Errorf("%s: %v", what, err)
	}
}
