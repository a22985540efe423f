package wiretest

import (
	"fmt"
	"syscall"
)

// freeAddress is an address that stays free for an API that goes away and comes back. A
// socket that is bound and does not listen keeps it from everybody who asks for any free
// port, and lets whoever asks for this one have it, again and again.
func freeAddress(t tb) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("reserve an address: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatalf("reserve an address: %v", err)
	}
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatalf("reserve an address: %v", err)
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatalf("reserve an address: %v", err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}
