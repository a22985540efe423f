package ledger_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

func TestANewEpochGoesOnUnderAnotherNameAndNamesTheHeadOfBefore(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.fill()
	b.sequence(acme)
	before := b.checkpoint(acme)
	if err := b.NewEpoch(t.Context(), acme); err != nil {
		t.Fatal(err)
	}
	// The head stands under the new name at once, and is signed by its key alone.
	after := b.checkpoint(acme)
	if after.Origin == before.Origin || after.VerifierKey == before.VerifierKey {
		t.Errorf("it goes on as %s", after.Origin)
	}
	if after.Size != before.Size || after.Root != before.Root {
		t.Errorf("its head is %d %x, and was %d %x", after.Size, after.Root, before.Size, before.Root)
	}
	if bytes.Contains(after.Signed, []byte(before.Origin)) {
		t.Error("the old name is signed as well")
	}
	old, err := note.NewVerifier(before.VerifierKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tlog.OpenCheckpoint(after.Signed, old); err == nil {
		t.Error("the old key signed the new head")
	}
	if n := b.sequence(acme); n != 1 {
		t.Errorf("%d leaves were numbered, want the one that begins the epoch", n)
	}
	sum := sha256.Sum256(before.Signed)
	in, err := b.Inclusion(t.Context(), acme, "sha256:"+hex.EncodeToString(sum[:]))
	if err != nil {
		t.Fatal(err)
	}
	if in.Leaf.Number != before.Size || in.Leaf.Kind != ledger.EpochKind || in.Leaf.Object != before.Origin || in.Check() != nil {
		t.Errorf("the leaf is %+v", in.Leaf)
	}
	// Whoever holds the old head can be shown that the new epoch extends it.
	proof, err := b.Consistency(t.Context(), acme, before.Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	latest := b.checkpoint(acme)
	if err := tlog.CheckConsistency(proof, latest.Size, latest.Root, before.Size, before.Root); err != nil {
		t.Errorf("the new epoch does not extend the old one: %v", err)
	}
	report, err := b.Verify(t.Context(), acme)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("what does not agree: %v", report.Problems)
	}
}

func TestALedgerThatSignedNothingHasNoEpochToEnd(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 1) // without a number yet
	if err := b.NewEpoch(t.Context(), acme); err != nil {
		t.Fatal(err)
	}
	if n := b.sequence(acme); n != 1 {
		t.Errorf("%d leaves were numbered, want the one that was there", n)
	}
}

func TestAnEpochThatFailsLeavesTheOneOfBefore(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.fill()
	b.sequence(acme)
	before := b.checkpoint(acme)
	b.keep(acme, func(tx store.Tx) { tx.PutSecret("ledger-key", []byte("damaged")) })
	if err := b.NewEpoch(t.Context(), acme); err == nil {
		t.Error("it began without the key of before")
	}
	err := b.store.View(t.Context(), acme, func(tx store.Tx) error {
		state, err := tx.LedgerState()
		if !bytes.Equal(state.Checkpoint, before.Signed) {
			t.Error("the head is another")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
