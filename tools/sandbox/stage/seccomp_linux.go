//go:build amd64 || arm64

package stage

import (
	"cmp"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refused are system calls that affect other processes or the system, and that no command
// needs.
var refused = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	unix.SYS_NFSSERVCTL,
}

// shared are calls for System V memory and queues, which are shared with other processes
// unless there is a namespace.
var shared = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP,
	unix.SYS_SHMCTL, unix.SYS_MSGCTL, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// unknown are system calls refused as not implemented, so that programs use older calls,
// whose arguments a filter can check.
var unknown = []uint32{unix.SYS_CLONE3}

const (
	otherWorlds = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	newTime     = unix.CLONE_NEWTIME

	allow   = unix.SECCOMP_RET_ALLOW
	refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unheard = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)

	// Offsets in a struct seccomp_data.
	atNumber, atArch, atFirst, atSecond = 0, 4, 16, 24
)

// personalities are the personalities that programs really request: the usual one, older kernels,
// no address randomization, and the query.
var personalities = []uint32{0, 8, 0x20000, 0x20008, 0x40000, 0xffffffff}

// filter makes the kernel refuse system calls of this thread and its future processes.
func filter(s *Spec) error {
	program := assemble(rules(families(s), !s.has(Namespaces), !s.Network))
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}

// families returns the socket families that a command may use. Unix sockets are allowed
// only as pairs: connections by path bypass every namespace.
func families(s *Spec) []uint32 {
	if s.Network || s.has(NetNamespace) {
		return []uint32{unix.AF_INET, unix.AF_INET6}
	}
	return nil
}

// A rule decides about one system call. Its body always ends with a return.
type rule struct {
	number uint32
	body   []unix.SockFilter
}

// rules returns the rules of system calls that are not always allowed. With streams, only
// stream sockets are allowed: the command has a private network for its own servers, and no
// datagram can reach a name server.
func rules(families []uint32, alone, streams bool) (all []rule) {
	always := func(answer unix.SockFilter, numbers ...uint32) {
		for _, n := range numbers {
			all = append(all, rule{n, []unix.SockFilter{answer}})
		}
	}
	always(answer(refuse), slices.Concat(refused, refusedHere)...)
	if alone {
		always(answer(refuse), shared...)
	}
	always(answer(unheard), unknown...)
	var socket []unix.SockFilter
	if streams {
		socket = []unix.SockFilter{load(atSecond), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf},
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SOCK_STREAM}, answer(refuse)}
	}
	bits := func(bits uint32) []unix.SockFilter { // refused with any of them
		return []unix.SockFilter{load(atFirst),
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jf: 1, K: bits}, answer(refuse), answer(allow)}
	}
	return append(all,
		rule{unix.SYS_SOCKET, append(socket, among(atFirst, families, allow, refuse)...)},
		rule{unix.SYS_SOCKETPAIR, among(atFirst, []uint32{unix.AF_UNIX}, allow, refuse)},
		rule{unix.SYS_PRLIMIT64, among(atFirst, []uint32{0}, allow, refuse)}, // its own limits
		rule{unix.SYS_PERSONALITY, among(atFirst, personalities, allow, refuse)},
		rule{unix.SYS_IOCTL, among(atSecond, []uint32{unix.TIOCSTI, unix.TIOCLINUX}, refuse, allow)},
		rule{unix.SYS_CLONE, bits(otherWorlds)},
		rule{unix.SYS_UNSHARE, bits(otherWorlds | newTime)})
}

// among returns a filter that answers yes if the word at a place equals one of values, else no.
func among(at uint32, values []uint32, yes, no uint32) []unix.SockFilter {
	body := []unix.SockFilter{load(at)}
	for _, v := range values {
		body = append(body, unless(v, 1), answer(yes))
	}
	return append(body, answer(no))
}

// atOnce is how many rules a non-matching call skips with one comparison. When a filter is
// installed, the kernel runs it for every call number, so a short path makes the start fast.
const atOnce = 8

// assemble returns the filter with these rules. It allows system calls that they do not name.
func assemble(rules []rule) []unix.SockFilter {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Compare(a.number, b.number) })
	p := []unix.SockFilter{
		load(atArch), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1,
			K: arch}, answer(unix.SECCOMP_RET_KILL_PROCESS), // call numbers depend on the architecture
		load(atNumber),
	}
	p = append(p, otherNumbers...)
	for some := range slices.Chunk(rules, atOnce) {
		var body []unix.SockFilter
		for _, r := range some {
			body = append(append(body, unless(r.number, uint8(len(r.body)))), r.body...)
		}
		body = append(body, answer(allow)) // later system calls have higher numbers
		last := some[len(some)-1].number
		p = append(append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K,
			Jt: uint8(len(body)), K: last}), body...)
	}
	return append(p, answer(allow))
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

// unless skips the next n instructions if the loaded value is not k.
func unless(k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: k}
}

func answer(with uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with}
}
