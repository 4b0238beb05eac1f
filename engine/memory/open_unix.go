//go:build unix

package memory

import (
	"errors"
	"os"
	"syscall"
)

// careful keeps an open from waiting for the other end of a pipe.
const careful = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW

func noDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// own gives f to the owner of the file that info describes, where that is
// possible.
func own(f *os.File, info os.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(st.Uid), int(st.Gid)) // only root can give it away
	}
}

// settle makes a rename in dir last.
func settle(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync() // some file systems can't
		d.Close()
	}
}
