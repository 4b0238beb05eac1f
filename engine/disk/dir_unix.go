//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// careful keeps an open from waiting, from taking a terminal and from
// following a link.
const careful = syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_NOFOLLOW | syscall.O_CLOEXEC

// links returns how many names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
