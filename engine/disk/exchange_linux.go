package disk

import "golang.org/x/sys/unix"

// exchange has each of two files or directories be where the other one is, in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
