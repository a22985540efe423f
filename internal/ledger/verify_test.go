package ledger_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/verdict"
)

func TestAWorkspaceThatNobodyTouchedAgrees(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	empty, err := b.Verify(t.Context(), acme)
	if err != nil || !empty.OK() || empty.Leaves != 0 {
		t.Fatalf("an empty one: %+v, %v", empty, err)
	}
	b.fill()
	got, err := b.Verify(t.Context(), acme)
	if err != nil {
		t.Fatal(err)
	}
	// 2 activations, a retirement, 3 declarations, 2 verdicts and 2 heads are
	// numbered; the fourth declaration is not.
	want := ledger.Report{Leaves: 10, Unnumbered: 1, Declarations: 4, Verdicts: 2, Activations: 2, AuditRows: 5, Uncovered: 1}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
}

// changed is a store from which something comes out otherwise than it was put in: a
// database that somebody edited.
type changed struct {
	store.Store
	by func(tx store.Tx) store.Tx
}

func (c changed) View(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return c.Store.View(ctx, w, func(tx store.Tx) error { return fn(c.by(tx)) })
}

type edited struct {
	store.Tx
	leaves   func([]store.Leaf) []store.Leaf
	nodes    func([]tlog.Hash) []tlog.Hash
	state    func(*store.LedgerState)
	declared func([]store.Declared) []store.Declared
	settled  func([]store.Settled) []store.Settled
	versions func([]store.ContractVersion)
	rows     func([]store.AuditEntry) []store.AuditEntry
}

func (e *edited) Leaves(from, to int64) ([]store.Leaf, error) {
	l, err := e.Tx.Leaves(from, to)
	if e.leaves != nil && len(l) > 0 {
		l = e.leaves(l)
	}
	return l, err
}

func (e *edited) Nodes(level int, from, to int64) ([]tlog.Hash, error) {
	n, err := e.Tx.Nodes(level, from, to)
	if e.nodes != nil {
		n = e.nodes(n)
	}
	return n, err
}

func (e *edited) LedgerState() (store.LedgerState, error) {
	s, err := e.Tx.LedgerState()
	if e.state != nil {
		e.state(&s)
	}
	return s, err
}

func (e *edited) Declarations(ref store.Ref) ([]store.Declared, error) {
	d, err := e.Tx.Declarations(ref)
	if e.declared != nil {
		d = e.declared(d)
	}
	return d, err
}

func (e *edited) Settled(ref store.Ref) ([]store.Settled, error) {
	s, err := e.Tx.Settled(ref)
	if e.settled != nil {
		s = e.settled(s)
	}
	return s, err
}

func (e *edited) ContractVersions(id string, text bool) ([]store.ContractVersion, error) {
	v, err := e.Tx.ContractVersions(id, text)
	if e.versions != nil {
		e.versions(v)
	}
	return v, err
}

func (e *edited) ListAudit(p store.Page) ([]store.AuditEntry, store.Cursor, error) {
	r, c, err := e.Tx.ListAudit(p)
	if e.rows != nil {
		r = e.rows(r)
	}
	return r, c, err
}

func TestEveryEditIsFound(t *testing.T) {
	t.Parallel()
	for what, one := range map[string]struct {
		edit edited
		says []string // each is in one of the problems
	}{
		"a leaf says something else": {
			edited{leaves: func(l []store.Leaf) []store.Leaf { l[0].Digest = "sha256:" + strings.Repeat("0", 64); return l }},
			[]string{"the checkpoint: its root is not that of the leaves", "refunds@1: no leaf says that it governs", "leaf 0: what it says"},
		},
		"a leaf is gone":               {edited{leaves: func(l []store.Leaf) []store.Leaf { return l[1:] }}, []string{"leaves 0 to 9: there are 9 of 10"}},
		"two leaves changed places":    {edited{leaves: func(l []store.Leaf) []store.Leaf { l[0], l[1] = l[1], l[0]; return l }}, []string{"leaf 0: it has the number 1", "its root is not that"}},
		"the peaks are others":         {edited{state: func(s *store.LedgerState) { s.Peaks[0][0] ^= 1 }}, []string{"the ledger: its peaks"}},
		"the checkpoint is another":    {edited{state: func(s *store.LedgerState) { s.Checkpoint = slices.Clone(s.Checkpoint); s.Checkpoint[40] ^= 1 }}, []string{"the checkpoint: "}},
		"a body was edited":            {edited{declared: func(d []store.Declared) []store.Declared { d[0].Body = []byte(`{"amount":1}`); return d }}, []string{"/1: no leaf speaks of its declaration", "declaration act_"}},
		"a declaration was backdated":  {edited{declared: func(d []store.Declared) []store.Declared { d[0].Declaration.ReceivedAt -= 1; return d }}, []string{"/1: no leaf speaks of its declaration"}},
		"a declaration is gone":        {edited{declared: func([]store.Declared) []store.Declared { return nil }}, []string{"what it says of the declaration act_"}},
		"a FAIL became a PASS":         {edited{settled: func(s []store.Settled) []store.Settled { return pass(s) }}, []string{"/1: no leaf speaks of its verdict", "what it says of the verdict act_"}},
		"a verdict is gone":            {edited{settled: func([]store.Settled) []store.Settled { return nil }}, []string{"what it says of the verdict act_"}},
		"a case was edited":            {edited{settled: func(s []store.Settled) []store.Settled { return otherCase(s) }}, []string{"/1: its case is not the one that it names"}},
		"a case is damaged":            {edited{settled: func(s []store.Settled) []store.Settled { return damaged(s) }}, []string{"/1: its case cannot be read"}},
		"a contract's text was edited": {edited{versions: func(v []store.ContractVersion) { v[0].Text += " " }}, []string{"old@1: its text is not that of its digest"}},
		"a version governed longer":    {edited{versions: func(v []store.ContractVersion) { v[0].Until++ }}, []string{"old@1: no leaf says that it ended"}},
		"a version governed earlier":   {edited{versions: func(v []store.ContractVersion) { v[1].From-- }}, []string{"refunds@1: no leaf says that it governs"}},
		"a version was tried only":     {edited{versions: func(v []store.ContractVersion) { v[1].Mode = verdict.Shadow }}, []string{"refunds@1: no leaf says that it governs"}},
		"a row of the audit is gone":   {edited{rows: func(r []store.AuditEntry) []store.AuditEntry { return slices.Delete(r, 2, 3) }}, []string{"the audit: of the rows"}},
		"the oldest rows are gone":     {edited{rows: func(r []store.AuditEntry) []store.AuditEntry { return r[:3] }}, []string{"the audit: of the rows"}},
		"all rows are gone":            {edited{rows: func([]store.AuditEntry) []store.AuditEntry { return nil }}, []string{"the audit: of the rows"}},
		"a row was edited":             {edited{rows: func(r []store.AuditEntry) []store.AuditEntry { r[3].Actor = "eve@example.com"; return r }}, []string{"the audit: a row of"}},
		"a row was put before the others": {
			edited{rows: func(r []store.AuditEntry) []store.AuditEntry { return append(r, store.AuditEntry{ID: 0, At: noon}) }},
			[]string{"the audit: no head covers the row 0"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBook(t)
			b.fill()
			seen := changed{Store: b.store, by: func(tx store.Tx) store.Tx { e := one.edit; e.Tx = tx; return &e }}
			got, err := ledger.New(seen, b.vault).Verify(t.Context(), acme)
			if err != nil {
				t.Fatal(err)
			}
			if got.OK() {
				t.Fatal("it was not found")
			}
			text := fmt.Sprint(got.Problems)
			for _, want := range one.says {
				if !strings.Contains(text, want) {
					t.Errorf("nothing says %q:\n%s", want, text)
				}
			}
		})
	}
}

func pass(all []store.Settled) []store.Settled {
	for i := range all {
		v := &all[i].Verdict
		v.Badge, v.Outcome.Result = verdict.Pass, verdict.Pass
	}
	return all
}

// otherCase puts a case in the place of another, of which the verdict says nothing.
func otherCase(all []store.Settled) []store.Settled {
	for i := range all {
		c, err := verdict.DecodeCase(all[i].Case)
		if err != nil {
			panic(err)
		}
		c.At++
		all[i].Case = c.AppendJSON(nil)
	}
	return all
}

func damaged(all []store.Settled) []store.Settled {
	for i := range all {
		all[i].Case = all[i].Case[1:]
	}
	return all
}

// A stored hash is only asked for where a subtree of 256 leaves is full.
func TestAStoredHashThatWasEditedIsFound(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 300)
	b.sequence(acme)
	seen := changed{Store: b.store, by: func(tx store.Tx) store.Tx {
		return &edited{Tx: tx, nodes: func(n []tlog.Hash) []tlog.Hash { n[0][0] ^= 1; return n }}
	}}
	got, err := ledger.New(seen, b.vault).Verify(t.Context(), acme)
	if err != nil || !strings.Contains(fmt.Sprint(got.Problems), "node 0 of level 8: the stored hash is not that of its leaves") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnErasedBodyIsCountedAndItsLeafStays(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.fill()
	seen := changed{Store: b.store, by: func(tx store.Tx) store.Tx {
		return &edited{Tx: tx, declared: func(d []store.Declared) []store.Declared { d[0].Body = nil; return d }}
	}}
	got, err := ledger.New(seen, b.vault).Verify(t.Context(), acme)
	if err != nil || !got.OK() || got.Erased != 4 || got.Declarations != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A ledger that was restored goes on under another name, and what it signed before
// is still all there.
func TestANewEpochGoesOnWithTheLeavesOfBefore(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.fill()
	b.sequence(acme)
	before := b.checkpoint(acme)
	if err := b.NewEpoch(t.Context(), acme); err != nil {
		t.Fatal(err)
	}
	if n := b.sequence(acme); n != 1 {
		t.Errorf("%d leaves tell of it", n)
	}
	now := b.checkpoint(acme)
	if now.Origin == before.Origin || now.VerifierKey == before.VerifierKey || now.Size != before.Size+1 {
		t.Errorf("it goes on as %s with %d leaves, and was %s with %d", now.Origin, now.Size, before.Origin, before.Size)
	}
	between, err := b.Consistency(t.Context(), acme, before.Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckConsistency(between, now.Size, now.Root, before.Size, before.Root); err != nil {
		t.Errorf("the new one does not extend the old one: %v", err)
	}
	sum := sha256.Sum256(before.Signed)
	in, err := b.Inclusion(t.Context(), acme, "sha256:"+hex.EncodeToString(sum[:]))
	if err != nil || in.Check() != nil || in.Leaf.Object != before.Origin {
		t.Errorf("what it says of the epoch before: %+v, %v", in, err)
	}
	got, err := b.Verify(t.Context(), acme)
	if err != nil || !got.OK() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAHeadTakesRowsThatAreOldEnough(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	take := func() int64 {
		t.Helper()
		n, err := b.Head(t.Context(), acme)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := take(); n != 0 {
		t.Errorf("of nothing it took %d", n)
	}
	b.audit("one")
	b.audit("two")
	b.advance(ledger.Settling - 1)
	if n := take(); n != 0 {
		t.Errorf("of rows that are too young it took %d", n)
	}
	b.advance(1_000)
	b.audit("three")
	if n := take(); n != 2 {
		t.Errorf("it took %d of two", n)
	}
	if n := take(); n != 0 {
		t.Errorf("once more it took %d", n)
	}
	if n := b.head(); n != 1 {
		t.Errorf("later it took %d", n)
	}
	b.sequence(acme)
	if size := b.checkpoint(acme).Size; size != 2 {
		t.Errorf("there are %d leaves", size)
	}
	got, err := b.Verify(t.Context(), acme)
	if err != nil || !got.OK() || got.AuditRows != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}
