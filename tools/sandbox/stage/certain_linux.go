package stage

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Certain reports whether Landlock and the filter of system calls can be put on
// here, whatever becomes of the other layers. It asks the kernel, starts nothing
// and changes nothing. If it reports false, only trying tells.
func Certain() bool {
	if _, err := os.Stat("/proc/self/exe"); err != nil || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return false
	}
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || abi < oldest {
		return false
	}
	// No filter is where this points to, which is found out where there could be one.
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0)
	return errors.Is(err, unix.EFAULT)
}
