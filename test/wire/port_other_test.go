//go:build unix && !linux

package wiretest

import (
	"net"
)

// freeAddress is an address that was free a moment ago.
func freeAddress(t tb) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("reserve an address: %v", err)
	}
	defer free.Close()
	return free.Addr().String()
}
