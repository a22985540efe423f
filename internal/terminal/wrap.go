package terminal

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Wrap cleans text and breaks it into lines of at most limit columns. It
// breaks where the limit is and not between words: what is wrapped is JSON and
// other text whose blanks mean something. Empty text has no lines.
func Wrap(text string, limit int) []string {
	text = Clean(text)
	var lines []string
	for text != "" {
		line := displaywidth.TruncateString(text, limit, "")
		if line == "" { // a limit below one wide letter must not go on for ever
			line = text
		}
		lines = append(lines, line)
		text = text[len(line):]
	}
	return lines
}

// Pad cleans text, cuts it to width columns and fills it up with blanks: on
// its right, or on its left for numbers. It is for lines that are printed
// before their neighbours are known; where they are, a [Table] does better.
func Pad(text string, width int, right bool) string {
	text = Cut(text, width)
	space := strings.Repeat(" ", max(0, width-Width(text)))
	if right {
		return space + text
	}
	return text + space
}

// Around cleans text and returns the part of it around a place, at most limit
// columns of it, with an ellipsis where something was left out. The place is
// given in bytes of the text as it came.
func Around(text string, place, length, limit int) string {
	place = min(max(place, 0), len(text))
	end := min(place+max(length, 0), len(text))
	before, hit, after := Clean(text[:place]), Clean(text[place:end]), Clean(text[end:])
	room := limit - Width(hit)
	if room <= 2 {
		return Cut(hit, limit)
	}
	left := min(Width(before), max(room/3, room-Width(after)))
	before = lastColumns(before, left)
	return before + hit + Cut(after, max(1, limit-Width(before)-Width(hit)))
}

// lastColumns keeps the end of clean text.
func lastColumns(text string, limit int) string {
	if Width(text) <= limit {
		return text
	}
	graphemes := displaywidth.StringGraphemes(text)
	var ends []int // of each grapheme, in bytes
	var widths []int
	for at := 0; graphemes.Next(); {
		at += len(graphemes.Value())
		ends, widths = append(ends, at), append(widths, graphemes.Width())
	}
	used, from := 1, len(text) // the ellipsis takes one column
	for i := len(ends) - 1; i > 0 && used+widths[i] <= limit; i-- {
		used += widths[i]
		from = ends[i-1]
	}
	return "…" + text[from:]
}
