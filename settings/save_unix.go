//go:build unix

package settings

import (
	"os"
	"syscall"
)

// keepOwner gives f to the owner of the file that it replaces, as far as the
// user may: a file that the administrator changes stays the user's.
func keepOwner(f *os.File, was os.FileInfo) {
	if st, ok := was.Sys().(*syscall.Stat_t); ok && (int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid()) {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}
