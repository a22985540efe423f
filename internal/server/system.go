package server

import (
	"net"
	"os"
	"strings"
)

// notifySystem tells systemd how far the server is, if it asked to be told
// (Type=notify; sd_notify(3)). Nobody needs to know if that fails.
func notifySystem(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if strings.HasPrefix(path, "@") { // an abstract socket
		path = "\x00" + path[1:]
	}
	socket, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer socket.Close()
	_, _ = socket.Write([]byte(state))
}
