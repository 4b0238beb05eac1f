package disk

import (
	"errors"
	"syscall"
)

// ErrFull says that there is no room left for a file.
var ErrFull = errors.New("the disk is full")

// AsFull returns an error that means [ErrFull], and says it in the words that users read, if
// err says that there is no room left; else err.
func AsFull(err error) error {
	if err == nil || !full(err) {
		return err
	}
	return fullError{Cause(err)}
}

// A fullError is the cause of an error that means [ErrFull].
type fullError struct{ error }

func (e fullError) Error() string {
	if errors.Is(e.error, syscall.ENOSPC) {
		return ErrFull.Error()
	}
	return ErrFull.Error() + ": " + e.error.Error() // such as a quota
}

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.error }
