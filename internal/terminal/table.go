package terminal

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Column is how one column of a [Table] stands.
type Column struct {
	Title string
	Right bool // numbers end below each other
	Max   int  // terminal columns; longer text is cut with an ellipsis; 0 for no limit
}

// Cell is one field of a table. Its text may come from the wire.
type Cell struct {
	Text  string
	Paint func(string) string // nil leaves it as it is
}

// Text is a cell without colour.
func Text(text string) Cell { return Cell{Text: text} }

// Table lines cells up by the columns that a terminal gives their characters,
// so that wide letters do not push the rest aside. It cleans every cell.
type Table struct {
	Columns []Column
	Indent  int
	Heading func(string) string // paints the titles; nil leaves them plain
	rows    [][]Cell
}

// Add appends a row. Cells beyond the columns are dropped.
func (t *Table) Add(cells ...Cell) {
	row := make([]Cell, len(t.Columns))
	for i := range row {
		if i < len(cells) {
			row[i] = Cell{Text: Cut(cells[i].Text, t.Columns[i].Max), Paint: cells[i].Paint}
		}
	}
	t.rows = append(t.rows, row)
}

// Drop takes a column out again, where it turned out to say nothing.
func (t *Table) Drop(column int) {
	t.Columns = slices.Delete(slices.Clone(t.Columns), column, column+1)
	for i, row := range t.rows {
		t.rows[i] = slices.Delete(row, column, column+1)
	}
}

// String is the table, each row ended by a newline. A table whose columns
// have no titles has no heading, and a column in which nothing stands takes
// no room.
func (t *Table) String() string {
	titles, titled := make([]Cell, len(t.Columns)), false
	widths := make([]int, len(t.Columns))
	for i, column := range t.Columns {
		titles[i] = Cell{Text: column.Title, Paint: t.Heading}
		titled = titled || column.Title != ""
		widths[i] = Width(column.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Width(row[i].Text))
		}
	}
	var b strings.Builder
	if titled {
		t.write(&b, titles, widths)
	}
	for _, row := range t.rows {
		t.write(&b, row, widths)
	}
	return b.String()
}

// write pads before it paints: colour codes have no width. Blanks are held
// back until something follows them, so that no line ends in one.
func (t *Table) write(b *strings.Builder, row []Cell, widths []int) {
	pending := t.Indent
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		space := widths[i] - Width(cell.Text)
		if t.Columns[i].Right {
			pending, space = pending+space, 0
		}
		if cell.Text != "" {
			b.WriteString(strings.Repeat(" ", pending))
			if cell.Paint != nil {
				b.WriteString(cell.Paint(cell.Text))
			} else {
				b.WriteString(cell.Text)
			}
			pending = 0
		}
		pending += space + 2
	}
	b.WriteByte('\n')
}

// Width is how many columns a terminal gives to clean text.
func Width(text string) int { return displaywidth.String(text) }

// Cut cleans text and shortens it to at most limit columns, the last of which
// is then an ellipsis. A limit of 0 only cleans.
func Cut(text string, limit int) string {
	text = Clean(text)
	if limit <= 0 || Width(text) <= limit {
		return text
	}
	return displaywidth.TruncateString(text, limit, "…")
}
