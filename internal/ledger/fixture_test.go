package ledger_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/vault"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const (
	noon  = value.Instant(1_793_620_800_000_000)
	acme  = access.WorkspaceID("ws_acme")
	other = access.WorkspaceID("ws_other")
)

const refunds = `contract: refunds
params:
  amount: {type: money, currency: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.key == action_id
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, count: 1, within: 48h}
`

// book is a store with two workspaces and the ledgers of both.
type book struct {
	*ledger.Service
	t     *testing.T
	store store.Store
	vault *vault.Vault
	now   atomic.Int64
}

func newBook(t *testing.T) *book {
	t.Helper()
	b := &book{t: t}
	b.now.Store(int64(noon))
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(b.clock))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.on(s)
}

func (b *book) on(s store.Store) *book {
	b.t.Helper()
	for i, id := range []access.WorkspaceID{acme, other} {
		w := store.Workspace{Workspace: access.Workspace{ID: id}, Name: string(id), Plan: "default", CreatedAt: noon}
		owner := store.Person{ID: access.MemberID("per_" + id), Email: access.Email(fmt.Sprintf("owner%d@example.com", i)), CreatedAt: noon}
		link := store.SignIn{Hash: store.TokenHash{byte(i)}, Workspace: id, Member: owner.ID, ExpiresAt: noon + 1}
		if _, err := s.Directory().CreateWorkspace(b.t.Context(), w, owner, link, false); err != nil {
			b.t.Fatal(err)
		}
	}
	v, err := vault.LoadOrMake(filepath.Join(b.t.TempDir(), "secret"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.store, b.vault, b.Service = s, v, ledger.New(s, v)
	return b
}

func (b *book) clock() value.Instant    { return value.Instant(b.now.Load()) }
func (b *book) advance(d time.Duration) { b.now.Add(d.Microseconds()) }

func (b *book) keep(w access.WorkspaceID, fn func(tx store.Tx)) {
	b.t.Helper()
	err := b.store.Do(b.t.Context(), w, func(tx store.Tx) error {
		fn(tx)
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// write adds leaves that speak of nothing, from a number on.
func (b *book) write(w access.WorkspaceID, from, n int) {
	b.t.Helper()
	b.keep(w, func(tx store.Tx) {
		for i := range n {
			tx.AddLeaf(plainLeaf(from+i, tx.Now()))
		}
	})
}

func plainLeaf(n int, at value.Instant) store.Leaf {
	return store.Leaf{Kind: "statement", Object: fmt.Sprint("st_", n), Digest: fmt.Sprintf("sha256:%064d", n), At: at, Number: ledger.Unnumbered}
}

func (b *book) sequence(w access.WorkspaceID) int {
	b.t.Helper()
	n, err := b.Sequence(b.t.Context(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *book) checkpoint(w access.WorkspaceID) *ledger.Checkpoint {
	b.t.Helper()
	c, err := b.Checkpoint(b.t.Context(), w)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// fill writes what a workspace has after a while: a contract that governs, one that
// is retired, actions of which some are settled, and an audit with heads.
func (b *book) fill() {
	b.t.Helper()
	k, err := contract.Parse([]byte(refunds))
	if err != nil {
		b.t.Fatal(err)
	}
	b.activate(k, 1)
	b.advance(time.Minute)
	for n := range 3 {
		b.declare(n, k)
		b.audit("action.declared")
		b.advance(time.Minute)
	}
	b.settle(0, k)
	b.head()
	b.settle(1, k)
	b.sequence(acme)
	old, err := contract.Parse([]byte(strings.Replace(refunds, "contract: refunds", "contract: old", 1)))
	if err != nil {
		b.t.Fatal(err)
	}
	b.activate(old, 1)
	b.advance(time.Minute)
	b.keep(acme, func(tx store.Tx) {
		tx.RetireContract("old", tx.Now(), "ada@example.com")
		v := b.version(old, 1)
		v.From, v.Until = tx.Now().Add(-time.Minute), tx.Now()
		tx.AddLeaf(ledger.Retirement(v))
	})
	b.audit("contract.retired")
	b.audit("contract.looked_at")
	b.head()
	b.audit("key.created") // which no head covers yet
	b.sequence(acme)
	b.declare(3, k) // whose leaf has no number yet
}

func (b *book) version(k *contract.Contract, n int) *store.ContractVersion {
	return &store.ContractVersion{ContractID: k.ID, Version: n, Digest: k.Digest, Text: k.Text, SavedAt: noon, SavedBy: "ada@example.com", Saver: "per_ada", Mode: verdict.Live}
}

func (b *book) activate(k *contract.Contract, n int) {
	b.t.Helper()
	b.keep(acme, func(tx store.Tx) {
		v := b.version(k, n)
		v.From, v.ActivatedBy = tx.Now(), "ada@example.com"
		tx.AddContractVersion(v)
		tx.ActivateContract(v)
		tx.AddLeaf(ledger.Activation(v))
	})
}

func ref(n int) store.Ref { return store.Ref(fmt.Sprintf("act_%026d", n)) }

func (b *book) declare(n int, k *contract.Contract) {
	b.t.Helper()
	b.keep(acme, func(tx store.Tx) {
		d := verdict.Declaration{ActionID: fmt.Sprint("refund-", n), ContractID: k.ID, ReceivedAt: tx.Now()}
		declared := store.Declared{Ref: ref(n), Revision: 1, Declaration: d, Body: fmt.Appendf(nil, `{"action_id":"refund-%d"}`, n), By: "apikey:4fT9xK2b"}
		tx.AddAction(&store.Action{Declared: declared, Version: 1, Mode: verdict.Live, Revisions: 1}, nil, nil)
		tx.AddLeaf(ledger.Declaration(&declared))
		c := &verdict.Case{Engine: verdict.Engine, At: tx.Now(), Declarations: []verdict.Declaration{d}, Governing: &verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live}}
		v, err := engine.Evaluate(c)
		if err != nil {
			b.t.Error(err)
		}
		tx.KeepVerdict(ref(n), &v, c, v.Waits)
	})
}

func (b *book) settle(n int, k *contract.Contract) {
	b.t.Helper()
	b.keep(acme, func(tx store.Tx) {
		a, err := tx.ActionByRef(ref(n))
		if err != nil {
			b.t.Fatal(err)
		}
		at := tx.Now().Add(100 * time.Hour)
		c := &verdict.Case{
			Engine: verdict.Engine, At: at, Declarations: []verdict.Declaration{a.Declaration}, Governing: &verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live},
			Sources: []evidence.Source{{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": at}}},
		}
		v, err := engine.Evaluate(c)
		if err != nil || v.Revision != 1 {
			b.t.Fatalf("it did not settle: %+v, %v", v, err)
		}
		tx.KeepVerdict(ref(n), &v, c, nil)
		tx.AddLeaf(ledger.Verdict(ref(n), &v))
	})
}

func (b *book) audit(event string) {
	b.t.Helper()
	b.keep(acme, func(tx store.Tx) {
		tx.Audit(audit.Entry("ada@example.com", tx.Now(), event, "an object", audit.Metadata{"n": 1}))
	})
}

// head chains all rows that are there.
func (b *book) head() int64 {
	b.t.Helper()
	b.advance(ledger.Settling)
	n, err := b.Head(b.t.Context(), acme)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}
