package ledger

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

// Seal keeps the signing key of a workspace. A vault.Vault is one.
type Seal interface {
	Seal(w access.WorkspaceID, name string, secret []byte) ([]byte, error)
	Open(w access.WorkspaceID, name string, sealed []byte) ([]byte, error)
}

// Service numbers, signs, proves and verifies the ledgers of a store's workspaces. It
// is safe for concurrent use.
type Service struct {
	store store.Store
	seal  Seal
}

// New serves the ledgers of a store. Their keys are sealed by seal.
func New(s store.Store, seal Seal) *Service { return &Service{store: s, seal: seal} }

// keySecret is under which name a workspace's signing key is sealed.
const keySecret = "ledger-key"

// signingKey is an Ed25519 key with both its halves as package note writes them. Its
// name is the ledger's origin.
type signingKey struct {
	tlog.Signer
	verifier note.Verifier
	public   string // name+hash+key
}

func newKey() (private, public string, err error) {
	chance := make([]byte, 16)
	if _, err := rand.Read(chance); err != nil {
		return "", "", fmt.Errorf("make a ledger's key: %w", err)
	}
	// Who is told an origin can look for the ledger; nobody can guess one.
	origin := "deed.ledger/" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(chance))
	private, public, err = note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return "", "", fmt.Errorf("make a ledger's key: %w", err)
	}
	return private, public, nil
}

func parseKey(private, public string) (*signingKey, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return nil, fmt.Errorf("read a ledger's key: %w", err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, fmt.Errorf("read a ledger's key: %w", err)
	}
	return &signingKey{Signer: signer, verifier: verifier, public: public}, nil
}

// key is the workspace's key, or nil where there is none yet.
func (s *Service) key(tx store.Tx) (*signingKey, error) {
	sealed, err := tx.Secret(keySecret)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(sealed) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger's key: %w", err)
	}
	text, err := s.seal.Open(tx.Workspace(), keySecret, sealed)
	if err != nil {
		return nil, fmt.Errorf("open the ledger's key: %w", err)
	}
	private, public, _ := strings.Cut(string(text), "\n")
	return parseKey(private, public)
}

// makeKey makes the workspace's key. The unit that it is made in has the ledger's
// lock, so that there is one.
func (s *Service) makeKey(tx store.Tx) (*signingKey, error) {
	private, public, err := newKey()
	if err != nil {
		return nil, err
	}
	sealed, err := s.seal.Seal(tx.Workspace(), keySecret, []byte(private+"\n"+public))
	if err != nil {
		return nil, fmt.Errorf("seal the ledger's key: %w", err)
	}
	tx.PutSecret(keySecret, sealed)
	return parseKey(private, public)
}

// Checkpoint is how far a ledger is numbered, signed.
type Checkpoint struct {
	tlog.Checkpoint
	Signed []byte // the note; empty for an empty ledger
	// VerifierKey is the public half of the key that signed, as package note
	// writes it.
	VerifierKey string
}

// Checkpoint returns the latest checkpoint of a workspace's ledger. Error:
// [store.ErrNotFound] for one that has no leaf yet.
func (s *Service) Checkpoint(ctx context.Context, w access.WorkspaceID) (*Checkpoint, error) {
	var c *Checkpoint
	err := s.store.View(ctx, w, func(tx store.Tx) (err error) {
		_, c, err = s.latest(tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ledger's checkpoint: %w", err)
	}
	return c, nil
}

// latest is the ledger as it stands, with its checkpoint checked.
func (s *Service) latest(tx store.Tx) (store.LedgerState, *Checkpoint, error) {
	state, err := tx.LedgerState()
	if err != nil {
		return state, nil, fmt.Errorf("read the ledger's state: %w", err)
	}
	if state.Size == 0 {
		return state, nil, store.ErrNotFound
	}
	key, err := s.key(tx)
	if err != nil {
		return state, nil, err
	}
	if key == nil {
		return state, nil, errors.New("the ledger's key is gone")
	}
	signed, err := tlog.OpenCheckpoint(state.Checkpoint, key.verifier)
	if err != nil {
		return state, nil, err
	}
	return state, &Checkpoint{Checkpoint: signed, Signed: state.Checkpoint, VerifierKey: key.public}, nil
}
