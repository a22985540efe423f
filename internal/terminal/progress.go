package terminal

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Progress tells on a terminal how far long work has come, in one line that
// is written over itself. In a pipe it stays quiet. The zero value is quiet.
type Progress struct {
	to     io.Writer // nil where nobody watches
	now    func() time.Time
	last   time.Time
	showed bool
}

// progressPause keeps short work from flickering and long work from being
// slowed by its own telling.
const progressPause = 200 * time.Millisecond

// ProgressOn tells progress on f if that is a terminal.
func ProgressOn(f *os.File, clock Clock) *Progress {
	if !term.IsTerminal(int(f.Fd())) || !showsEscapes(f) {
		return &Progress{}
	}
	return newProgress(f, clock)
}

func newProgress(to io.Writer, clock Clock) *Progress {
	return &Progress{to: to, now: clock.Now, last: clock.Now()}
}

// Tell says how much of what is done; a total of 0 is one that is not known.
func (p *Progress) Tell(what string, done, total int64) {
	if p.to == nil || p.now().Sub(p.last) < progressPause {
		return
	}
	p.last, p.showed = p.now(), true
	text := what + " " + Count(done)
	if total > 0 {
		text += " of " + Count(total)
	}
	_, _ = io.WriteString(p.to, "\r\x1b[K"+text) // a lost line of progress is no loss
}

// Clear takes the line away again.
func (p *Progress) Clear() {
	if p.showed {
		_, _ = io.WriteString(p.to, "\r\x1b[K")
		p.showed = false
	}
}
