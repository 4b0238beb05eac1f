package workspace

import (
	"errors"
	"io/fs"

	"gemline/engine/disk"
)

// writing makes err, if there is one, speak of path and name a full disk by
// [disk.ErrFull].
func writing(err error, path string) error {
	if outside := (*OutsideError)(nil); err == nil || errors.As(err, &outside) {
		return err
	}
	return &fs.PathError{Op: "write", Path: path, Err: disk.AsFull(disk.Cause(err))}
}
