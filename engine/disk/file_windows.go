package disk

import (
	"io/fs"
	"os"
)

// rename puts f at path and closes it, which must come first. After an error it
// is open again.
func (f *File) rename(path string) error {
	if err := f.file.Close(); err != nil {
		return err
	}
	err := f.move(path)
	if err != nil {
		if again, oerr := f.reopen(os.O_RDWR | os.O_APPEND); oerr == nil {
			f.file = again
		}
	}
	return err
}

// own does nothing: a file belongs to its creator.
func own(*os.File, fs.FileInfo) {}

// settle does nothing: directories can't be flushed.
func (*File) settle(string) {}

// reopen opens the file by its original name.
func (f *File) reopen(flags int) (*os.File, error) {
	if f.dir != nil {
		return f.dir.OpenFile(f.name, flags, 0)
	}
	return os.OpenFile(f.name, flags, 0)
}
