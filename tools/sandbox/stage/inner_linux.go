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
	life   *os.File // closed when the first stage dies
	args   []string
	dir    string
	guard  *guard

	released atomic.Bool // the command has ended, its background processes continue
}

// say sends a report to the first stage. It ignores errors, as the first stage may be dead.
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
	// The main thread drops its rights. Then an unprivileged process could inspect it, and
	// so the other threads.
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
	if err := os.Chdir("/"); err != nil { // the command must not reach the directory through this process
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

// locate determines the command's working directory from the kernel, as PWD may contain
// links.
func (in *innerStage) locate() (err error) {
	if in.dir, err = unix.Getwd(); err != nil || !strings.HasPrefix(in.dir, "/") {
		return errors.New("the directory to run in is gone")
	}
	return nil
}

// watch ends this process, and so its whole namespace, when the first stage dies before the
// command ends.
func (in *innerStage) watch() {
	if n, err := in.life.Read(make([]byte, 1)); n == 0 && err != nil && !in.released.Load() {
		syscall.Exit(FailedCode)
	}
}

// restrict applies the layers that need no namespace to this thread.
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

// spawn starts the command from a thread without rights, and closes its streams here. It
// returns 0 if there is no command.
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

// reap waits for all processes of the namespace. When the command ends, it reports the
// status.
func (in *innerStage) reap(pid int) {
	over := pid == 0
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil: // no process is left
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

// enforce runs the guard's enforce, in a thread that still has its rights. If last, it also
// removes the placeholders.
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
