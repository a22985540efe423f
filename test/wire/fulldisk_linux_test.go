package wiretest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// tinyDisk mounts a file system of so many KiB.
func tinyDisk(t *testing.T, kib string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("deed-test", dir, "tmpfs", 0, "size="+kib+"k"); err != nil {
		t.Skipf("SKIPPED: a full disk needs a mount, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount the tiny disk: %v", err)
		}
	})
	return dir
}

// fill leaves no room on a disk.
func fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for {
		if _, err := file.Write(make([]byte, 4096)); errors.Is(err, syscall.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAHomeOnAFullDiskLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	dir := tinyDisk(t, "64")
	fill(t, dir)
	tr := sameAsDirect(t, throughDeed(filepath.Join(dir, "home")), session())
	mustTellOnce(t, tr.own, `space|full|record|journal`)
}

// The disk fills up while the session runs: what was recorded before stays
// intact, and the rest is told.
func TestADiskThatFillsUpDuringASessionLeavesTheWireAlone(t *testing.T) {
	t.Parallel()
	home := filepath.Join(tinyDisk(t, "1024"), "home")
	sc := session()
	for len(sc.toServer) < 2<<20 {
		sc.toServer = append(sc.toServer, sc.toServer...)
		sc.toClient = append(sc.toClient, sc.toClient...)
	}
	tr := sameAsDirect(t, throughDeed(home), sc)
	// The trouble is told when it comes, and at the end what it cost.
	if len(tr.own) < 1 || len(tr.own) > 2 {
		t.Errorf("the program said %d lines, want the trouble and perhaps what it cost: %q", len(tr.own), tr.own)
	}
	for _, line := range tr.own {
		mustTellOnce(t, []string{line}, `space|full|record|journal`)
	}
	if got := deed(t, home, "verify"); got.code != 0 {
		t.Errorf("deed verify: exit code %d after the disk was full\n%s%s", got.code, got.stdout, got.stderr)
	}
}
