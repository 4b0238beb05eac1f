package stage

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dieOf ends this process by a signal, in the kernel's way: the runtime's
// handler would be called instead.
func dieOf(sig syscall.Signal) {
	var byDefault [4]uint64 // a struct sigaction, with SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&byDefault)), 0, unsafe.Sizeof(byDefault[0]), 0, 0)
	var set unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil)
	unix.Kill(unix.Getpid(), sig)
	for range 100 { // it may be another thread that takes it
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
