package conformance

import (
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// write is one method of a unit that keeps something, tried with the things of a
// furnished workspace.
type write struct {
	method string
	do     func(tx store.Tx, f *furnished) error
	unseen bool // no unit can read what it writes, if it writes anything
	again  bool // nothing is in the way of doing it after all the others
}

// says is a write that returns nothing.
func says(do func(tx store.Tx, f *furnished)) func(store.Tx, *furnished) error {
	return func(tx store.Tx, f *furnished) error {
		do(tx, f)
		return nil
	}
}

var writes = []write{
	{method: "AddAction", again: true, do: says(func(tx store.Tx, f *furnished) {
		a := action(3, governed)
		tx.Turn(store.Alone)
		tx.AddAction(a, f.entries(a), map[string]string{"order": a.Declaration.SubjectID})
	})},
	{method: "AddRevision", again: true, do: says(func(tx store.Tx, _ *furnished) {
		tx.AddRevision(revision(action(1), 2))
	})},
	{method: "KeepVerdict", again: true, do: func(tx store.Tx, _ *furnished) error {
		a := action(1)
		c := &verdict.Case{Engine: verdict.Engine, At: at(time.Hour), Declarations: []verdict.Declaration{a.Declaration}}
		v, err := engine.Evaluate(c)
		if err != nil {
			return err
		}
		settled(1)(&v)
		tx.KeepVerdict(a.Ref, &v, c, nil)
		return nil
	}},
	{method: "KeepWaits", again: true, do: says(func(tx store.Tx, _ *furnished) {
		tx.KeepWaits(ref(1), []verdict.Wait{{Source: "bank", Type: "transfer.booked", Until: at(3 * time.Hour)}})
	})},
	{method: "Wake", again: true, do: says(func(tx store.Tx, _ *furnished) {
		tx.Wake(store.Wake{Kind: store.WakeSpread, Ref: ref(2)})
	})},
	{method: "Turn", unseen: true, do: says(func(tx store.Tx, _ *furnished) { tx.Turn(store.Alone) })},
	{method: "Recheck", unseen: true, do: says(func(tx store.Tx, _ *furnished) { tx.Recheck(ref(1)) })},
	{method: "Claim", again: true, do: func(tx store.Tx, _ *furnished) error {
		_, err := tx.Claim(10)
		return err
	}},
	{method: "Lock", unseen: true, do: func(tx store.Tx, _ *furnished) error { return tx.Lock([]store.Ref{ref(1), ref(2)}) }},
	{method: "AddFacts", again: true, do: func(tx store.Tx, f *furnished) error {
		_, err := tx.AddFacts([]store.Fact{f.late()})
		return err
	}},
	{method: "PutSource", again: true, do: says(func(tx store.Tx, _ *furnished) {
		s := source("stripe")
		s.Title = "Another"
		tx.PutSource(s)
	})},
	{method: "PutWatermark", again: true, do: says(func(tx store.Tx, _ *furnished) {
		tx.PutWatermark("stripe", "refund.succeeded", at(2*time.Hour), actor)
	})},
	{method: "AddContractVersion", again: true, do: says(func(tx store.Tx, f *furnished) { tx.AddContractVersion(version(f.contract, 3)) })},
	{method: "ApproveContract", again: true, do: says(func(tx store.Tx, f *furnished) { tx.ApproveContract("refunds", 2, f.owner) })},
	{method: "ActivateContract", again: true, do: says(func(tx store.Tx, f *furnished) {
		v := version(f.contract, 2)
		v.Mode, v.From, v.ActivatedBy = verdict.Shadow, at(time.Minute), actor
		tx.ActivateContract(v)
	})},
	{method: "RetireContract", again: true, do: says(func(tx store.Tx, _ *furnished) { tx.RetireContract("refunds", at(2*time.Minute), actor) })},
	{method: "BackfillLinks", do: says(func(tx store.Tx, f *furnished) {
		tx.Turn(store.Alone)
		a := action(2, governed)
		more := f.entries(a)
		for i := range more {
			more[i].Key += " of another version"
		}
		tx.BackfillLinks(a.Ref, more, map[string]string{"ticket": "t-1"})
	})},
	{method: "PutKey", again: true, do: says(func(tx store.Tx, f *furnished) {
		k := f.key
		k.Name, k.RevokedAt = "revoked", at(time.Hour)
		tx.PutKey(k)
	})},
	{method: "PutMember", do: says(func(tx store.Tx, f *furnished) {
		tx.PutMember(member(f.id, store.Person{ID: f.member}, access.Admin))
	})},
	{method: "RemoveMember", again: true, do: says(func(tx store.Tx, f *furnished) { tx.RemoveMember(f.member) })},
	{method: "LockMembers", unseen: true, do: func(tx store.Tx, _ *furnished) error { return tx.LockMembers() }},
	{method: "PutWorkspace", again: true, do: says(func(tx store.Tx, f *furnished) {
		w := f.settings()
		w.Name, w.Development = "Another", true
		tx.PutWorkspace(w)
	})},
	{method: "AddSignIn", unseen: true, do: says(func(tx store.Tx, f *furnished) {
		tx.AddSignIn(store.SignIn{Hash: f.token("second"), Workspace: f.id, Member: f.member, ExpiresAt: at(day)})
	})},
	{method: "EndSessions", again: true, do: says(func(tx store.Tx, f *furnished) { tx.EndSessions(f.member, at(time.Hour)) })},
	{method: "Audit", again: true, do: says(func(tx store.Tx, _ *furnished) {
		tx.Audit(store.AuditEntry{At: at(time.Minute), Actor: actor, Event: "key.revoked", Object: "key_1", Metadata: []byte(`{}`)})
	})},
	{method: "CountDeclared", again: true, do: says(func(tx store.Tx, _ *furnished) { tx.CountDeclared("2026-11", 3) })},
	{method: "AddLeaf", again: true, do: says(func(tx store.Tx, _ *furnished) { tx.AddLeaf(leaf(3)) })},
	{method: "LockLedger", unseen: true, do: func(tx store.Tx, _ *furnished) error {
		_, err := tx.LockLedger()
		return err
	}},
	{method: "Sequence", again: true, do: func(tx store.Tx, _ *furnished) error { return number(tx, 1) }},
	{method: "PutSecret", again: true, do: says(func(tx store.Tx, _ *furnished) { tx.PutSecret("signer", fmt.Append(nil, "another")) })},
}
