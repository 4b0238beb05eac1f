//go:build unix

package line

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// jobs is what a program at a terminal does when it is stopped, as by Ctrl-Z,
// and when it goes on.
type jobs struct {
	modes        *modes
	stops, conts chan os.Signal
	waiting      atomic.Bool   // somebody waits for the program to go on
	resumed      chan struct{} // for him
	quit         chan struct{}
	done         sync.WaitGroup
}

// stopWithin is how soon a signal stops a program, if it does.
const stopWithin = time.Second

// control begins to take care of stops. stop is asked to stop the program
// where someone else has to prepare it, and says false where nobody has.
// Resumed is called when the program goes on and nobody waits for that.
func control(m *modes, stop func() bool, resumed func()) *jobs {
	j := &jobs{modes: m, stops: make(chan os.Signal, 1), conts: make(chan os.Signal, 1), resumed: make(chan struct{}, 1), quit: make(chan struct{})}
	signal.Notify(j.stops, unix.SIGTSTP)
	signal.Notify(j.conts, unix.SIGCONT)
	j.done.Go(func() {
		for {
			select {
			case <-j.stops:
				if !stop() {
					j.modes.restore()
					j.raise(unix.Getpid())
				}
			case <-j.conts:
				signal.Notify(j.stops, unix.SIGTSTP)
				if !j.waiting.CompareAndSwap(true, false) {
					resumed()
					continue
				}
				select {
				case j.resumed <- struct{}{}:
				default:
				}
			case <-j.quit:
				return
			}
		}
	})
	return j
}

// raise stops a process, as the terminal would.
func (j *jobs) raise(pid int) {
	signal.Stop(j.stops)
	unix.Kill(pid, unix.SIGTSTP)
}

// stop stops the program and all that was started with it, and returns when
// it goes on. It reports whether there is someone who could let it.
func (j *jobs) stop() bool {
	if parent := unix.Getppid(); parent <= 1 || !sameSession(parent) {
		return false
	}
	select {
	case <-j.resumed:
	default:
	}
	j.waiting.Store(true)
	j.raise(0)
	select {
	case <-j.resumed:
	case <-time.After(stopWithin): // it was not stopped, or both are true by now
	}
	return true
}

func sameSession(pid int) bool {
	theirs, err := unix.Getsid(pid)
	ours, err2 := unix.Getsid(0)
	return err == nil && err2 == nil && theirs == ours
}

func (j *jobs) close() {
	signal.Stop(j.stops)
	signal.Stop(j.conts)
	close(j.quit)
	j.done.Wait()
}
