//go:build unix

package outbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/deed-dev/deed/internal/journal"
)

// lockFor holds the journal's lock for a while, as a recorder does whose disk is slow.
func lockFor(t *testing.T, home string, span time.Duration) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(home, "journal.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(span, func() { _ = file.Close() }) // which gives the lock back
}

// What the server has must not be sent once more, nor be told to have failed, because the
// journal was long in use.
func TestAJournalThatIsLongInUseMakesNoDrainFail(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(o *office, d *Drain, hold func()){
		"when a letter was taken": func(o *office, _ *Drain, hold func()) {
			o.answer = func(int, string) Result { hold(); return Result{Declared: true, Status: 201, Recorded: "new"} }
		},
		"when all is done": func(_ *office, d *Drain, hold func()) { d.Tell = func(journal.Letter, Result) { hold() } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.write(letter{action: "a", failed: true})
			done := o.drain(func(d *Drain) {
				d.Timeout, d.Early = 10*time.Millisecond, true
				when(o, d, func() { lockFor(t, o.home, 1500*time.Millisecond) })
			})
			if done.Declared != 1 {
				t.Errorf("done %+v", done)
			}
			equal(t, "left", o.left(), []string{})
		})
	}
}
