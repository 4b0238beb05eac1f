package disk

import (
	"io/fs"
	"syscall"
	"time"
)

// A stat describes a file, without what it costs to have os do that by an open
// one.
type stat struct {
	name string
	st   syscall.Stat_t
}

func (s *stat) Name() string       { return s.name }
func (s *stat) Size() int64        { return s.st.Size }
func (s *stat) ModTime() time.Time { return time.Unix(s.st.Mtim.Unix()) }
func (s *stat) IsDir() bool        { return s.Mode().IsDir() }
func (s *stat) Sys() any           { return &s.st }

func (s *stat) Mode() fs.FileMode {
	mode := fs.FileMode(s.st.Mode & 0o777)
	switch s.st.Mode & syscall.S_IFMT {
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
	if s.st.Mode&syscall.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if s.st.Mode&syscall.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if s.st.Mode&syscall.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
