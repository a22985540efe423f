package journal

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

const (
	// scrubPages is how many pages one transaction cleans.
	scrubPages = 200
	// maxScrubbed is how many pages a database may have to be scrubbed. In a
	// bigger one (128 GiB), a page that continues a long row may begin like
	// one that has an unused part.
	maxScrubbed = 2 << 24

	lockByteAt = 1 << 30 // SQLite never uses the page with this byte
)

// scrub clears the unused parts of pages. SQLite writes zeros over a row that
// is deleted, but when it had moved that row between pages before, the old
// page may still hold a copy of it behind its rows.
func (e *eraser) scrub(ctx context.Context) error {
	layout, err := e.readLayout(ctx)
	if err != nil {
		return databaseError(e.folder, "look at pages", err)
	}
	if layout.pages >= maxScrubbed {
		e.result.Lingering = true
		return nil
	}
	dirty, err := e.findDirty(ctx, layout)
	if err != nil {
		return databaseError(e.folder, "look at pages", err)
	}
	for len(dirty) > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("clear pages: %w", err)
		}
		var some []int64
		some, dirty = cut(dirty, scrubPages)
		began := time.Now()
		err := e.transact("NORMAL", func() error {
			for _, number := range some {
				if err := e.scrubPage(number); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			e.disconnect()
			return databaseError(e.folder, "clear pages", err)
		}
		letOthers(ctx, began)
	}
	return nil
}

// pageLayout says which pages are none of a table or an index.
type pageLayout struct{ pages, size, autoVacuum int64 }

func (e *eraser) readLayout(ctx context.Context) (l pageLayout, err error) {
	for _, one := range []struct {
		name  string
		value *int64
	}{{"page_count", &l.pages}, {"page_size", &l.size}, {"auto_vacuum", &l.autoVacuum}} {
		if err := e.db.QueryRowContext(ctx, "PRAGMA "+one.name).Scan(one.value); err != nil {
			return l, err
		}
	}
	return l, nil
}

// isTable leaves out page 1, which has the schema and nothing of anybody, and
// the pages that say where others belong: they may begin like a table's.
func (l pageLayout) isTable(number int64) bool {
	lockPage := lockByteAt/l.size + 1
	if number == 1 || number == lockPage {
		return false
	}
	if l.autoVacuum == 0 {
		return true
	}
	first := (number-2)/(l.size/5+1)*(l.size/5+1) + 2
	if first == lockPage {
		first++
	}
	return number != first
}

// findDirty reads all pages once, without the lock.
func (e *eraser) findDirty(ctx context.Context, l pageLayout) ([]int64, error) {
	rows, err := e.db.QueryContext(ctx, "SELECT pgno, data FROM sqlite_dbpage")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var dirty []int64
	for rows.Next() {
		var number int64
		var data sql.RawBytes
		if err := rows.Scan(&number, &data); err != nil {
			return nil, err
		}
		if !l.isTable(number) {
			continue
		}
		for _, part := range unusedParts(data) {
			if !isZero(data[part.first:part.last]) {
				dirty = append(dirty, number)
				break
			}
		}
	}
	return dirty, rows.Err()
}

// scrubPage reads a page again, under the lock, and clears it. A page that another
// eraser gave back to the file system meanwhile has nothing any more.
func (e *eraser) scrubPage(number int64) error {
	var data []byte
	err := e.db.QueryRow("SELECT data FROM sqlite_dbpage WHERE pgno = ?", number).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	parts := unusedParts(data)
	for _, part := range parts {
		clear(data[part.first:part.last])
	}
	if len(parts) == 0 {
		return nil
	}
	_, err = e.db.Exec("UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", data, number)
	return err
}

// pagePart is where bytes of a page begin and end.
type pagePart struct{ first, last int64 }

// unusedParts returns where a page of a table or an index has nothing: between
// the list of its rows and the rows, and in the holes that deleted ones left.
// The file format is at https://www.sqlite.org/fileformat2.html#b_tree_pages.
func unusedParts(page []byte) []pagePart {
	if len(page) < 512 {
		return nil
	}
	header := 8
	switch page[0] {
	case 0x0d, 0x0a: // a leaf of a table, of an index
	case 0x05, 0x02: // an inner page of one
		header = 12
	default:
		return nil
	}
	at := func(i int) int { return int(binary.BigEndian.Uint16(page[i:])) }
	rows, content := at(3), at(5)
	if content == 0 {
		content = 65_536
	}
	begin := header + 2*rows
	if begin > content || content > len(page) {
		return nil // no such page
	}
	parts := []pagePart{{int64(begin), int64(content)}}
	for hole := at(1); hole != 0; {
		if hole < content || hole+4 > len(page) {
			return nil
		}
		next, size := at(hole), at(hole+2)
		if size < 4 || hole+size > len(page) || (next != 0 && next < hole+size) {
			return nil
		}
		parts = append(parts, pagePart{int64(hole + 4), int64(hole + size)})
		hole = next
	}
	return parts
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
