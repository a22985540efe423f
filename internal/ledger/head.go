package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
)

const (
	// headSecret is under which name it is kept how far heads reach. It is no secret,
	// and sealed because what is kept there is.
	headSecret = "audit-head"
	// settling is how old the newest row of a segment is at least. Rows get their ids
	// when their units commit; one with a smaller id that shows after this time would
	// lie in a segment that was made without it.
	settling  = 5 * time.Minute
	auditPage = 1000
)

// head is how far the audit is chained.
type head struct {
	Last   int64  `json:"last"`   // id of the newest row that is covered
	Digest string `json:"digest"` // of the segment that ends there
}

// Head chains the rows of a workspace's audit that no head covers yet, and writes
// the digest as a leaf. It returns how many rows it took; none is no leaf.
func (s *Service) Head(ctx context.Context, w access.WorkspaceID) (int64, error) {
	var rows int64
	err := s.store.Do(ctx, w, func(tx store.Tx) (err error) {
		rows, err = s.chain(tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("chain the audit: %w", err)
	}
	return rows, nil
}

func (s *Service) chain(tx store.Tx) (int64, error) {
	if _, err := tx.LockLedger(); err != nil { // one head at a time
		return 0, err
	}
	before, err := s.head(tx)
	if err != nil {
		return 0, err
	}
	segment, next := audit.NewSegment(), head{}
	first := int64(0)
	for after, more := store.Cursor(""), true; more; {
		rows, cursor, err := tx.ListAudit(store.Page{After: after, Limit: auditPage})
		if err != nil {
			return 0, err
		}
		after, more = cursor, cursor != ""
		for i := range rows {
			row := &rows[i]
			if row.ID <= before.Last {
				more = false
				break
			}
			if next.Last == 0 && row.At > tx.Now().Add(-settling) {
				continue
			}
			next.Last, first = max(next.Last, row.ID), row.ID
			segment.Add(row)
		}
	}
	if segment.Rows() == 0 {
		return 0, nil
	}
	next.Digest = segment.Digest(before.Digest)
	text, err := json.Marshal(next)
	if err != nil {
		return 0, err
	}
	sealed, err := s.seal.Seal(tx.Workspace(), headSecret, text)
	if err != nil {
		return 0, err
	}
	tx.PutSecret(headSecret, sealed)
	tx.AddLeaf(leaf(AuditKind, span{first: first, last: next.Last, rows: segment.Rows()}.String(), next.Digest, tx.Now()))
	return segment.Rows(), nil
}

// head is how far the audit is chained so far.
func (s *Service) head(tx store.Tx) (head, error) {
	var h head
	sealed, err := tx.Secret(headSecret)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(sealed) == 0 {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	text, err := s.seal.Open(tx.Workspace(), headSecret, sealed)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(text, &h)
}

// span is which rows a head covers: their first and last id, and how many.
type span struct{ first, last, rows int64 }

func (s span) String() string { return fmt.Sprintf("rows/%d-%d/%d", s.first, s.last, s.rows) }

func parseSpan(object string) (span, error) {
	var s span
	if _, err := fmt.Sscanf(object, "rows/%d-%d/%d", &s.first, &s.last, &s.rows); err != nil || s.String() != object {
		return span{}, fmt.Errorf("%q names no rows", object)
	}
	return s, nil
}

// HeadAll chains the audits of all workspaces. One that fails does not keep the
// others from theirs; the first error is returned.
func (s *Service) HeadAll(ctx context.Context) error {
	workspaces, err := s.store.Directory().Workspaces(ctx)
	if err != nil {
		return fmt.Errorf("list the workspaces: %w", err)
	}
	var first error
	for _, w := range workspaces {
		if _, err := s.Head(ctx, w.ID); err != nil && first == nil {
			first = err
		}
	}
	return first
}
