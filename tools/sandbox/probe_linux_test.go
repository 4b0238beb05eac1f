package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A world is what is around a confined command, and what it attacks. It is
// handed to the probes as environment.
type world struct {
	root, out      string // the workspace, and a directory that is not part of it
	fifo           string // elsewhere
	tcp, udp, pipe string // addresses that are listened on
	abstract       string
	victim         int // a process of the same user, which keeps a secret
	memory         int // a piece of shared memory
}

const probeVariable = "GEMLINE_TEST_PROBE"

func (w world) environ() []string {
	return []string{
		probeVariable + "=run", "PROBE_ROOT=" + w.root, "PROBE_OUT=" + w.out, "PROBE_FIFO=" + w.fifo, "PROBE_TCP=" + w.tcp, "PROBE_UDP=" + w.udp,
		"PROBE_UNIX=" + w.pipe, "PROBE_ABSTRACT=" + w.abstract, "PROBE_VICTIM=" + strconv.Itoa(w.victim), "PROBE_MEMORY=" + strconv.Itoa(w.memory), "PATH=" + os.Getenv("PATH"),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "SECRET=canary",
	}
}

func worldAround() world {
	victim, _ := strconv.Atoi(os.Getenv("PROBE_VICTIM"))
	memory, _ := strconv.Atoi(os.Getenv("PROBE_MEMORY"))
	return world{os.Getenv("PROBE_ROOT"), os.Getenv("PROBE_OUT"), os.Getenv("PROBE_FIFO"), os.Getenv("PROBE_TCP"), os.Getenv("PROBE_UDP"), os.Getenv("PROBE_UNIX"), os.Getenv("PROBE_ABSTRACT"), victim, memory}
}

// A probe is something that a command tries. It returns nil if that worked.
type probe struct {
	name string
	try  func(w world) error
}

// errRefused is what the filter of system calls answers, as opposed to an
// answer of the call itself.
func refusedOr(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil // it was heard
}

func called(_, _ uintptr, errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func write(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("x"))
	return errors.Join(err, f.Close())
}

func secret(b []byte, err error) error {
	if err == nil && !strings.Contains(string(b), "canary") {
		err = errors.New("there is no secret in it")
	}
	return err
}

func reach(network, address string) error {
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	return err
}

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// attacks are what a confined command must not be able to do. The order is
// that of the table.
var attacks = []probe{
	{"write a new file elsewhere", func(w world) error { return write(w.out+"/new", os.O_CREATE|os.O_WRONLY) }},
	{"write to a file elsewhere", func(w world) error { return write(w.out+"/file", os.O_WRONLY|os.O_APPEND) }},
	{"empty a file elsewhere", func(w world) error { return os.Truncate(w.out+"/file", 0) }},
	{"remove a file elsewhere", func(w world) error { return os.Remove(w.out + "/removed") }},
	{"make a directory elsewhere", func(w world) error { return os.Mkdir(w.out+"/directory", 0o700) }},
	{"move a file to elsewhere", func(w world) error { return os.Rename(w.root+"/moved", w.out+"/moved") }},
	{"link a file from elsewhere, to write to it", func(w world) error {
		if err := os.Link(w.out+"/file", w.root+"/hard"); err != nil {
			return err
		}
		return write(w.root+"/hard", os.O_WRONLY)
	}},
	{"write through a link to elsewhere", func(w world) error {
		if err := os.Symlink(w.out, w.root+"/soft"); err != nil {
			return nil
		}
		return write(w.root+"/soft/linked", os.O_CREATE|os.O_WRONLY)
	}},
	{"write elsewhere by `/proc/self/root`", func(w world) error {
		return write("/proc/self/root"+w.out+"/proc", os.O_CREATE|os.O_WRONLY)
	}},
	{"change the mode of a file elsewhere", func(w world) error { return os.Chmod(w.out+"/mode", 0o640) }},
	{"write to a FIFO elsewhere", func(w world) error {
		f, err := os.OpenFile(w.fifo, os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"read a hidden file", func(w world) error { return secret(os.ReadFile(w.out + "/hidden/secret")) }},
	{"read a hidden file by a link to it", func(w world) error {
		os.Symlink(w.out+"/hidden/secret", w.root+"/link")
		return secret(os.ReadFile(w.root + "/link"))
	}},
	{"TCP", func(w world) error { return reach("tcp", w.tcp) }},
	{"TCP by bash", func(w world) error {
		host, port, _ := net.SplitHostPort(w.tcp)
		out, err := exec.Command("bash", "-c", "echo > /dev/tcp/"+host+"/"+port).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}},
	{"multipath TCP", func(w world) error {
		d := net.Dialer{Timeout: 5 * time.Second}
		d.SetMultipathTCP(true)
		c, err := d.Dial("tcp", w.tcp)
		if err == nil {
			c.Close()
		}
		return err
	}},
	{"UDP", func(w world) error { return reach("udp", w.udp) }},
	{"netlink socket", func(world) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE) }},
	{"vsock socket", func(world) error {
		err := socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		if errors.Is(err, unix.EAFNOSUPPORT) {
			return nil // it was heard
		}
		return err
	}},
	{"packet socket", func(world) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"unix socket with a path", func(w world) error { return reach("unix", w.pipe) }},
	{"abstract unix socket", func(w world) error { return reach("unix", "@"+w.abstract) }},
	{"signal another process", func(w world) error { return other(w, unix.Kill(w.victim, 0)) }},
	{"signal another process by pidfd", func(w world) error {
		fd, err := unix.PidfdOpen(w.victim, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return other(w, unix.PidfdSendSignal(fd, 0, nil, 0))
	}},
	{"kill what confines", func(world) error {
		if os.Getenv("PROBE_CONFINED") == "" {
			return nil
		}
		if unix.Getppid() != 1 {
			return unix.Kill(unix.Getppid(), 0)
		}
		if err := unix.Kill(1, unix.SIGKILL); err != nil {
			return err
		}
		return errors.New("it is deaf") // or this would not be said any more
	}},
	{"memory of what confines", func(world) error {
		if os.Getenv("PROBE_CONFINED") == "" {
			return nil
		}
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", unix.Getppid()), os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"files of what confines", func(world) error {
		if os.Getenv("PROBE_CONFINED") == "" {
			return nil
		}
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/3", unix.Getppid()))
		return err
	}},
	{"shared memory of another process", func(w world) error {
		b, err := unix.SysvShmAttach(w.memory, 0, unix.SHM_RDONLY)
		if err == nil {
			unix.SysvShmDetach(b)
		}
		return err
	}},
	{"limits of another process", func(w world) error {
		var now unix.Rlimit
		return other(w, unix.Prlimit(w.victim, unix.RLIMIT_CORE, nil, &now))
	}},
	{"trace another process", func(w world) error {
		err := unix.PtraceSeize(w.victim)
		if err == nil {
			unix.PtraceDetach(w.victim)
		}
		return err
	}},
	{"environment of another process", func(w world) error {
		return secret(os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.victim)))
	}},
	{"memory of another process", func(w world) error {
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", w.victim), os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"directory of another process", func(w world) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/cwd/", w.victim))
		return err
	}},
	{"open files of another process", func(w world) error {
		f, err := os.Open(fmt.Sprintf("/proc/%d/fd/2", w.victim))
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"`process_vm_readv`", func(w world) error {
		b := make([]byte, 8)
		_, err := unix.ProcessVMReadv(w.victim, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x10000, Len: 8}}, 0)
		if errors.Is(err, unix.EFAULT) {
			return nil // nothing is there, but it was looked at
		}
		return err
	}},
	{"`pidfd_getfd`", func(w world) error {
		fd, err := unix.PidfdOpen(w.victim, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		got, err := unix.PidfdGetfd(fd, 0, 0)
		if err == nil {
			unix.Close(got)
		}
		return err
	}},
	{"see other processes", func(w world) error {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.victim))
		if err == nil && len(b) == 0 {
			err = errors.New("nothing to see")
		}
		return err
	}},
	{"`io_uring`", func(world) error {
		var params [120]byte
		return refusedOr(called(unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)))
	}},
	{"`TIOCSTI`", func(world) error {
		c := byte('x')
		return refusedOr(called(unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))))
	}},
	{"`TIOCSTI` with more bits than it has", func(world) error {
		c := byte('x')
		return refusedOr(called(unix.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI|1<<32, uintptr(unsafe.Pointer(&c)))))
	}},
	{"user namespace", func(world) error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
		return cmd.Run()
	}},
	{"user namespace by `unshare`", func(world) error {
		return exec.Command("unshare", "-U", "true").Run()
	}},
	{"mount", func(w world) error {
		err := unix.Mount("none", w.root, "tmpfs", 0, "")
		if err == nil {
			err = unix.Unmount(w.root, 0)
		}
		return err
	}},
	{"mount, the new way", func(world) error {
		fd, err := unix.Fsopen("tmpfs", 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},
	{"unmount what protects", func(w world) error {
		return refusedOr(unix.Unmount(w.root, unix.MNT_DETACH))
	}},
	{"keyring", func(world) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		return err
	}},
	{"`bpf`", func(world) error {
		var attr [128]byte
		return refusedOr(called(unix.Syscall(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 128)))
	}},
	{"`userfaultfd`", func(world) error {
		fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, 1, 0, 0) // for its own mode only, which needs no rights
		if errno == 0 {
			unix.Close(int(fd))
		}
		return refusedOr(called(0, 0, errno))
	}},
	{"`open_by_handle_at`", func(world) error {
		h := unix.NewFileHandle(1, []byte("12345678"))
		_, err := unix.OpenByHandleAt(unix.AT_FDCWD, h, 0)
		return refusedOr(err)
	}},
	{"settings of the kernel", func(world) error {
		f, err := os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	}},
	{"rights by a setuid program", func(world) error {
		b, err := os.ReadFile("/proc/self/status")
		if err == nil && strings.Contains(string(b), "NoNewPrivs:\t1") {
			err = errors.New("none are gained")
		}
		return err
	}},
	{"rights of root", func(world) error {
		b, err := os.ReadFile("/proc/self/status")
		if err == nil && strings.Contains(string(b), "CapEff:\t0000000000000000") {
			err = errors.New("there are none")
		}
		return err
	}},
}

// other says whose process was reached: inside, numbers are given out anew.
func other(w world, err error) error {
	if err == nil && os.Getenv("PROBE_CONFINED") != "" && unix.Getppid() == 1 {
		return errors.New("it is one inside")
	}
	return err
}

// controls are what must work.
var controls = []probe{
	{"write inside", func(w world) error { return write(w.root+"/inside", os.O_CREATE|os.O_WRONLY) }},
	{"`git status`", func(w world) error {
		cmd := exec.Command("git", "status", "--short")
		cmd.Dir = w.root
		return cmd.Run()
	}},
	{"temporary files and pipelines", func(world) error {
		return exec.Command("bash", "-c", `f=$(mktemp) && echo a > "$f" && sort < "$f" | grep -q a > /dev/null`).Run()
	}},
	{"`socketpair`", func(world) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = errors.Join(unix.Close(pair[0]), unix.Close(pair[1]))
		}
		return err
	}},
	{"read the system", func(world) error {
		_, err := os.ReadFile("/etc/passwd")
		return errors.Join(err, exec.Command("ls", filepath.Dir("/usr/bin/env")).Run())
	}},
}

// probeProgram is the confined command: it tries everything and says what
// worked, a line for each.
func probeProgram() int {
	w := worldAround()
	for _, p := range append(attacks, controls...) {
		switch err := p.try(w); {
		case err == nil:
			fmt.Printf("%s\t+\n", p.name)
		default:
			fmt.Printf("%s\t-\t%q\n", p.name, err)
		}
	}
	return 0
}
