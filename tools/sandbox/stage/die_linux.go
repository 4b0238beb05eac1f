package stage

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieOf ends this process by a signal, in the kernel's way: a handler would be
// called instead.
func dieOf(sig syscall.Signal) {
	setAction(sig, &sigaction{handler: byDefault})
	var set unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil)
	unix.Kill(unix.Getpid(), sig)
	for range 100 { // it may be another thread that takes it
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
