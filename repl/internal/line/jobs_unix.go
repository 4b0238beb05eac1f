//go:build unix

package line

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// jobs handles the stop and the continuation of a program at a terminal, as by Ctrl-Z. To restore
// the terminal first, jobs catches the stop signal. A caught signal does not stop the program, so
// jobs stops it.
type jobs struct {
	modes        *modes
	stops, conts chan os.Signal
	waiting      atomic.Bool   // a goroutine waits for the continuation
	resumed      chan struct{} // signals the continuation to that goroutine
	left         atomic.Bool   // the terminal was left to a shell
	quit         chan struct{}
	done         sync.WaitGroup
}

// newJobs starts the handling of stops. Stop lets another goroutine prepare and carry out the stop;
// it returns false if none does. Resumed is called when the program continues and no goroutine
// waits for it.
func newJobs(m *modes, stop func() bool, resumed func()) *jobs {
	j := &jobs{modes: m, stops: make(chan os.Signal, 1), conts: make(chan os.Signal, 1),
		resumed: make(chan struct{}, 1), quit: make(chan struct{})}
	if !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(j.stops, unix.SIGTSTP)
	}
	signal.Notify(j.conts, unix.SIGCONT)
	j.done.Go(func() {
		for {
			select {
			case <-j.stops:
				if !j.left.Load() && !stop() && stoppable() {
					j.modes.restore()
					unix.Kill(unix.Getpid(), unix.SIGSTOP)
				}
			case <-j.conts:
				if j.waiting.CompareAndSwap(true, false) {
					j.resumed <- struct{}{}
					continue
				}
				if !j.left.Load() {
					resumed()
				}
			case <-j.quit:
				return
			}
		}
	})
	return j
}

// stop stops the program with its process group, and returns after the continuation. Without a
// shell that could continue the program, it does nothing.
func (j *jobs) stop() {
	if !stoppable() || signal.Ignored(unix.SIGTSTP) {
		return
	}
	signal.Ignore(unix.SIGTSTP) // it is for the rest of the group
	unix.Kill(0, unix.SIGTSTP)
	signal.Notify(j.stops, unix.SIGTSTP)
	j.waiting.Store(true)
	unix.Kill(unix.Getpid(), unix.SIGSTOP)
	<-j.resumed
}

// noticed is the longest time between a continuation and its signal.
const noticed = time.Second

// stopped calls stop, in which the system stops the program, and returns after the signal of the
// continuation. So nobody takes that signal for another. Stop reports whether the program was
// stopped. J may be nil.
func (j *jobs) stopped(stop func() bool) {
	if j == nil || signal.Ignored(unix.SIGTTOU) {
		stop()
		return
	}
	j.waiting.Store(true)
	late := time.After(0)
	if stop() {
		late = time.After(noticed)
	}
	select {
	case <-j.resumed:
	case <-late: // it was brought to the front without a stop
		if !j.waiting.CompareAndSwap(true, false) {
			<-j.resumed
		}
	}
}

// stoppable reports whether a shell could continue this program after a stop: an ancestor in the
// same session, but in another process group.
func stoppable() bool {
	for pid := unix.Getppid(); pid > 1; pid = parent(pid) {
		session, err := unix.Getsid(pid)
		ours, err2 := unix.Getsid(0)
		if err != nil || err2 != nil || session != ours {
			return false
		}
		if group, err := unix.Getpgid(pid); err != nil || group != unix.Getpgrp() {
			return err == nil
		}
	}
	return false
}

// parent returns the parent of a process, 0 if unknown.
func parent(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var state string
	var ppid int
	fmt.Sscan(string(b[bytes.LastIndexByte(b, ')')+1:]), &state, &ppid)
	return ppid
}

func (j *jobs) close() {
	signal.Stop(j.stops)
	signal.Stop(j.conts)
	close(j.quit)
	j.done.Wait()
}
