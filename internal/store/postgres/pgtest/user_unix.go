//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// postgresUser is who runs the server where this process is root, which
// PostgreSQL refuses to be run by.
func postgresUser() (uid, gid int, err error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, &missingError{"there is no user postgres to run the server"}
	}
	uid, err = strconv.Atoi(u.Uid)
	if err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	return uid, gid, err
}

// own gives the folder to the user that runs the server.
func own(folder string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := postgresUser()
	if err != nil {
		return err
	}
	if err := os.Chown(folder, uid, gid); err != nil {
		return fmt.Errorf("give a folder to the user postgres: %w", err)
	}
	return nil
}

// apart keeps the keyboard's signals from a command, and makes it run by that user.
func apart(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() != 0 {
		return
	}
	if uid, gid, err := postgresUser(); err == nil {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
}
