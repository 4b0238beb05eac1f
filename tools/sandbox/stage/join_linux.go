package stage

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rights are the capabilities of the second stage in its user namespace. They are ambient,
// or exec would drop them, as the user does not become root. The capability to override file
// permissions is for unlock.
var rights = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_DAC_OVERRIDE}

// runHolder is the process that holds the user and network namespaces for all commands of a
// session. It brings up the loopback interface, reports that on standard output, and ends
// with standard input. By then its Kernel has opened the namespaces, which keeps them alive.
func runHolder() int {
	if err := loopback(); err != nil {
		put(os.Stderr, err.Error())
		return FailedCode
	}
	put(os.Stdout, "up\n")
	os.Stdin.Read(make([]byte, 1))
	return 0
}

// HolderAttr returns the attributes for starting a holder of namespaces.
func HolderAttr() *syscall.SysProcAttr {
	s, how := &Spec{Layers: []string{UserNamespace, Namespaces}}, &syscall.SysProcAttr{}
	s.namespaces(how)
	how.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	return how
}

// join starts the second stage, as [syscall.ForkExec] does, within existing user and
// network namespaces; files are its descriptors. The kernel lets only a single-threaded
// process into another user namespace, which no Go program is: so a fork between this
// process and the second stage enters it.
func join(user, network int, argv, env []string, files []uintptr) (pid int, err error) {
	f := &fork{user: uintptr(user), network: uintptr(network)}
	if f.path, err = unix.BytePtrFromString("/proc/self/exe"); err != nil {
		return 0, err
	}
	if f.argv, err = syscall.SlicePtrFromStrings(argv); err != nil {
		return 0, err
	}
	if f.env, err = syscall.SlicePtrFromStrings(env); err != nil {
		return 0, err
	}
	status, theirs, err := pipe()
	if err != nil {
		return 0, err
	}
	defer status.Close()
	f.files, f.status = files, theirs.Fd()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	f.head = head
	for _, c := range rights {
		f.inherit |= 1 << c
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before) // no handler may run in the fork
	f.mask = before
	syscall.ForkLock.Lock()
	middle, errno := f.start()
	syscall.ForkLock.Unlock()
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	theirs.Close()
	if errno != 0 {
		return 0, errno
	}
	wait(middle)
	// The message is the number of the second stage, and why it is none.
	var said [2]int64
	for at := 0; at < len(said); at++ {
		var b [8]byte
		if n, err := status.Read(b[:]); err != nil || n != len(b) {
			break
		}
		said[at] = *(*int64)(unsafe.Pointer(&b))
		if said[at] < 0 {
			if pid := said[0]; pid > 0 {
				wait(int(pid))
			}
			return 0, syscall.Errno(-said[at])
		}
	}
	if said[0] == 0 {
		return 0, errors.New("the fork " + strconv.Itoa(middle) + " said nothing")
	}
	return int(said[0]), nil
}

// A fork holds the data of a fork of this process, which may make only system calls.
type fork struct {
	user, network uintptr
	path          *byte
	argv, env     []*byte
	files         []uintptr
	status        uintptr // the descriptor for its report
	inherit       uint32
	head          unix.CapUserHeader
	caps          [2]unix.CapUserData
	mask          unix.Sigset_t
	said          int64
}

// start forks. The fork, which has one thread, enters the namespaces, and starts the second
// stage as a child of this process.
//
//go:noinline
//go:norace
//go:nocheckptr
func (f *fork) start() (pid int, errno syscall.Errno) {
	const second = unix.CLONE_PARENT | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | uintptr(unix.SIGCHLD)
	middle, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || middle != 0 {
		return int(middle), errno
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETNS, f.user, unix.CLONE_NEWUSER, 0); errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_SETNS, f.network, unix.CLONE_NEWNET, 0)
	}
	var child uintptr
	if errno == 0 {
		child, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, second, 0, 0, 0, 0, 0)
	}
	if errno != 0 || child != 0 {
		f.say(int64(child), errno)
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if errno = f.ready(); errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(f.path)),
			uintptr(unsafe.Pointer(&f.argv[0])), uintptr(unsafe.Pointer(&f.env[0])))
	}
	f.say(0, errno)
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, FailedCode, 0, 0)
	}
}

// say writes a number, or an error as a negative one.
//
//go:norace
//go:nosplit
func (f *fork) say(n int64, errno syscall.Errno) {
	if f.said = n; errno != 0 {
		f.said = -int64(errno)
	}
	syscall.RawSyscall(unix.SYS_WRITE, f.status, uintptr(unsafe.Pointer(&f.said)), unsafe.Sizeof(f.said))
}

// ready moves the files to their descriptors, and makes the rights ambient.
//
//go:norace
//go:nosplit
func (f *fork) ready() syscall.Errno {
	const aside = 1 << 9 // above all open descriptors of a stage
	for i, fd := range f.files {
		if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, fd, uintptr(aside+i), unix.O_CLOEXEC); errno != 0 {
			return errno
		}
	}
	status := uintptr(aside + len(f.files))
	if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, f.status, status, unix.O_CLOEXEC); errno != 0 {
		return errno
	}
	f.status = status
	for i := range f.files {
		if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, uintptr(aside+i), uintptr(i), 0); errno != 0 {
			return errno
		}
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_CAPGET, uintptr(unsafe.Pointer(&f.head)),
		uintptr(unsafe.Pointer(&f.caps)), 0); errno != 0 {
		return errno
	}
	f.caps[0].Inheritable |= f.inherit
	if _, _, errno := syscall.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&f.head)),
		uintptr(unsafe.Pointer(&f.caps)), 0); errno != 0 {
		return errno
	}
	for c := uintptr(0); c < 32; c++ {
		if f.inherit&(1<<c) != 0 {
			if _, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT,
				unix.PR_CAP_AMBIENT_RAISE, c, 0, 0, 0); errno != 0 {
				return errno
			}
		}
	}
	_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK,
		uintptr(unsafe.Pointer(&f.mask)), 0, 8, 0, 0)
	return errno
}
