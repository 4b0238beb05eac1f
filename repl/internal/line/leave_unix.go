//go:build unix

package line

import (
	"errors"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// A LeaveOptions says how to detach the terminal of a program that continues.
type LeaveOptions struct {
	Files []*os.File // all files of the terminal that the program has open

	// Say prints a notice while the terminal can still be written to. Shell says whether a shell
	// waits there for the program to end.
	Say func(shell bool)

	// Resume makes a process group, which is about to be stopped, continue when it is no longer in
	// the foreground of its terminal.
	Resume func(group int) error
}

// Leave detaches the terminal, while nothing reads it. From then on its files lead nowhere, as if
// the terminal had gone away. If a shell waits for the program, the program stops, as by Ctrl-Z,
// until the shell has the terminal. When the shell brings the program back to the foreground, the
// program does the same again, since it has no output there.
func (r *Reader) Leave(l LeaveOptions) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	shell := r.terminal.jobs != nil && stoppable() && !signal.Ignored(unix.SIGTSTP)
	front := false
	if shell {
		if front, err = r.terminal.jobs.leave(l.Resume); err != nil {
			return err
		}
	}
	defer r.terminal.pauseListener()()
	r.by.drop()
	r.terminal.src.drop() // the shell must not read text that was typed for this program
	l.Say(shell)
	r.terminal.src.left.Store(true)
	if r.terminal.listener != nil {
		r.terminal.listener.quit.wake() // so that it sees that the terminal is detached
	}
	r.terminal.src.restore()
	if front {
		r.terminal.jobs.stop()
	}
	if !shell {
		unix.IoctlSetInt(int(r.terminal.src.file.Fd()), unix.TIOCNOTTY, 0)
	}
	for _, f := range l.Files {
		err = errors.Join(err, unix.Dup2(int(null.Fd()), int(f.Fd())))
	}
	if r.terminal.src.own {
		err = errors.Join(err, unix.Dup2(int(null.Fd()), r.terminal.src.in))
	}
	return err
}

// pollInterval is the interval at which a program without its terminal checks whether it is in the
// foreground again: not every shell sends a signal then.
const pollInterval = 500 * time.Millisecond

// leave makes the program give up the foreground whenever it gets there from now on. If it is in
// the foreground now, the caller must stop it.
func (j *jobs) leave(resume func(group int) error) (front bool, err error) {
	tty, err := unix.FcntlInt(j.modes.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	if group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP); err == nil && group == unix.Getpgrp() {
		if err := resume(group); err != nil {
			unix.Close(tty)
			return false, err
		}
		front = true
	}
	j.left.Store(true)
	j.done.Go(func() {
		defer unix.Close(tty)
		look := time.NewTicker(pollInterval)
		defer look.Stop()
		for {
			select {
			case <-look.C:
			case <-j.quit:
				return
			}
			group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
			if err != nil {
				return // the terminal is gone
			}
			if group == unix.Getpgrp() && resume(group) == nil {
				j.stop()
			}
		}
	})
	return front, nil
}
