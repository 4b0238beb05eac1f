package disk

import (
	"errors"
	"syscall"
)

// ErrFull is the error of a write to a full disk.
var ErrFull = errors.New("the disk is full")

// AsFull returns an error that wraps [ErrFull], with its text for users, if err means that the
// disk is full; else err.
func AsFull(err error) error {
	if err == nil || !full(err) {
		return err
	}
	return fullError{Cause(err)}
}

// A fullError is an error that means [ErrFull].
type fullError struct{ error }

func (e fullError) Error() string {
	if errors.Is(e.error, syscall.ENOSPC) {
		return ErrFull.Error()
	}
	return ErrFull.Error() + ": " + e.error.Error() // such as a quota
}

func (e fullError) Is(target error) bool { return target == ErrFull }

func (e fullError) Unwrap() error { return e.error }
