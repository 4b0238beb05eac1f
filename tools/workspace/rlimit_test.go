//go:build unix && !freebsd && !dragonfly

package workspace

import "syscall"

func setSoft(l *syscall.Rlimit, n uint64) { l.Cur = n }
