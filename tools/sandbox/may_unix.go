//go:build unix

package sandbox

import "golang.org/x/sys/unix"

// mayWrite reports whether the system would let this process write at path.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// mayRead reports whether the system would let this process read path.
func mayRead(path string) bool { return unix.Access(path, unix.R_OK) == nil }
