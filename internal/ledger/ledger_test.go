package ledger_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	formats "github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

func TestLeavesGetTheirPlacesInTheOrderInWhichTheyWereWritten(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 1500)
	b.write(other, 0, 2)
	if n := b.sequence(acme); n != 1500 {
		t.Errorf("%d leaves were numbered", n)
	}
	if n := b.sequence(acme); n != 0 {
		t.Errorf("once more %d", n)
	}
	err := b.store.View(t.Context(), acme, func(tx store.Tx) error {
		leaves, err := tx.Leaves(0, 2000)
		if err != nil {
			return err
		}
		for i := range leaves {
			if want := plainLeaf(i, noon); leaves[i].Number != int64(i) || leaves[i].Object != want.Object {
				t.Fatalf("leaf %d is %+v", i, leaves[i])
			}
		}
		if len(leaves) != 1500 {
			t.Errorf("there are %d leaves", len(leaves))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Checkpoint(t.Context(), other); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the other workspace's ledger: %v", err)
	}
}

// Checkpoint and proofs are read by implementations that are not ours.
func TestOthersCanCheckWhatTheLedgerProves(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 700)
	b.sequence(acme)
	old := b.checkpoint(acme)
	b.write(acme, 700, 600)
	b.sequence(acme)
	now := b.checkpoint(acme)

	verifier, err := note.NewVerifier(now.VerifierKey)
	if err != nil {
		t.Fatal(err)
	}
	read, rest, _, err := formats.ParseCheckpoint(now.Signed, now.Origin, verifier)
	if err != nil || read.Size != 1300 || string(read.Hash) != string(now.Root[:]) || len(rest) != 0 {
		t.Errorf("the checkpoint is read as %+v, %v", read, err)
	}
	if old.Origin != now.Origin || old.VerifierKey != now.VerifierKey {
		t.Error("the key changed")
	}
	between, err := b.Consistency(t.Context(), acme, old.Size, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old.Size), uint64(now.Size), raw(between), old.Root[:], now.Root[:]); err != nil {
		t.Errorf("the new ledger does not extend the old one: %v", err)
	}
	for _, n := range []int{0, 255, 256, 699, 700, 1023, 1024, 1299} {
		in, err := b.Inclusion(t.Context(), acme, plainLeaf(n, noon).Digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Check(); err != nil {
			t.Errorf("leaf %d: %v", n, err)
		}
		leaf := rfc6962.DefaultHasher.HashLeaf(in.Text)
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(n), uint64(now.Size), leaf, raw(in.Proof), now.Root[:]); err != nil {
			t.Errorf("leaf %d: %v", n, err)
		}
		in.Leaf.Number ^= 1
		if in.Check() == nil {
			t.Errorf("leaf %d is also somewhere else", n)
		}
	}
}

func raw(hashes []tlog.Hash) [][]byte {
	var list [][]byte
	for i := range hashes {
		list = append(list, hashes[i][:])
	}
	return list
}

func TestWhatIsNotInTheLedgerCannotBeProved(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	if _, err := b.Inclusion(t.Context(), acme, plainLeaf(0, noon).Digest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an empty ledger: %v", err)
	}
	b.write(acme, 0, 3)
	b.sequence(acme)
	b.write(acme, 3, 1)
	for what, digest := range map[string]string{"an unknown digest": "sha256:00", "one without a number": plainLeaf(3, noon).Digest} {
		if _, err := b.Inclusion(t.Context(), acme, digest); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.Inclusion(t.Context(), other, plainLeaf(0, noon).Digest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("from another workspace: %v", err)
	}
	for _, sizes := range [][2]int64{{0, 3}, {-1, 3}, {3, 2}, {1, 4}, {1, -1}} {
		if _, err := b.Consistency(t.Context(), acme, sizes[0], sizes[1]); access.CodeOf(err) != access.InvalidRequest {
			t.Errorf("from %d to %d: %v", sizes[0], sizes[1], err)
		}
	}
}

// Several instances number one ledger while leaves are written.
func TestManySequencersLeaveNoGap(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	var writing, numbering sync.WaitGroup
	const writers, each = 4, 50
	stop := make(chan struct{})
	for range 3 {
		numbering.Go(func() {
			for {
				if _, err := ledger.New(b.store, b.vault).Sequence(t.Context(), acme); err != nil {
					t.Error(err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				b.write(acme, w*each+i, 1)
			}
		})
	}
	writing.Wait()
	close(stop)
	numbering.Wait()
	b.sequence(acme)
	if size := b.checkpoint(acme).Size; size != writers*each {
		t.Errorf("%d of %d leaves have a number", size, writers*each)
	}
	report, err := b.Verify(t.Context(), acme)
	if err != nil || report.Leaves != writers*each || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestASequencerNumbersWhatComesUntilItIsTold(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 1)
	ticks, done := make(chan time.Time), make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	q := ledger.NewSequencer(b.Service, slog.New(slog.NewTextHandler(io.Discard, nil))).Paced(ticks, func() { done <- struct{}{} })
	go func() {
		defer close(ended)
		q.Run(ctx)
	}()
	<-done
	if size := b.checkpoint(acme).Size; size != 1 {
		t.Errorf("at its start it numbered %d", size)
	}
	b.write(acme, 1, 2)
	b.write(other, 0, 5)
	ticks <- time.Time{}
	<-done
	if a, o := b.checkpoint(acme).Size, b.checkpoint(other).Size; a != 3 || o != 5 {
		t.Errorf("then there are %d and %d", a, o)
	}
	stop()
	<-ended
}

func TestALedgerWhoseKeyIsGoneIsNotSignedByAnother(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 1)
	b.sequence(acme)
	b.keep(acme, func(tx store.Tx) { tx.PutSecret("ledger-key", nil) })
	b.write(acme, 1, 1)
	if _, err := b.Sequence(t.Context(), acme); err == nil {
		t.Error("it went on with a new key")
	}
}

func TestAnInstanceWithAnotherSecretCannotSign(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	b.write(acme, 0, 1)
	b.sequence(acme)
	b.write(acme, 1, 1)
	stranger := newBook(t).vault
	if _, err := ledger.New(b.store, stranger).Sequence(t.Context(), acme); err == nil {
		t.Error("it signed")
	}
	if n := b.sequence(acme); n != 1 {
		t.Errorf("then %d were left", n)
	}
}
