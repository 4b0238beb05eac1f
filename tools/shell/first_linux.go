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

// RunAsInit acts as the first process of a container: it runs this program again with args
// and streams, forwards signals to it, reaps orphans, and returns the exit code. It reports
// false at once if this is not the first process, or if no second process can be started.
//
// There are two processes, because the first process must reap all processes, while a
// program that starts commands must wait for its own.
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
		// In the foreground, so that Ctrl-C and the like reach it once, not twice.
		if cmd = second(&syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: tty}); cmd.Start() != nil {
			cmd = second(nil) // another process has the terminal
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
	return reap(cmd.Process.Pid), true
}

// passedOn returns the signals that RunAsInit forwards: all that can be caught, except
// signals about its own children, its own faults or the runtime.
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

// reap waits for all processes until pid has ended, and returns its exit code, 128+n for
// signal n. It continues stopped processes, as no shell would.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && got != pid:
		case err != nil:
			return 1 // its status is lost
		case status.Stopped():
			syscall.Kill(pid, syscall.SIGCONT)
		case status.Signaled():
			return 128 + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}
