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

// jobs is what a program at a terminal does when it is stopped, as by Ctrl-Z,
// and when it goes on. The signal that stops is caught, so that the terminal
// can be put right first; caught once, it stops nothing by itself any more.
type jobs struct {
	modes        *modes
	stops, conts chan os.Signal
	waiting      atomic.Bool   // somebody waits for the program to go on
	resumed      chan struct{} // told to whoever waits
	left         atomic.Bool   // the terminal was left to a shell
	quit         chan struct{}
	done         sync.WaitGroup
}

// newJobs begins to take care of stops. stop is asked to stop the program
// where someone else has to prepare it, and says false where nobody has.
// Resumed is called when the program goes on and nobody waits for that.
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

// stop stops the program and all that was started with it, and returns when it
// goes on. Where nobody could let it go on, it does nothing.
func (j *jobs) stop() {
	if !stoppable() || signal.Ignored(unix.SIGTSTP) {
		return
	}
	signal.Ignore(unix.SIGTSTP) // it is for the others
	unix.Kill(0, unix.SIGTSTP)
	signal.Notify(j.stops, unix.SIGTSTP)
	j.waiting.Store(true)
	unix.Kill(unix.Getpid(), unix.SIGSTOP)
	<-j.resumed
}

// noticed is how long after a stop the signal to go on comes at the latest.
const noticed = time.Second

// stopped calls stop, which the system stops the program in, and returns when
// the signal to go on has come, so that nobody takes that for another one. Stop
// says whether it was so. There need be no jobs.
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

// stoppable reports whether there is a shell that would let this program go on
// after a stop: an ancestor in the same session, but not in the same group.
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

// parent returns the parent of a process, 0 if that is not known.
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
