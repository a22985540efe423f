package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestARealDiskThatIsFullLosesNothing(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			t.Skip("NOT RUN: only root can mount a small disk; the same is tried with SQLite's own limit")
		}
		t.Fatal(err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	home := filepath.Join(disk, "home")
	full := make(chan error, 1)
	j := openJournal(t, home, Options{OnTrouble: func(err error) {
		select {
		case full <- err:
		default: // it may recover by a few pages and fail again
		}
	}})
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	for range 2_000 {
		r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, &entry.Detail{Note: strings.Repeat("n", 200)})
	}
	select {
	case err := <-full:
		t.Logf("told: %v", err)
	case <-testContext(t).Done():
		t.Fatal("a full disk was not told")
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("a full disk leaves findings: %+v", report.Findings)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	r.end(0)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 2_002 {
		t.Errorf("report is %+v", report)
	}
}
