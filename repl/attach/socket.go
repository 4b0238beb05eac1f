package attach

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// suffix ends the names of sockets.
const suffix = ".sock"

// fileOf returns the file name of a session's socket, which is short enough for an address.
func fileOf(id string) string {
	const most = 64
	if len(id) > most {
		sum := sha256.Sum256([]byte(id))
		id = fmt.Sprintf("%s-%x", id[:most-17], sum[:8])
	}
	return id + suffix
}

// A socket is the socket of one session.
type socket struct {
	*net.UnixListener
	id, path string
}

// close removes the socket.
func (s *socket) close() {
	os.Remove(s.path)
	s.UnixListener.Close()
}

// listen makes the socket of a session. It replaces a socket that a killed process has left behind:
// only one process has a session open.
func listen(dir, id string) (*socket, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	s := &socket{id: id, path: filepath.Join(dir, fileOf(id))}
	err := within(dir, fileOf(id), func(name string) error {
		os.Remove(s.path)
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		if err != nil {
			return err
		}
		l.SetUnlinkOnClose(false)
		s.UnixListener = l
		return os.Chmod(s.path, 0o600)
	})
	if err != nil && s.UnixListener != nil {
		s.UnixListener.Close()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Dial connects to a live session. It removes a socket without a listening process.
func Dial(ctx context.Context, dir, id string) (*Conn, error) {
	return dial(ctx, dir, id, greetWithin)
}

// errSilent is the error of a socket that does not answer.
var errSilent = errors.New("it does not answer: it may be stopped, as by Ctrl-Z; fg in its shell has it go on")

func dial(ctx context.Context, dir, id string, patience time.Duration) (*Conn, error) {
	var c *Conn
	err := within(dir, fileOf(id), func(name string) error {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "unix", name)
		if err != nil {
			return err
		}
		c = &Conn{sock: conn.(*net.UnixConn)}
		return nil
	})
	path := filepath.Join(dir, fileOf(id))
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		if info, serr := os.Stat(path); serr == nil &&
			time.Since(info.ModTime()) > time.Second { // otherwise its process may be about to listen
			os.Remove(path)
		}
		return nil, fmt.Errorf("the session %s is not live", id)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("the session %s can't be attached to: it belongs to another user", id)
	case err != nil:
		return nil, err
	}
	if err := c.greet(patience); err != nil {
		c.Close()
		return nil, fmt.Errorf("the session %s can't be attached to: %w", id, err)
	}
	return c, nil
}

// sockets returns the ids of the sockets in a directory.
func sockets(dir string) (ids []string) {
	all, _ := os.ReadDir(dir)
	for _, e := range all {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// longestPath is the longest path of a socket, in bytes, that all systems allow.
const longestPath = 100

// same returns an error unless uid is the user's own.
func same(uid int) error {
	if uid != os.Getuid() {
		return errors.New("it belongs to another user")
	}
	return nil
}
