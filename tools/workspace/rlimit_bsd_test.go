//go:build freebsd || dragonfly

package workspace

import "syscall"

func setSoft(l *syscall.Rlimit, n uint64) { l.Cur = int64(n) }
