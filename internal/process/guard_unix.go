//go:build unix

package process

import (
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// guardScript waits for a word from us. When none comes before the end of
// input, we were killed: it asks the group to end, gives it three seconds,
// and kills it. It ignores what a terminal or a tidy-up would send it, for it
// must outlive us. $1 is the group.
const guardScript = `# deed: ends the process group of a server whose recorder was killed
trap '' HUP INT QUIT TERM TSTP PIPE USR1 USR2
read -r word
[ "$word" = farewell ] && exit 0
kill -s TERM -- "-$1" 2>/dev/null || exit 0
kill -s CONT -- "-$1" 2>/dev/null
for second in 1 2 3; do
	sleep 1
	kill -s 0 -- "-$1" 2>/dev/null || exit 0
done
kill -s KILL -- "-$1" 2>/dev/null
`

// guard is the small process that ends a group when this one no longer can.
// Without /bin/sh there is none.
type guard struct {
	ready   sync.WaitGroup // until it was started, off the path of starting
	pipe    *os.File       // nil when there is no guard
	process *os.Process
}

// guardIt starts the guard in the background: the server must not wait for it.
func (t *tree) guardIt(group int) { t.guard.ready.Go(func() { t.guard.start(group) }) }

func (g *guard) start(group int) {
	r, w, err := os.Pipe()
	if err != nil {
		return // no guard is bad luck, no server would be worse
	}
	defer func() { _ = r.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = w.Close()
		return
	}
	defer func() { _ = null.Close() }()
	// It gets these three files and nothing else: were it to inherit the
	// server's pipes, nobody would ever see their end.
	process, err := os.StartProcess("/bin/sh", []string{"sh", "-c", guardScript, "deed-guard", strconv.Itoa(group)}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/bin:/bin"},
		Files: []*os.File{r, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = w.Close()
		return
	}
	g.pipe, g.process = w, process
}

// release lets the guard go, and waits until it has.
func (g *guard) release() error {
	g.ready.Wait()
	if g.process == nil {
		return nil
	}
	_, err := io.WriteString(g.pipe, "farewell\n")
	_ = g.pipe.Close()
	if err != nil {
		// Somebody ended the guard. Then there is nothing to say goodbye to.
		_ = g.process.Kill()
	}
	if _, err := g.process.Wait(); err != nil {
		return err
	}
	return nil
}
