//go:build !linux

package disk

import "errors"

// exchange is not to be had here in one step.
func exchange(a, b string) error { return errors.ErrUnsupported }
