package disk

import (
	"io/fs"
	"syscall"
	"time"
)

// A stat describes a file, at a lower cost than os.File.Stat.
type stat struct {
	name string
	st   syscall.Stat_t
}

func (s *stat) Name() string       { return s.name }
func (s *stat) Size() int64        { return s.st.Size }
func (s *stat) ModTime() time.Time { return time.Unix(s.st.Mtim.Unix()) }
func (s *stat) IsDir() bool        { return s.Mode().IsDir() }
func (s *stat) Sys() any           { return &s.st }

func (s *stat) Mode() fs.FileMode { return modeOf(s.st.Mode) }
