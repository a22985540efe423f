package journal

import (
	"context"
	"database/sql"

	"github.com/deed-dev/deed/internal/journal/entry"
)

const (
	// aheadBodies is how many bodies are read with one question, and
	// aheadSpan how far apart their pieces may lie: what lies between is read
	// for nothing.
	aheadBodies = 256
	aheadSpan   = 4 * aheadBodies
	// aheadPieces and aheadBytes bound what one question brings into memory,
	// whatever a stranger has put there.
	aheadPieces = 2 * aheadBodies
	aheadBytes  = 16 << 10
)

// pieceRow is a piece as the database has it.
type pieceRow struct {
	packed int64
	data   []byte // nil where it is too big to be read ahead
}

// ahead are small pieces that were read together: of a million messages each
// has a body, and a question for each takes longer than all else.
type ahead struct {
	first, end int64 // the keys that it knows about
	pieces     map[int64]pieceRow
}

// readAhead reads the pieces of some bodies, where these lie close together.
func readAhead(ctx context.Context, db *sql.DB, bodies []boundBody) (*ahead, error) {
	low, high := bodies[0].row.id.Int64, bodies[0].row.id.Int64
	for i := range bodies {
		id := bodies[i].row.id.Int64
		low, high = min(low, id), max(high, id)
	}
	if low < 0 || high > entry.MaxInteger>>pieceShift || high-low > aheadSpan {
		return nil, nil
	}
	a := &ahead{first: low << pieceShift, end: (high + 1) << pieceShift, pieces: make(map[int64]pieceRow, len(bodies))}
	rows, err := db.QueryContext(ctx, `
		SELECT key, packed, CASE WHEN length(data) <= ? THEN data END FROM pieces
		WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`, aheadBytes, a.first, a.end, aheadPieces)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key int64
		var row pieceRow
		var data sql.RawBytes
		if err := rows.Scan(&key, &row.packed, &data); err != nil {
			return nil, err
		}
		if len(data) > 0 {
			row.data = append([]byte(nil), data...)
		}
		a.pieces[key] = row
		if len(a.pieces) == aheadPieces {
			a.end = key + 1 // there may be more behind it
		}
	}
	return a, rows.Err()
}

// piece says whether it is known what stands under a key, and what: nil for
// nothing.
func (a *ahead) piece(key int64) (row *pieceRow, known bool) {
	if a == nil || key < a.first || key >= a.end {
		return nil, false
	}
	there, found := a.pieces[key]
	if !found {
		return nil, true
	}
	return &there, there.data != nil
}
