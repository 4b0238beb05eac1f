package stage

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ends are the signals by which the runtime ends or stops a process without a handler.
var ends = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGSTKFLT, unix.SIGSYS,
	unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}

// ignoreSignals makes the process survive signals: signals to its group are for the
// command, and it ends as the command does. Its children do receive them, since they do not
// inherit a handler. Signals ignored before stay ignored in both.
func ignoreSignals() {
	nobody := make(chan os.Signal, 1)
	for _, sig := range ends {
		if !signal.Ignored(sig) {
			signal.Notify(nobody, sig)
		}
	}
}

// dieOf ends this process by a signal, with the kernel's default action instead of the
// runtime's handler.
func dieOf(sig syscall.Signal) {
	var byDefault [4]uint64 // a struct sigaction, with SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&byDefault)), 0,
		unsafe.Sizeof(byDefault[0]), 0, 0)
	var set unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &set, nil)
	unix.Kill(unix.Getpid(), sig)
	for range 100 { // another thread may take the signal
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
