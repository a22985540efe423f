package terminal

import (
	"os"

	"golang.org/x/term"
)

// Style says whether text may carry colour. The zero value prints none.
type Style struct{ colour bool }

// StyleFor colours only what a terminal shows, and never where NO_COLOR is
// set or the terminal says it is dumb (https://no-color.org).
func StyleFor(f *os.File) Style {
	isTerminal := term.IsTerminal(int(f.Fd())) && showsEscapes(f)
	return Style{colour: wantsColour(isTerminal, os.Getenv)}
}

// wantsColour takes NO_COLOR at its word: any value but the empty one.
func wantsColour(isTerminal bool, getenv func(string) string) bool {
	return isTerminal && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// Colourful is a style that always colours, for whoever decided already.
func Colourful() Style { return Style{colour: true} }

// Bad is for what failed.
func (s Style) Bad(text string) string { return s.wrap("\x1b[31m", text) }

// Good is for what was found right.
func (s Style) Good(text string) string { return s.wrap("\x1b[32m", text) }

// Warn is for what is missing or unsure.
func (s Style) Warn(text string) string { return s.wrap("\x1b[33m", text) }

// Strong is for headings.
func (s Style) Strong(text string) string { return s.wrap("\x1b[1m", text) }

// Faint is for what is there for completeness.
func (s Style) Faint(text string) string { return s.wrap("\x1b[2m", text) }

func (s Style) wrap(on, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return on + text + "\x1b[0m"
}
