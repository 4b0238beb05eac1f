package stage

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// nothing is the address of a handler of signals that does nothing.
var nothing uintptr

// A sigaction is what the kernel knows of a signal.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// Handlers that are none.
const (
	byDefault = 0 // SIG_DFL
	ignored   = 1 // SIG_IGN
)

// What the runtime does at a signal is in the documentation of os/signal: at
// these it ends, or leaves them to the kernel. At others it does nothing, but
// for those that tell of faults of its own.
var (
	fatal  = []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGSTKFLT, unix.SIGSYS}
	kernel = []unix.Signal{unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, 34}
)

// deaf makes the process go on whatever it is told: what ends its group is for
// the command, and it ends as the command does. The programs it starts hear
// what it does not, since they do not inherit a handler. What was ignored stays
// so, here and there.
//
// signal.Notify would do, but it takes each signal from thread to thread, most
// of a millisecond in all.
func deaf() {
	var ours sigaction // how the runtime takes signals, but with our handler
	for _, sig := range fatal {
		if action := setAction(sig, nil); action.handler != byDefault && action.handler != ignored {
			action.handler = nothing
			setAction(sig, &action)
			ours = action
		}
	}
	for _, sig := range kernel {
		if ours.handler == nothing && setAction(sig, nil).handler == byDefault {
			setAction(sig, &ours)
		}
	}
}

// setAction sets what happens at a signal, unless to is nil, and returns what
// happened until now. There is nothing to do about an error: SIGKILL and
// SIGSTOP can't be set.
func setAction(sig unix.Signal, to *sigaction) (was sigaction) {
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(&was)), unsafe.Sizeof(was.mask), 0, 0)
	return was
}
