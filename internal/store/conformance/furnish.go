package conformance

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/verdict"
)

// refunds is a contract that has what a store must know of contracts: links by a
// parameter, and limits that add up and that count.
const refunds = `contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount: {type: money, currency: currency}
  currency: {type: currency, default: USD}
  order: {type: string}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.key == action_id
  - refs.order == params.order
  - subject
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: agent_daily, total: params.amount, max: "2000.00 USD", over: 24h, per: agent_id}
  - {id: agent_often, count: true, max: 9, over: 24h, per: agent_id}
`

// furnished is a workspace that has something of everything.
type furnished struct {
	place
	contract *contract.Contract
	member   access.MemberID // besides the owner
	key      access.Key
	session  store.TokenHash
}

func furnish(t testing.TB, p place) *furnished {
	t.Helper()
	f := &furnished{place: p, contract: compile(t, refunds), member: "per_b" + access.MemberID(p.id), session: p.token("session")}
	f.key = newKey(t, p, "reader")
	person := store.Person{ID: f.member, Email: access.Email("b" + string(p.email)), Name: "Bo", CreatedAt: noon}
	if err := p.store.Directory().PutPerson(background(t), person); err != nil {
		t.Fatal(err)
	}
	p.keep(t, func(tx store.Tx) {
		tx.AddContractVersion(version(f.contract, 1))
		tx.AddContractVersion(version(f.contract, 2))
		v := version(f.contract, 1)
		v.Mode, v.From, v.ActivatedBy = verdict.Live, noon, actor
		tx.ActivateContract(v)
		tx.PutSource(source("stripe"))
		tx.PutWatermark("stripe", "refund.succeeded", at(time.Hour), actor)
		tx.PutMember(member(p.id, person, access.Analyst))
		tx.PutKey(f.key)
	})
	for n := 1; n <= 2; n++ {
		a := action(n, governed)
		v, c := judged(t, a, func(v *verdict.Verdict) { v.Waits = f.waits() })
		p.keep(t, func(tx store.Tx) {
			tx.Turn(store.Alone)
			tx.AddAction(a, f.entries(a), map[string]string{"order": a.Declaration.SubjectID})
			tx.KeepVerdict(a.Ref, v, c, v.Waits)
			if n == 2 {
				v, c := judged(t, a, settled(1))
				tx.KeepVerdict(a.Ref, v, c, nil)
			}
		})
	}
	report(t, p, fact(1))
	p.keep(t, func(tx store.Tx) {
		tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(1)}, store.Wake{Kind: store.WakeSettle, Ref: ref(1), Due: at(72 * time.Hour)})
		tx.Audit(store.AuditEntry{At: noon, Actor: actor, Event: "key.created", Object: "key_1", Metadata: []byte(`{"n":1}`)})
		tx.CountDeclared("2026-11", 2)
		tx.AddLeaf(leaf(0), leaf(1), leaf(2))
		tx.PutSecret("signer", []byte("sealed"))
	})
	f.sequence(t, 2)
	session := access.Session{ID: access.SessionID("ses_" + p.id), Kind: access.Cookie, Workspace: p.id, Member: f.member, IssuedAt: noon, ExpiresAt: at(day), ConfirmedAt: noon}
	if err := p.store.Directory().AddSession(background(t), session, f.session); err != nil {
		t.Fatal(err)
	}
	return f
}

// Furnish makes the nth workspace of a store, with a row in every table, for tests
// that look into a database from outside.
func Furnish(t testing.TB, in store.Store, n int) access.WorkspaceID {
	t.Helper()
	s := &suite{}
	s.made.Store(int64(n))
	f := furnish(t, s.workspaceIn(t, in))
	f.keep(t, func(tx store.Tx) {
		tx.AddRevision(revision(action(1), 2))
		tx.ApproveContract("refunds", 1, f.owner)
	})
	report(t, f.place, fact(1, func(f *store.Fact) { f.Type, f.SubjectID = "refund.failed", "o-2" }))
	return f.id
}

func compile(t testing.TB, text string) *contract.Contract {
	t.Helper()
	k, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// governed puts an action under version 1.
func governed(a *store.Action) { a.Version, a.Mode = 1, verdict.Live }

// waits are those of every provisional verdict of a furnished workspace.
func (f *furnished) waits() []verdict.Wait {
	return []verdict.Wait{{Source: "stripe", Type: "refund.succeeded", Until: at(48 * time.Hour), Watermark: at(time.Hour)}}
}

// entries are what an action adds to the limits of its contract.
func (f *furnished) entries(a *store.Action) []store.LimitEntry { return entries(f.contract, a) }

func entries(k *contract.Contract, a *store.Action) []store.LimitEntry {
	var all []store.LimitEntry
	for _, e := range docket.Entries([]*contract.Contract{k}, &a.Declaration) {
		one := store.LimitEntry{Key: e.Key, Group: e.Group, Shadow: a.Mode == verdict.Shadow, Start: e.Start}
		if e.Amount.Currency != "" {
			one.Amount, one.Currency = money.Text(e.Amount.Value), string(e.Amount.Currency)
		}
		all = append(all, one)
	}
	return all
}

// version is the nth version of a contract, as somebody saved it.
func version(k *contract.Contract, n int) *store.ContractVersion {
	return &store.ContractVersion{
		ContractID: k.ID, Version: n, Digest: k.Digest, Text: k.Text, Note: fmt.Sprintf("the %d. try", n), SavedAt: at(time.Duration(n) * time.Minute),
		SavedBy: "ada@example.com", Saver: "per_ada",
	}
}

func member(w access.WorkspaceID, p store.Person, role access.Role) store.Member {
	m := store.Member{Name: p.Name, JoinedAt: at(time.Minute)}
	m.Workspace, m.Member, m.Email, m.Role = w, p.ID, p.Email, role
	return m
}

// leaf is the nth entry of a ledger.
func leaf(n int) store.Leaf {
	return store.Leaf{Kind: "declaration", Object: string(ref(n)), Digest: fmt.Sprintf("sha256:%064d", n), At: at(time.Duration(n) * time.Second), Number: -1}
}

// sequence numbers up to n leaves, with a node and a state that only have to come
// back as they are.
func (f *furnished) sequence(t testing.TB, n int) {
	t.Helper()
	f.do(t, func(tx store.Tx) error { return number(tx, n) })
}

func number(tx store.Tx, n int) error {
	s, err := tx.LockLedger()
	if err != nil {
		return err
	}
	leaves, err := tx.Unsequenced(n)
	if err != nil {
		return err
	}
	var nodes []tlog.Node
	for i := range leaves {
		leaves[i].Number = s.Size
		nodes = append(nodes, tlog.Node{Level: tlog.StoredLevel, Index: s.Size, Hash: tlog.LeafHash([]byte(leaves[i].Digest))})
		s.Size++
	}
	s.Peaks = []tlog.Hash{tlog.LeafHash(fmt.Append(nil, s.Size)), tlog.Empty}
	s.Checkpoint = fmt.Appendf(nil, "deed.example/%d\n%d\n", s.Size, s.Size)
	tx.Sequence(leaves, nodes, s)
	return nil
}

// newKey is a key of a workspace that was never kept.
func newKey(t testing.TB, p place, name string) access.Key {
	t.Helper()
	order := access.KeyOrder{
		ID: access.KeyID("key_" + name), Name: name, Scopes: access.ScopesOf(access.FactsWrite, access.ActionsRead), Sources: []string{"stripe", "shop"},
		Limits: access.Limits{Contracts: []string{"refunds"}, Agents: []string{"bot", "other"}}, ExpiresAt: at(30 * day),
	}
	w := p.settings()
	k, _, err := access.MintKey(order, w.Workspace, newDice(p, name), noon)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// late is a fact that a furnished workspace does not have.
func (f *furnished) late() store.Fact {
	return fact(9, func(f *store.Fact) { f.Refs = map[string]string{"key": actionID(1), "order": "o-1"} })
}

// identity of the fact that a furnished workspace has.
func (f *furnished) identity() evidence.Identity {
	one := fact(1)
	return one.Identity()
}

// newDice throws what no other key of any workspace gets.
func newDice(p place, name string) io.Reader {
	return rand.NewChaCha8(sha256.Sum256([]byte(string(p.id) + name)))
}
