package stage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// FailedCode is the code of the first stage when a command could not be confined
// and did not run, or made changes that are undone.
const FailedCode = 125

// Main carries out a stage, and ends the process at once when the stage is done: what a runtime
// does at exit, such as the race detector's, fails in a thread that has given up its rights. It
// reports false if args are not the arguments of a stage, and the code to exit with if they can't
// be used. Errors go to stderr.
func Main(args []string, stderr *os.File) (code int, ok bool) {
	if len(args) < 3 || args[0] != ProgramName {
		return 0, false
	}
	if args[1] == Holder {
		syscall.Exit(runHolder())
	}
	fd, err := strconv.Atoi(args[2])
	if err != nil || fd < 3 {
		return 0, false
	}
	unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	spec, err := read(fd)
	if err == nil && fd < 3+spec.Extra {
		err = errors.New("the files are in the wrong order")
	}
	if err != nil {
		fmt.Fprintf(stderr, "gemline: sandbox: read what to do: %v\n", err)
		return FailedCode, true
	}
	o := &outerStage{spec: spec, fd: fd, stderr: stderr}
	switch args[1] {
	case Outer:
		syscall.Exit(o.run(args[3:]))
	case inner:
		syscall.Exit(runInner(spec, fd, args[3:]))
	}
	return 0, false
}

// read returns the Spec in file fd, from the file's beginning, extended by the main
// repository of the worktree in Root.
func read(fd int) (*Spec, error) {
	b, err := contentsOf(fd)
	if err != nil {
		return nil, err
	}
	spec, err := decode(b)
	if err != nil {
		return nil, err
	}
	if common := linked(spec.Root); common != "" {
		spec.Write = append(spec.Write, common)
	}
	return spec, nil
}

func contentsOf(fd int) ([]byte, error) {
	var all []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Pread(fd, buf, int64(len(all)))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return all, nil
		}
		all = append(all, buf[:n]...)
	}
}

// An outerStage is the process that gemline starts.
type outerStage struct {
	spec   *Spec
	fd     int // of the spec
	stderr *os.File

	exited   bool // the command is over
	code     int
	signal   syscall.Signal // the signal that ended the command, or 0
	left     bool           // the command left processes
	all      bool           // all reports of the second stage were read
	problems []string
}

func (o *outerStage) run(args []string) int {
	ignoreSignals()
	watch, err := newWatch(o.spec)
	alone := o.spec.EndLeftovers && !o.spec.has(Namespaces) // with namespaces, the second stage kills leftovers
	if err == nil && alone {
		err = adoptOrphans()
	}
	if err != nil {
		o.say(err.Error())
		return FailedCode
	}
	pid, status, alive, err := o.start(args)
	if err != nil {
		o.say(err.Error())
		return FailedCode
	}
	o.listen(status)
	if o.left {
		return o.end() // the second stage waits for leftovers
	}
	ws := wait(pid)
	alive.Close()
	if alone {
		endAdopted()
	}
	if !o.exited && len(o.problems) == 0 {
		o.code, o.signal = ws.ExitStatus(), 0
		if ws.Signaled() {
			o.signal = ws.Signal()
		}
	}
	o.problems = append(o.problems, watch.enforce(true)...)
	return o.end()
}

// start starts the second stage. status carries its reports; it treats the closing of alive
// as the death of this process.
func (o *outerStage) start(args []string) (pid int, status, alive *os.File, err error) {
	status, theirs, err := pipe()
	if err != nil {
		return 0, nil, nil, err
	}
	defer theirs.Close()
	life, alive, err := pipe()
	if err != nil {
		return 0, nil, nil, err
	}
	defer life.Close()
	how := &syscall.ProcAttr{Env: os.Environ(), Sys: &syscall.SysProcAttr{}}
	for fd := range 3 + o.spec.Extra {
		how.Files = append(how.Files, uintptr(fd))
	}
	number := len(how.Files)
	how.Files = append(how.Files, uintptr(o.fd), theirs.Fd(), life.Fd())
	argv := append([]string{ProgramName, inner, strconv.Itoa(number)}, args...)
	if o.spec.Joined {
		pid, err = join(o.fd+1, o.fd+2, argv, how.Env, how.Files)
	} else {
		if err := o.spec.namespaces(how.Sys); err != nil {
			return 0, nil, nil, err
		}
		pid, err = syscall.ForkExec("/proc/self/exe", argv, how)
	}
	if err != nil {
		layer := Namespaces
		if o.spec.has(UserNamespace) {
			layer = UserNamespace
		}
		return 0, nil, nil, &layerError{layer, err}
	}
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // not earlier: before, this process writes the second stage's id maps
	return pid, status, alive, nil
}

// pipe returns the ends of a pipe whose reader waits in the kernel: os.Pipe would start Go's
// poller for a single read.
func pipe() (r, w *os.File, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(ends[0]), "pipe"), os.NewFile(uintptr(ends[1]), "pipe"), nil
}

// A layerError means that a layer can't be applied.
type layerError struct {
	layer string
	err   error
}

func (e *layerError) Error() string { return e.layer + ": " + e.err.Error() }

// namespaces sets in how the namespaces of s.
func (s *Spec) namespaces(how *syscall.SysProcAttr) error {
	if !s.has(Namespaces) {
		return nil
	}
	how.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	if s.has(NetNamespace) && !s.Network {
		how.Cloneflags |= syscall.CLONE_NEWNET
	}
	if !s.has(UserNamespace) {
		return nil
	}
	how.Cloneflags |= syscall.CLONE_NEWUSER
	how.AmbientCaps = rights
	uids, gids := []syscall.SysProcIDMap{same(os.Geteuid())}, []syscall.SysProcIDMap{same(os.Getegid())}
	if os.Geteuid() == 0 {
		if all, err := ids("/proc/self/uid_map"); err == nil {
			uids = all
		}
		if all, err := ids("/proc/self/gid_map"); err == nil {
			gids, how.GidMappingsEnableSetgroups = all, true
		}
	}
	how.UidMappings, how.GidMappings = uids, gids
	return nil
}

func same(id int) syscall.SysProcIDMap {
	return syscall.SysProcIDMap{ContainerID: id, HostID: id, Size: 1}
}

// ids returns the identity map of all user or group ids here, so that root sees other users'
// files with their owners.
func ids(file string) ([]syscall.SysProcIDMap, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []syscall.SysProcIDMap
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, errors.New("a line of other than three numbers")
		}
		first, err1 := strconv.ParseUint(f[0], 10, 32)
		count, err2 := strconv.ParseUint(f[2], 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		all = append(all, syscall.SysProcIDMap{ContainerID: int(first), HostID: int(first), Size: int(count)})
	}
	return all, nil
}

// listen reads the reports of the second stage: pairs of fields, a word and its value, each ended
// by NUL.
func (o *outerStage) listen(status *os.File) {
	defer status.Close()
	buf, all := make([]byte, 4096), []byte(nil)
	for !o.all {
		n, err := status.Read(buf)
		all = append(all, buf[:n]...)
		for {
			word, rest, ok := bytes.Cut(all, []byte{0})
			value, rest, ok2 := bytes.Cut(rest, []byte{0})
			if !ok || !ok2 {
				break
			}
			o.report(string(word), string(value))
			all = rest
		}
		if errors.Is(err, io.EOF) || err != nil {
			return
		}
	}
}

func (o *outerStage) report(word, value string) {
	n, _ := strconv.Atoi(value)
	switch word {
	case "problem":
		o.problems = append(o.problems, value)
	case "code":
		o.exited, o.code = true, n
	case "signal":
		o.exited, o.signal = true, syscall.Signal(n)
	case "left":
		o.left, o.all = true, true
	case "nobody": // is left
		o.all = true
	}
}

// say prints a message for the user. It sanitises the text, which may contain a file's name.
func (o *outerStage) say(text string) {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	put(o.stderr, "gemline: sandbox: "+b.String()+"\n")
}

// put writes text to f. A closed pipe does not end the process; with the runtime's handling,
// it would if f is standard error.
func put(f *os.File, text string) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) {
		for rest := []byte(text); len(rest) > 0; {
			n, err := unix.Write(int(fd), rest)
			switch {
			case errors.Is(err, unix.EAGAIN): // f may be non-blocking
				unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
			case errors.Is(err, unix.EINTR):
			case err != nil:
				return
			default:
				rest = rest[n:]
			}
		}
	})
}

// end reports an error and ends this process as the command ended, unless
// the command has made changes that are undone.
func (o *outerStage) end() int {
	for _, p := range o.problems {
		o.say(p)
	}
	if len(o.problems) > 0 && o.code == 0 && o.signal == 0 {
		o.code = FailedCode
	}
	if o.signal == 0 {
		return o.code
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // a core dump of this program would mislead
	dieOf(o.signal)
	return 128 + int(o.signal)
}

// wait waits for a child and returns how it ended.
func wait(pid int) (ws syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &ws, 0, nil); !errors.Is(err, syscall.EINTR) {
			return ws
		}
	}
}
