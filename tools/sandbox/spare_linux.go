package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"gemline/tools/sandbox/stage"
)

// spares keeps the stages for one command started. Most of what confining a
// command costs is the start of two programs and the making of namespaces, and
// neither depends on the command. It is safe for concurrent use.
type spares struct {
	mu     sync.Mutex
	ready  *spare
	making chan struct{} // is closed when it has been made; nil if none is
	closed bool
}

// A spare is a first stage that waits for an order, and its second one.
type spare struct {
	cmd    *exec.Cmd
	orders int // our end of a socket; the stages end when it is closed
	mounts int // the table of mounts
}

// Start implements [Starter].
func (k *Kernel) Start(cmd *exec.Cmd, p Profile) (<-chan syscall.WaitStatus, error) {
	spec, err := k.command(cmd, p)
	if err != nil {
		return nil, fmt.Errorf("the command can't be confined: %w", err)
	}
	if fits(cmd, spec) {
		defer k.renew()
		if s := k.hand(cmd, spec); s != nil {
			return k.follow(s, cmd), nil
		}
	}
	release, err := k.start(cmd, stage.Outer, spec)
	if err != nil {
		return nil, fmt.Errorf("the command can't be confined: %w", err)
	}
	defer release()
	return nil, cmd.Start()
}

// fits reports whether cmd can be handed to a spare.
func fits(cmd *exec.Cmd, spec *stage.Spec) bool {
	_, out := cmd.Stdout.(*os.File)
	_, errs := cmd.Stderr.(*os.File)
	return out && errs && cmd.Stdin == nil && cmd.Cancel == nil && reflect.DeepEqual(cmd.SysProcAttr, detached) &&
		spec.Extra == 0 && !spec.Network && slices.Contains(spec.Layers, stage.Namespaces)
}

// hand hands cmd to a spare, one that is made for it if none is ready. It
// returns nil if that can't be.
func (k *Kernel) hand(cmd *exec.Cmd, spec *stage.Spec) *spare {
	spec.Dir, spec.Args, spec.Env = cmd.Dir, cmd.Args, cmd.Environ()
	for _, next := range []func() *spare{k.spares.take, k.spare} {
		s := next()
		if s == nil {
			continue
		}
		if s.order(spec, cmd.Stdout.(*os.File), cmd.Stderr.(*os.File)) {
			cmd.Process = s.cmd.Process
			return s
		}
		s.end()
	}
	return nil
}

// follow says how cmd ended, which s runs, and waits for its process then.
func (k *Kernel) follow(s *spare, cmd *exec.Cmd) <-chan syscall.WaitStatus {
	ended := make(chan syscall.WaitStatus, 1)
	unix.Close(s.mounts)
	unix.SetNonblock(s.orders, true) // the runtime waits for it, no thread
	socket := os.NewFile(uintptr(s.orders), "orders")
	go func() {
		defer close(ended)
		status, ok := stage.Ended(socket)
		socket.Close()
		if !ok {
			return
		}
		k.reaping.RLock()
		defer k.reaping.RUnlock()
		ended <- status
		cmd.Wait()
	}()
	return ended
}

// detached are the attributes of a spare, and of commands that can be handed to
// one.
var detached = &syscall.SysProcAttr{Setsid: true}

// order has s run what spec says. It reports false if s can't.
func (s *spare) order(spec *stage.Spec, out, errs *os.File) bool {
	file, err := memory("sandbox", spec.Encode(), false)
	if err != nil {
		return false
	}
	defer file.Close()
	return !s.outdated() && stage.Order(s.orders, file, out, errs) == nil
}

// outdated reports whether something was mounted, or taken away, since s was
// started. Its stages need not see that.
func (s *spare) outdated() bool {
	table := []unix.PollFd{{Fd: int32(s.mounts), Events: unix.POLLPRI}}
	n, err := unix.Poll(table, 0)
	return n > 0 || err != nil
}

// release lets go of what s is known by.
func (s *spare) release() {
	unix.Close(s.orders)
	unix.Close(s.mounts)
}

// end ends s and waits for that. Its second stage ends by itself then.
func (s *spare) end() {
	s.cmd.Process.Kill()
	s.release()
	s.cmd.Wait()
}

// take returns what is ready, or soon will be, or nil.
func (s *spares) take() *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	if making := s.making; s.ready == nil && making != nil {
		s.mu.Unlock()
		<-making
		s.mu.Lock()
	}
	ready := s.ready
	s.ready = nil
	return ready
}

// renew has a spare made, unless there is one or nothing is gained by it.
func (k *Kernel) renew() {
	s := &k.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil || s.making != nil || s.closed || !slices.Contains(k.layers, stage.Namespaces) {
		return
	}
	making := make(chan struct{})
	s.making = making
	go func() {
		made := k.spare()
		s.mu.Lock()
		s.making, s.ready = nil, made
		s.mu.Unlock()
		close(making)
	}()
}

// close ends what is ready. There is nothing ready after it.
func (s *spares) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	if ready := s.take(); ready != nil {
		ready.end()
	}
}

// spare starts a spare. It returns nil if that can't be: a command that is
// started otherwise tells why.
func (k *Kernel) spare() *spare {
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	ours, theirs, err := stage.Socket()
	if err != nil {
		unix.Close(mounts)
		return nil
	}
	s := &spare{cmd: &exec.Cmd{Dir: "/", Env: []string{}, SysProcAttr: detached}, orders: ours, mounts: mounts}
	socket := os.NewFile(uintptr(theirs), "orders")
	defer socket.Close()
	release, err := k.start(s.cmd, stage.Spare, &stage.Spec{Layers: k.layers}, socket)
	if err == nil {
		defer release()
		err = s.cmd.Start()
	}
	if err != nil {
		s.release()
		return nil
	}
	return s
}
