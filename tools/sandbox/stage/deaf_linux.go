package stage

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// ends are the signals at which the runtime ends a process or stops it, unless
// somebody asks for them.
var ends = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGABRT, unix.SIGTERM, unix.SIGSTKFLT, unix.SIGSYS,
	unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU}

// deaf makes the process go on whatever it is told: what ends its group is for
// the command, and it ends as the command does. The programs it starts hear
// what it does not, since they do not inherit a handler. What was ignored stays
// so, here and there.
func deaf() {
	nobody := make(chan os.Signal, 1)
	for _, sig := range ends {
		if !signal.Ignored(sig) {
			signal.Notify(nobody, sig)
		}
	}
}
