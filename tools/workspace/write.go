package workspace

import (
	"errors"
	"fmt"
	"io/fs"

	"gemline/engine/disk"
)

// Write makes text, in the format f, the content of the file at path: the
// file that a symbolic link leads to, if it is one. Parents are made as
// needed, and the mode of an existing file is kept. The file changes at once
// or, when there is an error, not at all.
//
// Its errors are those of [Format.Encode] and of [io/fs], an [*OutsideError],
// [ErrDirectory], [ErrIrregular] or [ErrFull].
func (w *Workspace) Write(path, text string, f Format) error {
	b, err := f.Encode(text)
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	err = w.at(path, func(p Place) error { return p.put(b) })
	return writing(err, path)
}

// writing makes err, if there is one, speak of path and name a full disk by
// [ErrFull].
func writing(err error, path string) error {
	if outside := (*OutsideError)(nil); err == nil || errors.As(err, &outside) {
		return err
	}
	why := disk.Cause(err)
	if full(why) {
		why = fmt.Errorf("%w (%w)", ErrFull, why)
	}
	return &fs.PathError{Op: "write", Path: path, Err: why}
}
