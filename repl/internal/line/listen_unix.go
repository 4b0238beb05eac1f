//go:build unix

package line

import (
	"sync"

	"golang.org/x/sys/unix"
)

// A typeaheadListener reads the terminal on a separate goroutine, unless it is paused.
type typeaheadListener struct {
	src  *source
	came chan struct{}
	quit waker // ends the listening
	done chan struct{}

	mu     sync.Mutex // held for reading, guards the next fields
	change sync.Cond
	paused int
	closed bool
	heard  heard
}

// listen starts a listener. It returns nil if the input is no terminal with line editing, or the
// terminal was detached.
func (s *source) listen() *typeaheadListener {
	if !s.tty || s.left.Load() || !s.lines() {
		return nil
	}
	quit, err := newWaker()
	if err != nil {
		return nil
	}
	e := &typeaheadListener{src: s, came: make(chan struct{}, 1), quit: quit, done: make(chan struct{})}
	e.change.L = &e.mu
	go e.listen()
	return e
}

// pause stops reading. Until resume is called, the caller owns the read text.
func (e *typeaheadListener) pause() (resume func()) {
	e.mu.Lock()
	e.paused++
	e.mu.Unlock()
	return func() {
		e.mu.Lock()
		e.paused--
		e.change.Broadcast()
		e.mu.Unlock()
	}
}

// close ends the listening and returns the read text.
func (e *typeaheadListener) close() heard {
	e.mu.Lock()
	e.closed = true
	e.change.Broadcast()
	e.mu.Unlock()
	e.quit.wake()
	<-e.done
	e.quit.close()
	return e.heard
}

// background is the interval, in milliseconds, at which a program in the background checks for the
// foreground.
const background = 500

func (e *typeaheadListener) listen() {
	defer close(e.done)
	chunk := make([]byte, 8<<10)
	fds := []unix.PollFd{{Fd: int32(e.src.in), Events: unix.POLLIN}, {Fd: int32(e.quit[0]), Events: unix.POLLIN}}
	for e.wait() {
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
		switch {
		case e.src.left.Load(), fds[1].Revents != 0, fds[0].Revents&(unix.POLLNVAL|unix.POLLERR|unix.POLLHUP) != 0:
			return
		case fds[0].Revents == 0:
			continue
		}
		if !e.src.modes.foreground() || !e.src.lines() {
			unix.Poll(fds[1:], background)
			continue
		}
		e.read(chunk)
	}
}

// wait returns true when there may be input, and false when the listening has ended.
func (e *typeaheadListener) wait() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.closed && (e.paused > 0 || e.heard.size() >= mostHeard) {
		e.change.Wait()
	}
	return !e.closed
}

// read reads a line, unless another reader was faster.
func (e *typeaheadListener) read(chunk []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.paused > 0 || !e.src.waiting() {
		return
	}
	n, err := unix.Read(e.src.in, chunk)
	if err != nil || n < 0 {
		return
	}
	b := chunk[:n]
	if n == 0 {
		b = []byte{0} // Ctrl-D, in the form of [source.pending]
		if len(e.heard.rest) > 0 {
			b = []byte{0, 0} // a Ctrl-D after an incomplete line
		}
	}
	whole := e.heard.add(b)
	if e.heard.more = whole && e.src.waiting(); whole {
		select {
		case e.came <- struct{}{}:
		default:
		}
	}
}
