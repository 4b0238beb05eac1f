package stage

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dieOf ends this process by a signal. The runtime has handlers for nearly all
// of them that would exit with a code, so the kernel's way is put back first.
func dieOf(sig syscall.Signal) {
	var fallback [4]uintptr // a struct sigaction of zeros: SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&fallback)), 0, 8, 0, 0)
	var set unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil)
	unix.Kill(unix.Getpid(), sig)
	for range 100 { // it may be another thread that takes it
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
