package shell

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// RunAsInit does the work of the first process of a container: it runs
// this very program once more with args and streams, passes signals on to it, buries the
// orphans that are left to it, and returns the code to exit with. It reports
// false at once if this is not the first process, or there can be no second.
//
// Two processes, because the first one must wait for every process there is,
// and a program that starts others must wait for its own.
func RunAsInit(args []string, streams [3]*os.File) (code int, ok bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	second := func(how *syscall.SysProcAttr) *exec.Cmd {
		cmd := exec.Command(self, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = streams[0], streams[1], streams[2], how
		return cmd
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedOn()...)
	cmd := second(nil)
	if tty := int(streams[0].Fd()); term.IsTerminal(tty) {
		// In front, so that Ctrl-C and the like reach it once and not twice.
		if cmd = second(&syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: tty}); cmd.Start() != nil {
			cmd = second(nil) // the terminal is another's
		}
	}
	if cmd.Process == nil && cmd.Start() != nil {
		signal.Stop(signals)
		return 0, false
	}
	go func() {
		for sig := range signals {
			cmd.Process.Signal(sig)
		}
	}()
	return bury(cmd.Process.Pid), true
}

// passedOn returns the signals that RunAsInit passes on: all that can be caught
// and are not about its own children, its own faults or the runtime.
func passedOn() []os.Signal {
	var all []os.Signal
	for _, s := range []syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH, unix.SIGCONT} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// bury waits for all processes until the one called pid is over, and returns
// its exit code, 128+n if signal n has ended it. A stopped process is continued, since
// nobody else would do so.
func bury(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && got != pid:
		case err != nil:
			return 1 // it is gone without a trace
		case status.Stopped():
			syscall.Kill(pid, syscall.SIGCONT)
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}
