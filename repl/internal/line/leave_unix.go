//go:build unix

package line

import (
	"errors"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// A LeaveOptions is how a terminal is left for good by a program that goes on.
type LeaveOptions struct {
	Files []*os.File // all that the program has of the terminal

	// Say is called as long as the terminal can be written to: a shell waits there for the
	// program to end, or nobody does.
	Say func(shell bool)

	// Resume has a group of processes, which is about to be stopped, go on once it is not
	// in front of its terminal.
	Resume func(group int) error
}

// Leave leaves the terminal, while nothing is read from it. From here on the files lead
// nowhere, as if it had gone away. A shell that waits there gets its prompt back: the
// program stops, as by Ctrl-Z, until the shell has the terminal. When the shell brings the
// program back to the front, it does that again, since nothing is to be seen of it there.
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
	defer r.terminal.deaf()()
	r.by.drop()
	r.terminal.src.drop() // text typed for this program is nothing for a shell
	l.Say(shell)
	r.terminal.src.left.Store(true)
	if r.terminal.listener != nil {
		r.terminal.listener.quit.wake() // it looks whether the terminal was left
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

// lookEvery is how often a program that has left its terminal to a shell looks whether it
// is in front again: not every shell sends a signal then.
const lookEvery = 500 * time.Millisecond

// leave makes the program give up the foreground of the terminal whenever it gets there from
// now on. If the program is in the foreground now, the caller has to stop it.
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
		look := time.NewTicker(lookEvery)
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
