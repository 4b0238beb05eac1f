package disk

import (
	"io/fs"
	"syscall"
)

// modeOf returns the mode that the system says in bits.
func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	switch bits & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		mode |= fs.ModeSymlink
	case syscall.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		mode |= fs.ModeSocket
	case syscall.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	default:
		mode |= fs.ModeDevice
	}
	if bits&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
