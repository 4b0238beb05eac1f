package workspace

import (
	"errors"
	"fmt"
	"io/fs"

	"gemline/engine/disk"
)

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
