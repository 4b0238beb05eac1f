package workspace

import (
	"errors"
	"io/fs"

	"gemline/engine/disk"
)

// writing adds path to err, if it is not nil, and [disk.ErrFull] for a full disk.
func writing(err error, path string) error {
	if outside := (*OutsideError)(nil); err == nil || errors.As(err, &outside) {
		return err
	}
	return &fs.PathError{Op: "write", Path: path, Err: disk.AsFull(disk.Cause(err))}
}
