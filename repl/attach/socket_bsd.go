//go:build darwin || freebsd

package attach

import (
	"errors"
	"net"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// errLong is the error of a path that is too long for a socket.
var errLong = errors.New("the path of the session's folder is too long for a socket on this system")

// within calls use with the path of a file in dir, if it is short enough for a socket.
func within(dir, name string, use func(string) error) error {
	path := filepath.Join(dir, name)
	if len(path) > longestPath {
		return errLong
	}
	return use(path)
}

// sameUser returns an error unless the other end belongs to the same user.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Xucred
	if cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptXucred(int(fd), 0, unix.LOCAL_PEERCRED)
	}); cerr != nil {
		return cerr
	}
	if err != nil {
		return err
	}
	return same(int(cred.Uid))
}
