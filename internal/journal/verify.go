package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

// VerifyOptions change what a verification holds the journal against.
type VerifyOptions struct {
	// Against is a checkpoint of this journal that somebody else kept, a
	// signed note. Only what it covers is anchored.
	Against []byte

	// Key is the verifier key of the journal as somebody else kept it. When
	// it is empty, the journal's own word is taken.
	Key string

	// Progress, if set, is called now and then with entries looked at.
	Progress func(done, total int64)
}

// VerifyReport says what a verification looked at and what it found.
type VerifyReport struct {
	Path        string     // of the database
	Origin      string     // name of the log
	VerifierKey string     // that signatures were checked with
	Checkpoint  []byte     // the journal's last one, a signed note
	Root        entry.Hash // recomputed over all entries; zero where that was not possible

	Entries      int64
	Sessions     int64
	OpenSessions int64 // without an end
	Details      int64
	Erased       int64 // details that are not there any more
	Bodies       int64
	BodyBytes    int64 // kept in them, before compression
	ErasedBodies int64
	Checkpoints  int64 // kept ones that were compared

	// Anchored entries, 0 up to Anchored-1, are just as Against says. Those
	// behind them could have been rewritten by whoever holds the key.
	Anchored int64

	// Wire bytes by what is known of them: in entries, or in gaps.
	SeenBytes, UnseenBytes int64
	Gaps                   int64

	// ExactBytes are the wire bytes that are kept just as they crossed, by
	// sessions at the level raw. Divide by SeenBytes + UnseenBytes.
	ExactBytes int64

	// StaleHours are hours of sessions from which something was erased and
	// whose sums wait to be derived anew, so that they were not compared.
	StaleHours int64

	ErasureEntries int64
	Erasures       []ErasureEntry // the first MaxErasures of them

	Exposures []*Exposure // what others can reach; it is no finding

	Findings []Finding // the first MaxFindings of them
	Found    int64     // how many there were
}

// Intact says that nothing was found.
func (r *VerifyReport) Intact() bool { return r.Found == 0 }

// Unanchored is how many entries no outside checkpoint covers.
func (r *VerifyReport) Unanchored() int64 { return r.Entries - r.Anchored }

// MaxFindings is how many findings a report holds.
const MaxFindings = 20

// Finding is one thing that is not as it must be.
type Finding struct {
	N    int64  // the entry; -1 where it is about none, or about many
	What string // in plain words
}

func (r *VerifyReport) find(n int64, format string, args ...any) {
	r.Found++
	if len(r.Findings) < MaxFindings {
		r.Findings = append(r.Findings, Finding{N: n, What: fmt.Sprintf(format, args...)})
	}
}

// BadCheckpointError says that what was given as Against is no checkpoint.
type BadCheckpointError struct{ Err error }

func (e *BadCheckpointError) Error() string {
	return "the checkpoint to compare with cannot be read; give the note as deed checkpoint printed it: " + e.Err.Error()
}
func (e *BadCheckpointError) Unwrap() error { return e.Err }

// BadKeyError says that what was given as Key is no verifier key.
type BadKeyError struct{ Err error }

func (e *BadKeyError) Error() string {
	return "the key to check with cannot be read: " + e.Err.Error()
}
func (e *BadKeyError) Unwrap() error { return e.Err }

// Verify reads every entry of the journal in home once and checks all that
// can be checked. It stops early only for an error of reading; whatever is
// wrong with the journal itself is in the report.
func Verify(ctx context.Context, home string, options VerifyOptions) (VerifyReport, error) {
	if options.Key != "" {
		if _, err := note.NewVerifier(options.Key); err != nil {
			return VerifyReport{}, &BadKeyError{Err: err}
		}
	}
	exposed := Exposures(home) // before anything is opened, which may change it
	r, err := OpenReader(home)
	if err != nil {
		return VerifyReport{}, err
	}
	defer r.Close()
	// The size is from one moment; entries below it never change again, so
	// that the workers need not share this transaction.
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return VerifyReport{}, databaseError(r.folder, "verify journal", err)
	}
	defer tx.Rollback()
	v := &verification{
		ctx: ctx, tx: tx, db: r.db, options: options,
		report: VerifyReport{Path: r.folder.database(), Exposures: exposed},
		log:    mustEmptyFrontier(),
	}
	switch err := v.run(r.folder); {
	case unreadableValue(err):
		v.report.findUnreadable(err)
	case err != nil:
		return VerifyReport{}, databaseError(r.folder, "verify journal", err)
	}
	return v.report, nil
}

// verification is the state of one run over a journal.
type verification struct {
	ctx     context.Context
	tx      *sql.Tx
	db      *sql.DB
	options VerifyOptions
	report  VerifyReport

	verifier note.Verifier // nil when there is no usable key
	head     head
	against  *tlog.Checkpoint
	uids     map[int64]string // session rows
	sessions map[string]*sessionState

	lists   map[int64][]byte // of erasures whose entry was not met yet
	known   *erasedIndex     // what was erased when the verification began
	erased  *erasedLook      // and since
	ownNext int64            // place of the next entry that the journal wrote of itself

	log         *tlog.Frontier
	derivation  *derivation
	broken      bool // an entry is missing, so that no root can be computed
	nodes       int64
	checkpoints []keptCheckpoint // the next ones to be reached
	noMore      bool
	lastKept    int64
	unkept      []int64 // ends of sessions whose checkpoint was not met yet

	letters map[int64]letterState // intents that should be in the outbox, by their place in the log

	definitions map[entry.Hash]definitionState
	hiddenLists bool // some list of tools cannot be read any more
}

func mustEmptyFrontier() *tlog.Frontier {
	f, err := tlog.NewFrontier(0, nil)
	if err != nil {
		panic(err) // not by any input
	}
	return f
}

func (v *verification) run(f folder) error {
	if err := v.readKey(f); err != nil {
		return err
	}
	if err := v.readHead(); err != nil {
		return err
	}
	if err := v.readAgainst(); err != nil {
		return err
	}
	if err := v.readSessions(); err != nil {
		return err
	}
	if err := v.readErasures(); err != nil {
		return err
	}
	if err := v.checkSchema(); err != nil {
		return err
	}
	whole := v.beginWhole()
	defer whole.end()
	if err := v.checkMeta(); err != nil {
		return err
	}
	if err := v.checkDefinitions(); err != nil {
		return err
	}
	v.derivation = newDerivation(v.uids)
	if err := v.scan(); err != nil {
		return err
	}
	v.checkUnused()
	if err := v.checkStrays(); err != nil {
		return err
	}
	if err := v.checkLoose(); err != nil {
		return err
	}
	v.checkLists()
	if err := v.checkOutbox(); err != nil {
		return err
	}
	if err := v.checkKeptAt(); err != nil {
		return err
	}
	v.checkEnd()
	if err := v.checkDerived(); err != nil {
		return err
	}
	return whole.tell(&v.report)
}

// readKey decides which key signatures are checked with.
func (v *verification) readKey(f folder) error {
	var own string
	err := v.tx.QueryRowContext(v.ctx, "SELECT value FROM meta WHERE key = 'verifier_key'").Scan(&own)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if own == "" {
		v.report.find(-1, "the journal does not say which key signs it")
	}
	// A copied journal has no key file. Where there is one, it counts: it
	// takes more to replace both.
	if err := refuseOdd(f.key()); err != nil {
		v.report.find(-1, "the key file cannot be read: %v", err)
		return v.useKey(own)
	}
	file, err := tlog.ReadVerifierKey(f.key())
	switch {
	case err == nil && own != file:
		v.report.find(-1, "the journal says that it is signed by another key than the one in %s", keyName)
		own = file
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		v.report.find(-1, "the key file cannot be read: %v", err)
	}
	return v.useKey(own)
}

// useKey takes the key that the journal says it is signed with, unless
// another one was given.
func (v *verification) useKey(own string) error {
	if v.options.Key != "" {
		if own != v.options.Key {
			v.report.find(-1, "the journal is signed by another key than the one that was given")
		}
		own = v.options.Key
	}
	v.report.VerifierKey = own
	if own == "" {
		return nil
	}
	verifier, err := note.NewVerifier(own)
	if err != nil {
		v.report.find(-1, "the key that signs the journal cannot be read: %v", err)
		return nil
	}
	v.verifier = verifier
	v.report.Origin = v.verifier.Name()
	var origin string
	err = v.tx.QueryRowContext(v.ctx, "SELECT value FROM meta WHERE key = 'origin'").Scan(&origin)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if origin != v.report.Origin {
		v.report.find(-1, "the journal calls itself %q and its key is named %q", origin, v.report.Origin)
	}
	return nil
}

func (v *verification) readHead() error {
	h, err := readHead(v.ctx, v.tx)
	if errors.Is(err, sql.ErrNoRows) {
		v.report.find(-1, "the end of the log is not recorded")
		// What is there is looked at all the same.
		return v.tx.QueryRowContext(v.ctx, "SELECT coalesce(max(n) + 1, 0) FROM entries").Scan(&v.report.Entries)
	}
	if err != nil {
		return err
	}
	v.head, v.report.Entries, v.report.Checkpoint = h, max(0, h.size), []byte(h.note)
	return nil
}

func (v *verification) readAgainst() error {
	if v.options.Against == nil {
		return nil
	}
	if _, err := tlog.ParseSigned(v.options.Against); err != nil {
		return &BadCheckpointError{Err: err}
	}
	if v.verifier == nil {
		v.report.find(-1, "the checkpoint that was given cannot be compared, because the journal has no usable key")
		return nil
	}
	c, err := tlog.OpenCheckpoint(v.options.Against, v.verifier)
	if err != nil {
		v.report.find(-1, "the checkpoint that was given is not of this journal, or the journal was replaced: %v", err)
		return nil
	}
	if c.Size > v.report.Entries {
		v.report.find(-1, "the journal once had %d entries, as the checkpoint that was given says, and has %d: its end was cut off", c.Size, v.report.Entries)
		return nil
	}
	v.against = &c
	return nil
}

func (v *verification) readSessions() error {
	v.uids, v.sessions = map[int64]string{0: entry.OwnSession}, make(map[string]*sessionState)
	rows, err := v.tx.QueryContext(v.ctx, "SELECT id, uid FROM sessions")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var uid string
		if err := rows.Scan(&id, &uid); err != nil {
			return err
		}
		v.uids[id] = uid
	}
	return rows.Err()
}

// checkStrays looks for rows that belong to nothing.
func (v *verification) checkStrays() error {
	for _, stray := range []struct{ query, what string }{
		{"SELECT count(*), min(n) FROM entries WHERE n < 0 OR n >= ?", "%d entries lie outside the log, which has %d"},
		{"SELECT count(*), min(n) FROM details WHERE n < 0 OR n >= ?", "%d details are of entries outside the log, which has %d"},
		{"SELECT count(*), min(n) FROM destinations WHERE n < 0 OR n >= ?", "%d destinations are of entries outside the log, which has %d"},
		{"SELECT count(*), NULL FROM checkpoints WHERE size < 0 OR size > ?", "%d kept checkpoints are of a bigger log than this one of %d entries: its end was cut off"},
	} {
		if err := v.countStrays(stray.query, stray.what); err != nil {
			return err
		}
	}
	var nodes int64
	if err := v.tx.QueryRowContext(v.ctx, "SELECT count(*) FROM nodes").Scan(&nodes); err != nil {
		return err
	}
	if !v.broken && nodes != v.nodes {
		v.report.find(-1, "the database stores %d hashes of the tree, and the log has %d", nodes, v.nodes)
	}
	for id, uid := range v.uids {
		if v.sessions[uid] == nil && (id != 0 || uid != entry.OwnSession) {
			v.report.find(-1, "session %s is listed and has no entries", uid)
		}
	}
	return nil
}

func (v *verification) countStrays(query, what string) error {
	var count int64
	var first sql.NullInt64
	if err := v.tx.QueryRowContext(v.ctx, query, v.report.Entries).Scan(&count, &first); err != nil {
		return err
	}
	if !first.Valid {
		first.Int64 = -1
	}
	if count > 0 {
		v.report.find(first.Int64, what, count, v.report.Entries)
	}
	return nil
}
