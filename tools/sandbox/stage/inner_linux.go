package stage

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// An innerStage is the process that confines and starts the command.
type innerStage struct {
	spec   *Spec
	status *os.File // to the first stage
	life   *os.File // ends with the first stage
	args   []string
	dir    string
	guard  *guard

	released atomic.Bool // the command is over, and its leftover processes go on
}

// say tells the first stage something. Once that is gone, nobody listens.
func (in *innerStage) say(word, value string) {
	in.status.WriteString(word + "\x00" + value + "\x00")
}

// runInner is the second stage. fd is the spec's file; two more follow it.
func runInner(spec *Spec, fd int, args []string) int {
	// The rights are dropped on this thread.
	runtime.LockOSThread()
	in := &innerStage{spec: spec, args: args,
		status: os.NewFile(uintptr(fd+1), "status"), life: os.NewFile(uintptr(fd+2), "life")}
	if err := in.run(); err != nil {
		in.say("problem", err.Error())
		return FailedCode
	}
	return 0
}

func (in *innerStage) run() error {
	if !in.spec.has(Namespaces) {
		if err := in.locate(); err != nil {
			return err
		}
		return in.exec()
	}
	ignoreSignals()
	// The thread that the kernel takes for the process is the one that gives up
	// its rights; a process with none could look into it, and at the others.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return &layerError{Namespaces, err}
	}
	go in.watch()
	if in.spec.has(NetNamespace) && !in.spec.Network && !in.spec.Joined {
		if err := loopback(); err != nil {
			return &layerError{NetNamespace, err}
		}
	}
	if err := in.locate(); err != nil {
		return err
	}
	if err := in.mount(); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil { // whatever it was is not to be reached through this process
		return err
	}
	pid, err := in.spawn()
	if err != nil {
		in.enforce(true)
		return err
	}
	in.reap(pid)
	return nil
}

// locate finds out where the command is to run, as the kernel has it: what PWD
// says may lead through links.
func (in *innerStage) locate() (err error) {
	if in.dir, err = unix.Getwd(); err != nil || !strings.HasPrefix(in.dir, "/") {
		return errors.New("the directory to run in is gone")
	}
	return nil
}

// watch ends this process, and with it all in its namespace, when the first
// stage dies before the command is over.
func (in *innerStage) watch() {
	if n, err := in.life.Read(make([]byte, 1)); n == 0 && err != nil && !in.released.Load() {
		syscall.Exit(FailedCode)
	}
}

// restrict puts the layers that need no namespace on this thread.
func (in *innerStage) restrict() error {
	if in.spec.has(Capabilities) {
		if err := dropCapabilities(in.spec); err != nil {
			return &layerError{Capabilities, err}
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return &layerError{Capabilities, err}
	}
	if in.spec.has(Landlock) {
		if err := restrict(in.spec); err != nil {
			return &layerError{Landlock, err}
		}
	}
	if in.spec.has(Seccomp) {
		if err := filter(in.spec); err != nil {
			return &layerError{Seccomp, err}
		}
	}
	return nil
}

// exec makes this process the command. It returns only on failure.
func (in *innerStage) exec() error {
	env := in.environment()
	if err := in.restrict(); err != nil || in.spec.Path == "" {
		return err
	}
	for fd := 3; fd < 3+in.spec.Extra; fd++ { // closed until now, in case of a start that fails
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return err
		}
	}
	err := syscall.Exec(in.spec.Path, in.args, env)
	return &os.PathError{Op: "exec", Path: in.spec.Path, Err: err}
}

// spawn starts the command from a thread that has given up its rights, and
// lets go of its streams. It returns 0 if there is none to start.
func (in *innerStage) spawn() (int, error) {
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	how := &syscall.ProcAttr{Dir: in.dir, Env: in.environment()}
	for fd := range 3 + in.spec.Extra {
		how.Files = append(how.Files, uintptr(fd))
	}
	if err := in.restrict(); err != nil {
		return 0, err
	}
	pid := 0
	if in.spec.Path != "" {
		if pid, err = syscall.ForkExec(in.spec.Path, in.args, how); err != nil {
			return 0, &os.PathError{Op: "run", Path: in.spec.Path, Err: err}
		}
	}
	for fd := range 3 + in.spec.Extra {
		unix.Dup3(int(null.Fd()), fd, unix.O_CLOEXEC)
	}
	return pid, nil
}

// reap waits for all processes of the namespace. When the command is over it
// says how.
func (in *innerStage) reap(pid int) {
	over := pid == 0
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil: // nobody is left
			in.enforce(true)
			return
		case got != pid || over:
			continue
		}
		over = true
		alive := others()
		if alive && in.spec.EndLeftovers {
			endOthers()
			alive = false
		}
		for _, p := range in.enforce(!alive) {
			in.say("problem", p)
		}
		if ws.Signaled() {
			in.say("signal", strconv.Itoa(int(ws.Signal())))
		} else {
			in.say("code", strconv.Itoa(ws.ExitStatus()))
		}
		if !alive {
			in.say("nobody", "")
			return
		}
		in.released.Store(true)
		in.say("left", "")
		go in.guard.stay()
	}
}

// others reaps ended processes and reports whether others live.
func others() bool {
	for {
		var ws syscall.WaitStatus
		switch got, err := syscall.Wait4(-1, &ws, syscall.WNOHANG, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return false
		case got == 0:
			return true
		}
	}
}

// enforce has the guard enforce, in a thread that may still do what the command may
// not. If this was the last time it clears up behind the guard, too.
func (in *innerStage) enforce(last bool) (problems []string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		problems = in.guard.enforce(true)
		if last {
			in.guard.clean()
		}
	}()
	<-done
	return problems
}

// loopback brings up the one interface of a new network namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	return nil
}
