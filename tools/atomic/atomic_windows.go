package atomic

import (
	"io/fs"
	"os"
)

// rename puts f at path and closes it, which must come first. After an error it
// is open again.
func rename(f *os.File, path string) error {
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	err := os.Rename(name, path)
	if err != nil {
		if again, oerr := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0); oerr == nil {
			*f = *again
		}
	}
	return err
}

// own does nothing: a file belongs to whoever made it.
func own(*os.File, fs.FileInfo) {}

// settle does nothing: directories can't be flushed.
func settle(string) {}
