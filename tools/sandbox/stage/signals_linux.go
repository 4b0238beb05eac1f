package stage

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ends are the signals at which the runtime ends a process or stops it, unless
// somebody asks for them.
var ends = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGSTKFLT, unix.SIGSYS,
	unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}

// ignoreSignals makes the process go on whatever it is told: what ends its group is for
// the command, and it ends as the command does. The programs it starts hear
// what it does not, since they do not inherit a handler. What was ignored stays
// so, here and there.
func ignoreSignals() {
	nobody := make(chan os.Signal, 1)
	for _, sig := range ends {
		if !signal.Ignored(sig) {
			signal.Notify(nobody, sig)
		}
	}
}

// dieOf ends this process by a signal, in the kernel's way: the runtime's
// handler would be called instead.
func dieOf(sig syscall.Signal) {
	var byDefault [4]uint64 // a struct sigaction, with SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&byDefault)), 0,
		unsafe.Sizeof(byDefault[0]), 0, 0)
	var set unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil)
	unix.Kill(unix.Getpid(), sig)
	for range 100 { // it may be another thread that takes it
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
