//go:build unix

package wiretest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// longLine is one JSON-RPC line of exactly so many bytes, its newline
// included. It is long where lines are: in a text.
func longLine(size int) []byte {
	head, tail := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`, `"}]}}`+"\n"
	return []byte(head + strings.Repeat("x", size-len(head)-len(tail)) + tail)
}

func TestALineMayHaveAnyLength(t *testing.T) {
	t.Parallel()
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 128 << 10, 1 << 20, 10<<20 + 1, 12 << 20, 17 << 20, 64 << 20} {
		t.Run(sizeName(size), func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			line := longLine(size)
			sameAsDirect(t, throughDeed(home), scene{toServer: line, toClient: line})
			mustVerify(t, home)
		})
	}
}

func sizeName(size int) string {
	switch {
	case size%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", size>>20)
	case size%(64<<10) == 0:
		return fmt.Sprintf("%d KiB", size>>10)
	}
	return fmt.Sprintf("%d bytes", size)
}

// A line that never ends must not be held in memory by anyone.
func TestALineOfAGigabyteWithoutANewlineTakesLittleMemory(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skipf("SKIPPED: peak memory is read from /proc, which this system does not have: %v", err)
	}
	mebibytes := number(t, "DEED_LONG_LINE_MIB", 256)
	s := open(t, throughDeed(newHome(t)), setup{})
	piece := bytes.Repeat([]byte("x"), 1<<20)

	var wrote int64
	writing := s.server.start("Write", Chunk{To: 1, Data: piece, Repeat: mebibytes}, &wrote)
	got, err := s.client.take(int64(mebibytes) << 20)
	if err != nil {
		t.Fatalf("the client read %d bytes: %v", got.Size, err)
	}
	writing.must()

	var at Got
	reading := s.server.start("Read", int64(mebibytes)<<20, &at)
	for range mebibytes {
		s.client.write(piece)
	}
	reading.must()
	if at.Sum != got.Sum {
		t.Errorf("both sides wrote the same %d MiB, and got different bytes", mebibytes)
	}

	peak := peakKiB(t, s.client.cmd.Process.Pid)
	t.Logf("peak memory while %d MiB without a newline passed each way: %d MiB", mebibytes, peak>>10)
	if peak > 100<<10 {
		t.Errorf("peak memory is %d MiB, must stay below 100 MiB", peak>>10)
	}
	s.client.closeInput()
	s.server.mustSeeEnd()
	s.server.exit(0)
	s.client.mustSeeEnd()
	s.client.mustExit(0, patience)
}

// peakKiB is the highest resident size that a process has had.
func peakKiB(t tb, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatalf("read a process's status: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatalf("understand %q: %v", line, err)
			}
			return kib
		}
	}
	t.Fatalf("no VmHWM in %q", status)
	return 0
}
