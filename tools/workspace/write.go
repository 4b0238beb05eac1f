package workspace

import (
	"errors"
	"io/fs"
	"syscall"

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
		why = fullError{why}
	}
	return &fs.PathError{Op: "write", Path: path, Err: why}
}

// A fullError is a cause that means [ErrFull], and says it in words.
type fullError struct{ error }

func (e fullError) Error() string {
	if errors.Is(e.error, syscall.ENOSPC) {
		return ErrFull.Error()
	}
	return ErrFull.Error() + ": " + e.error.Error() // such as a quota
}

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.error }
