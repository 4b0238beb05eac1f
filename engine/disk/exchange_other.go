//go:build !linux

package disk

import "errors"

// exchange is not supported here.
func exchange(a, b string) error { return errors.ErrUnsupported }
