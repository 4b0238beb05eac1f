//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// NoWait prevents open from waiting for the other end of a pipe and from making a terminal the
// controlling terminal. NoFollow also prevents it from following a link.
const (
	NoWait   = syscall.O_NONBLOCK | syscall.O_NOCTTY
	NoFollow = NoWait | syscall.O_NOFOLLOW
)

const careful = NoFollow | syscall.O_CLOEXEC

// LinkCount returns how many names a file has.
func LinkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}
