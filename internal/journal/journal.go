package journal

import (
	"context"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

// Options change how a journal is opened. The zero value is right for a
// recorder.
type Options struct {
	// QueueEntries and QueueBytes bound what waits to be written: 65,536
	// entries and 64 MiB when they are 0.
	QueueEntries int
	QueueBytes   int64

	// AllowNetwork opens a home on a network file system all the same.
	AllowNetwork bool

	// Retention says how long bodies are kept: 30 days and 5 GiB when it is
	// zero. It is looked after at a session's end, at most once an hour.
	Retention Policy

	// OnTrouble is called once when writing begins to fail, and again when it
	// fails after it had recovered. It is called from the journal's own
	// goroutine and must not wait for the journal.
	OnTrouble func(error)
}

// Journal is open for writing. Its methods may be called from any goroutine;
// entries of one session must come from one at a time, in order.
type Journal struct {
	queue   *queue
	writer  *writer
	defines defines
}

// Open opens the journal in home, and makes one where there is none. It
// returns before anything is written. Reasons that waiting would not mend are
// *HomeError, *NetworkHomeError, *NewerFormatError, *CorruptError,
// *KeyMissingError, *AlteredError and *ForeignError. A *LockedError says that
// there is no journal yet and another program keeps us from making one: try
// again.
func Open(home string, options Options) (*Journal, error) {
	return open(home, options, nil)
}

func open(home string, options Options, faults *faults) (*Journal, error) {
	f, err := openFolder(home, options.AllowNetwork)
	if err != nil {
		return nil, err
	}
	if options.QueueEntries <= 0 {
		options.QueueEntries = 65_536
	}
	if options.QueueBytes <= 0 {
		options.QueueBytes = 64 << 20
	}
	w, err := openFiles(f)
	if err != nil {
		return nil, err
	}
	w.queue = newQueue(options.QueueEntries, options.QueueBytes)
	w.onTrouble = options.OnTrouble
	w.faults = faults
	w.pruner = newPruner(options.Retention)
	sweepSpills(f)
	if err := w.startHelpers(); err != nil {
		w.disconnect()
		w.lock.close()
		return nil, err
	}
	go w.run()
	return &Journal{queue: w.queue, writer: w}, nil
}

// Append queues an entry. It waits only while the queue is full, until ctx is
// done. Entry and detail may be changed once it has returned; detail may be
// nil. After an error the entry is not queued and its Seq is still free.
func (j *Journal) Append(ctx context.Context, e *entry.Entry, detail *entry.Detail) error {
	it, err := newItem(e, detail)
	if err != nil {
		return err
	}
	return j.push(ctx, it)
}

func newItem(e *entry.Entry, detail *entry.Detail) (*item, error) {
	it := &item{entry: *e}
	it.entry.Flags = slices.Compact(slices.Sorted(slices.Values(e.Flags)))
	if it.entry.Began == it.entry.At {
		it.entry.Began = 0
	}
	var hash entry.Hash
	var err error
	if detail != nil {
		if it.salt, it.data, hash, err = entry.SealDetail(detail); err != nil {
			return nil, err
		}
	}
	if it.leaf, err = entry.EncodeLeaf(&it.entry, hash); err != nil {
		return nil, err
	}
	it.derived = entry.DeriveColumns(&it.entry, detail)
	it.extra = deriveExtra(detail)
	return it, nil
}

// Sync waits until every entry that was appended before is durable: it then
// survives a loss of power, not only of the process.
func (j *Journal) Sync(ctx context.Context) error { return j.queue.sync(ctx) }

// Failing returns why nothing can be written at present, or nil.
func (j *Journal) Failing() error { return j.queue.failing() }

// VerifierKey is the public key of this journal's checkpoints, to be given to
// others.
func (j *Journal) VerifierKey() string { return j.writer.key.VerifierKey() }

// Progress says how far the writing has come. While it grows, or another
// program holds the lock, a Close that ran out of time is worth another one.
type Progress struct {
	Written int64 // entries committed since the journal was opened
	Locked  bool  // another program keeps us from writing
}

// Progress is how far the writing has come.
func (j *Journal) Progress() Progress {
	return Progress{Written: j.queue.progress(), Locked: j.writer.lock.waited() > lockedAfter}
}

// lockedAfter is how long a wait for the lock is nothing out of the ordinary.
const lockedAfter = time.Second

// Close lets no more entries in, writes what is queued, makes it durable and
// closes the files. When ctx is done first it returns an *UnwrittenError, and
// the writing goes on: call Close again to wait longer, for as long as
// [Journal.Progress] grows, or [Journal.Abandon] to say in the record what
// will be missing from it.
func (j *Journal) Close(ctx context.Context) error {
	j.queue.close()
	select {
	case <-j.writer.done:
		j.writer.pruner.finish(ctx)
		return nil
	case <-ctx.Done():
	}
	entries, unflushed, trouble := j.queue.left()
	if entries == 0 && unflushed == 0 {
		return nil // all is on the disk, only the files are still open
	}
	waited := j.writer.lock.waited()
	switch {
	case trouble != nil:
	case waited > 0 && entries > 0:
		trouble = &LockedError{Path: j.writer.folder.lock(), Waited: waited}
	default:
		trouble = errSlow
	}
	return &UnwrittenError{Entries: entries, Unflushed: unflushed, Err: trouble}
}

var _ tlog.Signer = (*tlog.Key)(nil)
