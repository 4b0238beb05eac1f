//go:build unix

package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// rename puts f at path and closes it. After an error it is still open.
func (f *File) rename(path string) error {
	if err := f.move(path); err != nil {
		return err
	}
	f.file.Close() // no error matters, since the file is flushed
	return nil
}

// own changes the owner of f to the owner of the file that info describes, if possible.
func own(f *os.File, info fs.FileInfo) {
	was, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if is, err := f.Stat(); err == nil {
		if now, ok := is.Sys().(*syscall.Stat_t); ok && (now.Uid != was.Uid || now.Gid != was.Gid) {
			f.Chown(int(was.Uid), int(was.Gid)) // only root may
		}
	}
}

// settle flushes the rename to path to the disk.
func (f *File) settle(path string) {
	open, dir := os.Open, filepath.Dir(path)
	if f.dir != nil {
		open, dir = f.dir.Open, "."
	}
	if d, err := open(dir); err == nil {
		d.Sync() // some file systems can't
		d.Close()
	}
}
