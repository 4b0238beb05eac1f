package disk

import (
	"io/fs"
	"syscall"
)

// identify adds the device, the number and the last change of the file.
func (l *Stat) identify(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		l.Dev, l.Ino, l.Changed = uint64(st.Dev), st.Ino, st.Ctim.Nano()
	}
}
